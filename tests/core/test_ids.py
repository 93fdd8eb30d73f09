"""Identifiers sort by creation time."""

from random import Random

from grandstand.core.clock import ManualClock
from grandstand.core.ids import new_id


def test_ids_of_one_millisecond_sort_by_time() -> None:
    clock, random = ManualClock(), Random(1)
    ids = []
    for _ in range(900):
        ids.append(new_id(clock, random))
        clock.advance(0.000_001)

    assert ids == sorted(ids)
    assert {len(each) for each in ids} == {26}


def test_ids_of_one_instant_differ() -> None:
    clock, random = ManualClock(), Random(1)

    assert len({new_id(clock, random) for _ in range(1000)}) == 1000
