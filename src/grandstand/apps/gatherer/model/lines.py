"""Kept here: what a feed knows of one subscription, and of each market in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from msgspec.json import encode

from grandstand.apps.gatherer.model.book import WHOLE, Book
from grandstand.apps.gatherer.model.incidents import Gap, GapReason
from grandstand.apps.gatherer.model.messages import (
    Delta,
    EventTold,
    Levels,
    Lifecycle,
    Snapshot,
    TickerTold,
    TradeTold,
)
from grandstand.apps.gatherer.model.ordinals import Ordinals
from grandstand.apps.gatherer.model.rows import OrderbookSnapshot, Ticker, Trade

BOOKS: Final = "orderbook_delta"
CHANNELS: Final[dict[type[Any], str]] = {
    Delta: BOOKS,
    Snapshot: BOOKS,
    TradeTold: "trade",
    TickerTold: "ticker",
    Lifecycle: "market_lifecycle_v2",
    EventTold: "market_lifecycle_v2",
}
# How far receive time may lie from exchange time: latency, and clocks that differ.
SLACK_US: Final = 2_000_000


class Track:
    """One market on one subscription: its book, and whether that can be trusted.

    A book is `stale` while it waits for a snapshot. It is also `doubtful` when its sides meet,
    which is an error only if they still do at a later instant.
    """

    __slots__ = ("_met_at", "book", "doubtful", "no", "ordinals", "stale", "yes")

    def __init__(self) -> None:
        self.book = Book()
        self.yes = self.book.yes
        self.no = self.book.no
        self.ordinals = Ordinals()
        self.stale = True
        self.doubtful = True
        self._met_at: int | None = None

    def doubt(self) -> None:
        """Trust the book no longer."""
        self.stale = self.doubtful = True
        self._met_at = None

    def trust(self) -> None:
        """Take the book as it is for true."""
        self.stale = self.doubtful = False
        self._met_at = None

    def meet(self, exchange_ts: int | None) -> None:
        """Note the instant at which the sides of the book were first seen to meet."""
        self.doubtful = True
        if self._met_at is None:
            self._met_at = exchange_ts or 0

    def met_before(self, exchange_ts: int | None) -> bool:
        """Say whether the sides met at an instant before this one."""
        return self._met_at is not None and (exchange_ts is None or exchange_ts > self._met_at)


class Line:
    """One subscription: the last number taken, the last delta or trade told, and its markets.

    Markets in `left` are followed no more, though the exchange may still tell of them.
    """

    __slots__ = ("alive", "began_at", "channel", "last", "left", "sid", "told", "tracks")

    def __init__(self, sid: int, channel: str, began_at: int) -> None:
        self.sid = sid
        self.channel = channel
        self.began_at = began_at
        self.last = 0
        self.told: Delta | TradeTold | None = None
        self.alive = True
        self.tracks: dict[str, Track] = {}
        self.left: dict[str, Track] = {}

    @property
    def told_ts(self) -> int:
        """The instant before which nothing is missing that was not found to be.

        It is that of the last delta or trade; before the first, the exchange's clock may be
        behind ours.
        """
        told = None if self.told is None else self.told.exchange_ts
        return self.began_at - SLACK_US if told is None else told

    def follow(self, ticker: str) -> Track:
        """Answer the track of a market, a new and stale one when it had none."""
        track = self.tracks.get(ticker)
        if track is None:
            track = self.left.pop(ticker) if ticker in self.left else Track()
            self.tracks[ticker] = track
            track.doubt()
        return track

    def leave(self, ticker: str) -> None:
        """Follow a market no more; what is still told of it is kept and not applied."""
        track = self.tracks.pop(ticker, None)
        if track is not None:
            self.left[ticker] = track

    def doubt(self) -> None:
        """Trust no book of it any longer."""
        for track in self.tracks.values():
            track.doubt()

    def stale(self) -> tuple[str, ...]:
        """Answer the markets whose books are not to be trusted."""
        return tuple(ticker for ticker, track in self.tracks.items() if track.stale)

    def gap(self, conn: int, reason: GapReason, expected_seq: int, at: int) -> Gap:
        """Answer a gap of all its markets, after the last delta told."""
        return Gap(
            conn=conn,
            sid=self.sid,
            channel=self.channel,
            reason=reason,
            expected_seq=expected_seq,
            got_seq=None,
            detected_at=at,
            tickers=frozenset(self.tracks),
            from_ts=self.told_ts,
        )

    def finish(self) -> tuple[str, ...]:
        """End the subscription; answer the markets it had."""
        self.alive = False
        tickers = tuple(self.tracks)
        self.tracks, self.left = {}, {}
        return tickers


def left(conn: int, lines: Sequence[Line], tickers: frozenset[str], at: int) -> Gap:
    """Answer the gap that begins when markets of these subscriptions are followed no more."""
    return Gap(
        conn=conn,
        sid=lines[0].sid if lines else 0,
        channel=BOOKS,
        reason=GapReason.LEFT,
        expected_seq=lines[0].last + 1 if lines else 0,
        got_seq=None,
        detected_at=at,
        tickers=tickers,
        from_ts=min((line.told_ts for line in lines), default=None),
    )


@dataclass(slots=True)
class Counts:
    """How often something was not as it should be."""

    duplicates: int = 0
    missed: int = 0
    negative: int = 0
    crossed: int = 0
    refused: int = 0
    unknown: int = 0
    unstamped: int = 0


def snapshot_row(
    snapshot: Snapshot, book: Book, received_at: int, *, gatherer: str, conn: int
) -> OrderbookSnapshot:
    """Answer the row of a book that came on a stream; it is taken when it was received."""
    yes, no = book.levels()
    return OrderbookSnapshot(
        snapshot_ts=received_at,
        exchange_ts=None,
        ticker=snapshot.ticker,
        source="ws",
        **level_columns(yes, no),
        best_yes_bid=book.best_yes_bid,
        best_yes_ask=book.best_yes_ask,
        spread=book.spread,
        sid=snapshot.sid,
        seq=snapshot.seq,
        gatherer=gatherer,
        conn=conn,
    )


def trade_row(
    trade: TradeTold, exchange_ts: int, received_at: int, *, gatherer: str, conn: int
) -> Trade:
    """Answer the row of a trade."""
    return Trade(
        trade_id=trade.trade_id,
        exchange_ts=exchange_ts,
        received_at=received_at,
        ticker=trade.ticker,
        price=trade.price,
        size=trade.size,
        taker_side=trade.taker_side,
        sid=trade.sid,
        is_block=trade.is_block,
        gatherer=gatherer,
        conn=conn,
    )


def ticker_row(
    told: TickerTold, exchange_ts: int, received_at: int, *, gatherer: str, conn: int
) -> Ticker:
    """Answer the row of a market's summary."""
    return Ticker(
        exchange_ts=exchange_ts,
        received_at=received_at,
        ticker=told.ticker,
        yes_bid=told.yes_bid,
        yes_ask=told.yes_ask,
        last_price=told.last_price,
        volume=told.volume,
        open_interest=told.open_interest,
        dollar_volume=told.dollar_volume,
        dollar_open_interest=told.dollar_open_interest,
        sid=told.sid,
        gatherer=gatherer,
        conn=conn,
    )


def level_columns(yes: Levels, no: Levels) -> dict[str, str]:
    """Answer the four columns of levels as JSON, each from its lowest price; asks are mirrored."""
    return {
        "yes_bids": _text(yes),
        "yes_asks": _text(_mirrored(no)),
        "no_bids": _text(no),
        "no_asks": _text(_mirrored(yes)),
    }


def _mirrored(levels: Levels) -> Levels:
    return tuple((WHOLE - price, size) for price, size in reversed(levels))


def _text(levels: Levels) -> str:
    return encode(levels).decode()
