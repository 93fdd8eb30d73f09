"""The audit of a league of goals: the models that count them are audited like the others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial

import pytest

from grandstand.apps.bets.model.judging.leaks import PredictorMaker, audit
from grandstand.apps.bets.model.known.asof import AsOf
from grandstand.apps.bets.model.known.facts import Fixture
from grandstand.apps.bets.model.known.history import History
from grandstand.apps.bets.model.models.goals import Goals
from grandstand.apps.bets.model.predicting.forecasting import Forecast, Predictor
from grandstand.apps.bets.model.predicting.panel import MODEL_NAMES, standard_panel
from grandstand.apps.bets.model.predicting.walking import Plan, Walk, walk
from grandstand.simulators.odds.world.season import season
from tests.apps.bets.model.simulated import winners_only

MARKET = "h2h_3way"
AUDITED = 26
A_WEEK = timedelta(days=7)


@dataclass(frozen=True)
class Prophet:
    """The goals model, fitted with every result of the season, those to come included."""

    known: History
    name: str = "prophet"
    markets: tuple[str, ...] = (MARKET,)

    def predict(self, game: Fixture, view: AsOf, market: str = MARKET) -> Forecast | None:
        end = self.known.as_of(self.known.games()[-1].commence_time + A_WEEK)
        told = Goals(self.name).predict(game, end, market)
        return None if told is None else replace(told, as_of=view.instant, used=())


@pytest.fixture(scope="module")
def walked() -> Walk:
    made = season(11, "soccer_epl", 80, changes=2, in_play=False)
    return walk(
        History(winners_only(made)), standard_panel(), Plan(markets=(MARKET,), inverses=False)
    )


def test_no_leak_is_found_in_the_clean_models_of_a_league_of_goals(walked: Walk) -> None:
    makers = {name: partial(_made, name) for name in MODEL_NAMES}
    late = walked.forecasts[-AUDITED:]

    found = audit(walked.history, makers, late)

    assert (found.leaks, found.checked) == ((), AUDITED)
    assert {"goals", "elo", "ensemble"} <= {each.model for each in late}
    assert {each.market for each in late} == {MARKET}


def test_a_goals_model_that_was_fitted_on_games_to_come_is_found(walked: Walk) -> None:
    honest = next(each for each in walked.forecasts if each.model == "goals")
    view = walked.history.as_of(honest.as_of)
    game = view.fixture(honest.game_id)
    assert game is not None
    maker: PredictorMaker = Prophet
    forecast = maker(walked.history).predict(game, view, MARKET)
    assert forecast is not None

    found = audit(walked.history, {"prophet": maker}, [forecast])

    [leak] = found.leaks
    assert (leak.model, leak.kind) == ("prophet", "later_data")
    assert leak.row.startswith("score ")


def _made(name: str, _: History) -> Predictor:
    found = standard_panel().of(name)
    assert found is not None
    return found
