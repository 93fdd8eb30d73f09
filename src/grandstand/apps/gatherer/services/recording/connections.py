"""Connections that record: frames into rows, and the markets they are subscribed to."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable
from typing import Final, TypeAlias

import msgspec

from grandstand.apps.gatherer import store
from grandstand.apps.gatherer.domain import feed_events
from grandstand.apps.gatherer.domain.feed import Feed
from grandstand.apps.gatherer.domain.messages import (
    DeltaMessage,
    ErrorMessage,
    EventMessage,
    InvalidMessage,
    LifecycleMessage,
    Message,
    OkReply,
    SnapshotMessage,
    SubscribedReply,
    UnknownMessage,
    UnsubscribedReply,
    datetime_from_us,
)
from grandstand.apps.gatherer.domain.order_book import OrderBook
from grandstand.apps.gatherer.domain.rows import OrderbookDelta, OrderbookSnapshot
from grandstand.apps.gatherer.domain.subscriptions import (
    BOOKS,
    CLOCK_SLACK_US,
    LIFECYCLE,
    TERMINAL_CODES,
    TICKERS,
    TRADES,
)
from grandstand.apps.gatherer.services.recording.status import ConnectionStatus, RecorderStatus
from grandstand.apps.gatherer.services.recording.writer import BATCH_ROWS, Writer
from grandstand.apps.gatherer.sources.kalshi.stream import (
    KalshiStream,
    StreamClosed,
    StreamOpened,
    SubscriptionManager,
)
from grandstand.apps.gatherer.store import KeyframeSchedule, make_keyframe
from grandstand.core.clock import Clock
from grandstand.core.logging import get_logger
from grandstand.net.websocket import Message as SocketMessage


def gap_record(gap: feed_events.Gap, gatherer: str, resolved_at: int | None) -> store.GapRecord:
    """Return the row that records that a gap was found, or closed at `resolved_at`."""
    # A gap with no connection at all concerns every market.
    every_market = (
        gap.channel == BOOKS and gap.reason is feed_events.GapReason.DISCONNECTED and not gap.conn
    )
    return store.GapRecord(
        detected_at=gap.detected_at,
        gatherer=gatherer,
        conn=gap.conn,
        sid=gap.sid,
        expected_seq=gap.expected_seq,
        resolved=resolved_at is not None,
        got_seq=gap.got_seq,
        resolved_at=resolved_at,
        channel=gap.channel,
        reason=str(gap.reason),
        tickers=None if every_market else msgspec.json.encode(sorted(gap.tickers)).decode(),
        from_ts=gap.from_ts,
        to_ts=gap.to_ts,
    )


# The last sequence number of each subscription, and the exchange time of its last message.
Progress: TypeAlias = dict[int, tuple[int, int]]


class SubscriptionProgress:
    """The progress of each subscription of one connection at the last two marks.

    A lost message shows only with the next sequence number. A subscription that sent something
    since a mark has therefore sent everything up to that mark; a quiet one must be asked.
    """

    def __init__(self, began_at: int = 0) -> None:
        self._proven: dict[int, int] = {}
        self._last: tuple[int, Progress] = (began_at, {})
        self._before: tuple[int, Progress] = (began_at, {})

    def mark(self, at: int, progress: Progress) -> None:
        """Record the progress of each subscription."""
        self._before, self._last = self._last, (at, progress)

    def proven_until(self, progress: Progress) -> tuple[int, list[int]]:
        """Return up to when nothing is missing, and the sids of the quiet subscriptions."""
        (at, last), (earlier, before) = self._last, self._before
        proven: dict[int, int] = {}
        for sid, (seq, last_ts) in progress.items():
            since = self._proven.get(sid, earlier)
            if seq > last.get(sid, (-1, 0))[0]:
                since = at
            elif seq > before.get(sid, (-1, 0))[0]:
                since = max(since, earlier)
            proven[sid] = min(since, last_ts) if last_ts > since - CLOCK_SLACK_US else since
        self._proven = proven
        quiet = [sid for sid, since in proven.items() if since < at]
        return min(proven.values(), default=at), quiet


_BACKFILLED: Final = frozenset({TRADES, TICKERS, LIFECYCLE})


class Connection:
    """One connection: its stream, the feed since it was opened, and its subscriptions.

    `run` reads frames; `maintain` sends commands and reconnects when the exchange stops answering.
    """

    def __init__(
        self,
        number: int,
        stream: KalshiStream,
        subscriptions: SubscriptionManager,
        *,
        gatherer: str,
        writer: Writer,
        counters: RecorderStatus,
        on_lifecycle: Callable[[LifecycleMessage | EventMessage, int, int], None],
        on_backfill: Callable[[feed_events.Gap], None],
        on_gap: Callable[[feed_events.Gap, int | None], None],
        is_wanted: Callable[[str], bool] = bool,
        parse: Callable[[str | bytes], Message],
        stamp: Callable[[], int],
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
        self.carried_gaps: tuple[feed_events.Gap, ...] = ()
        self.feed = Feed(gatherer=gatherer, conn=0)
        self.error: str | None = None
        self._gatherer = gatherer
        self._writer = writer
        self._counters = counters
        self._on_lifecycle = on_lifecycle
        self._on_backfill = on_backfill
        self._on_gap = on_gap
        self._is_wanted = is_wanted
        self._parse = parse
        self._stamp = stamp
        self._clock = clock
        self._silence_seconds = silence_seconds
        self._keyframes = KeyframeSchedule(keyframe_deltas)
        # Bound once: they are called for every frame.
        self._changed = self._keyframes.changed
        self._apply_delta = self.feed.apply_delta
        self._append_delta = writer.deltas.append
        self._raw_log = writer.raw_log
        self._wake = asyncio.Event()
        self._heard_monotonic, self._resnapshot_monotonic, self._seen_frames = 0.0, 0.0, -1
        self._failed_terminally = False
        self._progress = SubscriptionProgress()
        self._log = get_logger("gatherer", connection=str(number))

    async def run(self) -> None:
        """Read frames until the stream is closed.

        Raises KeyRejected if the exchange does not accept the key.
        """
        writer, parse, stamp, handle = self._writer, self._parse, self._stamp, self._handle_frame
        deltas = writer.deltas
        async for event in self.stream:
            if type(event) is SocketMessage:
                raw = event.data
                handle(raw, parse(raw), stamp())
                if len(deltas) >= BATCH_ROWS:
                    await writer.flush()
                if not self.frames % 256:
                    # Waiting frames are read without a pause: let other tasks run.
                    await asyncio.sleep(0)
            elif type(event) is StreamOpened:
                self._on_open(event.conn)
            elif type(event) is StreamClosed:
                self._on_close(event)

    async def maintain(self) -> None:
        """Send due commands and check the connection, until cancelled."""
        while True:
            with contextlib.suppress(TimeoutError):
                # Not wait_for: before Python 3.12 it can swallow a cancellation.
                async with asyncio.timeout(0.25):
                    await self._wake.wait()
            self._wake.clear()
            await self._send_due()
            await self._check_health()

    def follow(self, markets: Iterable[str], since: Iterable[feed_events.Gap] = ()) -> None:
        """Follow more markets; `since` are the gaps while they were not followed."""
        if self.conn is None:
            self.carried_gaps = (*self.carried_gaps, *since)
        else:
            self.feed.gaps.add(since)
        self.subscriptions.follow(markets)
        self._wake.set()

    def unfollow(self, market: str, at: int) -> feed_events.Gap:
        """Stop following a market, and return the gap that begins."""
        self.subscriptions.unfollow((market,))
        gap, closed = self.feed.unfollow((market,), at)
        self._handle_events((feed_events.GapOpened(gap), *closed))
        self._wake.set()
        return gap

    def mark(self, at: int) -> None:
        """Record the progress of each subscription, for `proven_until` a moment later."""
        self._progress.mark(at, self.feed.progress())

    def proven_until(self, at: int) -> int:
        """Return up to when, at most `at`, nothing is missing except in recorded gaps.

        Requests proof from quiet subscriptions.
        """
        if self.conn is None:
            return at
        proven, quiet = self._progress.proven_until(self.feed.progress())
        self.request_proof(quiet)
        return min(proven, at)

    def has_data_since(self, at: int) -> bool:
        """Return whether every subscription has sent a message of this exchange time or later."""
        return all(last_ts >= at for _, last_ts in self.feed.progress().values())

    @property
    def awaits_proof(self) -> bool:
        """Whether a proof was requested and can still arrive."""
        return self.conn is not None and self.subscriptions.awaits_proof

    def request_proof(self, sids: Iterable[int]) -> None:
        """Request numbered replies, which show whether anything before them is missing."""
        self.subscriptions.request_proof(sids)
        self._wake.set()

    def mark_suspect(self, ticker: str, at: int) -> None:
        """Mark a book as suspect: opens a gap and requests a snapshot."""
        self._handle_events(self.feed.mark_suspect(ticker, at))

    def close_gap(self, gap: feed_events.Gap, at: int) -> None:
        """Close a gap whose missing messages were fetched."""
        self._handle_events(self.feed.gaps.close(gap, at))
        self.carried_gaps = tuple(
            carried
            for carried in self.carried_gaps
            if (carried.conn, carried.sid, carried.detected_at)
            != (gap.conn, gap.sid, gap.detected_at)
        )

    def on_stop(self, *, proven: bool) -> None:
        """Record that the connection ended with the recorder; the next start opens the gap."""
        if self.conn is not None:
            if not proven:
                self._handle_events(self.feed.end(self.heard_at))
            self._add_session("closed", "stopped")
            self.conn = None

    def write_due_keyframes(self, at: int) -> None:
        """Write keyframes of the books that are due by time."""
        for ticker in self._keyframes.due(at):
            self._write_keyframe(ticker, at, None, None)

    def _handle_frame(self, raw: str | bytes, message: Message, at: int) -> None:
        self.frames += 1
        self.heard_at = at
        self.bytes += len(raw)
        if self._raw_log is not None:
            self._raw_log.add(at, self.conn or 0, raw)
        if type(message) is DeltaMessage:
            delta = self._apply_delta(message, at)
            if delta is not None:
                self._append_delta(delta)
                if self._changed(message.ticker):
                    self._write_keyframe(message.ticker, at, delta.exchange_ts, message.sid)
                return
        self._handle_message(message, at)

    def _handle_message(self, message: Message, at: int) -> None:
        result = self.feed.handle(message, at)
        row = result.row
        if type(row) is OrderbookDelta:
            self._append_delta(row)
            if self._changed(row.ticker):
                self._write_keyframe(row.ticker, at, row.exchange_ts, row.sid)
        elif row is None:
            self._handle_control(message, at)
        elif type(row) is OrderbookSnapshot:
            self._writer.append[OrderbookSnapshot](row)
            self._keyframes.written(row.ticker)
        elif self._is_wanted(row.ticker):
            self._writer.append[type(row)](row)
        if result.events:
            self._handle_events(result.events)
        if type(message) is SnapshotMessage and message.id is not None:
            self.subscriptions.on_acknowledged(message.id)

    def _handle_control(self, message: Message, at: int) -> None:
        subscriptions = self.subscriptions
        match message:
            case SubscribedReply(id=int(command_id), channel=channel, sid=sid):
                subscriptions.on_subscribed(command_id, channel, sid)
                if channel == BOOKS:
                    self.feed.expect(sid, subscriptions.sids.get(sid, ()), at)
            case OkReply(id=int(command_id), sid=sid, tickers=listed):
                subscriptions.on_acknowledged(command_id)
                if sid is not None:
                    subscriptions.on_listed(sid, listed)
                    self.feed.expect(sid, subscriptions.sids.get(sid, ()), at)
            case UnsubscribedReply(id=int(command_id)):
                subscriptions.on_acknowledged(command_id)
            case ErrorMessage():
                self._on_error(message, at)
            case LifecycleMessage() | EventMessage():
                self._on_lifecycle(message, at, self.conn or 0)
            case InvalidMessage():
                self._counters.invalid_frames += 1
            case UnknownMessage():
                self._counters.unknown_frames += 1
            case _:
                return
        self._wake.set()

    def _on_error(self, error: ErrorMessage, at: int) -> None:
        self._counters.exchange_errors[error.code] += 1
        if error.id is not None:
            ended = self.subscriptions.on_error(error.id, error.code, self._clock.monotonic())
            if ended is not None:
                self._handle_events(self.feed.end_subscription(ended, error.code, at))
        elif error.sid is None and error.code in TERMINAL_CODES:
            self._failed_terminally = True

    def _handle_events(self, events: Iterable[feed_events.FeedEvent]) -> None:
        for event in events:
            match event:
                case feed_events.DuplicateDropped():
                    self._counters.duplicates += 1
                case feed_events.GapOpened(gap=gap):
                    self._on_gap_opened(gap)
                case feed_events.GapClosed(gap=gap, resolved_at=resolved_at):
                    self._counters.gaps_closed += gap.reason is not feed_events.GapReason.LEFT
                    self._writer.add(store.GAPS, gap_record(gap, self._gatherer, resolved_at))
                    self._on_gap(gap, resolved_at)
                case feed_events.SnapshotsNeeded(sid=sid, tickers=tickers):
                    self.subscriptions.request_snapshots(sid, tickers)
                    self._wake.set()
                case feed_events.ResubscribeNeeded(sid=sid):
                    self.subscriptions.on_ended(sid)
                    self._wake.set()

    def _on_gap_opened(self, gap: feed_events.Gap) -> None:
        self._counters.gaps_opened[gap.reason] += gap.reason is not feed_events.GapReason.LEFT
        for ticker in gap.tickers:
            self._keyframes.remove(ticker)
        self._writer.add(store.GAPS, gap_record(gap, self._gatherer, None))
        self._on_gap(gap, None)
        if gap.channel in _BACKFILLED:
            self._on_backfill(gap)

    def _write_keyframe(
        self, ticker: str, at: int, exchange_ts: int | None, sid: int | None
    ) -> None:
        book = self.feed.book(ticker)
        if book is None:
            self._keyframes.remove(ticker)
            return
        self._keyframes.written(ticker)
        row = make_keyframe(
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

    def _on_open(self, conn: int) -> None:
        self.conn, self.error = conn, None
        self.feed = Feed(gatherer=self._gatherer, conn=conn, carried=self.carried_gaps)
        stale = {ticker for gap in self.carried_gaps for ticker in gap.tickers}
        self._apply_delta = self.feed.apply_delta
        self.carried_gaps = ()
        self._handle_events(self.feed.remove(stale - self.subscriptions.wanted, conn))
        self.heard_at = conn
        self._heard_monotonic = self._clock.monotonic()
        self.subscriptions.reset()
        self._progress = SubscriptionProgress(conn)
        self._add_session("opened")
        self._wake.set()

    def _on_close(self, closed: StreamClosed) -> None:
        self.error = closed.reason
        if closed.conn is None:
            return
        self._counters.reconnects += 1
        # What was sent after the last frame is unknown, however late the loss is noticed.
        self._handle_events(self.feed.end(self.heard_at))
        self.carried_gaps = self.feed.gaps.remaining()
        self._add_session("closed", closed.reason[:200])
        self.conn = None

    def _add_session(self, what: str, why: str | None = None) -> None:
        conn = self.conn or 0
        session = store.Session(self.heard_at, self._gatherer, conn, what, why)
        self._writer.add(store.SESSIONS, session)

    def status(self) -> ConnectionStatus:
        subscriptions = self.subscriptions
        return ConnectionStatus(
            number=self.number,
            conn=self.conn,
            markets=len(subscriptions.wanted),
            waiting=len(subscriptions.wanted) - len(subscriptions.placed),
            stale=len(self.feed.stale),
            subscriptions=len(subscriptions.sids) + len(subscriptions.channel_sids),
            frames=self.frames,
            heard_at=datetime_from_us(self.heard_at) if self.heard_at else None,
            error=self.error,
        )

    async def _send_due(self) -> None:
        conn = self.conn
        if conn is None:
            return
        for text in self.subscriptions.next_commands(self._clock.monotonic()):
            if self.conn != conn or not await self.stream.send(text):
                return

    async def _check_health(self) -> None:
        if self.conn is None:
            return
        now = self._clock.monotonic()
        if self.frames != self._seen_frames:
            self._seen_frames, self._heard_monotonic = self.frames, now
        if now - self._heard_monotonic > self._silence_seconds:
            # Markets can be quiet for hours: only an unanswered command is a stall.
            self._heard_monotonic = now
            self.subscriptions.probe()
            self._wake.set()
        if now - self._resnapshot_monotonic > 2.0 and self.subscriptions.settled:
            # A snapshot that was rejected or never arrived is requested again.
            self._resnapshot_monotonic = now
            for sid in self.feed.sids:
                self.subscriptions.request_snapshots(sid, self.feed.stale_markets(sid))
        if self._failed_terminally or self.subscriptions.overdue(now):
            self._log.warning("reconnecting", reason="command_unanswered")
            self._failed_terminally = False
            await self.stream.reconnect()


# Gaps of unfollowed markets to remember; older ones count as never followed.
_MAX_UNFOLLOWED: Final = 50_000


class ConnectionPool:
    """The connections; a new market goes to the one that follows the fewest."""

    def __init__(
        self,
        connections: tuple[Connection, ...],
        stamp: Callable[[], int],
        on_gap: Callable[[feed_events.Gap], None] = lambda _: None,
    ) -> None:
        self.connections = connections
        self._stamp = stamp
        self._on_gap = on_gap
        # Markets added later were not followed since then.
        self.started_at: int | None = None
        self._unfollowed: dict[str, feed_events.Gap] = {}
        self.by_market: dict[str, Connection] = {}
        self._rejected: dict[str, int] = {}
        self._log = get_logger("gatherer")

    @property
    def followed(self) -> frozenset[str]:
        """The markets that are followed or requested."""
        return frozenset(self.by_market)

    def book(self, ticker: str) -> OrderBook | None:
        """Return the book of a market; None while it is stale or not followed."""
        connection = self.by_market.get(ticker)
        return None if connection is None else connection.feed.book(ticker)

    def follow(self, markets: Iterable[str]) -> int:
        """Follow exactly these markets, and return how many changed."""
        wanted = {*markets}
        new = sorted(wanted - self.by_market.keys() - self._rejected.keys())
        gone = sorted(self.by_market.keys() - wanted)
        self._distribute(new)
        for market in gone:
            self._unfollow(market, self.by_market.pop(market))
        for market in self._rejected.keys() - wanted:
            del self._rejected[market]
        return len(new) + len(gone)

    def rebalance(self) -> None:
        """Move markets from full connections to others, and drop those the exchange rejected."""
        for connection in self.connections:
            subscriptions = connection.subscriptions
            for market, code in [*subscriptions.rejected.items()]:
                self._rejected[market] = code
                self._unfollow(market, self.by_market.pop(market, connection))
                self._log.warning("market_rejected", ticker=market, code=code)
            if subscriptions.overflow:
                moved = sorted(subscriptions.overflow)
                for market in moved:
                    self._unfollow(market, connection)
                self._log.warning("connection_full", connection=connection.number, moved=len(moved))
                self._distribute(moved, exclude=connection)

    def _distribute(self, markets: Iterable[str], exclude: Connection | None = None) -> None:
        others = [connection for connection in self.connections if connection is not exclude] or [
            *self.connections
        ]
        sizes = {connection: len(connection.subscriptions.wanted) for connection in others}
        assigned: dict[Connection, list[str]] = {connection: [] for connection in others}
        for market in markets:
            connection = min(others, key=sizes.__getitem__)
            sizes[connection] += 1
            assigned[connection].append(market)
            self.by_market[market] = connection
        for connection, some in assigned.items():
            if some:
                connection.follow(
                    some, [gap for market in some if (gap := self._gap_since(market))]
                )

    def _unfollow(self, market: str, connection: Connection) -> None:
        self._unfollowed[market] = connection.unfollow(market, self._stamp())
        if len(self._unfollowed) > _MAX_UNFOLLOWED:
            del self._unfollowed[next(iter(self._unfollowed))]

    def _gap_since(self, market: str) -> feed_events.Gap | None:
        """Return the gap while a market was not followed; None for those of the start."""
        gap = self._unfollowed.pop(market, None)
        if gap is not None or self.started_at is None:
            return gap
        at = self._stamp()
        gap = feed_events.Gap(
            conn=0,
            sid=0,
            channel=BOOKS,
            reason=feed_events.GapReason.LEFT,
            expected_seq=0,
            got_seq=None,
            detected_at=at,
            tickers=frozenset((market,)),
            from_ts=self.started_at - CLOCK_SLACK_US,
        )
        self._on_gap(gap)
        return gap
