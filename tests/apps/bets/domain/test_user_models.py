"""User models: validation, forecasts and weight adjustment."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache

import pytest

from grandstand.apps.bets.domain.forecasts import Forecast
from grandstand.apps.bets.domain.history import Fact, History
from grandstand.apps.bets.domain.records import (
    CustomDataRow,
    Fixture,
    InjuryReport,
    VerifiedForecast,
)
from grandstand.apps.bets.domain.user_models import (
    DATA_SOURCES,
    UserModelSpec,
    UserPredictor,
    adjust_weights,
)
from grandstand.core.errors import InvalidInput
from tests.apps.bets.domain.games import (
    BEGUN,
    DAY,
    HOUR,
    SPORT,
    fixture,
    h2h,
    league,
    record,
    spread,
    total,
)

FAIR: dict[str, float] = {"recent_form": 0.6, "head_to_head": 0.4}


def model(**changes: object) -> UserModelSpec:
    plain = UserModelSpec("My model", SPORT, ("h2h", "spreads", "totals"), FAIR)
    return replace(plain, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"name": "ab"}, "Name has 2 characters"),
        ({"name": "a" * 51}, "Name has 51 characters"),
        ({"description": "short"}, "Description has 5 characters"),
        ({"bet_types": ()}, "At least one bet type is required"),
        ({"bet_types": ("h2h", "parlay")}, "Unknown bet type parlay"),
        ({"weights": {"weather": 1.0}}, "Unknown data source weather"),
        ({"weights": {}}, "At least one data source needs"),
        ({"weights": {"recent_form": 0.0}}, "At least one data source needs"),
        ({"weights": {"recent_form": 1.5, "injuries": -0.5}}, "between 0 and 1"),
        ({"weights": {"recent_form": 0.5, "injuries": 0.4}}, "add up to 0.9"),
        ({"weights": {"recent_form": 0.6, "injuries": 0.42}}, "add up to 1.02"),
        ({"weights": {"recent_form": math.nan}}, "At least one data source needs"),
        ({"min_confidence": 0.49}, "Invalid minimum confidence 0.49"),
        ({"min_confidence": 0.96}, "Invalid minimum confidence 0.96"),
        ({"weights": {"custom_data": 1.0}}, "no dataset is selected"),
    ],
)
def test_a_model_that_cannot_run_is_refused_with_the_reason(
    changes: dict[str, object], why: str
) -> None:
    with pytest.raises(InvalidInput, match=why):
        model(**changes)


@pytest.mark.parametrize("total_weight", [0.99, 1.0, 1.01])
def test_weights_may_be_off_by_a_hundredth(total_weight: float) -> None:
    assert model(weights={"recent_form": total_weight - 0.5, "injuries": 0.5}).min_confidence == 0.5


@cache
def next_game(home: str, away: str) -> tuple[Fixture, History]:
    game = fixture(61, home, away)
    at = game.commence_time - 9 * HOUR
    quotes: list[Fact] = [
        h2h(game, "alpha", at, -110, -110),
        h2h(game, "alpha", at + HOUR, -130, 110),
        spread(game, "alpha", at, "-1.5", (-110, -110)),
        total(game, "alpha", at, "221.5", (-110, -110)),
    ]
    own: list[Fact] = [
        CustomDataRow("mine", team, {"power": 50.0 - 5.0 * "abcdef".index(team[0])}, BEGUN, BEGUN)
        for team in (home, away)
    ]
    report = InjuryReport(SPORT, away, "star", "out", 0.3, at, at)
    played = replace(fixture(60, away, "dogs"), game_id="rest")
    return game, History([*league(60), game, played, report, *quotes, *own])


def forecast_of(made: UserModelSpec, home: str, away: str, market: str = "h2h") -> Forecast | None:
    game, history = next_game(home, away)
    view = history.as_of(game.commence_time - HOUR)
    return UserPredictor(made, "mine").predict(game, view, market)


@pytest.mark.parametrize("market", ["h2h", "spreads"])
@pytest.mark.parametrize(
    ("home", "away", "picked"), [("ants", "foxes", "home"), ("foxes", "ants", "away")]
)
def test_it_picks_home_or_away(market: str, home: str, away: str, picked: str) -> None:
    forecast = forecast_of(model(), home, away, market)

    assert forecast is not None
    assert (forecast.market, forecast.selection.side) == (market, picked)
    assert forecast.probability > 0.5


def test_a_totals_model_answers_over_or_under_and_never_a_winner() -> None:
    forecast = forecast_of(model(bet_types=("totals",)), "ants", "foxes", "totals")

    assert forecast is not None
    assert forecast.selection.side in {"over", "under"}
    assert UserPredictor(model(bet_types=("totals",)), "mine").markets == ("totals",)


def test_below_its_least_confidence_it_is_silent() -> None:
    sure = forecast_of(model(), "foxes", "ants")
    assert sure is not None

    modest = forecast_of(model(min_confidence=min(0.95, sure.probability + 0.01)), "foxes", "ants")

    assert modest is None


@pytest.mark.parametrize("source", DATA_SOURCES)
def test_every_source_counts_on_its_own(source: str) -> None:
    alone = model(weights={source: 1.0}, datasets=(("mine", 1.0),))

    forecast = forecast_of(alone, "ants", "foxes")

    assert forecast is not None
    assert {each.source for each in forecast.reasons} == {source}


def test_contributions_are_weighted_and_add_up() -> None:
    forecast = forecast_of(model(), "ants", "foxes")

    assert forecast is not None
    added = math.fsum(each.contribution for each in forecast.reasons)
    assert math.isclose(1.0 / (1.0 + math.exp(-added)), forecast.raw)


def test_it_speaks_of_its_own_sport_alone() -> None:
    assert forecast_of(model(sport="icehockey_nhl"), "ants", "foxes") is None


@pytest.mark.parametrize("market", ["h2h_3way", "spreads", "totals"])
def test_no_forecast_for_an_unquoted_market(market: str) -> None:
    game, history = next_game("ants", "foxes")
    bare = replace(game, game_id="bare")
    history.add(bare)
    view = history.as_of(game.commence_time - HOUR)

    found = [UserPredictor(model(), "mine").predict(bare, view, each) for each in (market, "h2h")]

    assert found[0] is None
    assert found[1] is not None


NOW = BEGUN + 40 * DAY


def verified(number: int, outcome: float, *sources: tuple[str, float]) -> VerifiedForecast:
    return replace(record(number, 0.6, outcome, model="mine"), sources=sources)


def month(right: int, count: int = 20) -> list[VerifiedForecast]:
    """A month in which form leaned to every pick and meetings against it."""
    return [
        verified(20 + number, float(number < right), ("recent_form", 0.2), ("head_to_head", -0.1))
        for number in range(count)
    ]


def test_the_source_that_was_right_more_often_counts_more() -> None:
    weights = adjust_weights(FAIR, month(right=15), NOW)

    assert {name: round(weight, 9) for name, weight in weights.items()} == {
        "recent_form": 0.75,
        "head_to_head": 0.25,
    }


def test_no_source_falls_below_a_twentieth_and_the_sum_stays() -> None:
    weights = adjust_weights(FAIR, month(right=20), NOW)

    assert math.isclose(weights["head_to_head"], 0.05)
    assert math.isclose(math.fsum(weights.values()), 1.0)


def test_a_source_without_data_keeps_its_weight() -> None:
    before = {**FAIR, "recent_form": 0.3, "injuries": 0.3}

    weights = adjust_weights(before, month(right=15), NOW)

    assert weights["injuries"] == 0.3
    assert math.isclose(math.fsum(weights.values()), 1.0)


@pytest.mark.parametrize(
    ("record_given", "now"),
    [(month(right=9, count=9), NOW), (month(right=15), NOW + timedelta(days=60)), ([], NOW)],
)
def test_few_or_old_predictions_change_nothing(
    record_given: list[VerifiedForecast], now: datetime
) -> None:
    assert adjust_weights(FAIR, record_given, now) == FAIR
