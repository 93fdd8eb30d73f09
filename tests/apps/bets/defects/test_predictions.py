"""Defects 10, 11, 12, 14, 15 and 16 of predictions and their evaluation, each shown to be gone."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from grandstand.apps.bets.domain import elo
from grandstand.apps.bets.domain.calibration import CalibratedPredictor
from grandstand.apps.bets.domain.evaluation import predict_game, walk_forward
from grandstand.apps.bets.domain.forecasts import Predictor
from grandstand.apps.bets.domain.history import Fact, History
from grandstand.apps.bets.domain.models import (
    ConsensusModel,
    ContrarianModel,
    MomentumModel,
    ValueModel,
    elo_fold,
)
from grandstand.apps.bets.domain.records import Quote, VerifiedForecast
from grandstand.apps.bets.domain.registry import ModelPanel, build_standard_panel
from grandstand.apps.bets.domain.user_models import UserModelSpec, UserPredictor, adjust_weights
from grandstand.core.errors import Conflict
from tests.apps.bets.domain.games import (
    BEGUN,
    DAY,
    HOUR,
    SPORT,
    fixture,
    h2h,
    league,
    record,
    score,
    small_history,
    spread,
    total,
)

GAME = fixture(50, "los_angeles_lakers", "boston_celtics")
START = GAME.commence_time
FORM = UserModelSpec("Form alone", SPORT, ("h2h", "spreads", "totals"), {"recent_form": 1.0})


def user_panel(model: UserModelSpec, name: str) -> ModelPanel:
    """A person's model alone, calibrated by its own record."""
    return ModelPanel((CalibratedPredictor(UserPredictor(model, name)),))


def turned(quote: Quote) -> Quote:
    return replace(quote, outcomes=tuple(reversed(quote.outcomes)))


@pytest.mark.parametrize(
    "model",
    [ConsensusModel(), ValueModel(min_expected_value=-1.0), MomentumModel(), ContrarianModel()],
)
@pytest.mark.parametrize("market", ["h2h", "spreads"])
def test_defect_10_the_order_of_outcomes_never_decides_who_is_home(
    model: Predictor, market: str
) -> None:
    early, late = START - 9 * HOUR, START - 3 * HOUR
    quotes = [
        h2h(GAME, "alpha", early, -130, 110),
        h2h(GAME, "alpha", late, -160, 140),
        h2h(GAME, "beta", early, -135, 130),
        h2h(GAME, "beta", late, -155, 150),
        spread(GAME, "alpha", early, "-2.5", (-110, -110)),
        spread(GAME, "alpha", late, "-3.5", (-115, -105)),
        spread(GAME, "beta", early, "-2.5", (-110, -110)),
        spread(GAME, "beta", late, "-3.5", (-108, 104)),
    ]
    histories = [History([GAME, *quotes]), History([GAME, *map(turned, quotes)])]

    found = [model.predict(GAME, each.as_of(START - HOUR), market) for each in histories]

    assert found[0] == found[1]
    assert found[0] is not None


def test_defect_11_books_that_disagree_are_not_a_movement() -> None:
    at = START - 9 * HOUR
    apart = [h2h(GAME, "alpha", at, -130, 110), h2h(GAME, "beta", at + HOUR, -180, 160)]
    history = History([GAME, *apart])

    moved = MomentumModel().predict(GAME, history.as_of(START - HOUR), "h2h")

    assert moved is None


def test_defect_11_a_book_is_compared_with_itself_over_time() -> None:
    at = START - 9 * HOUR
    quotes = [
        h2h(GAME, "alpha", at, -130, 110),
        h2h(GAME, "beta", at, -190, 170),
        h2h(GAME, "alpha", START - 2 * HOUR, -120, 100),
        h2h(GAME, "beta", START - 2 * HOUR, -170, 150),
    ]

    moved = MomentumModel().predict(GAME, History([GAME, *quotes]).as_of(START - HOUR), "h2h")

    assert moved is not None
    assert moved.selection.side == "away"


@pytest.mark.parametrize("late", [timedelta(0), timedelta(minutes=1), timedelta(days=2)])
def test_defect_12_no_prediction_is_made_or_changed_after_the_start(late: timedelta) -> None:
    history = History([GAME, h2h(GAME, "alpha", START - HOUR, -150, 130)])

    with pytest.raises(Conflict):
        predict_game(GAME, history.as_of(START + late), build_standard_panel())


def test_defect_12_prices_in_play_never_enter_a_prediction() -> None:
    before: list[Fact] = [GAME, h2h(GAME, "alpha", START - 2 * HOUR, -150, 130)]
    in_play = h2h(GAME, "alpha", START + HOUR, -2000, 1200)
    histories = [History(before), History([*before, in_play])]

    found = [
        predict_game(GAME, each.as_of(START - HOUR), build_standard_panel()) for each in histories
    ]

    assert found[0] == found[1]


def test_defect_14_hearing_a_result_again_does_not_move_a_rating() -> None:
    game = fixture(0, "ants", "bears")
    heard = score(game, 100, 90)
    again = [replace(heard, known_at=heard.known_at + hours * HOUR) for hours in range(4, 72, 4)]
    rules = elo.elo_rules_for(SPORT)

    once, often = (
        History([game, *scores]).as_of(BEGUN + 9 * DAY).fold(elo_fold(SPORT, rules)).ratings
        for scores in ([heard], [heard, *again])
    )

    assert once == often


def forecast_of(home: str, away: str, market: str, instant: datetime | None = None) -> object:
    game = fixture(61, home, away)
    at = game.commence_time - 9 * HOUR
    quotes: list[Fact] = [
        h2h(game, "alpha", at, -110, -110),
        spread(game, "alpha", at, "-1.5", (-110, -110)),
        total(game, "alpha", at, "221.5", (-110, -110)),
    ]
    view = History([*league(60), game, *quotes]).as_of(instant or game.commence_time - HOUR)
    forecast = UserPredictor(FORM, "mine").predict(game, view, market)
    return None if forecast is None else forecast.selection.side


def test_defect_15_a_back_test_picks_away_as_well_and_joins_results_by_game() -> None:
    found = walk_forward(small_history(60), user_panel(FORM, "mine"))

    picked = {
        each.forecast.selection.side for each in found.outcomes if each.forecast.market == "h2h"
    }
    results = {each.game_id: found.history.latest_score(each.game_id) for each in found.forecasts}
    right = [
        (each.forecast.selection.side == "home") == _home_won(found.history, each.forecast.game_id)
        for each in found.outcomes
        if each.forecast.market == "h2h"
    ]
    assert picked == {"home", "away"}
    assert None not in results.values()
    assert right == [each.correct for each in found.outcomes if each.forecast.market == "h2h"]


def _home_won(history: History, game_id: str) -> bool:
    final = history.latest_score(game_id)
    assert final is not None
    return final.home_score > final.away_score


def test_defect_15_a_back_test_sees_the_rows_of_then_and_not_the_latest() -> None:
    whole = small_history(60)
    short = whole.truncate(BEGUN + 30 * DAY)

    later, then = (
        {
            each.game_id: each.probability
            for each in walk_forward(history, user_panel(FORM, "mine")).forecasts
            if each.inverse_of is None and each.market == "h2h" and each.as_of < BEGUN + 29 * DAY
        }
        for history in (whole, short)
    )

    assert later == then
    assert len(then) > 10


def test_defect_15_a_least_confidence_is_kept_and_prices_are_those_taken() -> None:
    sure = replace(FORM, min_confidence=0.6)

    found = walk_forward(small_history(60), user_panel(sure, "mine"))

    straight = [each for each in found.forecasts if each.inverse_of is None]
    assert min(each.raw for each in straight) >= 0.6
    assert {each.price for each in straight if each.market == "h2h"} >= {-150, 130}


@pytest.mark.parametrize("market", ["h2h", "spreads"])
@pytest.mark.parametrize(
    ("home", "away", "picked"), [("ants", "foxes", "home"), ("foxes", "ants", "away")]
)
def test_defect_16_a_live_user_model_can_pick_the_away_team(
    market: str, home: str, away: str, picked: str
) -> None:
    assert forecast_of(home, away, market) == picked


def test_defect_16_a_totals_model_says_over_or_under() -> None:
    assert forecast_of("ants", "foxes", "totals") in {"over", "under"}


def test_defect_16_a_game_gets_one_prediction_however_many_books_quote_it() -> None:
    game = fixture(50, "ants", "foxes")
    quotes = [h2h(game, f"book{n}", START - 5 * HOUR, -110, -110) for n in range(7)]
    history = History([*league(40), game, *quotes])

    found = predict_game(game, history.as_of(START - HOUR), user_panel(FORM, "mine"), ("h2h",))

    assert [each.inverse_of for each in found] == [None, "mine"]


def test_defect_16_weights_are_adjusted_by_the_sources_themselves() -> None:
    rows: list[VerifiedForecast] = [
        replace(
            record(20 + number, 0.6, 1.0, model="mine"),
            sources=(("team_stats", 0.3), ("injuries", -0.1)),
        )
        for number in range(12)
    ]

    weights = adjust_weights({"team_stats": 0.5, "injuries": 0.5}, rows, BEGUN + 40 * DAY)

    assert weights["team_stats"] > 0.5 > weights["injuries"]


def test_defect_16_outcomes_of_user_models_are_verified() -> None:
    found = walk_forward(small_history(40), user_panel(FORM, "mine"))

    learnt = [fact for fact in found.history.simple_facts() if isinstance(fact, VerifiedForecast)]

    assert {each.model for each in learnt} == {"mine"}
    assert all(dict(each.sources).get("recent_form") for each in learnt)
