"""The leakage audit on a league with a goal model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial

import pytest

from grandstand.apps.bets.domain.evaluation import (
    WalkForwardPlan,
    WalkForwardResult,
    walk_forward,
)
from grandstand.apps.bets.domain.forecasts import Forecast, Predictor
from grandstand.apps.bets.domain.history import AsOfView, History
from grandstand.apps.bets.domain.leakage_audit import PredictorFactory
from grandstand.apps.bets.domain.models import GoalsModel
from grandstand.apps.bets.domain.records import Fixture
from grandstand.apps.bets.domain.registry import MODEL_NAMES, build_standard_panel
from grandstand.simulators.odds.season import simulate_season
from tests.apps.bets.domain.leakage import audit_forecasts
from tests.apps.bets.domain.simulated import winners_only

MARKET = "h2h_3way"
AUDITED = 26
A_WEEK = timedelta(days=7)


@dataclass(frozen=True)
class Prophet:
    """The goals model, fitted with every result of the season, those to come included."""

    known: History
    name: str = "prophet"
    markets: tuple[str, ...] = (MARKET,)

    def predict(self, game: Fixture, view: AsOfView, market: str = MARKET) -> Forecast | None:
        end = self.known.as_of(self.known.games()[-1].commence_time + A_WEEK)
        forecast = GoalsModel(self.name).predict(game, end, market)
        return None if forecast is None else replace(forecast, as_of=view.instant, used=())


@pytest.fixture(scope="module")
def walked() -> WalkForwardResult:
    made = simulate_season(11, "soccer_epl", 80, changes=2, in_play=False)
    return walk_forward(
        History(winners_only(made)),
        build_standard_panel(),
        WalkForwardPlan(markets=(MARKET,), inverses=False),
    )


def test_no_leak_is_found_in_the_clean_models_of_a_league_of_goals(
    walked: WalkForwardResult,
) -> None:
    makers = {name: partial(_made, name) for name in MODEL_NAMES}
    late = walked.forecasts[-AUDITED:]

    found = audit_forecasts(walked.history, makers, late)

    assert (found.leaks, found.checked) == ((), AUDITED)
    assert {"goals", "elo", "ensemble"} <= {each.model for each in late}
    assert {each.market for each in late} == {MARKET}


def test_a_goals_model_that_was_fitted_on_games_to_come_is_found(walked: WalkForwardResult) -> None:
    honest = next(each for each in walked.forecasts if each.model == "goals")
    view = walked.history.as_of(honest.as_of)
    game = view.fixture(honest.game_id)
    assert game is not None
    maker: PredictorFactory = Prophet
    forecast = maker(walked.history).predict(game, view, MARKET)
    assert forecast is not None

    found = audit_forecasts(walked.history, {"prophet": maker}, [forecast])

    [leak] = found.leaks
    assert (leak.model, leak.kind) == ("prophet", "later_data")
    assert leak.row.startswith("score ")


def _made(name: str, _: History) -> Predictor:
    found = build_standard_panel().of(name)
    assert found is not None
    return found
