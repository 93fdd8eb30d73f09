"""About one ball in seven is first posted wrong, the same ones for the same seed."""

from __future__ import annotations

import pytest

from grandstand.simulators.scores.matches import read_recorded_match
from grandstand.simulators.scores.timeline import random_corrections


def test_the_share_is_one_in_seven() -> None:
    record = read_recorded_match(1000853)

    found = random_corrections(record, 1)

    assert 1 / 9 < len(found) / len(record.deliveries) < 1 / 5.5


def test_the_same_seed_slips_in_the_same_places() -> None:
    record = read_recorded_match(1001349)

    assert random_corrections(record, 5) == random_corrections(record, 5)
    assert random_corrections(record, 5) != random_corrections(record, 6)


@pytest.mark.parametrize("seed", range(3))
def test_what_is_posted_first_always_differs_from_what_is_right(seed: int) -> None:
    record = read_recorded_match(1000853)

    found = random_corrections(record, seed)

    assert [
        place
        for place, correction in found.items()
        if correction.posted == record.deliveries[place]
    ] == []


def test_some_are_deleted_some_wickets_come_late_and_some_are_taken_back() -> None:
    record = read_recorded_match(1000853)

    found = {
        place: correction
        for seed in range(4)
        for place, correction in random_corrections(record, seed).items()
    }

    right = record.deliveries
    assert any(correction.deleted for correction in found.values())
    assert any(not correction.deleted for correction in found.values())
    assert any(
        right[place].wicket > correction.posted.wicket for place, correction in found.items()
    )
    assert any(
        right[place].wicket < correction.posted.wicket for place, correction in found.items()
    )
    assert any(right[place].total < correction.posted.total for place, correction in found.items())
