"""Twins at one instant are told apart, the same way wherever they are seen."""

from hypothesis import given
from hypothesis import strategies as st

from grandstand.apps.gatherer.domain.messages import DeltaMessage
from grandstand.apps.gatherer.domain.subscriptions import (
    DeltaOrdinals,
    MonotonicClock,
    TickerTimestamps,
)


def delta(ms: int, price: int = 41000, size: int = 100, *, side: bool = True) -> DeltaMessage:
    return DeltaMessage(4, 1, "KXA-1", side=side, price=price, size_delta=size, ts_ms=ms)


def number(ordinals: DeltaOrdinals, each: DeltaMessage) -> int:
    return ordinals.number(each.exchange_ts or 0, each)


def test_identical_deltas_at_one_instant_are_numbered_from_nought() -> None:
    ordinals = DeltaOrdinals()

    numbers = [number(ordinals, delta(5)) for _ in range(4)]

    assert numbers == [0, 1, 2, 3]


def test_deltas_that_differ_or_come_later_start_again() -> None:
    ordinals = DeltaOrdinals()
    told = [delta(5), delta(5, size=-100), delta(5, side=False), delta(5, 42000), delta(6)]

    numbers = [number(ordinals, each) for each in told]

    assert numbers == [0, 0, 0, 0, 0]


def test_a_clock_that_steps_back_finds_the_twins_of_before() -> None:
    ordinals = DeltaOrdinals()
    told = [delta(5), delta(6), delta(6), delta(7), delta(5), delta(6), delta(5)]

    numbers = [number(ordinals, each) for each in told]

    assert numbers == [0, 0, 1, 0, 1, 2, 2]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 2)), max_size=60))
def test_no_two_deltas_of_a_stream_have_the_same_key(steps: list[tuple[int, int]]) -> None:
    ordinals = DeltaOrdinals()

    keys = [(ms, size, number(ordinals, delta(ms, size=size))) for ms, size in steps]

    assert len(set(keys)) == len(keys)


def test_summaries_within_a_millisecond_are_a_microsecond_apart() -> None:
    repeats = TickerTimestamps()

    places = [repeats.assign("KXA-1", 7000) for _ in range(3)]
    others = [repeats.assign("KXA-2", 7000), repeats.assign("KXA-1", 8000)]

    assert places == [7000, 7001, 7002]
    assert others == [7000, 8000]


def test_a_summary_never_leaves_its_millisecond() -> None:
    repeats = TickerTimestamps()

    places = [repeats.assign("KXA-1", 7000) for _ in range(1005)]

    assert places[-1] == 7999


def test_a_late_summary_does_not_hide_the_one_before_it() -> None:
    repeats = TickerTimestamps()

    places = [repeats.assign("KXA-1", at) for at in (7000, 8000, 7000)]

    assert places == [7000, 8000, 7001]


@given(st.lists(st.integers(0, 50), max_size=60))
def test_receive_stamps_grow_whatever_the_clock_says(clock: list[int]) -> None:
    stamps = MonotonicClock()

    given_out = [stamps.next(now) for now in clock]

    assert given_out == sorted(set(given_out))
    assert all(stamp >= now for stamp, now in zip(given_out, clock, strict=True))
