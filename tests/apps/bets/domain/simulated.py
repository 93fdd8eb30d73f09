"""Long simulated leagues with winner prices and true probabilities."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from grandstand.apps.bets.domain.calibration import CalibratedPredictor
from grandstand.apps.bets.domain.evaluation import (
    WalkForwardPlan,
    WalkForwardResult,
    walk_forward,
)
from grandstand.apps.bets.domain.forecasts import Forecast, clamped_log_odds
from grandstand.apps.bets.domain.history import AsOfView, Fact, History
from grandstand.apps.bets.domain.models import ConsensusModel
from grandstand.apps.bets.domain.odds import from_log_odds
from grandstand.apps.bets.domain.records import Fixture
from grandstand.apps.bets.domain.registry import ModelPanel, build_standard_panel
from grandstand.simulators.odds.season import SimulatedSeason, simulate_season
from tests.apps.bets.facts_of import fixtures_of, quotes_of, scores_of

SPORT = "basketball_nba"


@dataclass(frozen=True)
class Judgement:
    """The Brier score of a model, calibrated and as stated, and of the truth on the same bets."""

    bets: int
    ours: float
    stated: float
    oracle: float


def winners_only(made: SimulatedSeason) -> Iterator[Fact]:
    """Fixtures, results and the prices of who wins at half of the books."""
    books = {book.key for book in made.books[::2]}
    yield from fixtures_of(made)
    priced = quotes_of(made, markets=("h2h",), books=books)
    # Where a game can be drawn, who wins is a market of another name.
    yield from (path for path in priced if path.market == "h2h")
    yield from scores_of(made)


@dataclass(frozen=True, slots=True)
class Loudmouth:
    """The market's favourite, with log-odds blown up: it is right about who, not how surely."""

    name: str = "loudmouth"
    markets: tuple[str, ...] = ("h2h",)
    times: float = 2.0

    def predict(self, game: Fixture, view: AsOfView, market: str = "h2h") -> Forecast | None:
        quiet = ConsensusModel().predict(game, view, market)
        if quiet is None:
            return None
        loud = from_log_odds(self.times * clamped_log_odds(quiet.raw))
        return replace(quiet, model=self.name, raw=loud, probability=loud)


def long_walk(seed: int, games: int) -> tuple[SimulatedSeason, WalkForwardResult]:
    """So many games walked through by the market and by one who exaggerates, both calibrated."""
    made = simulate_season(seed, SPORT, games, changes=2, in_play=False)
    panel = ModelPanel((CalibratedPredictor(ConsensusModel()), CalibratedPredictor(Loudmouth())))
    plan = WalkForwardPlan(markets=("h2h",), inverses=False)
    return made, walk_forward(History(winners_only(made)), panel, plan)


def whole_walk(seed: int, games: int) -> tuple[SimulatedSeason, WalkForwardResult]:
    """Fewer games, walked through by every built-in model and the ensemble of them."""
    made = simulate_season(seed, SPORT, games, changes=2, in_play=False)
    plan = WalkForwardPlan(markets=("h2h",), inverses=False)
    return made, walk_forward(History(winners_only(made)), build_standard_panel(), plan)


def judged(made: SimulatedSeason, walked: WalkForwardResult, model: str) -> Judgement:
    """A model's bets against what was true of each, from when it had learned something."""
    home = dict(zip(made.games.ids, made.truth.home.tolist(), strict=True))
    rows = [
        (
            each.forecast.probability,
            each.forecast.raw,
            home[each.forecast.game_id]
            if each.forecast.selection.side == "home"
            else 1.0 - home[each.forecast.game_id],
            float(bool(each.correct)),
        )
        for each in walked.outcomes
        if each.forecast.model == model
        and each.forecast.inverse_of is None
        and each.correct is not None
        and each.forecast.trained_on
    ]
    ours, stated, true, came = np.array(rows).T
    scores = [float(np.mean((each - came) ** 2)) for each in (ours, stated, true)]
    return Judgement(len(rows), *scores)
