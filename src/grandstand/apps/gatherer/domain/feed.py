"""A feed turns the messages of one connection into rows: sequence checks and order books."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from msgspec.structs import replace

from grandstand.apps.gatherer.domain.feed_events import (
    DuplicateDropped,
    FeedEvent,
    FeedResult,
    Gap,
    GapReason,
    GapTracker,
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
    UnsubscribedReply,
    exchange_time_us,
)
from grandstand.apps.gatherer.domain.order_book import OrderBook
from grandstand.apps.gatherer.domain.rows import OrderbookDelta
from grandstand.apps.gatherer.domain.subscriptions import (
    BOOKS,
    CHANNELS,
    TERMINAL_CODES,
    MarketTrack,
    Subscription,
    TickerTimestamps,
    book_row,
    ticker_row,
    trade_row,
    unfollow_gap,
)

_NO_RESULT: Final = FeedResult()
_row: Final = tuple.__new__


class Feed:
    """One connection: the sequence of each subscription and the book of each market.

    A reconnect starts a new feed. Gaps left open by the previous feed are carried over and closed
    by snapshots of the new one.
    """

    def __init__(self, *, gatherer: str, conn: int, carried: Iterable[Gap] = ()) -> None:
        self.gatherer = gatherer
        self.conn = conn
        self._subscriptions: dict[int, Subscription] = {}
        self.gaps = GapTracker()
        self._ticker_times = TickerTimestamps()
        self._handlers: dict[type[Any], Callable[[Any, int], FeedResult]] = {
            DeltaMessage: self._delta,
            SnapshotMessage: self._snapshot,
            TradeMessage: self._trade,
            TickerMessage: self._ticker,
            SubscribedReply: self._subscribed,
            OkReply: self._ok,
            UnsubscribedReply: self._unsubscribed,
            ErrorMessage: self._error,
            InvalidMessage: self._invalid,
        }
        self.gaps.add(carried)

    def handle(self, message: Message, received_at: int) -> FeedResult:
        """Process a message; `received_at` must grow with each call.

        A duplicate yields no row. A delta yields a row even while its book is stale, but is not
        applied before the next snapshot.
        """
        if type(message) is DeltaMessage:
            row = self.apply_delta(message, received_at)
            if row is not None:
                return FeedResult(row)
        return self._handle(message, received_at)

    def apply_delta(self, delta: DeltaMessage, received_at: int) -> OrderbookDelta | None:
        """Apply a delta in the regular case, and return its row; otherwise None, with no effect.

        This is the fast path of `handle` for thousands of deltas per second.
        """
        track = self._apply(delta)
        return None if track is None else self._delta_row(delta, track, received_at)

    def follow(self, message: Message, received_at: int) -> tuple[FeedEvent, ...]:
        """Process a message for its effect on the books only, and return its events."""
        if type(message) is DeltaMessage and self._apply(message) is not None:
            return ()
        return self._handle(message, received_at).events

    def expect(self, sid: int, tickers: Iterable[str], at: int = 0) -> None:
        """Add the markets requested for a subscription: stale until their first snapshot."""
        subscription = self._subscription(sid, BOOKS, at)
        for ticker in tickers:
            subscription.follow(ticker)

    def remove(self, tickers: Iterable[str], at: int) -> tuple[FeedEvent, ...]:
        """Stop following markets, and return the gaps this closes."""
        gone = frozenset(tickers)
        for subscription in self._subscriptions.values():
            for ticker in gone & subscription.markets.keys():
                subscription.unfollow(ticker)
        return self.gaps.resolve(gone, at)

    def unfollow(self, tickers: Iterable[str], at: int) -> tuple[Gap, tuple[FeedEvent, ...]]:
        """Stop following markets; return the gap that begins, and the gaps this closes."""
        gone = frozenset(tickers)
        subscriptions = [
            subscription
            for subscription in self._subscriptions.values()
            if gone & subscription.markets.keys()
        ]
        gap = unfollow_gap(self.conn, subscriptions, gone, at)
        return gap, self.remove(gone, at)

    def end_subscription(self, sid: int, code: int, at: int) -> tuple[FeedEvent, ...]:
        """End a subscription: opens a gap and requests to subscribe again."""
        subscription = self._subscriptions.get(sid)
        if subscription is None or not subscription.alive:
            return ()
        lost = self._open_gap(subscription, GapReason.ENDED, None, at)
        return (*lost, ResubscribeNeeded(sid, subscription.channel, subscription.end(), code))

    def progress(self) -> dict[int, tuple[int, int]]:
        """Return the last sequence number and exchange time of each book subscription."""
        return {
            sid: (subscription.last_seq, subscription.last_ts)
            for sid, subscription in self._subscriptions.items()
            if subscription.alive and subscription.channel == BOOKS
        }

    def mark_suspect(self, ticker: str, at: int) -> tuple[FeedEvent, ...]:
        """Mark a book as suspect after a failed audit: a gap, and a snapshot is needed."""
        return tuple(
            event
            for subscription in self._subscriptions.values()
            if subscription.alive and ticker in subscription.markets
            for event in self._mark_suspect(subscription, ticker, GapReason.AUDIT, at)
        )

    def end(self, at: int) -> tuple[FeedEvent, ...]:
        """End the feed: opens a gap for each live subscription.

        The gaps left open are then carried over to the next feed.
        """
        subscriptions, self._subscriptions = self._subscriptions, {}
        return tuple(
            event
            for subscription in subscriptions.values()
            if subscription.alive
            for event in self._open_gap(subscription, GapReason.DISCONNECTED, None, at)
        )

    def book(self, ticker: str) -> OrderBook | None:
        """Return the book of a market; None while it is stale or not followed."""
        for subscription in self._subscriptions.values():
            track = subscription.markets.get(ticker)
            if track is not None and not track.stale:
                return track.book
        return None

    @property
    def sids(self) -> tuple[int, ...]:
        """The live subscriptions."""
        return tuple(sid for sid, subscription in self._subscriptions.items() if subscription.alive)

    def stale_markets(self, sid: int) -> tuple[str, ...]:
        """Return the markets of a subscription with stale books."""
        subscription = self._subscriptions.get(sid)
        return () if subscription is None else subscription.stale()

    @property
    def stale(self) -> frozenset[str]:
        """The markets with stale books."""
        return frozenset(
            ticker
            for subscription in self._subscriptions.values()
            if subscription.alive
            for ticker in subscription.stale()
        )

    def _subscription(self, sid: int, channel: str, at: int) -> Subscription:
        subscription = self._subscriptions.get(sid)
        if subscription is None:
            subscription = self._subscriptions[sid] = Subscription(sid, channel, at)
        elif not subscription.channel:
            subscription.channel = channel
        return subscription

    def _apply(self, delta: DeltaMessage) -> MarketTrack | None:
        """Apply the next delta of a valid book; None, with no effect, otherwise."""
        try:
            subscription = self._subscriptions[delta.sid]
            track = subscription.markets[delta.ticker]
        except KeyError:
            return None
        seq = delta.seq
        if track.suspect or seq != subscription.last_seq + 1:
            return None
        price = delta.price
        ladder = track.yes if delta.side else track.no
        if not ladder.change(price, delta.size_delta):
            return None
        subscription.last_seq = seq
        subscription.last_message = delta
        if price == ladder.best and track.book.crossed:
            track.mark_crossed(delta.exchange_ts)
        return track

    def _handle(self, message: Message, at: int) -> FeedResult:
        kind = type(message)
        sid, seq = message.sid, message.seq
        if sid is None or (seq is None and kind not in CHANNELS):
            return self._handlers.get(kind, _ignore)(message, at)
        subscription = self._subscription(sid, CHANNELS.get(kind, ""), at)
        if seq is None or seq == subscription.last_seq + 1:
            subscription.last_seq = subscription.last_seq if seq is None else seq
            return self._handlers.get(kind, _ignore)(message, at)
        if seq <= subscription.last_seq:
            return FeedResult(None, (DuplicateDropped(sid, seq),))
        subscription.mark_stale()
        to_ts = message.exchange_ts if isinstance(message, DeltaMessage) else None
        opened = self._open_gap(subscription, GapReason.MISSED, seq, at, to_ts=to_ts)
        subscription.last_seq = seq
        result = self._handlers.get(kind, _ignore)(message, at)
        return FeedResult(result.row, (*opened, *result.events, *_snapshots_needed(subscription)))

    def _open_gap(
        self,
        subscription: Subscription,
        reason: GapReason,
        got_seq: int | None,
        at: int,
        *,
        to_ts: int | None = None,
    ) -> tuple[FeedEvent, ...]:
        gap = subscription.gap(self.conn, reason, subscription.last_seq + 1, at)
        return self.gaps.open(replace(gap, got_seq=got_seq, to_ts=to_ts))

    def _mark_suspect(
        self, subscription: Subscription, ticker: str, reason: GapReason, at: int
    ) -> tuple[FeedEvent, ...]:
        subscription.follow(ticker).mark_stale()
        gap = subscription.gap(self.conn, reason, subscription.last_seq, at)
        gap = replace(gap, got_seq=subscription.last_seq, tickers=frozenset((ticker,)))
        return (*self.gaps.open(gap), SnapshotsNeeded(subscription.sid, (ticker,)))

    def _delta(self, delta: DeltaMessage, at: int) -> FeedResult:
        subscription = self._subscriptions[delta.sid]
        subscription.last_message = delta
        if delta.ticker in subscription.unfollowed:
            return FeedResult(self._delta_row(delta, subscription.unfollowed[delta.ticker], at))
        events: tuple[FeedEvent, ...] = ()
        if delta.ticker not in subscription.markets and subscription.alive:
            events = self._mark_suspect(subscription, delta.ticker, GapReason.UNSEEDED, at)
        track = subscription.follow(delta.ticker)
        if track.was_crossed_before(delta.exchange_ts):
            track.mark_valid()
            if track.book.crossed:
                events = self._mark_suspect(subscription, delta.ticker, GapReason.CROSSED, at)
        if not track.stale and not track.book.apply(delta):
            events = self._mark_suspect(subscription, delta.ticker, GapReason.NEGATIVE, at)
        elif not track.stale and track.book.crossed:
            track.mark_crossed(delta.exchange_ts)
        return FeedResult(self._delta_row(delta, track, at), events)

    def _delta_row(self, delta: DeltaMessage, track: MarketTrack, at: int) -> OrderbookDelta:
        exchange_ts = exchange_time_us(delta.ts_ms, delta.ts)
        if exchange_ts is None:
            exchange_ts = at
        return _row(
            OrderbookDelta,
            (
                exchange_ts,
                at,
                delta.ticker,
                delta.side,
                delta.price,
                delta.size_delta,
                delta.seq,
                delta.sid,
                track.ordinals.number(exchange_ts, delta),
                self.gatherer,
                self.conn,
            ),
        )

    def _snapshot(self, snapshot: SnapshotMessage, at: int) -> FeedResult:
        track = self._subscriptions[snapshot.sid].follow(snapshot.ticker)
        track.book.replace(snapshot)
        track.mark_valid()
        row = book_row(
            snapshot.ticker,
            track.book,
            at,
            source="ws",
            sid=snapshot.sid,
            seq=snapshot.seq,
            gatherer=self.gatherer,
            conn=self.conn,
        )
        return FeedResult(row, self.gaps.resolve(frozenset((snapshot.ticker,)), at))

    def _trade(self, trade: TradeMessage, at: int) -> FeedResult:
        self._subscriptions[trade.sid].last_message = trade
        return FeedResult(trade_row(trade, at, gatherer=self.gatherer, conn=self.conn))

    def _ticker(self, message: TickerMessage, at: int) -> FeedResult:
        exchange_ts = at if message.exchange_ts is None else message.exchange_ts
        exchange_ts = self._ticker_times.assign(message.ticker, exchange_ts)
        return FeedResult(
            ticker_row(message, exchange_ts, at, gatherer=self.gatherer, conn=self.conn)
        )

    def _subscribed(self, message: SubscribedReply, at: int) -> FeedResult:
        self._subscription(message.sid, message.channel, at)
        return _NO_RESULT

    def _ok(self, message: OkReply, at: int) -> FeedResult:
        subscription = self._subscriptions.get(message.sid or 0)
        if subscription is None or message.tickers is None or subscription.channel != BOOKS:
            return _NO_RESULT
        listed = set(message.tickers)
        gone = subscription.markets.keys() - listed
        subscription.keep_unfollowed(listed)
        for ticker in listed - subscription.unfollowed.keys():
            subscription.follow(ticker)
        if not gone:
            return _NO_RESULT
        gap, closed = self.unfollow(gone, at)
        subscription.keep_unfollowed(listed)
        return FeedResult(None, (*closed, *self.gaps.open(gap)))

    def _unsubscribed(self, message: UnsubscribedReply, at: int) -> FeedResult:
        subscription = self._subscriptions.get(message.sid)
        gone = () if subscription is None else subscription.end()
        return FeedResult(None, self.gaps.resolve(frozenset(gone), at))

    def _error(self, message: ErrorMessage, at: int) -> FeedResult:
        if message.sid is None or message.code not in TERMINAL_CODES:
            return _NO_RESULT
        return FeedResult(None, self.end_subscription(message.sid, message.code, at))

    def _invalid(self, message: InvalidMessage, at: int) -> FeedResult:
        subscription = None if message.sid is None else self._subscriptions.get(message.sid)
        if subscription is None or message.seq is None or message.ticker in subscription.unfollowed:
            return _NO_RESULT
        if message.ticker is None or message.ticker not in subscription.markets:
            # The frame can be of any market.
            subscription.mark_stale()
            opened = self._open_gap(subscription, GapReason.REFUSED, subscription.last_seq, at)
            return FeedResult(None, (*opened, *_snapshots_needed(subscription)))
        if self.gaps.is_pending(message.ticker):
            return FeedResult(None, (SnapshotsNeeded(subscription.sid, (message.ticker,)),))
        return FeedResult(
            None, self._mark_suspect(subscription, message.ticker, GapReason.REFUSED, at)
        )


def _snapshots_needed(subscription: Subscription) -> tuple[SnapshotsNeeded, ...]:
    waiting = subscription.stale() if subscription.alive else ()
    return (SnapshotsNeeded(subscription.sid, waiting),) if waiting else ()


def _ignore(message: Message, at: int) -> FeedResult:  # noqa: ARG001 - a handler
    return _NO_RESULT
