"""Kept here: the runner: it looks which jobs are due and lets each be run by one instance."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Final

from grandstand.base.clock import Clock
from grandstand.base.errors import GrandstandError, InvalidInput
from grandstand.base.log import log, redact
from grandstand.base.metrics import Metrics
from grandstand.kit.jobs.attending import Attendant, Means, is_due, lease_name
from grandstand.kit.jobs.due import check, first_due, rhythm
from grandstand.kit.jobs.job import Always, Job
from grandstand.kit.jobs.tables import KeptJob
from grandstand.kit.live import Teller
from grandstand.storage.tables.house import KeptLease
from grandstand.storage.tables.leases import HOUSE_LEASES, Leases
from grandstand.storage.tables.store import AsyncStore

_SEEN_AGAIN_AFTER: Final = timedelta(days=1)
_SHORTEST_REST_SECONDS: Final = 0.01
_LONGEST_REST_SECONDS: Final = 30.0


@dataclass(frozen=True, slots=True)
class Pace:
    """How long a lease lasts, how far clocks may differ, how often to look, how long to stop."""

    lease_seconds: float = 10.0
    grace_seconds: float = 1.0
    look_seconds: float = 2.0
    stop_seconds: float = 3.0


@dataclass(frozen=True, slots=True)
class Health:
    """When the runner last saw its jobs, what keeps it from seeing them, and what it runs."""

    looked_at: datetime | None
    fault: str | None
    running: tuple[str, ...]


class Runner:
    """Runs jobs on this instance; any number of instances on one store run each job once.

    Raises InvalidInput when two jobs have one name, or one can never be due.
    """

    def __init__(
        self,
        store: AsyncStore,
        jobs: Iterable[Job],
        *,
        clock: Clock,
        random: Random,
        metrics: Metrics,
        teller: Teller,
        instance: str,
        pace: Pace = Pace(),  # noqa: B008 - a frozen value
    ) -> None:
        self._jobs = _by_name(jobs)
        self._pace = pace
        leases = Leases(
            HOUSE_LEASES,
            instance,
            seconds=pace.lease_seconds,
            grace_seconds=pace.grace_seconds,
        )
        self._means = Means(store, leases, clock, random, metrics, teller)
        self._attendants: dict[str, Attendant] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._not_before: dict[str, float] = {}
        self._wake = asyncio.Event()
        self._stopping = False
        self._ended: asyncio.Event | None = None
        self._looked_at: datetime | None = None
        self._fault: str | None = None

    @property
    def health(self) -> Health:
        """How the runner is, for whoever asks whether this instance is ready."""
        return Health(self._looked_at, self._fault, tuple(sorted(self._tasks)))

    @property
    def jobs(self) -> tuple[Job, ...]:
        """The jobs it knows."""
        return tuple(self._jobs.values())

    async def run(self) -> None:
        """Run jobs when they are due, until stopped."""
        self._ended = asyncio.Event()
        faults = 0
        try:
            while not self._stopping:
                try:
                    pause, faults = await self._look(), 0
                    self._looked_at, self._fault = self._means.clock.now(), None
                except GrandstandError as fault:
                    faults += 1
                    pause = min(self._pace.look_seconds * 2**faults, _LONGEST_REST_SECONDS)
                    self._fault = redact(str(fault))
                    log("jobs").error("jobs cannot be seen", error=self._fault, again_in=pause)
                await self._rest(pause)
        finally:
            await self._wind_down()
            self._ended.set()

    async def stop(self) -> None:
        """Begin nothing new, let short work end, stop the rest, and return when that is done.

        What was stopped is due at once, for another instance or the next start.
        """
        self._stopping = True
        self._wake.set()
        if self._ended is not None:
            await self._ended.wait()

    async def _rest(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._wake.wait()
        except TimeoutError:
            pass
        self._wake.clear()

    async def _look(self) -> float:
        """Begin what is due and answer how many seconds may pass until the next look."""
        means = self._means
        self._reap()
        found = {known.name: known for known in await means.store(KeptJob.everyone())}
        now = means.clock.now()
        for name, job in self._jobs.items():
            found[name] = await self._enrolled(job, found.get(name), now)
        mine = {name: found[name] for name in self._jobs}
        for name, attendant in self._attendants.items():
            if mine[name].paused_at is not None and isinstance(attendant.job.when, Always):
                attendant.stop("the job is paused")
        idle = [known for name, known in mine.items() if name not in self._attendants]
        return await self._begin(idle, now)

    async def _begin(self, idle: list[KeptJob], now: datetime) -> float:
        due = [known for known in idle if is_due(known, now)]
        free_in = await self._elsewhere([known for known in due if known.running_on], now)
        pauses = [self._pace.look_seconds]
        for known in due:
            wait = self._not_before.get(known.name, 0.0) - self._means.clock.monotonic()
            wait = max(wait, free_in.get(known.name, 0.0))
            if wait <= 0:
                self._attend(self._jobs[known.name])
            else:
                pauses.append(wait)
        pauses += [
            (known.due_at - now).total_seconds()
            for known in idle
            if known.due_at is not None and known.due_at > now and known.paused_at is None
        ]
        return max(min(pauses), _SHORTEST_REST_SECONDS)

    async def _elsewhere(self, begun: list[KeptJob], now: datetime) -> dict[str, float]:
        """Answer in how many seconds the leases of runs begun elsewhere may be free."""
        if not begun:
            return {}
        leases = await self._means.store.get_many(
            KeptLease.get(name=lease_name(known.name)) for known in begun
        )
        grace = timedelta(seconds=self._pace.grace_seconds)
        return {
            known.name: (lease.expires_at + grace - now).total_seconds()
            for known, lease in zip(begun, leases, strict=True)
            if lease is not None and lease.expires_at is not None
        }

    def _attend(self, job: Job) -> None:
        attendant = Attendant(job, self._means)
        self._attendants[job.name] = attendant
        self._tasks[job.name] = attendant.start(self._wake.set)

    def _reap(self) -> None:
        """Put away the tasks that have ended; one that could not run is not tried at once again."""
        for name in [name for name, task in self._tasks.items() if task.done()]:
            task, attendant = self._tasks.pop(name), self._attendants.pop(name)
            fault = None if task.cancelled() else task.exception()
            if fault is not None:
                log("jobs").error("the runner is at fault", job=name, exc_info=fault)
            if not attendant.ran or fault is not None:
                rest = self._pace.look_seconds
                self._not_before[name] = self._means.clock.monotonic() + rest

    async def _enrolled(self, job: Job, known: KeptJob | None, now: datetime) -> KeptJob:
        """Answer how a job stands, written down as declared here when that is new or long ago."""
        told, first_look = rhythm(job.when), self._looked_at is None
        changed = known is not None and first_look and known.rhythm != told
        if known is not None and not changed:
            reworded = first_look and known.purpose != job.purpose
            if not reworded and now - known.seen_at < _SEEN_AGAIN_AFTER:
                return known
        due_at = first_due(job, now, self._means.random)
        enrol = KeptJob.enrol(job.name, job.purpose, told, due_at, now)
        enrolled = await self._means.store(enrol)
        if changed:
            return await self._means.store(KeptJob.reschedule(job.name, due_at))
        return enrolled

    async def _wind_down(self) -> None:
        self._reap()
        for attendant in self._attendants.values():
            if isinstance(attendant.job.when, Always):
                attendant.stop("this instance stopped")
        await self._ending()
        for attendant in self._attendants.values():
            attendant.stop("this instance stopped")
        await self._ending()
        for task in self._tasks.values():
            task.cancel()
        await self._ending()
        self._reap()

    async def _ending(self) -> None:
        if self._tasks:
            await asyncio.wait(self._tasks.values(), timeout=self._pace.stop_seconds / 2)


def _by_name(jobs: Iterable[Job]) -> dict[str, Job]:
    named: dict[str, Job] = {}
    for job in jobs:
        if job.name in named:
            message = f"Two jobs are called {job.name}: give each a name of its own"
            raise InvalidInput(message)
        check(job)
        named[job.name] = job
    return named
