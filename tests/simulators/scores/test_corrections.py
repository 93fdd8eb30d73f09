"""About one ball in seven is first posted wrong, the same ones for the same seed."""

from __future__ import annotations

import pytest

from grandstand.simulators.scores.cricsheet import read_recorded_match
from grandstand.simulators.scores.timeline import random_corrections


def test_the_share_is_one_in_seven() -> None:
    tape = read_recorded_match(1000853)

    found = random_corrections(tape, 1)

    assert 1 / 9 < len(found) / len(tape.deliveries) < 1 / 5.5


def test_the_same_seed_slips_in_the_same_places() -> None:
    tape = read_recorded_match(1001349)

    assert random_corrections(tape, 5) == random_corrections(tape, 5)
    assert random_corrections(tape, 5) != random_corrections(tape, 6)


@pytest.mark.parametrize("seed", range(3))
def test_what_is_posted_first_always_differs_from_what_is_right(seed: int) -> None:
    tape = read_recorded_match(1000853)

    found = random_corrections(tape, seed)

    assert [place for place, slip in found.items() if slip.posted == tape.deliveries[place]] == []


def test_some_are_deleted_some_wickets_come_late_and_some_are_taken_back() -> None:
    tape = read_recorded_match(1000853)

    found = {
        place: slip for seed in range(4) for place, slip in random_corrections(tape, seed).items()
    }

    right = tape.deliveries
    assert any(slip.deleted for slip in found.values())
    assert any(not slip.deleted for slip in found.values())
    assert any(right[place].wicket > slip.posted.wicket for place, slip in found.items())
    assert any(right[place].wicket < slip.posted.wicket for place, slip in found.items())
    assert any(right[place].total < slip.posted.total for place, slip in found.items())
