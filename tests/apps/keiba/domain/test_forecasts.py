"""How well the ranking foretells simulated races whose true chances are known."""

from collections.abc import Sequence
from itertools import islice

import pytest

from grandstand.apps.keiba.domain.backtest import brier, calibration
from grandstand.apps.keiba.domain.ranking import Rating, rate
from tests.apps.keiba.domain.simulated import (
    KnownForecast,
    Measured,
    forecast,
    gap_closed,
    measured,
    season,
)

# Three simulated seasons and two thousand ratings are made before the first test.
pytestmark = pytest.mark.timeout(1800)

# The weights were fitted on the worlds of other seeds.
_SEED = 301


@pytest.fixture(scope="module")
def races() -> Sequence[Measured]:
    return measured(islice(season(_SEED, 2026), 2_000))


@pytest.fixture(scope="module")
def rated(races: Sequence[Measured]) -> Sequence[Sequence[Rating]]:
    return [rate(each.field) for each in races]


@pytest.fixture(scope="module")
def foretold(
    races: Sequence[Measured], rated: Sequence[Sequence[Rating]]
) -> Sequence[KnownForecast]:
    return [forecast(race, ratings) for race, ratings in zip(races, rated, strict=True)]


def test_chances_close_most_of_the_gap_between_even_ones_and_the_truth(
    foretold: Sequence[KnownForecast],
) -> None:
    gap = gap_closed(foretold)

    assert gap.races == 2_000
    assert gap.share - 3 * gap.standard_error >= 0.6


def test_chances_are_calibrated(foretold: Sequence[KnownForecast]) -> None:
    bins = calibration(foretold, bins=8)

    assert [each.won for each in bins] == pytest.approx(
        [each.mean_chance for each in bins], rel=0.25, abs=0.01
    )


def test_chances_beat_even_ones_by_the_squared_distance_too(
    races: Sequence[Measured], foretold: Sequence[KnownForecast]
) -> None:
    even = sum(1 - 1 / len(each.field) for each in races) / len(races)

    assert brier(foretold) < even


def test_a_race_is_rated_with_nothing_but_what_was_known_before_it(
    races: Sequence[Measured],
) -> None:
    looked_at = [
        (speed.run.run_on, each.race.held_on)
        for each in races
        for known in each.field
        for speed in known.speeds
    ]

    assert len(looked_at) > 100_000
    assert all(run_on < held_on for run_on, held_on in looked_at)


def test_places_are_foretold_better_than_by_even_chances(
    races: Sequence[Measured], rated: Sequence[Sequence[Rating]]
) -> None:
    chances = [
        (rating.placing.top3, position in each.race.first_three)
        for each, ratings in zip(races, rated, strict=True)
        for position, rating in enumerate(ratings)
    ]

    placed = [chance for chance, came in chances if came]
    unplaced = [chance for chance, came in chances if not came]
    assert sum(placed) / len(placed) > 1.3 * sum(unplaced) / len(unplaced)
