"""The job runner: starts due jobs, each in one instance at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Any, Final, TypeVar

from grandstand.core.clock import Clock
from grandstand.core.errors import Conflict, GrandstandError, InvalidInput
from grandstand.core.logging import get_logger, redact
from grandstand.core.metrics import Metrics
from grandstand.kit.jobs.job import (
    Continuous,
    Job,
    JobContext,
    check,
    describe_schedule,
    first_due,
    next_due,
    retention_of,
    retry_due,
)
from grandstand.kit.jobs.tables import JobRun, JobState, Outcome
from grandstand.kit.live import Publisher
from grandstand.storage.tables.errors import ConditionFailed, LeaseLost
from grandstand.storage.tables.leases import PLATFORM_LEASES, AsyncLeaseContext, Leases, LeaseTaken
from grandstand.storage.tables.operations.item_ops import Operation
from grandstand.storage.tables.platform_tables import LeaseRecord
from grandstand.storage.tables.store import AsyncStore

R = TypeVar("R")

TOPIC: Final = "platform/jobs"
_LONGEST_TEXT: Final = 1000
_STEADY: Final = timedelta(minutes=1)
_FIRST_PAUSE_SECONDS: Final = 0.1
_LONGEST_PAUSE_SECONDS: Final = 2.0


def lease_name(job: str) -> str:
    """Return the name of a job's lease."""
    return f"job/{job}"


def is_due(found: JobState, now: datetime) -> bool:
    """Return whether a job whose lease is free must be run or cleaned up."""
    if found.asked_at is not None or found.running_on is not None:
        return True
    return found.paused_at is None and found.due_at is not None and found.due_at <= now


@dataclass(frozen=True, slots=True)
class ExecutionContext:
    """What every run on one instance needs."""

    store: AsyncStore
    leases: Leases
    clock: Clock
    random: Random
    metrics: Metrics
    publisher: Publisher


@dataclass(frozen=True, slots=True)
class RunReport:
    """The outcome of a run, and whether a retry may help."""

    outcome: Outcome
    said: str | None = None
    error: str | None = None
    hopeless: bool = False


class JobExecution:
    """Runs one job once, if it gets the job's lease and the job is still due.

    `ran` tells whether it did and its outcome was stored.
    """

    def __init__(self, job: Job, means: ExecutionContext) -> None:
        self.job = job
        self.ran = False
        self._means = means
        self._task: asyncio.Task[None] | None = None
        self._working = False
        self._why: str | None = None
        self._progress: str | None = None

    def start(self, then: Callable[[], None]) -> asyncio.Task[None]:
        """Start in a task and call `then` when it has ended."""
        self._task = asyncio.create_task(self.attend(), name=f"job {self.job.name}")
        self._task.add_done_callback(lambda _: then())
        return self._task

    def stop(self, why: str) -> None:
        """Stop the work and store why, unless its outcome is being stored already."""
        if self._why is None and self._task is not None:
            self._why = why
            if self._working:
                self._task.cancel()

    async def attend(self) -> None:
        """Run the job if nobody else does; errors of the work and the store end here."""
        means, name = self._means, self.job.name
        holding = AsyncLeaseContext(
            means.store, means.leases, lease_name(name), random=means.random
        )
        try:
            async with holding as held:
                assert held.token is not None  # noqa: S101 - the platform's leases count
                await self._run(held.token)
        except LeaseTaken:
            return
        except LeaseLost as lost:
            self.ran = False
            means.metrics.count("job_runs", job=name, outcome="lost")
            get_logger("jobs").warning("the lease was lost", job=name, reason=str(lost))
        except GrandstandError as fault:
            self.ran = False
            get_logger("jobs").error("job_not_run", job=name, error=redact(str(fault)))

    async def _run(self, token: int) -> None:
        means, instance = self._means, self._means.leases.owner
        found = await means.store.read(JobState.one(self.job.name))
        now = means.clock.now()
        if self._why is not None or not is_due(found, now):
            return
        try:
            begun = await means.store(found.begin(token, instance, now))
        except ConditionFailed:
            return
        self.ran = True
        run = JobContext(self.job.name, token, begun.attempt, now, self._tell)
        report = None
        if found.running_on is not None:
            report = await self._take_over(found, now)
        self._news("running", attempt=run.attempt)
        await self._end(found, run, report or await self._carry_out(run))

    async def _take_over(self, found: JobState, now: datetime) -> RunReport | None:
        """Record that an earlier run was lost; return a report if no retry is left."""
        lost = JobRun(
            job=found.name,
            token=found.token,
            attempt=found.attempt,
            instance=found.running_on or "",
            started_at=found.running_since or now,
            ended_at=now,
            outcome="lost",
            error=f"{found.running_on} stopped responding",
            gone_at=now + retention_of(self.job.when),
        )
        await self._insist(lost.keep())
        if found.paused_at is not None and found.asked_at is None:
            return RunReport("stopped", "the job is paused")
        if not isinstance(self.job.when, Continuous) and found.attempt >= self.job.tries:
            return RunReport("failed", error=f"given up: {found.attempt} tries, the last one lost")
        return None

    async def _carry_out(self, run: JobContext) -> RunReport:
        """Do the work; an unexpected cancellation means that the lease was lost."""
        job = self.job
        limit = None if isinstance(job.when, Continuous) else job.timeout_seconds
        self._working = True
        try:
            async with asyncio.timeout(limit) as limited:
                said = await job.work(run)
        except TimeoutError as fault:
            if limited.expired():
                return RunReport("timed out", error=f"it took longer than {limit:g} seconds")
            return self._failed(fault)
        except asyncio.CancelledError:
            return self._cancelled()
        except Exception as fault:  # noqa: BLE001 - whatever ends the work is written down
            return self._failed(fault)
        finally:
            self._working = False
        return RunReport("done", _short(said or self._progress))

    def _cancelled(self) -> RunReport:
        """Return why the work was cancelled; re-raise if the lease was lost."""
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - a coroutine that runs is some task's
        if not task.cancelling():
            return RunReport("failed", error="something the work awaited was cancelled")
        if self._why is None:
            raise asyncio.CancelledError
        task.uncancel()
        return RunReport("stopped", self._why)

    def _failed(self, fault: BaseException) -> RunReport:
        told = _short(f"{type(fault).__name__}: {fault}")
        known = fault if isinstance(fault, GrandstandError) else None
        hopeless = known is not None and not known.retry and not isinstance(known, Conflict)
        unforeseen = fault if known is None else None
        get_logger("jobs").warning(
            "a run failed", job=self.job.name, error=told, exc_info=unforeseen
        )
        return RunReport("failed", error=told, hopeless=hopeless)

    async def _end(self, found: JobState, run: JobContext, report: RunReport) -> None:
        means, job = self._means, self.job
        now = means.clock.now()
        record = JobRun(
            job=job.name,
            token=run.token,
            attempt=run.attempt,
            instance=means.leases.owner,
            started_at=run.started_at,
            ended_at=now,
            outcome=report.outcome,
            said=report.said,
            error=report.error,
            gone_at=now + retention_of(job.when),
        )
        after = self._afterwards(found, record, hopeless=report.hopeless)
        try:
            await self._insist(JobState.end(job.name, run.token, record, **after))
        except ConditionFailed:
            means.metrics.count("job_runs", job=job.name, outcome="fenced")
            get_logger("jobs").warning("late_job_result_refused", job=job.name, run=run.token)
            return
        await self._insist(record.keep())
        means.metrics.count("job_runs", job=job.name, outcome=report.outcome)
        means.metrics.observe("job_seconds", record.seconds, job=job.name)
        self._news("ended", outcome=report.outcome, said=report.said, error=report.error)

    def _afterwards(self, found: JobState, ended: JobRun, *, hopeless: bool) -> dict[str, Any]:
        """Return the attempts, failures and next due time after this run."""
        job, random, now = self.job, self._means.random, ended.ended_at
        was_due_at = found.due_at or now
        if ended.outcome == "stopped":
            at_once = min(was_due_at, now)
            return {"attempt": found.attempt, "failures": found.failures, "due_at": at_once}
        due_at = next_due(
            job, started_at=ended.started_at, ended_at=now, was_due_at=was_due_at, random=random
        )
        if ended.outcome == "done":
            return {"attempt": 0, "failures": 0, "due_at": due_at}
        failures = found.failures + 1
        if isinstance(job.when, Continuous):
            if ended.ended_at - ended.started_at > _STEADY:
                failures = 1
            later = retry_due(job, ended_at=now, failures=failures, random=random)
            return {"attempt": 0, "failures": failures, "due_at": max(due_at, later)}
        if ended.attempt < job.tries and not hopeless:
            due_at = retry_due(job, ended_at=now, failures=ended.attempt, random=random)
            return {"attempt": ended.attempt, "failures": failures, "due_at": due_at}
        return {"attempt": 0, "failures": failures, "due_at": due_at}

    async def _insist(self, operation: Operation[R]) -> R:
        """Run an operation, retrying while the lease is held."""
        pause = _FIRST_PAUSE_SECONDS
        while True:
            try:
                return await self._means.store(operation)
            except GrandstandError as fault:
                if not fault.retry:
                    raise
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)

    def _tell(self, text: str) -> None:
        self._progress = text
        self._news("running", progress=_short(text))

    def _news(self, state: str, **more: object) -> None:
        at = self._means.clock.now().isoformat()
        self._means.publisher.publish(
            TOPIC, {"job": self.job.name, "state": state, "at": at, **more}
        )


def _short(text: str | None) -> str | None:
    return redact(text)[:_LONGEST_TEXT] or None if text else None


_SEEN_AGAIN_AFTER: Final = timedelta(days=1)
_SHORTEST_REST_SECONDS: Final = 0.01
_LONGEST_REST_SECONDS: Final = 30.0


@dataclass(frozen=True, slots=True)
class RunnerConfig:
    """Lease duration, clock tolerance, polling interval and stop timeout."""

    lease_seconds: float = 10.0
    grace_seconds: float = 1.0
    look_seconds: float = 2.0
    stop_seconds: float = 3.0


@dataclass(frozen=True, slots=True)
class RunnerHealth:
    """When the runner last polled its jobs, why it cannot, and what it runs."""

    looked_at: datetime | None
    fault: str | None
    running: tuple[str, ...]


class JobRunner:
    """Runs jobs on this instance; any number of instances share a store.

    Raises InvalidInput if two jobs have the same name or one can never be due.
    """

    def __init__(
        self,
        store: AsyncStore,
        jobs: Iterable[Job],
        *,
        clock: Clock,
        random: Random,
        metrics: Metrics,
        publisher: Publisher,
        instance: str,
        pace: RunnerConfig = RunnerConfig(),  # noqa: B008 - a frozen value
    ) -> None:
        self._jobs = _by_name(jobs)
        self._pace = pace
        leases = Leases(
            PLATFORM_LEASES,
            instance,
            seconds=pace.lease_seconds,
            grace_seconds=pace.grace_seconds,
        )
        self._means = ExecutionContext(store, leases, clock, random, metrics, publisher)
        self._attendants: dict[str, JobExecution] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._not_before: dict[str, float] = {}
        self._wake = asyncio.Event()
        self._stopping = False
        self._ended: asyncio.Event | None = None
        self._looked_at: datetime | None = None
        self._fault: str | None = None

    @property
    def health(self) -> RunnerHealth:
        """The runner's health, for readiness checks."""
        return RunnerHealth(self._looked_at, self._fault, tuple(sorted(self._tasks)))

    @property
    def jobs(self) -> tuple[Job, ...]:
        """The declared jobs."""
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
                    get_logger("jobs").error("job_poll_failed", error=self._fault, again_in=pause)
                await self._rest(pause)
        finally:
            await self._wind_down()
            self._ended.set()

    async def stop(self) -> None:
        """Start nothing new, let short work finish, stop the rest, and return.

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
        """Start due jobs and return the seconds until the next poll."""
        means = self._means
        self._reap()
        found = {known.name: known for known in await means.store(JobState.everyone())}
        now = means.clock.now()
        for name, job in self._jobs.items():
            found[name] = await self._enrolled(job, found.get(name), now)
        mine = {name: found[name] for name in self._jobs}
        for name, attendant in self._attendants.items():
            if mine[name].paused_at is not None and isinstance(attendant.job.when, Continuous):
                attendant.stop("the job is paused")
        idle = [known for name, known in mine.items() if name not in self._attendants]
        return await self._begin(idle, now)

    async def _begin(self, idle: list[JobState], now: datetime) -> float:
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

    async def _elsewhere(self, begun: list[JobState], now: datetime) -> dict[str, float]:
        """Return the seconds until leases of other instances may be free."""
        if not begun:
            return {}
        leases = await self._means.store.get_many(
            LeaseRecord.get(name=lease_name(known.name)) for known in begun
        )
        grace = timedelta(seconds=self._pace.grace_seconds)
        return {
            known.name: (lease.expires_at + grace - now).total_seconds()
            for known, lease in zip(begun, leases, strict=True)
            if lease is not None and lease.expires_at is not None
        }

    def _attend(self, job: Job) -> None:
        attendant = JobExecution(job, self._means)
        self._attendants[job.name] = attendant
        self._tasks[job.name] = attendant.start(self._wake.set)

    def _reap(self) -> None:
        """Remove ended tasks; a job that could not run is not tried again at once."""
        for name in [name for name, task in self._tasks.items() if task.done()]:
            task, attendant = self._tasks.pop(name), self._attendants.pop(name)
            fault = None if task.cancelled() else task.exception()
            if fault is not None:
                get_logger("jobs").error("job_runner_failed", job=name, exc_info=fault)
            if not attendant.ran or fault is not None:
                rest = self._pace.look_seconds
                self._not_before[name] = self._means.clock.monotonic() + rest

    async def _enrolled(self, job: Job, known: JobState | None, now: datetime) -> JobState:
        """Return a job's state, stored as declared here if that is new or old."""
        told, first_look = describe_schedule(job.when), self._looked_at is None
        changed = known is not None and first_look and known.rhythm != told
        if known is not None and not changed:
            reworded = first_look and known.purpose != job.purpose
            if not reworded and now - known.seen_at < _SEEN_AGAIN_AFTER:
                return known
        due_at = first_due(job, now, self._means.random)
        enrol = JobState.enrol(job.name, job.purpose, told, due_at, now)
        enrolled = await self._means.store(enrol)
        if changed:
            return await self._means.store(JobState.reschedule(job.name, due_at))
        return enrolled

    async def _wind_down(self) -> None:
        self._reap()
        for attendant in self._attendants.values():
            if isinstance(attendant.job.when, Continuous):
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
            raise InvalidInput(f"Two jobs are named {job.name}. Use unique names.")
        check(job)
        named[job.name] = job
    return named
