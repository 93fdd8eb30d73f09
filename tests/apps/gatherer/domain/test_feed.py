"""A feed keeps the order of each subscription, and never calls a book true that is not."""

from uuid import UUID

from hypothesis import given, settings
from hypothesis import strategies as st

from grandstand.apps.gatherer.domain.feed import Feed
from grandstand.apps.gatherer.domain.feed_events import (
    DuplicateDropped,
    FeedEvent,
    FeedResult,
    Gap,
    GapClosed,
    GapOpened,
    GapReason,
    ResubscribeNeeded,
    SnapshotsNeeded,
)
from grandstand.apps.gatherer.domain.messages import (
    DeltaMessage,
    ErrorMessage,
    InvalidMessage,
    Message,
    OkReply,
    SnapshotMessage,
    SubscribedReply,
    TickerMessage,
    TradeMessage,
    UnknownMessage,
    UnsubscribedReply,
)
from grandstand.apps.gatherer.domain.order_book import OrderBook
from grandstand.apps.gatherer.domain.rows import (
    OrderbookDelta,
    OrderbookSnapshot,
    Ticker,
    Trade,
)
from grandstand.apps.gatherer.domain.subscriptions import CLOCK_SLACK_US

A, B = "KXA-1", "KXA-2"


def snapshot(seq: int, ticker: str = A, *, size: int = 500, sid: int = 4) -> SnapshotMessage:
    return SnapshotMessage(sid, seq, ticker, yes=((40000, size),), no=((55000, size),))


def delta(
    seq: int, by: int = 100, ticker: str = A, *, price: int = 40000, ms: int = 7, sid: int = 4
) -> DeltaMessage:
    return DeltaMessage(sid, seq, ticker, side=True, price=price, size_delta=by, ts_ms=ms)


def trade(seq: int | None) -> TradeMessage:
    return TradeMessage(3, seq, UUID(int=seq or 0), A, 41000, 250, False, False, 9000)


def started(*messages: Message) -> Feed:
    feed = Feed(gatherer="one", conn=1)
    handle(feed, SubscribedReply(1, "orderbook_delta", 4), *messages)
    return feed


def handle(feed: Feed, *messages: Message, at: int = 1000) -> list[FeedResult]:
    return [feed.handle(message, at + nth) for nth, message in enumerate(messages)]


def reasons(incidents: tuple[FeedEvent, ...]) -> list[GapReason]:
    return [each.gap.reason for each in incidents if isinstance(each, GapOpened)]


def test_a_snapshot_and_the_deltas_after_it_make_the_book() -> None:
    feed = started(snapshot(1), delta(2, 100), delta(3, -600), delta(4, 5, price=30000))

    book = feed.book(A)

    assert book == OrderBook(yes=[(30000, 5)], no=[(55000, 500)])


def test_a_delta_becomes_a_row_with_both_times_and_its_origin() -> None:
    feed = started(snapshot(1))

    (outcome,) = handle(feed, delta(2, -250, ms=7), at=5000)

    assert outcome == FeedResult(
        OrderbookDelta(7000, 5000, A, True, 40000, -250, 2, 4, 0, "one", 1)
    )


def test_a_snapshot_becomes_a_row_sorted_and_mirrored_and_taken_when_received() -> None:
    feed = started()
    unsorted = SnapshotMessage(4, 1, A, yes=((41000, 1250), (3000, 7500)), no=((55000, 4000),))

    (outcome,) = handle(feed, unsorted, at=5000)

    assert outcome.row == OrderbookSnapshot(
        snapshot_ts=5000,
        exchange_ts=None,
        ticker=A,
        source="ws",
        yes_bids="[[3000,7500],[41000,1250]]",
        yes_asks="[[45000,4000]]",
        no_bids="[[55000,4000]]",
        no_asks="[[59000,1250],[97000,7500]]",
        best_yes_bid=41000,
        best_yes_ask=45000,
        spread=4000,
        sid=4,
        seq=1,
        gatherer="one",
        conn=1,
    )


def test_twins_at_one_instant_get_the_next_number() -> None:
    feed = started(snapshot(1))

    outcomes = handle(feed, delta(2), delta(3), delta(4, ms=8))

    rows = [outcome.row for outcome in outcomes]
    assert [row.ord for row in rows if isinstance(row, OrderbookDelta)] == [0, 1, 0]


def test_a_delta_without_a_time_is_kept_at_its_receipt_and_counted() -> None:
    feed = started(snapshot(1))

    (outcome,) = handle(feed, DeltaMessage(4, 2, A, side=True, price=40000, size_delta=1), at=5000)

    assert isinstance(outcome.row, OrderbookDelta)
    assert outcome.row.exchange_ts == 5000


def test_a_duplicate_is_dropped_and_leaves_the_book_alone() -> None:
    feed = started(snapshot(1), delta(2, 100))

    outcomes = handle(feed, delta(2, 100), snapshot(1))

    assert outcomes == [
        FeedResult(None, (DuplicateDropped(4, 2),)),
        FeedResult(None, (DuplicateDropped(4, 1),)),
    ]
    assert feed.book(A) == OrderBook(yes=[(40000, 600)], no=[(55000, 500)])


def test_a_gap_makes_every_market_of_the_subscription_stale_and_asks_for_snapshots() -> None:
    feed = started(snapshot(1), snapshot(2, B))

    (outcome,) = handle(feed, delta(5, ticker=B), at=5000)

    gap = Gap(
        *(1, 4, "orderbook_delta", GapReason.MISSED, 3, 5, 5000, frozenset({A, B})),
        from_ts=1000 - CLOCK_SLACK_US,
        to_ts=7000,
    )
    assert outcome.events == (GapOpened(gap), SnapshotsNeeded(4, (A, B)))
    assert isinstance(outcome.row, OrderbookDelta)
    assert feed.stale == {A, B}
    assert feed.book(A) is None


def test_a_gap_on_one_subscription_leaves_the_others_alone() -> None:
    feed = started(snapshot(1), snapshot(1, B, sid=5))

    handle(feed, delta(9))

    assert feed.stale == {A}
    assert feed.book(B) is not None


def test_a_gap_is_closed_by_the_last_snapshot_and_not_before() -> None:
    feed = started(snapshot(1), snapshot(2, B), delta(5))

    first, second = handle(feed, snapshot(6), snapshot(7, B), at=6000)

    assert first.events == ()
    assert [type(each) for each in second.events] == [GapClosed]
    assert feed.gaps.remaining() == ()
    assert feed.stale == frozenset()


def test_a_delta_before_the_healing_snapshot_is_kept_and_not_applied() -> None:
    feed = started(snapshot(1), delta(5), delta(6))

    (outcome,) = handle(feed, snapshot(7, size=900))

    assert isinstance(outcome.row, OrderbookSnapshot)
    assert feed.book(A) == OrderBook(yes=[(40000, 900)], no=[(55000, 900)])


def test_a_snapshot_that_comes_right_after_a_gap_is_not_asked_for() -> None:
    feed = started(snapshot(1), snapshot(2, B))

    (outcome,) = handle(feed, snapshot(9, A))

    assert outcome.events[-1] == SnapshotsNeeded(4, (B,))
    assert feed.stale == {B}


def test_replies_and_unknown_frames_count_in_the_sequence() -> None:
    feed = started(snapshot(1))
    replies: list[Message] = [
        OkReply(3, 4, 2, (A, B)),
        UnknownMessage("novelty", 4, 3),
        ErrorMessage(5, 4, 4, 13, "bad action"),
    ]

    outcomes = handle(feed, *replies, delta(5))

    assert [outcome.events for outcome in outcomes] == [()] * 4


def test_a_lost_reply_is_a_gap_like_any_other() -> None:
    feed = started(snapshot(1))

    (outcome,) = handle(feed, UnsubscribedReply(7, 4, 3))

    assert reasons(outcome.events) == [GapReason.MISSED]


def test_a_level_below_nothing_makes_its_market_stale_and_no_other() -> None:
    feed = started(snapshot(1), snapshot(2, B))

    (outcome,) = handle(feed, delta(3, -501))

    assert reasons(outcome.events) == [GapReason.NEGATIVE]
    assert outcome.events[-1] == SnapshotsNeeded(4, (A,))
    assert isinstance(outcome.row, OrderbookDelta)
    assert feed.stale == {A}


def test_a_book_that_is_still_crossed_at_a_later_instant_is_stale() -> None:
    feed = started(snapshot(1))

    outcomes = handle(feed, delta(2, price=45000, ms=7), delta(3, ms=7), delta(4, ms=8))

    assert [reasons(outcome.events) for outcome in outcomes] == [[], [], [GapReason.CROSSED]]
    assert feed.stale == {A}


def test_a_book_that_is_crossed_only_within_an_instant_is_true() -> None:
    feed = started(snapshot(1))

    outcomes = handle(feed, delta(2, price=45000), delta(3, -100, price=45000), delta(4, 1, ms=8))

    assert [outcome.events for outcome in outcomes] == [()] * 3
    assert feed.book(A) == OrderBook(yes=[(40000, 501)], no=[(55000, 500)])


def test_every_refused_delta_is_a_gap_even_of_a_market_that_waits_already() -> None:
    feed = started(snapshot(1))
    refused = [InvalidMessage("too fine", "orderbook_delta", 4, seq, A) for seq in (2, 3)]

    outcomes = handle(feed, *refused)

    assert [reasons(each.events) for each in outcomes] == [[GapReason.REFUSED]] * 2


def test_a_refused_delta_within_a_gap_that_lasts_opens_no_other() -> None:
    feed = started(snapshot(1))
    again = Feed(gatherer="one", conn=2, carried=_ended(feed))
    again.expect(4, [A])

    (outcome,) = handle(again, InvalidMessage("too fine", "orderbook_delta", 4, 1, A), at=8000)

    assert outcome.events == (SnapshotsNeeded(4, (A,)),)


def test_a_gap_begins_with_the_last_delta_and_ends_with_the_one_that_shows_it() -> None:
    feed = started(snapshot(1), snapshot(2, B), delta(3, ms=5))

    handle(feed, delta(5, ticker=B, ms=9))

    (gap,) = feed.gaps.remaining()
    assert (gap.from_ts, gap.to_ts) == (5000, 9000)


def _ended(feed: Feed) -> tuple[Gap, ...]:
    feed.end(7000)
    return feed.gaps.remaining()


def test_a_delta_of_a_market_nobody_asked_for_wants_a_snapshot_once() -> None:
    feed = started()

    outcomes = handle(feed, delta(1), delta(2))

    assert [reasons(each.events) for each in outcomes] == [[GapReason.UNSEEDED], []]
    assert all(isinstance(each.row, OrderbookDelta) for each in outcomes)


def test_a_market_that_was_asked_for_waits_for_its_snapshot() -> None:
    feed = started()
    feed.expect(4, [A, B])

    (outcome,) = handle(feed, delta(3))

    assert outcome.events[-1] == SnapshotsNeeded(4, (A, B))


def test_a_subscription_the_exchange_ended_is_to_be_asked_for_anew() -> None:
    feed = started(snapshot(1), snapshot(2, B))

    (outcome,) = handle(feed, ErrorMessage(None, 4, 3, 25, "subscription buffer overflow"))

    assert reasons(outcome.events) == [GapReason.ENDED]
    assert outcome.events[-1] == ResubscribeNeeded(4, "orderbook_delta", (A, B), 25)
    assert feed.sids == ()


def test_the_gap_of_an_ended_subscription_closes_on_the_new_one() -> None:
    feed = started(snapshot(1), ErrorMessage(None, 4, 2, 10, "channel error"))

    (outcome,) = handle(feed, snapshot(1, sid=6))

    assert [type(each) for each in outcome.events] == [GapClosed]


def test_missed_trades_are_to_be_fetched_and_the_gap_is_closed_by_hand() -> None:
    feed = Feed(gatherer="one", conn=1)
    handle(feed, trade(1))

    (outcome,) = handle(feed, trade(4))
    (gap,) = feed.gaps.remaining()
    closed = feed.gaps.close(gap, 9000)

    assert outcome.events == (GapOpened(gap),)
    assert isinstance(outcome.row, Trade)
    assert closed == (GapClosed(gap, 9000),)
    assert feed.gaps.remaining() == ()


def test_summaries_need_no_sequence_and_repeats_are_kept_apart() -> None:
    feed = Feed(gatherer="one", conn=1)
    summary = TickerMessage(2, None, A, 1, 2, 3, 4, 5, 6, 7, 9000)

    outcomes = handle(feed, summary, summary)

    rows = [outcome.row for outcome in outcomes]
    assert [row.exchange_ts for row in rows if isinstance(row, Ticker)] == [9000, 9001]


def test_a_market_that_is_left_begins_a_gap_and_what_still_comes_of_it_is_kept() -> None:
    feed = started(snapshot(1), snapshot(2, B), delta(3, ticker=B, ms=6))

    gap, closed = feed.unfollow([B], 6000)
    still, gone = handle(feed, delta(4, ticker=B), OkReply(8, 4, 5, (A,)), at=7000)

    assert (gap.reason, gap.tickers, gap.from_ts) == (GapReason.LEFT, frozenset({B}), 6000)
    assert closed == ()
    assert isinstance(still.row, OrderbookDelta)
    assert (still.events, gone.events) == ((), ())
    assert feed.book(A) is not None
    assert feed.book(B) is None


def test_a_market_the_exchange_took_off_is_a_gap_until_its_next_snapshot() -> None:
    feed = started(snapshot(1), snapshot(2, B))

    taken, again = handle(feed, OkReply(8, 4, 3, (A,)), snapshot(1, B, sid=5))

    assert reasons(taken.events) == [GapReason.LEFT]
    assert [type(each) for each in again.events] == [GapClosed]


def test_forgetting_the_last_market_that_waits_closes_its_gap() -> None:
    feed = started(snapshot(1), delta(3))

    closed = feed.remove([A], 9000)

    assert [type(each) for each in closed] == [GapClosed]
    assert feed.stale == frozenset()


def test_the_end_of_a_connection_is_a_gap_the_next_one_closes() -> None:
    feed = started(snapshot(1), snapshot(2, B))
    ended = feed.end(7000)
    again = Feed(gatherer="one", conn=2, carried=feed.gaps.remaining())

    first, second = handle(again, snapshot(1, A), snapshot(2, B), at=8000)

    assert reasons(ended) == [GapReason.DISCONNECTED]
    assert first.events == ()
    assert [each.gap.conn for each in second.events if isinstance(each, GapClosed)] == [1]
    assert feed.book(A) is None


def test_a_book_that_failed_an_audit_is_stale_until_its_snapshot() -> None:
    feed = started(snapshot(1))

    doubted = feed.mark_suspect(A, 7000)
    stale = feed.stale
    handle(feed, snapshot(2))

    assert reasons(doubted) == [GapReason.AUDIT]
    assert stale == {A}
    assert feed.stale == frozenset()


def test_following_moves_the_book_as_taking_does() -> None:
    feed = started(snapshot(1))

    quiet = feed.follow(delta(2, 100), 5000)
    loud = feed.follow(delta(9, 100), 5001)

    assert quiet == ()
    assert reasons(loud) == [GapReason.MISSED]
    assert feed.progress()[4][0] == 9


_streams = st.lists(
    st.tuples(st.sampled_from([A, B]), st.sampled_from([30000, 40000]), st.integers(-2, 3)),
    max_size=40,
)


@settings(max_examples=60)
@given(_streams, st.sets(st.integers(3, 42)), st.sets(st.integers(3, 42)))
def test_a_book_called_true_is_true_whatever_was_lost_or_repeated(
    steps: list[tuple[str, int, int]], lost: set[int], repeated: set[int]
) -> None:
    truth = {A: OrderBook(), B: OrderBook()}
    meant: list[SnapshotMessage | DeltaMessage] = [
        SnapshotMessage(4, 1, A, (), ()),
        SnapshotMessage(4, 2, B, (), ()),
        *_meant(steps, truth),
    ]
    sent = [
        each for each in meant for _ in range(1 + (each.seq in repeated)) if each.seq not in lost
    ]
    feed = started()

    handle(feed, *sent)
    handle(feed, UnknownMessage("end", 4, len(meant) + 1), at=5000)

    books = {ticker: feed.book(ticker) for ticker in (A, B)}
    assert all(book in (None, truth[ticker]) for ticker, book in books.items())
    assert (feed.stale == frozenset()) == (not lost & {each.seq for each in meant})


def _meant(steps: list[tuple[str, int, int]], truth: dict[str, OrderBook]) -> list[DeltaMessage]:
    """The deltas of an exchange that takes only what its books allow."""
    allowed = [
        (ticker, price, by)
        for ticker, price, by in steps
        if truth[ticker].change(side=True, price=price, by=by)
    ]
    return [
        DeltaMessage(4, nth, ticker, side=True, price=price, size_delta=by, ts_ms=nth)
        for nth, (ticker, price, by) in enumerate(allowed, start=3)
    ]
