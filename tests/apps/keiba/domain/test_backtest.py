"""The arithmetic of looking back."""

import math
import random

import pytest

from grandstand.apps.keiba.domain.backtest import (
    Account,
    Forecast,
    Wager,
    account,
    brier,
    calibration,
    flat_stakes,
    log_loss,
)
from grandstand.apps.keiba.domain.ranking import win_probabilities
from grandstand.core.errors import InvalidInput
from tests.apps.keiba.domain.simulated import KnownForecast, gap_closed


def _drawn(races: int, seed: int) -> list[KnownForecast]:
    """Races whose forecasts are the chances they were drawn from."""
    chance = random.Random(seed)
    drawn = []
    for _ in range(races):
        truth = win_probabilities([chance.gauss(0, 1) for _ in range(10)])
        winner = chance.choices(range(10), truth)[0]
        drawn.append(KnownForecast(truth, (winner,), truth))
    return drawn


def test_log_loss_is_the_surprise_at_the_winner() -> None:
    forecasts = [Forecast((0.5, 0.5), (0,)), Forecast((0.25, 0.75), (0,))]

    assert log_loss(forecasts) == pytest.approx((math.log(2) + math.log(4)) / 2)


def test_brier_is_the_squared_distance_from_what_happened() -> None:
    assert brier([Forecast((0.8, 0.2), (0,))]) == pytest.approx(0.08)


def test_a_dead_heat_is_shared() -> None:
    heat = Forecast((0.5, 0.25, 0.25), (0, 1))

    assert log_loss([heat]) == pytest.approx((math.log(2) + math.log(4)) / 2)
    assert brier([heat]) == pytest.approx(0.25**2 + 0.25**2)


def test_the_truth_is_calibrated() -> None:
    bins = calibration(_drawn(2_000, seed=5), bins=10)

    assert sum(each.runners for each in bins) == 20_000
    assert [each.won for each in bins] == pytest.approx(
        [each.mean_chance for each in bins], abs=0.03
    )
    assert [each.low for each in bins] == sorted(each.low for each in bins)


def test_more_bins_than_runners_leave_none_empty() -> None:
    bins = calibration([Forecast((0.6, 0.4), (0,))], bins=10)

    assert [each.runners for each in bins] == [1, 1]


def test_the_truth_closes_the_whole_gap_and_even_chances_none_of_it() -> None:
    known = _drawn(500, seed=6)
    blind = [KnownForecast((0.1,) * 10, each.winners, each.truth) for each in known]

    best, worst = gap_closed(known), gap_closed(blind)

    assert (best.share, best.standard_error) == pytest.approx((1, 0))
    assert (worst.share, worst.our_loss) == pytest.approx((0, math.log(10)))


def test_the_error_of_the_share_is_what_it_varies_by_from_season_to_season() -> None:
    def flattened(seed: int) -> list[KnownForecast]:
        return [
            KnownForecast(
                tuple(0.5 * chance + 0.05 for chance in each.chances), each.winners, each.truth
            )
            for each in _drawn(200, seed)
        ]

    seasons = [gap_closed(flattened(seed)) for seed in range(60)]

    mean = sum(each.share for each in seasons) / len(seasons)
    varied = math.sqrt(sum((each.share - mean) ** 2 for each in seasons) / (len(seasons) - 1))
    stated = sum(each.standard_error for each in seasons) / len(seasons)
    assert stated == pytest.approx(varied, rel=0.3)


def test_there_is_no_gap_to_even_chances() -> None:
    with pytest.raises(InvalidInput, match="better than uniform"):
        gap_closed([KnownForecast((0.5, 0.5), (0,), (0.5, 0.5))])


@pytest.mark.parametrize(
    ("chances", "winners"),
    [((0.5, 0.6), (0,)), ((1.0, 0.0), (0,)), ((0.5, 0.5), ()), ((0.5, 0.5), (2,))],
)
def test_a_forecast_that_cannot_be_is_refused(
    chances: tuple[float, ...], winners: tuple[int, ...]
) -> None:
    with pytest.raises(InvalidInput):
        Forecast(chances, winners)


def test_nothing_can_be_measured_without_forecasts() -> None:
    for measure in (log_loss, brier, calibration, gap_closed):
        with pytest.raises(InvalidInput, match="no forecasts"):
            measure([])


def test_an_account_is_exact_to_the_yen() -> None:
    found = account([Wager(300, 1_230), Wager(100, 0), Wager(200, 110)])

    assert (found.bets, found.won) == (3, 2)
    assert (found.staked_yen, found.returned_yen) == (600, 3_910)


def test_an_account_without_bets_is_empty() -> None:
    assert account([]) == Account(bets=0, won=0, staked_yen=0, returned_yen=0)


@pytest.mark.parametrize("stake", [0, -100, 150])
def test_a_stake_is_whole_hundreds(stake: int) -> None:
    with pytest.raises(InvalidInput, match="100 yen"):
        Wager(stake, 0)


def test_stakes_go_where_the_expected_return_is_enough() -> None:
    placed = flat_stakes((1.2, None, 0.9, 1.0), (500, 0, 0, 0), stake_yen=1_000, min_return=1.0)

    assert placed == (Wager(1_000, 500), Wager(1_000, 0))
