"""When a keyframe is due, and that it says what the book said."""

from grandstand.apps.gatherer.store import (
    FORCED_KEYFRAME_US,
    KEYFRAME_US,
    KeyframeSchedule,
    decode_levels,
    make_keyframe,
)


def test_a_keyframe_says_what_the_book_said() -> None:
    yes, no = {4000: 100, 3000: 250}, {50_000: 1}

    row = make_keyframe("KXA-1", yes, no, taken_at=5, exchange_ts=4, gatherer="east")

    assert (decode_levels(row.yes_bids), decode_levels(row.no_bids)) == (yes, no)
    assert row.yes_bids == "[[3000,250],[4000,100]]"


def test_one_is_due_after_so_many_changes_and_not_again_at_once() -> None:
    rhythm = KeyframeSchedule(every_deltas=3)

    due = [rhythm.changed("KXA-1") for _ in range(3)]
    rhythm.written("KXA-1")

    assert due == [False, False, True]
    assert not rhythm.changed("KXA-1")


def test_by_the_clock_changed_books_are_due_and_every_hour_all() -> None:
    rhythm = KeyframeSchedule()
    rhythm.changed("KXA-1")
    rhythm.changed("KXB-2")
    rhythm.written("KXB-2")
    start = 7 * FORCED_KEYFRAME_US

    first = rhythm.due(start)
    soon = rhythm.due(start + 1)
    next_slot = rhythm.due(start + KEYFRAME_US)
    next_hour = rhythm.due(start + FORCED_KEYFRAME_US)

    assert (first, soon, next_slot) == ((), (), ("KXA-1",))
    assert next_hour == ("KXA-1", "KXB-2")


def test_a_book_that_is_forgotten_is_not_due() -> None:
    rhythm = KeyframeSchedule()
    rhythm.changed("KXA-1")
    rhythm.due(0)
    rhythm.remove("KXA-1")

    due = rhythm.due(KEYFRAME_US)

    assert due == ()
