"""State of a subscription and its markets within a feed."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Sequence
from typing import Any, Final, Literal, TypeAlias

from msgspec.json import encode

from grandstand.apps.gatherer.domain.feed_events import Gap, GapReason
from grandstand.apps.gatherer.domain.messages import (
    DeltaMessage,
    EventMessage,
    Levels,
    LifecycleMessage,
    SnapshotMessage,
    TickerMessage,
    TradeMessage,
)
from grandstand.apps.gatherer.domain.order_book import DOLLAR, OrderBook
from grandstand.apps.gatherer.domain.rows import OrderbookSnapshot, Ticker, Trade

_MAX_INSTANTS: Final = 16
_Change: TypeAlias = tuple[bool, int, int]


class DeltaOrdinals:
    """Numbers identical deltas of one market at the same instant.

    Time moves forward on a stream, so only the current instant is kept in full; a few earlier ones
    are kept in case the clock steps back.
    """

    __slots__ = ("_counts", "_past", "_recent", "instant")

    def __init__(self) -> None:
        self.instant = -1
        self._recent: deque[DeltaMessage] = deque(maxlen=_MAX_INSTANTS)
        self._counts: dict[_Change, int] | None = None
        self._past: dict[int, dict[_Change, int]] = {}

    def number(self, exchange_ts: int, delta: DeltaMessage) -> int:
        """Return the number of identical deltas seen before at this instant."""
        if exchange_ts > self.instant:
            if self._counts is not None:
                self._remember(self.instant, self._counts)
                self._counts = None
            self.instant = exchange_ts
            self._recent.append(delta)
            return 0
        if exchange_ts < self.instant:
            counts = self._past_counts(exchange_ts)
        elif self._counts is None:
            counts = self._counts = self._count_recent(exchange_ts)
        else:
            counts = self._counts
        change = (delta.side, delta.price, delta.size_delta)
        before = counts.get(change, 0)
        counts[change] = before + 1
        return before

    def _past_counts(self, exchange_ts: int) -> dict[_Change, int]:
        counts = self._past.get(exchange_ts)
        if counts is None:
            counts = self._count_recent(exchange_ts)
            self._remember(exchange_ts, counts)
        return counts

    def _count_recent(self, exchange_ts: int) -> dict[_Change, int]:
        return {
            (delta.side, delta.price, delta.size_delta): 1
            for delta in self._recent
            if delta.exchange_ts == exchange_ts
        }

    def _remember(self, exchange_ts: int, counts: dict[_Change, int]) -> None:
        self._past[exchange_ts] = counts
        if len(self._past) > _MAX_INSTANTS:
            del self._past[next(iter(self._past))]


class TickerTimestamps:
    """Gives tickers of the same market and millisecond distinct timestamps.

    Two generations of a fixed size are kept, however many markets there are.
    """

    __slots__ = ("_new", "_old")

    def __init__(self) -> None:
        self._new: dict[tuple[str, int], int] = {}
        self._old: dict[tuple[str, int], int] = {}

    def assign(self, ticker: str, exchange_ts: int) -> int:
        """Return the timestamp to store, within the same millisecond."""
        start = exchange_ts - exchange_ts % 1000
        key = (ticker, start)
        last = self._new.get(key, self._old.get(key))
        at = exchange_ts if last is None else max(exchange_ts, last + 1)
        at = min(at, start + 999)
        if len(self._new) >= 65_536:
            self._old, self._new = self._new, {}
        self._new[key] = at
        return at


class MonotonicClock:
    """Strictly growing receive stamps, whatever the system clock does; one per process."""

    __slots__ = ("last",)

    def __init__(self, last: int = 0) -> None:
        self.last = last

    def next(self, now_us: int) -> int:
        """Return the current time, or one microsecond after the last stamp if that is later."""
        last = self.last + 1
        self.last = stamp = now_us if now_us > last else last  # noqa: FURB136 - for every frame
        return stamp


Channel: TypeAlias = Literal["orderbook_delta", "ticker", "trade", "market_lifecycle_v2"]

BOOKS: Final[Channel] = "orderbook_delta"
TRADES: Final[Channel] = "trade"
TICKERS: Final[Channel] = "ticker"
LIFECYCLE: Final[Channel] = "market_lifecycle_v2"
CHANNELS: Final[dict[type[Any], str]] = {
    DeltaMessage: BOOKS,
    SnapshotMessage: BOOKS,
    TradeMessage: TRADES,
    TickerMessage: TICKERS,
    LifecycleMessage: LIFECYCLE,
    EventMessage: LIFECYCLE,
}
# Errors with these codes end a subscription.
TERMINAL_CODES: Final = frozenset({10, 17, 25})
# How far receive time can differ from exchange time: latency, and clock differences.
CLOCK_SLACK_US: Final = 2_000_000


class MarketTrack:
    """One market of a subscription: its book, and whether it is valid.

    A book is `stale` while it needs a snapshot. It is `suspect` too when its sides cross, which is
    an error only if they still cross at a later instant.
    """

    __slots__ = ("_crossed_at", "book", "no", "ordinals", "stale", "suspect", "yes")

    def __init__(self) -> None:
        self.book = OrderBook()
        self.yes = self.book.yes
        self.no = self.book.no
        self.ordinals = DeltaOrdinals()
        self.stale = True
        self.suspect = True
        self._crossed_at: int | None = None

    def mark_stale(self) -> None:
        self.stale = self.suspect = True
        self._crossed_at = None

    def mark_valid(self) -> None:
        self.stale = self.suspect = False
        self._crossed_at = None

    def mark_crossed(self, exchange_ts: int | None) -> None:
        """Record the instant at which the sides first crossed."""
        self.suspect = True
        if self._crossed_at is None:
            self._crossed_at = exchange_ts or 0

    def was_crossed_before(self, exchange_ts: int | None) -> bool:
        """Return whether the sides crossed at an earlier instant."""
        return self._crossed_at is not None and (
            exchange_ts is None or exchange_ts > self._crossed_at
        )


class Subscription:
    """One subscription: the last sequence number, the last delta or trade, and its markets.

    Markets in `unfollowed` may still receive messages.
    """

    __slots__ = (
        "alive",
        "channel",
        "last_message",
        "last_seq",
        "markets",
        "sid",
        "started_at",
        "unfollowed",
    )

    def __init__(self, sid: int, channel: str, started_at: int) -> None:
        self.sid = sid
        self.channel = channel
        self.started_at = started_at
        self.last_seq = 0
        self.last_message: DeltaMessage | TradeMessage | None = None
        self.alive = True
        self.markets: dict[str, MarketTrack] = {}
        self.unfollowed: dict[str, MarketTrack] = {}

    @property
    def last_ts(self) -> int:
        """The exchange time of the last delta or trade.

        Before the first, the start of the subscription less the clock slack.
        """
        last_message = None if self.last_message is None else self.last_message.exchange_ts
        return self.started_at - CLOCK_SLACK_US if last_message is None else last_message

    def follow(self, ticker: str) -> MarketTrack:
        """Return a market, adding it as stale if it is new."""
        track = self.markets.get(ticker)
        if track is None:
            track = self.unfollowed.pop(ticker) if ticker in self.unfollowed else MarketTrack()
            self.markets[ticker] = track
            track.mark_stale()
        return track

    def unfollow(self, ticker: str) -> None:
        """Stop following a market; later deltas are recorded but not applied."""
        track = self.markets.pop(ticker, None)
        if track is not None:
            self.unfollowed[ticker] = track

    def keep_unfollowed(self, tickers: Collection[str]) -> None:
        """Forget all unfollowed markets but these: no more messages of the others will come."""
        self.unfollowed = {
            ticker: track for ticker, track in self.unfollowed.items() if ticker in tickers
        }

    def mark_stale(self) -> None:
        """Mark all books as stale."""
        for track in self.markets.values():
            track.mark_stale()

    def stale(self) -> tuple[str, ...]:
        """Return the markets with stale books."""
        return tuple(ticker for ticker, track in self.markets.items() if track.stale)

    def gap(self, conn: int, reason: GapReason, expected_seq: int, at: int) -> Gap:
        """Return a gap of all its markets, from the last message on."""
        return Gap(
            conn=conn,
            sid=self.sid,
            channel=self.channel,
            reason=reason,
            expected_seq=expected_seq,
            got_seq=None,
            detected_at=at,
            tickers=frozenset(self.markets),
            from_ts=self.last_ts,
        )

    def end(self) -> tuple[str, ...]:
        """End the subscription, and return its markets."""
        self.alive = False
        tickers = tuple(self.markets)
        self.markets, self.unfollowed = {}, {}
        return tickers


def unfollow_gap(
    conn: int, subscriptions: Sequence[Subscription], tickers: frozenset[str], at: int
) -> Gap:
    """Return the gap that begins when markets are no longer followed."""
    return Gap(
        conn=conn,
        sid=subscriptions[0].sid if subscriptions else 0,
        channel=BOOKS,
        reason=GapReason.LEFT,
        expected_seq=subscriptions[0].last_seq + 1 if subscriptions else 0,
        got_seq=None,
        detected_at=at,
        tickers=tickers,
        from_ts=min((subscription.last_ts for subscription in subscriptions), default=None),
    )


def book_row(
    ticker: str,
    book: OrderBook,
    at: int,
    *,
    source: str,
    sid: int | None = None,
    seq: int | None = None,
    gatherer: str | None = None,
    conn: int | None = None,
) -> OrderbookSnapshot:
    """Return the row of a book, with levels as JSON, lowest price first; asks are mirrored bids."""
    yes, no = book.levels()
    return OrderbookSnapshot(
        snapshot_ts=at,
        exchange_ts=None,
        ticker=ticker,
        source=source,
        yes_bids=_encode(yes),
        yes_asks=_encode(_to_asks(no)),
        no_bids=_encode(no),
        no_asks=_encode(_to_asks(yes)),
        best_yes_bid=book.best_yes_bid,
        best_yes_ask=book.best_yes_ask,
        spread=book.spread,
        sid=sid,
        seq=seq,
        gatherer=gatherer,
        conn=conn,
    )


def trade_row(
    trade: TradeMessage, received_at: int, *, gatherer: str, conn: int | None = None
) -> Trade:
    return Trade(
        trade_id=trade.trade_id,
        exchange_ts=received_at if trade.exchange_ts is None else trade.exchange_ts,
        received_at=received_at,
        ticker=trade.ticker,
        price=trade.price,
        size=trade.size,
        taker_side=trade.taker_side,
        sid=None if conn is None else trade.sid,
        is_block=trade.is_block,
        gatherer=gatherer,
        conn=conn,
    )


def ticker_row(
    message: TickerMessage, exchange_ts: int, received_at: int, *, gatherer: str, conn: int
) -> Ticker:
    return Ticker(
        exchange_ts=exchange_ts,
        received_at=received_at,
        ticker=message.ticker,
        yes_bid=message.yes_bid,
        yes_ask=message.yes_ask,
        last_price=message.last_price,
        volume=message.volume,
        open_interest=message.open_interest,
        dollar_volume=message.dollar_volume,
        dollar_open_interest=message.dollar_open_interest,
        sid=message.sid,
        gatherer=gatherer,
        conn=conn,
    )


def _to_asks(levels: Levels) -> Levels:
    return tuple((DOLLAR - price, size) for price, size in reversed(levels))


def _encode(levels: Levels) -> str:
    return encode(levels).decode()
