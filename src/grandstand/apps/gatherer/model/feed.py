"""Kept here: one connection to the exchange, from its first frame to its end: order and books."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from msgspec.structs import replace

from grandstand.apps.gatherer.model.book import Book
from grandstand.apps.gatherer.model.gaps import OpenGaps
from grandstand.apps.gatherer.model.incidents import (
    DuplicateDropped,
    Gap,
    GapReason,
    Incident,
    Outcome,
    Resubscribe,
    SnapshotsWanted,
)
from grandstand.apps.gatherer.model.lines import (
    BOOKS,
    CHANNELS,
    Counts,
    Line,
    Track,
    left,
    snapshot_row,
    ticker_row,
    trade_row,
)
from grandstand.apps.gatherer.model.messages import (
    Delta,
    ErrorTold,
    Message,
    Ok,
    Refused,
    Snapshot,
    Subscribed,
    TickerTold,
    TradeTold,
    Unknown,
    Unsubscribed,
    instant,
)
from grandstand.apps.gatherer.model.ordinals import Repeats
from grandstand.apps.gatherer.model.rows import OrderbookDelta

_TERMINAL: Final = frozenset({10, 17, 25})
_NOTHING: Final = Outcome()
_row: Final = tuple.__new__


class Feed:
    """One connection epoch: the sequence of each subscription and the book of each market.

    A reconnect begins a new feed. Gaps left open by the feed before are carried into it, and
    closed by its snapshots.
    """

    def __init__(self, *, gatherer: str, conn: int, carried: Iterable[Gap] = ()) -> None:
        self.gatherer = gatherer
        self.conn = conn
        self.counts = Counts()
        self._lines: dict[int, Line] = {}
        self._gaps = OpenGaps()
        self._repeats = Repeats()
        self._ways: dict[type[Any], Callable[[Any, int], Outcome]] = {
            Delta: self._delta,
            Snapshot: self._snapshot,
            TradeTold: self._trade,
            TickerTold: self._ticker,
            Subscribed: self._subscribed,
            Ok: self._ok,
            Unsubscribed: self._unsubscribed,
            ErrorTold: self._error,
            Unknown: self._unknown,
            Refused: self._refused,
        }
        self._gaps.carry(carried)

    def take(self, message: Message, received_at: int) -> Outcome:
        """Answer what follows from a message; `received_at` must grow with each call.

        A duplicate yields no row. A delta is a row even while its book is stale: it is kept,
        and not applied until a snapshot came.
        """
        if type(message) is Delta:
            row = self.delta(message, received_at)
            if row is not None:
                return Outcome(row)
        return self._take(message, received_at)

    def delta(self, delta: Delta, received_at: int) -> OrderbookDelta | None:
        """Answer the row of a delta after which all is well; None, and nothing done, otherwise.

        What `take` does with most frames, for those who have thousands of them a second.
        """
        track = self._applied(delta)
        return None if track is None else self._delta_row(delta, track, received_at)

    def follow(self, message: Message, received_at: int) -> tuple[Incident, ...]:
        """Take a message for the sake of the books alone; answer what else happened."""
        if type(message) is Delta and self._applied(message) is not None:
            return ()
        return self._take(message, received_at).incidents

    def expect(self, sid: int, tickers: Iterable[str], at: int = 0) -> None:
        """Note the markets asked for under a sid: stale until their first snapshot."""
        line = self._line(sid, BOOKS, at)
        for ticker in tickers:
            line.follow(ticker)

    def forget(self, tickers: Iterable[str], at: int) -> tuple[Incident, ...]:
        """Follow these markets no longer; answer the gaps that closes."""
        gone = frozenset(tickers)
        for line in self._lines.values():
            for ticker in gone & line.tracks.keys():
                line.leave(ticker)
        return self._gaps.settle(gone, at)

    def dismiss(self, tickers: Iterable[str], at: int) -> tuple[Gap, tuple[Incident, ...]]:
        """Follow these markets no longer: answer the gap that begins, and those that closes."""
        gone = frozenset(tickers)
        lines = [line for line in self._lines.values() if gone & line.tracks.keys()]
        gap = left(self.conn, lines, gone, at)
        return gap, self.forget(gone, at)

    def lapse(self, sid: int, code: int, at: int) -> tuple[Incident, ...]:
        """Take the word that a subscription is over: a gap, and it is to be asked for anew."""
        line = self._lines.get(sid)
        if line is None or not line.alive:
            return ()
        lost = self._lost(line, GapReason.ENDED, None, at)
        return (*lost, Resubscribe(sid, line.channel, line.finish(), code))

    def progress(self) -> dict[int, tuple[int, int]]:
        """Answer the last number and the instant of the last delta of each living sid of books."""
        lines = (line for line in self._lines.values() if line.alive and line.channel == BOOKS)
        return {line.sid: (line.last, line.told_ts) for line in lines}

    def carry(self, gaps: Iterable[Gap]) -> None:
        """Take over gaps of another feed, whose markets are now followed here."""
        self._gaps.carry(gaps)

    def close(self, gap: Gap, at: int) -> tuple[Incident, ...]:
        """Close a gap that was healed by other means, such as trades that were fetched."""
        return self._gaps.close(gap, at)

    def distrust(self, ticker: str, at: int) -> tuple[Incident, ...]:
        """Doubt a book, as after an audit that differs: stale, a gap, a snapshot wanted."""
        return tuple(
            incident
            for line in self._lines.values()
            if line.alive and ticker in line.tracks
            for incident in self._doubt(line, ticker, GapReason.AUDIT, at)
        )

    def end(self, at: int) -> tuple[Incident, ...]:
        """End with the connection: open a gap for each subscription that lived.

        `open_gaps` are then what the next feed carries.
        """
        living = [line for line in self._lines.values() if line.alive]
        self._lines = {}
        lost = [self._lost(line, GapReason.DISCONNECTED, None, at) for line in living]
        return tuple(incident for each in lost for incident in each)

    def book(self, ticker: str) -> Book | None:
        """Answer the true book of a market; None while it is stale or not followed."""
        for line in self._lines.values():
            track = line.tracks.get(ticker)
            if track is not None and not track.stale:
                return track.book
        return None

    def tickers(self, sid: int) -> tuple[str, ...]:
        """Answer the markets of a subscription."""
        line = self._lines.get(sid)
        return () if line is None else tuple(line.tracks)

    @property
    def sids(self) -> tuple[int, ...]:
        """The subscriptions that live."""
        return tuple(sid for sid, line in self._lines.items() if line.alive)

    def stale_of(self, sid: int) -> tuple[str, ...]:
        """Answer the markets of a subscription whose book is not to be trusted now."""
        line = self._lines.get(sid)
        return () if line is None else line.stale()

    @property
    def stale(self) -> frozenset[str]:
        """The markets whose book is not to be trusted now."""
        return frozenset(
            ticker for line in self._lines.values() if line.alive for ticker in line.stale()
        )

    @property
    def open_gaps(self) -> tuple[Gap, ...]:
        """The gaps that are not closed, each with the markets that still wait."""
        return self._gaps.left()

    def _line(self, sid: int, channel: str, at: int) -> Line:
        line = self._lines.get(sid)
        if line is None:
            line = self._lines[sid] = Line(sid, channel, at)
        elif not line.channel:
            line.channel = channel
        return line

    def _applied(self, delta: Delta) -> Track | None:
        """Apply a delta that is next in line, to a book that is true; None, undone, otherwise."""
        try:
            line = self._lines[delta.sid]
            track = line.tracks[delta.ticker]
        except KeyError:
            return None
        seq = delta.seq
        if track.doubtful or seq != line.last + 1:
            return None
        price = delta.price
        ladder = track.yes if delta.side else track.no
        if not ladder.change(price, delta.size_delta):
            return None
        line.last = seq
        line.told = delta
        if price == ladder.best and track.book.crossed:
            track.meet(delta.exchange_ts)
        return track

    def _take(self, message: Message, at: int) -> Outcome:
        kind = type(message)
        sid, seq = message.sid, message.seq
        if sid is None or (seq is None and kind not in CHANNELS):
            return self._ways.get(kind, _nothing)(message, at)
        line = self._line(sid, CHANNELS.get(kind, ""), at)
        if seq is None or seq == line.last + 1:
            line.last = line.last if seq is None else seq
            return self._ways.get(kind, _nothing)(message, at)
        if seq <= line.last:
            self.counts.duplicates += 1
            return Outcome(None, (DuplicateDropped(sid, seq),))
        opened = self._missed(line, message, seq, at)
        line.last = seq
        outcome = self._ways.get(kind, _nothing)(message, at)
        return Outcome(outcome.row, (*opened, *outcome.incidents, *_wanted(line)))

    def _missed(self, line: Line, message: Message, seq: int, at: int) -> tuple[Incident, ...]:
        self.counts.missed += seq - line.last - 1
        line.doubt()
        to_ts = message.exchange_ts if isinstance(message, Delta) else None
        return self._lost(line, GapReason.MISSED, seq, at, to_ts=to_ts)

    def _lost(
        self,
        line: Line,
        reason: GapReason,
        got_seq: int | None,
        at: int,
        *,
        to_ts: int | None = None,
    ) -> tuple[Incident, ...]:
        gap = line.gap(self.conn, reason, line.last + 1, at)
        return self._gaps.open(replace(gap, got_seq=got_seq, to_ts=to_ts))

    def _doubt(self, line: Line, ticker: str, reason: GapReason, at: int) -> tuple[Incident, ...]:
        line.follow(ticker).doubt()
        gap = line.gap(self.conn, reason, line.last, at)
        gap = replace(gap, got_seq=line.last, tickers=frozenset((ticker,)))
        return (*self._gaps.open(gap), SnapshotsWanted(line.sid, (ticker,)))

    def _delta(self, delta: Delta, at: int) -> Outcome:
        line = self._lines[delta.sid]
        line.told = delta
        if delta.ticker in line.left:
            return Outcome(self._delta_row(delta, line.left[delta.ticker], at))
        incidents: tuple[Incident, ...] = ()
        if delta.ticker not in line.tracks and line.alive:
            incidents = self._doubt(line, delta.ticker, GapReason.UNSEEDED, at)
        track = line.follow(delta.ticker)
        if track.met_before(delta.exchange_ts):
            track.trust()
            if track.book.crossed:
                self.counts.crossed += 1
                incidents = self._doubt(line, delta.ticker, GapReason.CROSSED, at)
        if not track.stale and not track.book.apply(delta):
            self.counts.negative += 1
            incidents = self._doubt(line, delta.ticker, GapReason.NEGATIVE, at)
        elif not track.stale and track.book.crossed:
            track.meet(delta.exchange_ts)
        return Outcome(self._delta_row(delta, track, at), incidents)

    def _delta_row(self, delta: Delta, track: Track, at: int) -> OrderbookDelta:
        exchange_ts = instant(delta.ts_ms, delta.ts)
        if exchange_ts is None:
            exchange_ts = self._instant(None, at)
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

    def _snapshot(self, snapshot: Snapshot, at: int) -> Outcome:
        track = self._lines[snapshot.sid].follow(snapshot.ticker)
        track.book.replace(snapshot)
        track.trust()
        row = snapshot_row(snapshot, track.book, at, gatherer=self.gatherer, conn=self.conn)
        return Outcome(row, self._gaps.settle(frozenset((snapshot.ticker,)), at))

    def _trade(self, trade: TradeTold, at: int) -> Outcome:
        self._lines[trade.sid].told = trade
        exchange_ts = self._instant(trade.exchange_ts, at)
        return Outcome(trade_row(trade, exchange_ts, at, gatherer=self.gatherer, conn=self.conn))

    def _ticker(self, told: TickerTold, at: int) -> Outcome:
        exchange_ts = self._repeats.place(told.ticker, self._instant(told.exchange_ts, at))
        return Outcome(ticker_row(told, exchange_ts, at, gatherer=self.gatherer, conn=self.conn))

    def _instant(self, exchange_ts: int | None, at: int) -> int:
        if exchange_ts is not None:
            return exchange_ts
        self.counts.unstamped += 1
        return at

    def _subscribed(self, told: Subscribed, at: int) -> Outcome:
        self._line(told.sid, told.channel, at)
        return _NOTHING

    def _ok(self, told: Ok, at: int) -> Outcome:
        line = self._lines.get(told.sid or 0)
        if line is None or told.tickers is None or line.channel != BOOKS:
            return _NOTHING
        listed = set(told.tickers)
        gone = line.tracks.keys() - listed
        line.left = {ticker: track for ticker, track in line.left.items() if ticker in listed}
        for ticker in listed - line.left.keys():
            line.follow(ticker)
        if not gone:
            return _NOTHING
        gap, closed = self.dismiss(gone, at)
        line.left = {ticker: track for ticker, track in line.left.items() if ticker in listed}
        return Outcome(None, (*closed, *self._gaps.open(gap)))

    def _unsubscribed(self, told: Unsubscribed, at: int) -> Outcome:
        line = self._lines.get(told.sid)
        gone = () if line is None else line.finish()
        return Outcome(None, self._gaps.settle(frozenset(gone), at))

    def _error(self, told: ErrorTold, at: int) -> Outcome:
        if told.sid is None or told.code not in _TERMINAL:
            return _NOTHING
        return Outcome(None, self.lapse(told.sid, told.code, at))

    def _unknown(self, told: Unknown, at: int) -> Outcome:  # noqa: ARG002 - as every way
        self.counts.unknown += 1
        return _NOTHING

    def _refused(self, told: Refused, at: int) -> Outcome:
        self.counts.refused += 1
        line = None if told.sid is None else self._lines.get(told.sid)
        if line is None or told.seq is None or told.ticker in line.left:
            return _NOTHING
        if told.ticker is None or told.ticker not in line.tracks:
            return self._refused_of_any(line, at)
        if self._gaps.cover(told.ticker):
            return Outcome(None, (SnapshotsWanted(line.sid, (told.ticker,)),))
        return Outcome(None, self._doubt(line, told.ticker, GapReason.REFUSED, at))

    def _refused_of_any(self, line: Line, at: int) -> Outcome:
        """Doubt every market of a subscription: which one the frame was about is not known."""
        line.doubt()
        opened = self._lost(line, GapReason.REFUSED, line.last, at)
        return Outcome(None, (*opened, *_wanted(line)))


def _wanted(line: Line) -> tuple[SnapshotsWanted, ...]:
    waiting = line.stale() if line.alive else ()
    return (SnapshotsWanted(line.sid, waiting),) if waiting else ()


def _nothing(message: Message, at: int) -> Outcome:  # noqa: ARG001 - as every way
    return _NOTHING
