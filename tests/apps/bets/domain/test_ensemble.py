"""The ensemble: log-linear mixing, weights by past log loss, the market as a member."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import timedelta

import pytest

from grandstand.apps.bets.domain.calibration import TrainingWindows
from grandstand.apps.bets.domain.forecasts import (
    Forecast,
    OutcomeProbabilities,
    clamped_log_odds,
    forecast_from_probabilities,
)
from grandstand.apps.bets.domain.history import AsOfView, Fact, History
from grandstand.apps.bets.domain.records import Fixture, VerifiedForecast
from grandstand.apps.bets.domain.registry import (
    MARKET,
    Ensemble,
    expand_probabilities,
    member_weight,
    normalize_weights,
    pool_probabilities,
)
from tests.apps.bets.domain.games import HOUR, fixture, h2h, record
from tests.apps.bets.domain.leaking_models import Fitted

GAME = fixture(120, "ants", "bears")
DAILY = TrainingWindows(kind="anchored", test=timedelta(days=1))


@dataclass(frozen=True, eq=False)
class Triple:
    """A model with a view of three results."""

    shares: tuple[float, float, float]
    name: str = "triple"
    markets: tuple[str, ...] = ("h2h_3way",)

    def predict(self, game: Fixture, view: AsOfView, market: str = "h2h") -> Forecast | None:
        belief = OutcomeProbabilities(market, ("home", "draw", "away"), self.shares, None, 0)
        return forecast_from_probabilities(self.name, game, view, belief, [])


def forecast_of(ensemble: Ensemble, facts: list[Fact], market: str = "h2h") -> Forecast:
    forecast = ensemble.predict(
        GAME, History([GAME, *facts]).as_of(GAME.commence_time - HOUR), market
    )
    assert forecast is not None
    return forecast


def evens() -> list[Fact]:
    return [h2h(GAME, "alpha", GAME.commence_time - 5 * HOUR, -110, -110)]


def rows(model: str, probability: float, wins: int, count: int = 100) -> list[VerifiedForecast]:
    return [
        replace(record(number, 0.5, float(number < wins), model=model), probability=probability)
        for number in range(count)
    ]


def test_opposite_picks_pull_against_each_other() -> None:
    home, away = Fitted(1.2, "home_lover"), Fitted(-0.4, "away_lover")

    forecast = forecast_of(Ensemble((home, away), DAILY), evens())
    share = 1.0 / (1.0 + 2.0 * math.exp(-1.0)) * math.exp(-1.0)

    assert forecast.selection.side == "home"
    assert math.isclose(clamped_log_odds(forecast.probability), share * (1.2 - 0.4))


def test_two_equal_and_opposite_members_leave_the_market() -> None:
    forecast = forecast_of(Ensemble((Fitted(0.8, "one"), Fitted(-0.8, "two")), DAILY), evens())

    assert math.isclose(forecast.probability, 0.5)


def test_the_reasons_add_up_to_the_log_odds() -> None:
    forecast = forecast_of(Ensemble((Fitted(0.9, "one"), Fitted(-0.2, "two")), DAILY), evens())

    added = math.fsum(each.contribution for each in forecast.reasons)

    assert math.isclose(added, clamped_log_odds(forecast.probability))
    assert {each.source for each in forecast.reasons} == {"one", "two", MARKET}


def test_the_better_record_counts_more() -> None:
    members = (Fitted(1.0, "good"), Fitted(-1.0, "bad"))
    facts = [*evens(), *rows("good", 0.65, 65), *rows("bad", 0.65, 40)]

    forecast = forecast_of(Ensemble(members, DAILY), list(facts))

    weights = {each.source: each.contribution for each in forecast.reasons}
    assert forecast.selection.side == "home"
    assert abs(weights["good"]) > 10 * abs(weights["bad"])


def test_a_record_known_only_later_changes_nothing() -> None:
    members = (Fitted(1.0, "good"), Fitted(-1.0, "bad"))
    later = [replace(row, known_at=GAME.commence_time) for row in rows("bad", 0.65, 0)]

    without, with_later = (
        forecast_of(Ensemble(members, DAILY), [*evens(), *more]) for more in ([], later)
    )

    assert without.probability == with_later.probability


@pytest.mark.parametrize(("wins", "more"), [(70, True), (55, False)])
def test_a_weight_is_above_the_markets_only_after_beating_it(wins: int, more: bool) -> None:  # noqa: FBT001
    assert (member_weight(rows("any", 0.68, wins)) > 1.0) is more


def test_a_mixture_is_never_far_behind_its_best_member() -> None:
    wrong, right = member_weight(rows("wrong", 0.9, 50)), member_weight(rows("right", 0.6, 60))

    weights = normalize_weights({"wrong": wrong, "right": right}, ("wrong", "right", MARKET))

    assert weights["wrong"] < 1e-6
    assert math.isclose(math.fsum(weights.values()), 1.0)


def test_three_results_are_mixed_to_sum_to_one() -> None:
    market = h2h(GAME, "alpha", GAME.commence_time - 5 * HOUR, 110, 240, draw=230)
    ensemble = Ensemble((Triple((0.2, 0.2, 0.6)),), DAILY)

    forecast = forecast_of(ensemble, [market], "h2h_3way")

    added = math.fsum(each.contribution for each in forecast.reasons)
    assert math.isclose(added, clamped_log_odds(forecast.probability))
    assert forecast.selection.side in {"home", "away"}


def test_what_a_three_way_pick_leaves_is_shared_as_the_market_would() -> None:
    fair = OutcomeProbabilities("h2h_3way", ("home", "draw", "away"), (0.5, 0.3, 0.2), None, 1)
    view = History([GAME]).as_of(GAME.commence_time - HOUR)
    forecast = Triple((0.6, 0.3, 0.1)).predict(GAME, view, "h2h_3way")
    assert forecast is not None

    shares = expand_probabilities(forecast, fair)

    assert [round(share, 9) for share in shares] == [0.6, 0.24, 0.16]


def test_pooling_a_belief_with_itself_changes_nothing() -> None:
    belief = (0.5, 0.3, 0.2)

    mixed = pool_probabilities({"a": belief, "b": belief}, {"a": 0.4, "b": 0.6})

    assert [round(share, 12) for share in mixed] == [0.5, 0.3, 0.2]
