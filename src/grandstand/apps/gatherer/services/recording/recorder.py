"""Records the followed markets: connections, REST polling and writing to the series."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any, ClassVar, Final, Protocol

from grandstand.apps.gatherer import store
from grandstand.apps.gatherer.domain.feed_events import Gap, GapReason
from grandstand.apps.gatherer.domain.messages import (
    EventMessage,
    LifecycleMessage,
    datetime_from_us,
)
from grandstand.apps.gatherer.domain.subscriptions import (
    BOOKS,
    LIFECYCLE,
    TICKERS,
    TRADES,
    MonotonicClock,
)
from grandstand.apps.gatherer.services.recording import rest_polling
from grandstand.apps.gatherer.services.recording.connections import (
    Connection,
    ConnectionPool,
    gap_record,
)
from grandstand.apps.gatherer.services.recording.status import (
    RateMeter,
    RecorderStatus,
)
from grandstand.apps.gatherer.services.recording.writer import RawLog, Writer
from grandstand.apps.gatherer.settings import GathererSettings
from grandstand.apps.gatherer.sources.kalshi.rest import KalshiClient
from grandstand.apps.gatherer.sources.kalshi.signing import Signer
from grandstand.apps.gatherer.sources.kalshi.stream import (
    SOCKET_CONFIG,
    KalshiStream,
    SubscriptionLimits,
    SubscriptionManager,
)
from grandstand.apps.gatherer.sources.kalshi.ws_decode import FrameDecoder
from grandstand.core.clock import Clock
from grandstand.core.errors import GrandstandError, LimitReached, NotFound, Unavailable
from grandstand.core.logging import get_logger
from grandstand.core.metrics import Metrics
from grandstand.storage.series.buffer import Buffer, Limits
from grandstand.storage.series.engines.protocol import SeriesEngine
from grandstand.storage.series.query import Window

_MIB: Final = 1024**2
_MICRO: Final = 1_000_000
_GIGABYTE: Final = 1_000_000_000
_DAY_US: Final = 86_400_000_000
_POLL_SECONDS: Final = 0.02
_SHUTDOWN_SECONDS: Final = 3.0
_FINAL_FLUSH_SECONDS: Final = 20.0
_ALERT_SECONDS: Final = 300.0


_MAX_ROWS: Final = 2000
_WATERMARK_FILE: Final = "whole"


@dataclass(frozen=True, slots=True)
class ResumeState:
    """Up to when everything is stored, and the last receive stamp in use.

    Both are 0 if the gatherer never ran here. `open_gaps` were not closed by the last run.
    """

    whole_at: int = 0
    last_stamp: int = 0
    open_gaps: tuple[store.GapRecord, ...] = ()


def read_resume_state(engine: SeriesEngine, gatherer: str) -> ResumeState:
    """Read the state of the last run from the series."""
    for series in (store.SESSIONS, store.GAPS):
        engine.prepare(series)
    window = Window(store.SESSIONS, 0, store.LATEST, (gatherer,), order="newest", limit=_MAX_ROWS)
    last = whole_at = 0
    for session in engine.read(window):
        last = max(last, session.at, session.conn)
        if session.what in ("whole", "stopped"):
            whole_at = session.at
            break
    return ResumeState(whole_at, last, _open_gaps(engine, gatherer) if last else ())


def save_watermark(folder: Path, at: int) -> None:
    """Save the watermark beside the buffer, for a start while the series are unavailable."""
    temporary = folder / f"{_WATERMARK_FILE}.new"
    with suppress(OSError):
        temporary.write_text(str(at), "ascii")
        temporary.replace(folder / _WATERMARK_FILE)


def load_resume_state(engine: SeriesEngine, gatherer: str, folder: Path) -> ResumeState:
    """Read the state of the last run; falls back to the saved watermark."""
    try:
        return read_resume_state(engine, gatherer)
    except Unavailable:
        with suppress(OSError, ValueError):
            at = int((folder / _WATERMARK_FILE).read_text("ascii"))
            return ResumeState(at, at)
        return ResumeState()


def _open_gaps(engine: SeriesEngine, gatherer: str) -> tuple[store.GapRecord, ...]:
    window = Window(store.GAPS, 0, store.LATEST, (gatherer,), order="newest", limit=_MAX_ROWS)
    rows = [*engine.read(window)]
    closed = {row.gap_key for row in rows if row.resolved}
    return tuple(row for row in rows if not row.resolved and row.gap_key not in closed)


def absence_gap(resume: ResumeState, number: int, channel: str, tickers: frozenset[str]) -> Gap:
    """Return the gap from the watermark of the last run until a connection is up again.

    Its `conn` is 0 and its `sid` the number of the connection. For channels without books it starts
    where the oldest gap that the last run left open started.
    """
    left_open = [gap for gap in resume.open_gaps if gap.channel == channel] if not tickers else []
    starts = [gap.detected_at if gap.from_ts is None else gap.from_ts for gap in left_open]
    return Gap(
        from_ts=min(starts, default=None),
        conn=0,
        sid=number,
        channel=channel,
        reason=GapReason.DISCONNECTED,
        expected_seq=0,
        got_seq=None,
        detected_at=resume.whole_at or resume.last_stamp,
        tickers=tickers,
    )


class MarketSelection(Protocol):
    """Knows the markets and which of them to record; see MarketRegistry, which implements it."""

    def attach(
        self, append: Callable[[store.MarketEvent], None], stamp: Callable[[], int]
    ) -> None: ...

    async def sync(self) -> None: ...

    def on_lifecycle(
        self, message: LifecycleMessage | EventMessage, at: int, conn: int
    ) -> None: ...

    def advance(self, at: int) -> None: ...

    async def followed(self) -> frozenset[str]: ...

    def is_wanted(self, ticker: str) -> bool: ...


class DiskLimitReached(LimitReached):
    """The disk is almost full, or recordings take as much as they may."""

    code: ClassVar[str] = "disk-limit-reached"
    retry = False


@dataclass(frozen=True, slots=True)
class DiskUsage:
    """Free bytes on the disk, and bytes used by recordings."""

    free_bytes: int
    used_bytes: int


def measure_disk(folder: Path, engine: SeriesEngine) -> DiskUsage:
    """Measure the disk of a folder and the size of all series."""
    folder.mkdir(parents=True, exist_ok=True)
    used = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    for series in store.SERIES:
        # A series does not exist before its first row.
        with suppress(NotFound):
            used += sum(chunk.size_bytes for chunk in engine.status(series).chunks)
    return DiskUsage(shutil.disk_usage(folder).free, used)


def check_disk(disk: DiskUsage, min_free_bytes: int, max_bytes: int | None) -> None:
    """Raise DiskLimitReached if recording must stop."""
    if disk.free_bytes < min_free_bytes:
        raise DiskLimitReached(
            f"Recording stopped: {disk.free_bytes // _MIB} MiB are free, the minimum is "
            f"{min_free_bytes // _MIB} MiB. Free some space, or lower "
            "GRANDSTAND_GATHERER_FREE_GIGABYTES."
        )
    if max_bytes is not None and disk.used_bytes >= max_bytes:
        raise DiskLimitReached(
            f"Recording stopped: recordings take {disk.used_bytes // _MIB} MiB of "
            f"{max_bytes // _MIB} MiB. Raise GRANDSTAND_GATHERER_DISK_GIGABYTES, or record less."
        )


async def wait_first(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Wait for the first of these tasks to finish, and raise its exception if it has one."""
    done, _ = await asyncio.wait([*tasks], return_when=asyncio.FIRST_COMPLETED)
    for task in done:
        if not task.cancelled():
            task.result()


async def cancel_all(tasks: Iterable[asyncio.Task[Any]]) -> int:
    """Cancel tasks, wait for them, and return how many are still running after some seconds.

    A task can swallow a cancellation, so it is repeated.
    """
    pending = {*tasks}
    for _ in range(5):
        for task in pending:
            task.cancel()
        if pending:
            done, pending = await asyncio.wait(pending, timeout=1.0)
            for task in done:
                if not task.cancelled():
                    task.exception()
    return len(pending)


async def run_with_timeout(seconds: float, work: Awaitable[Any]) -> bool:
    """Return whether the work finished in time; it is cancelled otherwise."""
    try:
        async with asyncio.timeout(seconds):
            await work
    except TimeoutError:
        return False
    return True


def buffer_limits(settings: GathererSettings) -> Limits:
    return Limits(
        batch_rows=settings.flush_rows,
        age_seconds=settings.flush_seconds,
        memory_bytes=settings.buffer_rows * 800,  # About 800 bytes a row.
    )


def subscription_limits(settings: GathererSettings) -> SubscriptionLimits:
    return SubscriptionLimits(
        batch=settings.markets_per_command, per_subscription=settings.markets_per_subscription
    )


@asynccontextmanager
async def open_buffer(
    gatherer: str,
    folder: Path,
    limits: Limits,
    engine: SeriesEngine,
    *,
    clock: Clock,
    random: Random,
) -> AsyncIterator[tuple[Buffer, ResumeState]]:
    """Open the buffer of a recorder, and load the state of its last run.

    `folder` holds rows that the series could not take yet.

    Raises SeriesUnavailable if another process records into the same folder.
    """
    buffer = await asyncio.to_thread(
        Buffer.open,
        folder / "waiting",
        store.SERIES,
        lambda: _NonClosingEngine(engine),
        clock=clock,
        chance=random,
        limits=limits,
    )
    try:
        yield buffer, await asyncio.to_thread(load_resume_state, engine, gatherer, folder)
    finally:
        await asyncio.to_thread(buffer.close)


class Recorder:
    """Records until it is stopped; one runs per process and gatherer.

    `run` raises KeyRejected if the exchange does not accept the key, and DiskLimitReached if the
    disk is full.
    """

    def __init__(
        self,
        settings: GathererSettings,
        folder: Path,
        buffer: Buffer,
        resume: ResumeState,
        *,
        client: KalshiClient,
        selection: MarketSelection,
        engine: SeriesEngine,
        signer: Signer | None,
        clock: Clock,
        random: Random,
        metrics: Metrics,
        alert: Callable[[str, str], Awaitable[None]],
        audit_seconds: float = 60.0,
        audit_recheck_seconds: float = 20.0,
    ) -> None:
        self._settings = settings
        self._folder = folder
        self._audit_seconds = audit_seconds
        self._audit_recheck_seconds = audit_recheck_seconds
        self.counters = RecorderStatus("recording", settings.name)
        self.rate = RateMeter()
        self.receive_clock = MonotonicClock(resume.last_stamp)
        advance, epoch = self.receive_clock.next, clock.epoch
        self.stamp: Callable[[], int] = lambda: advance(int(epoch() * _MICRO))
        self.buffer = buffer
        self._client = client
        self._selection = selection
        self._engine = engine
        self._clock = clock
        self._alert = alert
        self._resume = resume
        raw_log = RawLog(folder / "raw") if settings.raw_log else None
        self.writer = Writer(self.buffer, clock=clock, counters=self.counters, raw_log=raw_log)
        self._open_absences = 0
        self._alerted_at = float("-inf")
        self._gaps_alerted = 0
        self._watermark = 0
        decoder = FrameDecoder()
        self.pool = ConnectionPool(
            tuple(
                self._connect(number, decoder, signer=signer, random=random, metrics=metrics)
                for number in range(settings.connections)
            ),
            self.stamp,
            lambda gap: self.writer.add(store.GAPS, gap_record(gap, settings.name, None)),
        )
        self.poller = rest_polling.RestPoller(
            client,
            self.pool,
            self.writer,
            gatherer=settings.name,
            stamp=self.stamp,
            is_wanted=selection.is_wanted,
            random=random,
        )
        self.backfill = rest_polling.Backfill(
            self.poller, selection.sync, self.stamp, self._problem_handler("backfill")
        )
        selection.attach(lambda row: self.writer.add(store.MARKET_EVENTS, row), self.stamp)
        self.started_at = 0
        self.disk: DiskUsage | None = None
        self.problems: dict[str, str] = {}
        self._stopping = asyncio.Event()
        self._log = get_logger("gatherer")

    def stop(self) -> None:
        """Let `run` end cleanly."""
        self._stopping.set()

    def status(self) -> RecorderStatus:
        """Return the current status: a copy of the counters with the other figures filled in."""
        counters, buffer, latency = self.counters, self.buffer.status(), self.writer.latency
        raw_log, disk, connections = self.writer.raw_log, self.disk, self.pool.connections
        return replace(
            counters,
            reason=self.writer.full,
            started_at=datetime_from_us(self.started_at) if self.started_at else None,
            markets=len(self.pool.followed),
            stale=sum(len(connection.feed.stale) for connection in connections),
            frames=sum(connection.frames for connection in connections),
            frames_per_second=self.rate.per_second,
            frame_bytes=sum(connection.bytes for connection in connections),
            rows=dict(counters.rows),
            waiting_rows=buffer.waiting_rows + self.writer.waiting,
            waiting_bytes=buffer.waiting_bytes,
            spilled_rows=buffer.spilled_rows,
            lag_median_seconds=latency.quantile(0.5),
            lag_p99_seconds=latency.quantile(0.99),
            gaps_opened=dict(counters.gaps_opened),
            gaps_open=sum(len(connection.feed.gaps.remaining()) for connection in connections),
            exchange_errors=dict(counters.exchange_errors),
            raw_log_frames=0 if raw_log is None else raw_log.written_frames,
            raw_log_bytes=0 if raw_log is None else raw_log.written_bytes,
            raw_log_uncompressed_bytes=0 if raw_log is None else raw_log.frame_bytes,
            raw_log_error=None if raw_log is None else raw_log.error,
            free_bytes=None if disk is None else disk.free_bytes,
            used_bytes=None if disk is None else disk.used_bytes,
            problems=dict(self.problems),
            connections=tuple(connection.status() for connection in connections),
        )

    async def run(self) -> None:
        """Record until `stop` is called or an error needs an operator."""
        sending = asyncio.create_task(self.buffer.run_async())
        stopping = asyncio.create_task(self._stopping.wait())
        starting = asyncio.create_task(self._start())
        tasks: list[asyncio.Task[None]] = []
        self._add_session("started")
        try:
            await wait_first((starting, stopping, sending))
            # A recorder that is stopped at once still records the gap it found, if that is quick.
            await asyncio.wait((starting,), timeout=_SHUTDOWN_SECONDS)
            if starting.done():
                starting.result()
                tasks = [asyncio.create_task(work) for work in self._work()]
                await wait_first((*tasks, stopping, sending))
        finally:
            await cancel_all((stopping, starting))
            await asyncio.shield(self._shut_down(tasks, sending))

    def _work(self) -> list[Coroutine[Any, Any, None]]:
        streams = [work for each in self.pool.connections for work in (each.run(), each.maintain())]
        return [
            *streams,
            self._flush_regularly(),
            self._advance_watermark(),
            self.backfill.run(),
            self._every(1.0, "raw_log", self.writer.write_raw_log),
            self._every(1.0, "markets", self._follow_markets),
            self._every(30.0, "disk", self._check_disk),
            self._every(5.0, "watchdog", self._alert_if_incomplete),
            self._every(self._settings.reconcile_seconds, "registry", self._selection.sync),
            self._every(60.0, "trades", self.backfill.poll_trades),
            self._every(self._audit_seconds, "audit", self._audit),
            self._poll_snapshots(),
        ]

    async def _start(self) -> None:
        """List the markets, follow them, and open the gap since the last run."""
        try:
            await self._check_disk()
        except Unavailable as error:
            self._problem_handler("disk")(error)
        await rest_polling.retry_transient(self._client.limits, self._problem_handler("limits"))
        await rest_polling.retry_transient(self._selection.sync, self._problem_handler("registry"))
        self.pool.follow(await self._selection.followed())
        self.pool.started_at = self.started_at
        self.backfill.fetched_at = self.started_at
        if not self._resume.last_stamp:
            return
        for connection in self.pool.connections:
            followed = frozenset(connection.subscriptions.wanted)
            if followed:
                gap = absence_gap(self._resume, connection.number, BOOKS, followed)
                self._open_absence(connection, gap)
        first = self.pool.connections[0]
        trades = absence_gap(self._resume, len(self.pool.connections), TRADES, frozenset())
        self._open_absence(first, trades)

    def _open_absence(self, connection: Connection, gap: Gap) -> None:
        self.writer.add(store.GAPS, gap_record(gap, self._settings.name, None))
        self.counters.gaps_opened[str(gap.reason)] += 1
        connection.carried_gaps = (*connection.carried_gaps, gap)
        self._open_absences += 1
        if gap.channel != BOOKS:
            self.backfill.add(connection, gap)

    def _on_gap(self, gap: Gap, resolved_at: int | None) -> None:
        """Close the gaps left open by the last run once every gap since then is closed."""
        if resolved_at is None or gap.conn or gap.reason is GapReason.LEFT:
            return
        self._open_absences -= 1
        if self._open_absences:
            return
        for record in self._resume.open_gaps:
            if record.reason != GapReason.LEFT:
                closed = record._replace(resolved=True, resolved_at=resolved_at)
                self.writer.add(store.GAPS, closed)

    async def _follow_markets(self) -> None:
        self._selection.advance(self.stamp())
        self.pool.follow(await self._selection.followed())
        self.pool.rebalance()
        at = self.stamp()
        for connection in self.pool.connections:
            connection.write_due_keyframes(at)
        frames = sum(connection.frames for connection in self.pool.connections)
        self.counters.frames = frames
        self.rate.add(self._clock.monotonic(), frames)

    async def _audit(self) -> None:
        outcomes = await self.poller.audit(
            self._settings.audits_per_minute, self._audit_recheck_seconds
        )
        different = sorted(ticker for ticker, outcome in outcomes.items() if outcome == "different")
        if different:
            await self._alert("Order book differs from REST", ", ".join(different))

    async def _alert_if_incomplete(self) -> None:
        """Send an alert if all connections are silent or gaps were found, at most every 5 min."""
        now, settings = self._clock.monotonic(), self._settings
        heard_at = max(connection.heard_at for connection in self.pool.connections)
        silent_seconds = (self.stamp() - heard_at) / _MICRO
        gaps = sum(self.counters.gaps_opened.values())
        text = ""
        if self.pool.followed and silent_seconds > settings.stall_seconds:
            text = f"{settings.name} has received nothing for {silent_seconds:.0f} s"
        elif gaps > self._gaps_alerted:
            count = gaps - self._gaps_alerted
            text = f"{settings.name} found {count} new {'gap' if count == 1 else 'gaps'}"
        if text and now - self._alerted_at >= _ALERT_SECONDS:
            self._alerted_at, self._gaps_alerted = now, gaps
            await self._alert("Recording is incomplete", text)

    async def _check_disk(self) -> None:
        settings = self._settings
        if self.writer.raw_log is not None:
            before = self.stamp() - settings.raw_log_days * _DAY_US
            await asyncio.to_thread(self.writer.raw_log.remove_before, before)
        self.disk = await asyncio.to_thread(measure_disk, self._folder, self._engine)
        check_disk(
            self.disk,
            min_free_bytes=int(settings.free_gigabytes * _GIGABYTE),
            max_bytes=int(settings.disk_gigabytes * _GIGABYTE) or None,
        )

    async def _poll_snapshots(self) -> None:
        """Fetch all books at the start of each slot, which is the same for all gatherers."""
        slot_us = int(self._settings.snapshot_seconds * _MICRO)
        last_slot = self.stamp() // slot_us
        while True:
            await asyncio.sleep(min(1.0, self._settings.snapshot_seconds / 10))
            slot = self.stamp() // slot_us
            if slot > last_slot:
                try:
                    await self.poller.snapshots(slot * slot_us)
                    self.problems.pop("snapshots", None)
                except rest_polling.TRANSIENT_ERRORS as error:
                    self._problem_handler("snapshots")(error)
                last_slot = slot

    async def _flush_regularly(self) -> None:
        while True:
            await asyncio.sleep(0.05)
            if self.writer.waiting:
                await self.writer.flush()
            self.writer.latency.mark_durable(self.buffer.durable, self._clock.monotonic())

    async def _advance_watermark(self) -> None:
        """Record, about once a second, up to which time everything is stored."""
        while True:
            # A message lost after the last frame of a quiet subscription shows only with the next.
            marked = self.receive_clock.last
            for connection in self.pool.connections:
                connection.mark(marked)
            await asyncio.sleep(0.2)
            proven = min(connection.proven_until(marked) for connection in self.pool.connections)
            self._watermark = at = max(self._watermark, proven)
            in_exchange_time = all(
                connection.has_data_since(at) for connection in self.pool.connections
            )
            mark = await self.writer.flush()
            while self.buffer.durable < mark:  # noqa: ASYNC110 - the buffer has no event
                await asyncio.sleep(_POLL_SECONDS)
            why = store.EXCHANGE_TIME if in_exchange_time else None
            row = store.Session(at, self._settings.name, 0, "whole", why)
            self.writer.add(store.SESSIONS, row)
            save_watermark(self._folder, at)
            await asyncio.sleep(0.8)

    async def _every(self, seconds: float, name: str, work: Callable[[], Awaitable[None]]) -> None:
        while True:
            await asyncio.sleep(seconds)
            try:
                await work()
                self.problems.pop(name, None)
            except DiskLimitReached as error:
                await self._alert("Recording stopped", str(error))
                raise
            except rest_polling.TRANSIENT_ERRORS as error:
                self._problem_handler(name)(error)

    def _problem_handler(self, name: str) -> Callable[[GrandstandError], None]:
        def handle(error: GrandstandError) -> None:
            if name not in self.problems:
                self._log.warning("task_failed", task=name, error=str(error))
            self.problems[name] = str(error)

        return handle

    def _add_session(self, what: str) -> None:
        at = self.stamp()
        self.started_at = self.started_at or at
        self.writer.add(store.SESSIONS, store.Session(at, self._settings.name, 0, what))

    async def _finish_gaps(self) -> None:
        """Fetch what is still missing and prove that nothing was lost at the end, within limits."""
        with contextlib.suppress(TimeoutError, *rest_polling.TRANSIENT_ERRORS):
            async with asyncio.timeout(_SHUTDOWN_SECONDS):
                await self.backfill.finish()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_SHUTDOWN_SECONDS):
                for connection in self.pool.connections:
                    connection.request_proof(connection.feed.sids)
                while any(each.awaits_proof for each in self.pool.connections):  # noqa: ASYNC110
                    await asyncio.sleep(_POLL_SECONDS)

    async def _shut_down(
        self, tasks: list[asyncio.Task[None]], sending: asyncio.Task[None]
    ) -> None:
        connections = self.pool.connections
        if tasks and not any(task.done() for task in tasks):
            await self._finish_gaps()
        proven = [connection for connection in connections if not connection.awaits_proof]
        closed = asyncio.gather(*(connection.stream.close() for connection in connections))
        await run_with_timeout(_SHUTDOWN_SECONDS, closed)
        running = await cancel_all(tasks)
        for connection in connections:
            connection.on_stop(proven=connection in proven)
        flushed = await run_with_timeout(_FINAL_FLUSH_SECONDS, self.writer.flush())
        started = tasks or not self._resume.last_stamp
        if started and flushed and not running:
            # The next run relies on it: only a run that recorded its gap and its rows says so.
            self._add_session("stopped")
            await run_with_timeout(_FINAL_FLUSH_SECONDS, self.writer.flush())
        await self.writer.write_raw_log()
        if self.writer.raw_log is not None:
            self.writer.raw_log.close()
        await asyncio.to_thread(self.buffer.settle)
        await cancel_all((sending,))

    def _connect(
        self,
        number: int,
        decoder: FrameDecoder,
        *,
        signer: Signer | None,
        random: Random,
        metrics: Metrics,
    ) -> Connection:
        settings, clock, selection = self._settings, self._clock, self._selection
        channels = (LIFECYCLE, TRADES, TICKERS) if number == 0 else ()
        stream = KalshiStream(
            f"exchange-{number}",
            settings.stream_url,
            signer=signer,
            stamp=self.stamp,
            clock=clock,
            random=random,
            metrics=metrics,
            config=replace(
                SOCKET_CONFIG,
                first_seconds=settings.reconnect_seconds,
                most_seconds=settings.max_reconnect_seconds,
            ),
        )
        connection: Connection
        connection = Connection(
            number,
            stream,
            SubscriptionManager(subscription_limits(settings), channels),
            gatherer=settings.name,
            writer=self.writer,
            counters=self.counters,
            on_lifecycle=selection.on_lifecycle,
            on_backfill=lambda gap: self.backfill.add(connection, gap),
            on_gap=self._on_gap,
            is_wanted=selection.is_wanted,
            parse=decoder.parse,
            stamp=self.stamp,
            clock=clock,
            silence_seconds=settings.silence_seconds,
            keyframe_deltas=settings.keyframe_deltas,
        )
        return connection


class _NonClosingEngine:
    """The platform's engine for a buffer, which would close an engine of its own."""

    def __init__(self, engine: SeriesEngine) -> None:
        self._engine = engine

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - as the engine's own
        return getattr(self._engine, name)

    def close(self) -> None:
        """Leave the engine open."""
