"""Which place in exchange time a book has that a gatherer told, and when it has none."""

import pytest

from grandstand.apps.gatherer.domain.rows import OrderbookDelta, OrderbookSnapshot
from grandstand.apps.gatherer.domain.subscriptions import CLOCK_SLACK_US
from grandstand.apps.gatherer.services.merge_sources import (
    MAX_SKEW_US,
    PendingSnapshots,
    PlacedSnapshot,
    followed_since,
    place_snapshot,
    with_time_bounds,
)
from grandstand.apps.gatherer.store import DELTAS, SERIES, FollowedSince, GapRecord
from grandstand.storage.series.engines.chunks.engine import ChunkEngine
from tests.apps.gatherer.services.recorded_rows import START, brief_engines

HEARD = START + 500
BOOK = OrderbookSnapshot(
    *(HEARD, None, "KXA-1", "ws", "[[4000,100]]", "[]", "[]", "[]"),
    sid=4,
    gatherer="east",
    conn=7,
)


def _delta(at: int, received_at: int, *, price: int = 4000, conn: int = 7) -> OrderbookDelta:
    return OrderbookDelta(
        *(at, received_at, "KXA-1", True, price, 100), sid=4, gatherer="east", conn=conn
    )


def _placed(
    own_rows: list[OrderbookDelta],
    merged_rows: list[OrderbookDelta],
    gaps: tuple[GapRecord, ...] = (),
) -> PlacedSnapshot | None:
    with brief_engines(2) as (own, merged):
        _keep(own, own_rows)
        _keep(merged, [*own_rows, *merged_rows])
        waiting = PendingSnapshots("east")
        waiting.add([BOOK], 0)
        waiting.add_gaps(gaps)
        waiting.add_deltas(own_rows)
        (told,) = waiting.pop_ready(START + 2 * MAX_SKEW_US)
        return place_snapshot(told, waiting, own, merged)


def _keep(engine: ChunkEngine, rows: list[OrderbookDelta]) -> None:
    for series in SERIES:
        engine.prepare(series)
    engine.append(DELTAS, rows)


def test_a_book_ends_just_before_the_next_change_its_gatherer_heard() -> None:
    own = [_delta(START - 9, HEARD - 9), _delta(START + 2000, HEARD + 2000)]

    placed = _placed(own, [])

    assert placed is not None
    assert placed.at_us == START + 1999
    assert placed.row == BOOK._replace(snapshot_ts=START + 1999, exchange_ts=START + 1999)


def test_a_book_holds_from_the_first_change_heard_after_it_of_whichever_market() -> None:
    other = _delta(START + 700, HEARD + 700)._replace(ticker="KXB-2")

    placed = _placed([other, _delta(START + 2000, HEARD + 2000)], [])

    assert placed is not None
    assert placed.row == BOOK._replace(snapshot_ts=START + 1999, exchange_ts=START + 700)


def test_a_book_that_changed_only_after_something_was_missed_ends_before_that() -> None:
    other = _delta(START + 30, HEARD + 30)._replace(ticker="KXB-2")
    gap = GapRecord(HEARD + 50, "east", 7, 4, 1, resolved=False)

    placed = _placed([other, _delta(START + 2000, HEARD + 2000)], [], (gap,))

    assert placed is not None
    assert placed.at_us == START + 29


@pytest.mark.parametrize(
    ("heard", "since"),
    [((), HEARD + CLOCK_SLACK_US), ((_delta(START + 2000, HEARD + 2000),), START + 2000)],
)
def test_a_market_is_followed_from_the_first_change_after_its_book_at_the_latest(
    heard: tuple[OrderbookDelta, ...], since: int
) -> None:
    waiting = PendingSnapshots("east")
    waiting.add([BOOK], 0)
    waiting.add_deltas(heard)
    (told,) = waiting.pop_ready(START + 2 * MAX_SKEW_US)

    found = followed_since(told, None, "east")

    assert found == FollowedSince(since, "KXA-1", "east", 7, 4, HEARD)


def test_a_book_amid_the_changes_of_one_instant_has_no_place() -> None:
    own = [_delta(START, HEARD - 9, price=3000), _delta(START, HEARD + 9)]

    placed = _placed(own, [])

    assert placed is None


def test_a_change_of_that_instant_that_only_another_heard_takes_the_place_away() -> None:
    another = _delta(START + 2000, 1, price=9000)

    placed = _placed([_delta(START + 2000, HEARD + 2000)], [another])

    assert placed is None


@pytest.mark.parametrize("conn", [7, 8])
def test_a_book_with_a_gap_or_a_new_connection_after_it_has_no_place(conn: int) -> None:
    gap = GapRecord(HEARD + 50, "east", 7, 4, 1, resolved=False)
    gaps = {7: (gap,), 8: ()}[conn]

    placed = _placed([_delta(START + 2000, HEARD + 2000, conn=conn)], [], gaps)

    assert placed is None


def test_a_quiet_book_ends_just_before_the_next_change_on_its_subscription() -> None:
    other = _delta(START + 3000, HEARD + 3000)._replace(ticker="KXB-2")
    own = [other, _delta(START + 2 * MAX_SKEW_US, HEARD + 2 * MAX_SKEW_US)]

    placed = _placed(own, [])

    assert placed is not None
    assert placed.at_us == START + 2999


def test_a_book_after_which_nothing_was_heard_has_no_place() -> None:
    placed = _placed([_delta(START - 9, HEARD - 9)], [])

    assert placed is None


def test_a_gap_is_bounded_by_the_changes_around_it() -> None:
    gap = GapRecord(HEARD + 50, "east", 7, 4, 1, resolved=False)
    other = _delta(START + 40, HEARD + 45, conn=8)
    with brief_engines(1) as (own,):
        _keep(own, [_delta(START + 10, HEARD + 10), other, _delta(START + 60, HEARD + 50)])

        found = with_time_bounds(gap, own)

    assert (found.from_ts, found.to_ts) == (START + 10, START + 60)
