"""Kept here: a gatherer at work: everything it does from its start until it is stopped."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, Final

from grandstand.apps.gatherer import store
from grandstand.apps.gatherer.model.incidents import Gap, GapReason
from grandstand.apps.gatherer.model.stamps import Stamps
from grandstand.apps.gatherer.service.recording import disk, ending
from grandstand.apps.gatherer.service.recording.connection import Connection, Ears
from grandstand.apps.gatherer.service.recording.figures import Figures, Pace
from grandstand.apps.gatherer.service.recording.filling import Filling
from grandstand.apps.gatherer.service.recording.gaps import gap_row
from grandstand.apps.gatherer.service.recording.patience import PASSING, Lent, patiently
from grandstand.apps.gatherer.service.recording.plan import Plan
from grandstand.apps.gatherer.service.recording.pool import Pool
from grandstand.apps.gatherer.service.recording.rounds import Rounds
from grandstand.apps.gatherer.service.recording.session import (
    Past,
    absence,
    past_of,
    remember_whole,
)
from grandstand.apps.gatherer.service.recording.surroundings import Surroundings
from grandstand.apps.gatherer.service.recording.tape import Tape
from grandstand.apps.gatherer.service.recording.writing import Writer
from grandstand.apps.gatherer.sources.kalshi.commands import BOOKS, LIFECYCLE, TICKERS, TRADES
from grandstand.apps.gatherer.sources.kalshi.stream import KEEPING, Stream
from grandstand.apps.gatherer.sources.kalshi.subscriptions import Subscriptions
from grandstand.base.clock import Clock
from grandstand.base.errors import GrandstandError, Unavailable
from grandstand.base.log import log
from grandstand.storage.series.buffer import AsyncBuffer, Buffer

_FLUSH_SECONDS: Final = 0.05
_WHOLE_SECONDS: Final = 0.8
_MARK_SECONDS: Final = 0.2
_TAPE_SECONDS: Final = 1.0
_SECOND: Final = 1.0
_DISK_SECONDS: Final = 30.0
_STEP_SECONDS: Final = 0.02
_LAST_WORDS_SECONDS: Final = 3.0
_LAST_ROWS_SECONDS: Final = 20.0
_WATCH_SECONDS: Final = 5.0
_ALARM_SECONDS: Final = 300.0
_MICRO: Final = 1_000_000
_DAY_US: Final = 86_400_000_000


class Recorder:
    """Records until it is stopped; one of these runs in a process, for one gatherer.

    `run` raises KeyRefused when the exchange does not accept the key, DiskBudgetSpent when there is
    no room, SeriesUnavailable when another process records into the same folder.
    """

    def __init__(self, plan: Plan, surroundings: Surroundings, past: Past, buffer: Buffer) -> None:
        self.plan = plan
        self.figures = Figures()
        self.pace = Pace()
        self.stamps = Stamps(past.last_stamp)
        self.stamp = _stamping(self.stamps, surroundings.clock)
        self.buffer = AsyncBuffer(buffer)
        self._by = surroundings
        self._past = past
        tape = Tape(plan.folder / "tape") if plan.tape else None
        self.writer = Writer(self.buffer, clock=surroundings.clock, figures=self.figures, tape=tape)
        self._absences = 0
        self._alarmed_at = float("-inf")
        self._gaps_told = 0
        self._whole_at = 0
        self.pool = Pool(
            tuple(self._connection(number) for number in range(plan.connections)),
            self.stamp,
            lambda gap: self.writer.add(store.GAPS, gap_row(gap, plan.gatherer, None)),
        )
        self.rounds = Rounds(
            surroundings.exchange,
            self.pool,
            self.writer,
            gatherer=plan.gatherer,
            stamp=self.stamp,
            wants=surroundings.choosing.wants,
            random=surroundings.random,
        )
        self.filling = Filling(
            self.rounds, surroundings.choosing.sync, self.stamp, self._trouble("backfill")
        )
        surroundings.choosing.attach(
            lambda row: self.writer.add(store.MARKET_EVENTS, row), self.stamp
        )
        self.started_at = 0
        self.disk: disk.Disk | None = None
        self.troubles: dict[str, str] = {}
        self._stopping = asyncio.Event()
        self._log = log("gatherer")

    @classmethod
    @asynccontextmanager
    async def opened(cls, plan: Plan, surroundings: Surroundings) -> AsyncIterator[Recorder]:
        """Open what recording needs; raise SeriesUnavailable."""
        by = surroundings
        buffer = await asyncio.to_thread(
            Buffer.open,
            plan.folder / "waiting",
            store.SERIES,
            lambda: Lent(by.engine),
            clock=by.clock,
            chance=by.random,
            limits=plan.limits,
        )
        try:
            past = await asyncio.to_thread(past_of, by.engine, plan.gatherer, plan.folder)
            yield cls(plan, surroundings, past, buffer)
        finally:
            await asyncio.to_thread(buffer.close)

    def stop(self) -> None:
        """Let `run` come to a clean end."""
        self._stopping.set()

    async def run(self) -> None:
        """Record until `stop` is called, or something comes up that only a person can put right."""
        sending = asyncio.create_task(self.buffer.run())
        stopping = asyncio.create_task(self._stopping.wait())
        beginning = asyncio.create_task(self._begin())
        tasks: list[asyncio.Task[None]] = []
        self._note("started")
        try:
            await ending.first((beginning, stopping, sending))
            # One that is stopped at once still tells what it finds, if that does not take long.
            await asyncio.wait((beginning,), timeout=_LAST_WORDS_SECONDS)
            if beginning.done():
                beginning.result()
                tasks = [asyncio.create_task(work) for work in self._work()]
                await ending.first((*tasks, stopping, sending))
        finally:
            await ending.over((stopping, beginning))
            await asyncio.shield(self._end(tasks, sending))

    def _work(self) -> list[Coroutine[Any, Any, None]]:
        plan = self.plan
        hearing = [work for each in self.pool.connections for work in (each.run(), each.tend())]
        return [
            *hearing,
            self._flushing(),
            self._proving(),
            self.filling.run(),
            self._every(_TAPE_SECONDS, "tape", self.writer.write_tape),
            self._every(_SECOND, "markets", self._choose),
            self._every(_DISK_SECONDS, "disk", self._check_disk),
            self._every(_WATCH_SECONDS, "watch", self._watch),
            self._every(plan.reconcile_seconds, "registry", self._by.choosing.sync),
            self._every(plan.trades_seconds, "trades", self.filling.trades),
            self._every(plan.audit_seconds, "audit", self._audit),
            self._snapshots(),
        ]

    async def _begin(self) -> None:
        """Learn the markets, and begin with the gap since the last time."""
        await self._look_at_disk()
        await patiently(self._limits, self._trouble("limits"))
        await patiently(self._by.choosing.sync, self._trouble("registry"))
        self.pool.follow(await self._by.choosing.choose())
        self.pool.begun(self.started_at)
        self.filling.fetched_at = self.started_at
        if not self._past.last_stamp:
            return
        for connection in self.pool.connections:
            followed = frozenset(connection.subscriptions.wanted)
            if followed:
                self._missing(connection, absence(self._past, connection.number, BOOKS, followed))
        first = self.pool.connections[0]
        trades = absence(self._past, len(self.pool.connections), TRADES, frozenset())
        self._missing(first, trades)

    def _missing(self, connection: Connection, gap: Gap) -> None:
        self.writer.add(store.GAPS, gap_row(gap, self.plan.gatherer, None))
        self.figures.gaps_opened[str(gap.reason)] += 1
        connection.carried = (*connection.carried, gap)
        self._absences += 1
        if gap.channel != BOOKS:
            self.filling.put(connection, gap)

    def _heard_of(self, gap: Gap, resolved_at: int | None) -> None:
        """Close what the last run left open, once every gap since then is closed."""
        if resolved_at is None or gap.conn or gap.reason is GapReason.LEFT:
            return
        self._absences -= 1
        if self._absences:
            return
        for left in self._past.open_gaps:
            if left.reason == GapReason.LEFT:
                continue
            closed = left._replace(resolved=True, resolved_at=resolved_at)
            self.writer.add(store.GAPS, closed)

    async def _limits(self) -> None:
        await self._by.exchange.limits()

    async def _choose(self) -> None:
        self._by.choosing.turn(self.stamp())
        self.pool.follow(await self._by.choosing.choose())
        self.pool.rebalance()
        at = self.stamp()
        for each in self.pool.connections:
            each.keyframes(at)
        frames = sum(each.frames for each in self.pool.connections)
        self.figures.frames = frames
        self.figures.frame_bytes = sum(each.bytes for each in self.pool.connections)
        self.pace.note(self._by.clock.monotonic(), frames)

    async def _audit(self) -> None:
        outcomes = await self.rounds.audit(self.plan.audit_markets, self.plan.audit_again_seconds)
        wrong = sorted(ticker for ticker, outcome in outcomes.items() if outcome == "different")
        if wrong:
            await self._by.alarm("A book differs from REST", ", ".join(wrong))

    async def _watch(self) -> None:
        """Raise an alarm when all connections are silent, or gaps were found; not too often."""
        now, plan = self._by.clock.monotonic(), self.plan
        heard = max(each.heard_at for each in self.pool.connections)
        silent = (self.stamp() - heard) / _MICRO
        gaps = self.figures.gaps_opened.total()
        news = ""
        if self.pool.followed and silent > plan.stall_seconds:
            news = f"{plan.gatherer} has heard nothing for {silent:.0f} s"
        elif gaps > self._gaps_told:
            found = gaps - self._gaps_told
            word = "gap" if found == 1 else "gaps"
            news = f"{plan.gatherer} found {found} {word} since the last alarm"
        if news and now - self._alarmed_at >= _ALARM_SECONDS:
            self._alarmed_at, self._gaps_told = now, gaps
            await self._by.alarm("Recording is not whole", news)

    async def _look_at_disk(self) -> None:
        try:
            await self._check_disk()
        except Unavailable as fault:
            self._trouble("disk")(fault)

    async def _check_disk(self) -> None:
        plan = self.plan
        if self.writer.tape is not None:
            before = self.stamp() - plan.tape_days * _DAY_US
            await asyncio.to_thread(self.writer.tape.forget, before)
        self.disk = await asyncio.to_thread(disk.measured, plan.folder, self._by.engine)
        disk.check(self.disk, plan.least_free_bytes, plan.most_bytes)

    async def _snapshots(self) -> None:
        """Fetch all books at the beginning of every slot, the same moments for every gatherer."""
        slot = int(self.plan.snapshots_seconds * _MICRO)
        done = self.stamp() // slot
        while True:
            await asyncio.sleep(min(_SECOND, self.plan.snapshots_seconds / 10))
            present = self.stamp() // slot
            if present > done:
                try:
                    await self.rounds.snapshots(present * slot)
                    self.troubles.pop("snapshots", None)
                except PASSING as fault:
                    self._trouble("snapshots")(fault)
                done = present

    async def _flushing(self) -> None:
        while True:
            await asyncio.sleep(_FLUSH_SECONDS)
            if self.writer.waiting:
                await self.writer.flush()
            self.writer.lag.durable(self.buffer.buffer.durable, self._by.clock.monotonic())

    async def _proving(self) -> None:
        """Say again and again up to which moment everything is kept."""
        while True:
            # What is missing after the last frame of a quiet subscription shows with its next.
            marked = self.stamps.last
            for each in self.pool.connections:
                each.mark(marked)
            await asyncio.sleep(_MARK_SECONDS)
            proven = min(each.proven(marked) for each in self.pool.connections)
            self._whole_at = at = max(self._whole_at, proven)
            why = store.TOLD if all(each.told(at) for each in self.pool.connections) else None
            mark = await self.writer.flush()
            while self.buffer.buffer.durable < mark:  # noqa: ASYNC110 - told by nothing else
                await asyncio.sleep(_STEP_SECONDS)
            row = store.Session(at, self.plan.gatherer, 0, "whole", why)
            self.writer.add(store.SESSIONS, row)
            remember_whole(self.plan.folder, at)
            await asyncio.sleep(_WHOLE_SECONDS)

    async def _every(self, seconds: float, name: str, work: Callable[[], Awaitable[None]]) -> None:
        while True:
            await asyncio.sleep(seconds)
            try:
                await work()
                self.troubles.pop(name, None)
            except disk.DiskBudgetSpent as fault:
                await self._by.alarm("Recording stopped", str(fault))
                raise
            except PASSING as fault:
                self._trouble(name)(fault)

    def _trouble(self, name: str) -> Callable[[GrandstandError], None]:
        def note(fault: GrandstandError) -> None:
            if name not in self.troubles:
                self._log.warning("will be tried again", what=name, error=str(fault))
            self.troubles[name] = str(fault)

        return note

    def _note(self, what: str) -> None:
        at = self.stamp()
        self.started_at = self.started_at or at
        self.writer.add(store.SESSIONS, store.Session(at, self.plan.gatherer, 0, what))

    async def _last_words(self) -> None:
        """Fetch what is still missing, and learn whether anything was missed last; not for long."""
        with contextlib.suppress(TimeoutError, *PASSING):
            async with asyncio.timeout(_LAST_WORDS_SECONDS):
                await self.filling.last()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LAST_WORDS_SECONDS):
                for each in self.pool.connections:
                    each.prove(each.feed.sids)
                while any(each.proving for each in self.pool.connections):  # noqa: ASYNC110 - as above
                    await asyncio.sleep(_STEP_SECONDS)

    async def _end(self, tasks: list[asyncio.Task[None]], sending: asyncio.Task[None]) -> None:
        connections = self.pool.connections
        if tasks and not any(task.done() for task in tasks):
            await self._last_words()
        proven = [each for each in connections if not each.proving]
        closed = asyncio.gather(*(each.stream.close() for each in connections))
        await ending.within(_LAST_WORDS_SECONDS, closed)
        left = await ending.over(tasks)
        for each in connections:
            each.stopped(proven=each in proven)
        kept = await ending.within(_LAST_ROWS_SECONDS, self.writer.flush())
        begun = tasks or not self._past.last_stamp
        if begun and kept and not left:
            # Said only of a run that told its gap and kept its rows: the next one relies on it.
            self._note("stopped")
            await ending.within(_LAST_ROWS_SECONDS, self.writer.flush())
        await self.writer.write_tape()
        if self.writer.tape is not None:
            self.writer.tape.close()
        await self.buffer.settle()
        await ending.over((sending,))

    def _connection(self, number: int) -> Connection:
        plan, by = self.plan, self._by
        channels = (LIFECYCLE, TRADES, TICKERS) if number == 0 else ()
        stream = Stream(
            f"exchange-{number}",
            plan.ws_url,
            signer=by.signer,
            parse=by.parse,
            stamp=self.stamp,
            clock=by.clock,
            random=by.random,
            metrics=by.metrics,
            keeping=replace(
                KEEPING,
                first_seconds=plan.first_wait_seconds,
                most_seconds=plan.longest_wait_seconds,
            ),
        )
        connection: Connection
        ears = Ears(
            lifecycle=by.choosing.told,
            backfill=lambda gap: self.filling.put(connection, gap),
            gap=self._heard_of,
            wants=by.choosing.wants,
        )
        connection = Connection(
            number,
            stream,
            Subscriptions(plan.terms, channels),
            gatherer=plan.gatherer,
            writer=self.writer,
            figures=self.figures,
            ears=ears,
            clock=by.clock,
            silence_seconds=plan.silence_seconds,
            keyframe_deltas=plan.keyframe_deltas,
        )
        return connection


def _stamping(stamps: Stamps, clock: Clock) -> Callable[[], int]:
    """Answer what makes receive stamps, each later than every other of this gatherer."""
    following, epoch = stamps.next, clock.epoch
    return lambda: following(int(epoch() * _MICRO))
