"""Kept here: one connection that records: its frames into rows, its markets kept subscribed."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

from grandstand.apps.gatherer import store
from grandstand.apps.gatherer.model.feed import Feed
from grandstand.apps.gatherer.model.incidents import (
    BackfillWanted,
    DuplicateDropped,
    Gap,
    GapClosed,
    GapOpened,
    GapReason,
    Incident,
    Resubscribe,
    SnapshotsWanted,
)
from grandstand.apps.gatherer.model.messages import (
    Delta,
    ErrorTold,
    EventTold,
    Lifecycle,
    Message,
    Ok,
    Refused,
    Snapshot,
    Subscribed,
    Unknown,
    Unsubscribed,
)
from grandstand.apps.gatherer.model.rows import OrderbookDelta, OrderbookSnapshot
from grandstand.apps.gatherer.service.recording.figures import Figures
from grandstand.apps.gatherer.service.recording.gaps import gap_row
from grandstand.apps.gatherer.service.recording.proving import Proof
from grandstand.apps.gatherer.service.recording.writing import BATCH_ROWS, Writer
from grandstand.apps.gatherer.sources.kalshi.commands import BOOKS, LIFECYCLE, TICKERS, TRADES
from grandstand.apps.gatherer.sources.kalshi.stream import Heard, Lost, Opened, Stream
from grandstand.apps.gatherer.sources.kalshi.subscriptions import Subscriptions, terminal
from grandstand.apps.gatherer.store.keyframes import Rhythm, keyframe
from grandstand.base.clock import Clock
from grandstand.base.log import log

_STEP_SECONDS: Final = 0.25
_STALE_SECONDS: Final = 2.0
_TURN: Final = 256
_REASON_CHARS: Final = 200
_FILLED: Final = frozenset({TRADES, TICKERS, LIFECYCLE})


@dataclass(frozen=True, slots=True)
class Ears:
    """Who else hears of what a connection finds."""

    lifecycle: Callable[[Lifecycle | EventTold, int, int], None]
    backfill: Callable[[Gap], None]
    gap: Callable[[Gap, int | None], None]
    wants: Callable[[str], bool] = field(default=lambda _ticker: True)


class Connection:
    """A connection, the feed of its present epoch, and the subscriptions it is to have.

    `run` reads without end; `tend` sends commands and ends a connection that has gone silent.
    """

    def __init__(
        self,
        number: int,
        stream: Stream,
        subscriptions: Subscriptions,
        *,
        gatherer: str,
        writer: Writer,
        figures: Figures,
        ears: Ears,
        clock: Clock,
        silence_seconds: float = 60.0,
        keyframe_deltas: int = 1000,
    ) -> None:
        self.number = number
        self.stream = stream
        self.subscriptions = subscriptions
        self.conn: int | None = None
        self.heard_at = 0
        self.frames = self.bytes = 0
        self.carried: tuple[Gap, ...] = ()
        self.feed = Feed(gatherer=gatherer, conn=0)
        self.lost: str | None = None
        self._gatherer = gatherer
        self._writer = writer
        self._figures = figures
        self._ears = ears
        self._clock = clock
        self._silence_seconds = silence_seconds
        self._rhythm = Rhythm(keyframe_deltas)
        # Bound once: they are called for every frame.
        self._changed = self._rhythm.changed
        self._feed_delta = self.feed.delta
        self._put_delta = writer.deltas.append
        self._tape = writer.tape
        self._kick = asyncio.Event()
        self._heard_moment, self._stale_moment, self._seen_frames = 0.0, 0.0, -1
        self._hopeless = False
        self._proof = Proof()
        self._log = log("gatherer", connection=str(number))

    async def run(self) -> None:
        """Read until the stream is closed; raise KeyRefused when the exchange refuses us."""
        writer, take = self._writer, self._take
        deltas = writer.deltas
        async for event in self.stream:
            if type(event) is Heard:
                take(event)
                if len(deltas) >= BATCH_ROWS:
                    await writer.flush()
                if not self.frames % _TURN:
                    # Frames that wait in the socket are read without a pause: others get theirs.
                    await asyncio.sleep(0)
            elif type(event) is Opened:
                self._begin(event.conn)
            elif type(event) is Lost:
                self._end(event)

    async def tend(self) -> None:
        """Send what is due and look after the connection, without end."""
        while True:
            with contextlib.suppress(TimeoutError):
                # Not wait_for: before Python 3.12 it may take a cancellation for an answer.
                async with asyncio.timeout(_STEP_SECONDS):
                    await self._kick.wait()
            self._kick.clear()
            await self._send_due()
            await self._look_after()

    def follow(self, markets: Iterable[str], since: Iterable[Gap] = ()) -> None:
        """Follow more markets; gaps say since when they are not followed."""
        if self.conn is None:
            self.carried = (*self.carried, *since)
        else:
            self.feed.carry(since)
        self.subscriptions.want(markets)
        self._kick.set()

    def leave(self, market: str, at: int) -> Gap:
        """Follow a market no more; answer the gap that begins, which is kept."""
        self.subscriptions.leave((market,))
        gap, closed = self.feed.dismiss((market,), at)
        self._tell((GapOpened(gap), *closed))
        self._kick.set()
        return gap

    def mark(self, at: int) -> None:
        """Note how far each subscription is, for `proven` a moment later."""
        self._proof.mark(at, self.feed.progress())

    def proven(self, at: int) -> int:
        """Answer up to which moment, at most this one, nothing is missing that no gap tells of.

        Subscriptions that are quiet are asked for a sign.
        """
        if self.conn is None:
            return at
        proven, quiet = self._proof.proven(self.feed.progress())
        self.prove(quiet)
        return min(proven, at)

    def told(self, at: int) -> bool:
        """Tell whether every subscription has told of a change not before an instant."""
        return all(told_ts >= at for _, told_ts in self.feed.progress().values())

    @property
    def proving(self) -> bool:
        """Whether such a sign is waited for, and can come."""
        return self.conn is not None and self.subscriptions.proving

    def prove(self, sids: Iterable[int]) -> None:
        """Ask subscriptions for a sign that nothing before it is missing."""
        self.subscriptions.prove(sids)
        self._kick.set()

    def distrust(self, ticker: str, at: int) -> None:
        """Doubt a book: it is asked for again, and a gap says since when."""
        self._tell(self.feed.distrust(ticker, at))

    def close_gap(self, gap: Gap, at: int) -> None:
        """Close a gap of which what was missed has been fetched."""
        self._tell(self.feed.close(gap, at))
        self.carried = tuple(
            kept
            for kept in self.carried
            if (kept.conn, kept.sid, kept.detected_at) != (gap.conn, gap.sid, gap.detected_at)
        )

    def stopped(self, *, proven: bool) -> None:
        """Note that the connection ended because recording did; the next start tells the gap."""
        if self.conn is not None:
            if not proven:
                self._tell(self.feed.end(self.heard_at))
            self._note("closed", "stopped")
            self.conn = None

    def keyframes(self, at: int) -> None:
        """Keep the books that are due by the time."""
        for ticker in self._rhythm.due(at):
            self._keyframe(ticker, at, None, None)

    def _take(self, event: Heard) -> None:
        raw, message, at = event
        self.frames += 1
        self.heard_at = at
        self.bytes += len(raw)
        if self._tape is not None:
            self._tape.keep(at, self.conn or 0, raw)
        if type(message) is Delta:
            delta = self._feed_delta(message, at)
            if delta is not None:
                self._put_delta(delta)
                if self._changed(message.ticker):
                    self._keyframe(message.ticker, at, delta.exchange_ts, message.sid)
                return
        self._take_any(message, at)

    def _take_any(self, message: Message, at: int) -> None:
        outcome = self.feed.take(message, at)
        row = outcome.row
        if type(row) is OrderbookDelta:
            self._put_delta(row)
            if self._changed(row.ticker):
                self._keyframe(row.ticker, at, row.exchange_ts, row.sid)
        elif row is None:
            self._control(message, at)
        elif type(row) is OrderbookSnapshot:
            self._writer.put[OrderbookSnapshot](row)
            self._rhythm.taken(row.ticker)
        elif self._ears.wants(row.ticker):
            self._writer.put[type(row)](row)
        if outcome.incidents:
            self._tell(outcome.incidents)
        if type(message) is Snapshot and message.id is not None:
            self.subscriptions.acknowledged(message.id)

    def _control(self, message: Message, at: int) -> None:
        subscriptions = self.subscriptions
        match message:
            case Subscribed(id=int(command_id), channel=channel, sid=sid):
                subscriptions.subscribed(command_id, channel, sid)
                if channel == BOOKS:
                    self.feed.expect(sid, subscriptions.sids.get(sid, ()), at)
            case Ok(id=int(command_id), sid=sid, tickers=listed):
                subscriptions.acknowledged(command_id)
                if sid is not None:
                    subscriptions.lost(sid, listed)
                    self.feed.expect(sid, subscriptions.sids.get(sid, ()), at)
            case Unsubscribed(id=int(command_id)):
                subscriptions.acknowledged(command_id)
            case ErrorTold():
                self._failed(message, at)
            case Lifecycle() | EventTold():
                self._ears.lifecycle(message, at, self.conn or 0)
            case Refused():
                self._figures.refused += 1
            case Unknown():
                self._figures.unknown += 1
            case _:
                return
        self._kick.set()

    def _failed(self, told: ErrorTold, at: int) -> None:
        self._figures.errors_told[told.code] += 1
        if told.id is not None:
            gone = self.subscriptions.failed(told.id, told.code, self._clock.monotonic())
            if gone is not None:
                self._tell(self.feed.lapse(gone, told.code, at))
        elif told.sid is None and terminal(told.code):
            self._hopeless = True

    def _tell(self, incidents: Iterable[Incident]) -> None:
        for incident in incidents:
            match incident:
                case DuplicateDropped():
                    self._figures.duplicates += 1
                case GapOpened(gap=gap):
                    self._opened(gap)
                case GapClosed(gap=gap, resolved_at=resolved_at):
                    self._closed(gap, resolved_at)
                case SnapshotsWanted(sid=sid, tickers=tickers):
                    self.subscriptions.ask_snapshots(sid, tickers)
                    self._kick.set()
                case BackfillWanted():
                    pass  # every gap without books is filled, whatever it came from
                case Resubscribe(sid=sid):
                    self.subscriptions.ended(sid)
                    self._kick.set()

    def _opened(self, gap: Gap) -> None:
        self._figures.gaps_opened[gap.reason] += gap.reason is not GapReason.LEFT
        for ticker in gap.tickers:
            self._rhythm.forget(ticker)
        self._writer.add(store.GAPS, gap_row(gap, self._gatherer, None))
        self._ears.gap(gap, None)
        if gap.channel in _FILLED:
            self._ears.backfill(gap)

    def _closed(self, gap: Gap, resolved_at: int) -> None:
        if gap.reason is not GapReason.LEFT:
            self._figures.gaps_closed += 1
        self._writer.add(store.GAPS, gap_row(gap, self._gatherer, resolved_at))
        self._ears.gap(gap, resolved_at)

    def _keyframe(self, ticker: str, at: int, exchange_ts: int | None, sid: int | None) -> None:
        book = self.feed.book(ticker)
        if book is None:
            self._rhythm.forget(ticker)
            return
        self._rhythm.taken(ticker)
        row = keyframe(
            ticker,
            book.yes.sizes,
            book.no.sizes,
            taken_at=at,
            exchange_ts=exchange_ts,
            gatherer=self._gatherer,
            conn=self.conn,
            sid=sid or self.subscriptions.placed.get(ticker),
        )
        self._writer.add(store.KEYFRAMES, row)

    def _begin(self, conn: int) -> None:
        self.conn, self.lost = conn, None
        self.feed = Feed(gatherer=self._gatherer, conn=conn, carried=self.carried)
        stale = {ticker for gap in self.carried for ticker in gap.tickers}
        self._feed_delta = self.feed.delta
        self.carried = ()
        self._tell(self.feed.forget(stale - self.subscriptions.wanted, conn))
        self.heard_at = conn
        self._heard_moment = self._clock.monotonic()
        self.subscriptions.begin()
        self._proof = Proof(conn)
        self._note("opened")
        self._kick.set()

    def _end(self, lost: Lost) -> None:
        self.lost = lost.reason
        if lost.conn is None:
            return
        self._figures.reconnects += 1
        # What was sent after the last frame is not known, however late the loss is noticed.
        self._tell(self.feed.end(self.heard_at))
        self.carried = self.feed.open_gaps
        self._note("closed", lost.reason[:_REASON_CHARS])
        self.conn = None

    def _note(self, what: str, why: str | None = None) -> None:
        conn = self.conn or 0
        session = store.Session(self.heard_at, self._gatherer, conn, what, why)
        self._writer.add(store.SESSIONS, session)

    async def _send_due(self) -> None:
        conn = self.conn
        if conn is None:
            return
        for text in self.subscriptions.next(self._clock.monotonic()):
            if self.conn != conn or not await self.stream.send(text):
                return

    async def _look_after(self) -> None:
        if self.conn is None:
            return
        now = self._clock.monotonic()
        if self.frames != self._seen_frames:
            self._seen_frames, self._heard_moment = self.frames, now
        if now - self._heard_moment > self._silence_seconds:
            # Markets may be quiet for hours: only a question without an answer is a stall.
            self._heard_moment = now
            self.subscriptions.probe()
            self._kick.set()
        if now - self._stale_moment > _STALE_SECONDS and self.subscriptions.settled:
            # A book that was asked for and refused, or never came, is asked for again.
            self._stale_moment = now
            for sid in self.feed.sids:
                self.subscriptions.ask_snapshots(sid, self.feed.stale_of(sid))
        if self._hopeless or self.subscriptions.overdue(now):
            self._log.warning("connection given up", error="no answer to a command")
            self._hopeless = False
            await self.stream.reconnect()
