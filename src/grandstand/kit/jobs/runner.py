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
    CLOCK_TOLERANCE,
    Continuous,
    Job,
    JobContext,
    check,
    describe_schedule,
    first_due,
    latest_due,
    next_due,
    retention_of,
    retry_due,
)
from grandstand.kit.jobs.tables import JobRun, JobState, Outcome
from grandstand.kit.live import Publisher
from grandstand.kit.polling import PollingLoop
from grandstand.net.retry import backoff_seconds, retry
from grandstand.storage.tables.errors import ConditionFailed, LeaseLost
from grandstand.storage.tables.leases import (
    PLATFORM_LEASES,
    AsyncLeaseContext,
    Lease,
    Leases,
    LeaseTaken,
)
from grandstand.storage.tables.operations.item_ops import Operation
from grandstand.storage.tables.platform_tables import LeaseRecord
from grandstand.storage.tables.store import AsyncStore

R = TypeVar("R")

TOPIC: Final = "platform/jobs"


def lease_name(job: str) -> str:
    """Return the name of a job's lease."""
    return f"job/{job}"


def is_due(found: JobState, now: datetime) -> bool:
    """Return whether a job whose lease is free must be run or cleaned up."""
    if found.requested_at is not None or found.running_on is not None:
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
    result: str | None = None
    error: str | None = None
    final: bool = False


class JobExecution:
    """Runs one job once, if it gets the job's lease and the job is still due.

    `ran` tells whether it did and its outcome was stored.
    """

    def __init__(self, job: Job, context: ExecutionContext) -> None:
        self.job = job
        self.ran = False
        self._context = context
        self._task: asyncio.Task[None] | None = None
        self._working = False
        self._why: str | None = None
        self._progress: str | None = None

    def start(self, then: Callable[[], None]) -> asyncio.Task[None]:
        """Start in a task and call `then` when it has ended."""
        self._task = asyncio.create_task(self.execute(), name=f"job {self.job.name}")
        self._task.add_done_callback(lambda _: then())
        return self._task

    def stop(self, why: str) -> None:
        """Stop the work and store why, unless its outcome is being stored already."""
        if self._why is None and self._task is not None:
            self._why = why
            if self._working:
                self._task.cancel()

    async def execute(self) -> None:
        """Run the job if nobody else does; errors of the work and the store end here."""
        context, name = self._context, self.job.name
        holding = AsyncLeaseContext(
            context.store, context.leases, lease_name(name), random=context.random
        )
        try:
            async with holding as held:
                assert held.token is not None  # noqa: S101 - the platform's leases count
                await self._run(held.token)
        except LeaseTaken:
            return
        except LeaseLost as lost:
            self.ran = False
            context.metrics.count("job_runs", job=name, outcome="lost")
            get_logger("jobs").warning("job_lease_lost", job=name, reason=str(lost))
        except GrandstandError as fault:
            self.ran = False
            get_logger("jobs").error("job_not_run", job=name, error=redact(str(fault)))

    async def _run(self, token: int) -> None:
        context, instance = self._context, self._context.leases.owner
        found = await context.store.read(JobState.one(self.job.name))
        now = context.clock.now()
        if self._why is not None or not is_due(found, now):
            return
        try:
            begun = await context.store(found.begin(token, instance, now))
        except ConditionFailed:
            return
        self.ran = True
        run = JobContext(self.job.name, token, begun.attempt, now, self._tell)
        report = None
        if found.running_on is not None:
            report = await self._take_over(found, now)
        self._publish("running", attempt=run.attempt)
        await self._end(found, run, report or await self._work(run))

    async def _take_over(self, found: JobState, now: datetime) -> RunReport | None:
        """Record that an earlier run was lost; return a report if no retry is left."""
        lost = JobRun(
            job=found.name,
            token=found.token,
            attempt=found.attempt,
            instance=found.running_on or "",
            started_at=min(found.running_since or now, now),
            ended_at=now,
            outcome="lost",
            error=f"{found.running_on} stopped responding",
            gone_at=now + retention_of(self.job.when),
        )
        await self._retry(lost.put())
        if found.paused_at is not None and found.requested_at is None:
            return RunReport("stopped", "the job is paused")
        if not isinstance(self.job.when, Continuous) and found.attempt >= self.job.tries:
            return RunReport("failed", error=f"given up: {found.attempt} tries, the last one lost")
        return None

    async def _work(self, run: JobContext) -> RunReport:
        """Do the work; an unexpected cancellation means that the lease was lost."""
        job = self.job
        limit = None if isinstance(job.when, Continuous) else job.timeout_seconds
        self._working = True
        try:
            async with asyncio.timeout(limit) as limited:
                result = await job.work(run)
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
        return RunReport("done", _shorten(result or self._progress))

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
        error = _shorten(f"{type(fault).__name__}: {fault}")
        known = fault if isinstance(fault, GrandstandError) else None
        final = known is not None and not known.retry and not isinstance(known, Conflict)
        get_logger("jobs").warning(
            "job_run_failed", job=self.job.name, error=error, exc_info=None if known else fault
        )
        return RunReport("failed", error=error, final=final)

    async def _end(self, found: JobState, run: JobContext, report: RunReport) -> None:
        context, job = self._context, self.job
        now = context.clock.now()
        record = JobRun(
            job=job.name,
            token=run.token,
            attempt=run.attempt,
            instance=context.leases.owner,
            started_at=run.started_at,
            ended_at=now,
            outcome=report.outcome,
            result=report.result,
            error=report.error,
            gone_at=now + retention_of(job.when),
        )
        after = self._next_state(found, record, final=report.final)
        try:
            await self._retry(JobState.end(job.name, run.token, record, **after))
        except ConditionFailed:
            context.metrics.count("job_runs", job=job.name, outcome="fenced")
            get_logger("jobs").warning("late_job_result_refused", job=job.name, run=run.token)
            return
        await self._retry(record.put())
        context.metrics.count("job_runs", job=job.name, outcome=report.outcome)
        context.metrics.observe("job_seconds", record.seconds, job=job.name)
        self._publish("ended", outcome=report.outcome, result=report.result, error=report.error)

    def _next_state(self, found: JobState, ended: JobRun, *, final: bool) -> dict[str, Any]:
        """Return the attempts, failures and next due time after this run."""
        job, random, now = self.job, self._context.random, ended.ended_at
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
            if ended.ended_at - ended.started_at > timedelta(minutes=1):
                failures = 1
            later = retry_due(job, ended_at=now, failures=failures, random=random)
            return {"attempt": 0, "failures": failures, "due_at": max(due_at, later)}
        if ended.attempt < job.tries and not final:
            due_at = retry_due(job, ended_at=now, failures=ended.attempt, random=random)
            return {"attempt": ended.attempt, "failures": failures, "due_at": due_at}
        return {"attempt": 0, "failures": failures, "due_at": due_at}

    async def _retry(self, operation: Operation[R]) -> R:
        """Run an operation, retrying while the lease is held."""

        def wait(error: Exception, failures: int) -> float | None:
            retry_later = isinstance(error, GrandstandError) and error.retry
            return backoff_seconds(failures, 0.1, 2.0) if retry_later else None

        return await retry(lambda: self._context.store(operation), wait)

    def _tell(self, text: str) -> None:
        self._progress = text
        self._publish("running", progress=_shorten(text))

    def _publish(self, state: str, **more: object) -> None:
        at = self._context.clock.now().isoformat()
        self._context.publisher.publish(
            TOPIC, {"job": self.job.name, "state": state, "at": at, **more}
        )


def _shorten(text: str | None) -> str | None:
    return redact(text)[:1000] or None if text else None


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


class JobRunner(PollingLoop):
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
        config: RunnerConfig = RunnerConfig(),  # noqa: B008 - a frozen value
    ) -> None:
        super().__init__(config.look_seconds)
        self._jobs = _by_name(jobs)
        self._config = config
        leases = Leases(
            PLATFORM_LEASES,
            instance,
            seconds=config.lease_seconds,
            grace_seconds=config.grace_seconds,
        )
        self._context = ExecutionContext(store, leases, clock, random, metrics, publisher)
        self._executions: dict[str, JobExecution] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._not_before: dict[str, float] = {}
        self._far_leases: dict[str, tuple[LeaseRecord, float]] = {}
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

    def _poll_failed(self, error: str, pause_seconds: float) -> None:
        self._fault = error
        get_logger("jobs").error("job_poll_failed", error=error, again_in=pause_seconds)

    async def _poll(self) -> float:
        """Start due jobs and return the seconds until the next poll."""
        context = self._context
        self._reap()
        found = {known.name: known for known in await context.store(JobState.everyone())}
        now = context.clock.now()
        for name, job in self._jobs.items():
            found[name] = await self._declare(job, found.get(name), now)
        mine = {name: found[name] for name in self._jobs}
        for name, execution in self._executions.items():
            if mine[name].paused_at is not None and isinstance(execution.job.when, Continuous):
                execution.stop("the job is paused")
        idle = [
            await self._reset_due(known, now)
            for name, known in mine.items()
            if name not in self._executions
        ]
        pause = await self._start_due(idle, now)
        self._looked_at, self._fault = context.clock.now(), None
        return pause

    async def _reset_due(self, known: JobState, now: datetime) -> JobState:
        """Make a job due now if a clock that was ahead stored its due time."""
        due_at, job = known.due_at, self._jobs[known.name]
        if due_at is None or due_at <= now or known.running_on is not None:
            return known
        if due_at <= latest_due(job, now, failures=max(known.attempt, known.failures)):
            return known
        try:
            reset = await self._context.store(known.reset_due(now))
        except ConditionFailed:  # another instance was first
            return await self._context.store.read(JobState.one(known.name))
        get_logger("jobs").warning(
            "job_due_time_reset", job=known.name, due_at=due_at.isoformat(), now=now.isoformat()
        )
        return reset

    async def _start_due(self, idle: list[JobState], now: datetime) -> float:
        due = [known for known in idle if is_due(known, now)]
        held = [known for known in due if known.running_on or known.name in self._not_before]
        free_in = await self._seconds_until_free(held, now)
        pauses = [self._config.look_seconds]
        for known in due:
            wait = self._not_before.get(known.name, 0.0) - self._context.clock.monotonic()
            wait = max(wait, free_in.get(known.name, 0.0))
            if wait <= 0:
                self._start(self._jobs[known.name])
            else:
                pauses.append(wait)
        pauses += [
            (known.due_at - now).total_seconds()
            for known in idle
            if known.due_at is not None and known.due_at > now and known.paused_at is None
        ]
        return max(min(pauses), 0.01)

    async def _seconds_until_free(self, begun: list[JobState], now: datetime) -> dict[str, float]:
        """Return the seconds until leases of other instances may be free."""
        if not begun:
            return {}
        leases = await self._context.store.get_many(
            LeaseRecord.get(name=lease_name(known.name)) for known in begun
        )
        grace = timedelta(seconds=self._config.grace_seconds)
        latest = now + timedelta(seconds=self._config.lease_seconds) + CLOCK_TOLERANCE
        free_in = {}
        for known, lease in zip(begun, leases, strict=True):
            if lease is None or lease.expires_at is None or lease.expires_at <= latest:
                self._far_leases.pop(known.name, None)
            if lease is None or lease.expires_at is None:
                continue
            if lease.expires_at > latest:
                free_in[known.name] = await self._end_far_lease(known.name, lease)
            else:
                free_in[known.name] = (lease.expires_at + grace - now).total_seconds()
        return free_in

    async def _end_far_lease(self, name: str, lease: LeaseRecord) -> float:
        """Release a lease that a clock that was ahead stored, unless its owner still renews it.

        Returns the seconds until that is known.
        """
        clock, leases = self._context.clock, self._context.leases
        seen, since = self._far_leases.setdefault(name, (lease, clock.monotonic()))
        if seen != lease:
            self._far_leases[name] = (lease, clock.monotonic())
            return leases.seconds
        left = since + leases.seconds + leases.grace_seconds - clock.monotonic()
        if left > 0 or lease.expires_at is None:
            return left
        held = Lease(
            key=lease.name,
            owner=lease.owner or "",
            nonce=lease.nonce or "",
            seconds=leases.seconds,
            expires_at=lease.expires_at,
            until=since,
        )
        if await self._context.store(leases.release(held)):
            get_logger("jobs").warning(
                "job_lease_reset",
                job=name,
                owner=held.owner,
                expires_at=held.expires_at.isoformat(),
            )
        del self._far_leases[name]
        return 0.0

    def _start(self, job: Job) -> None:
        execution = JobExecution(job, self._context)
        self._executions[job.name] = execution
        self._tasks[job.name] = execution.start(self._wake.set)

    def _reap(self) -> None:
        """Remove ended tasks; a job that could not run is not tried again at once."""
        for name in [name for name, task in self._tasks.items() if task.done()]:
            task, execution = self._tasks.pop(name), self._executions.pop(name)
            fault = None if task.cancelled() else task.exception()
            if fault is not None:
                get_logger("jobs").error("job_runner_failed", job=name, exc_info=fault)
            if not execution.ran or fault is not None:
                rest = self._config.look_seconds
                self._not_before[name] = self._context.clock.monotonic() + rest

    async def _declare(self, job: Job, known: JobState | None, now: datetime) -> JobState:
        """Return a job's state, stored as declared here if that is new or old."""
        schedule, first_poll = describe_schedule(job.when), self._looked_at is None
        changed = known is not None and first_poll and known.schedule != schedule
        if known is not None and not changed:
            reworded = first_poll and known.purpose != job.purpose
            # A time in the future was stored by a clock that was ahead.
            if not reworded and abs(now - known.seen_at) < timedelta(days=1):
                return known
        due_at = first_due(job, now, self._context.random)
        enrol = JobState.enrol(job.name, job.purpose, schedule, due_at, now)
        enrolled = await self._context.store(enrol)
        if changed:
            return await self._context.store(JobState.reschedule(job.name, due_at))
        return enrolled

    async def _wind_down(self) -> None:
        self._reap()
        for execution in self._executions.values():
            if isinstance(execution.job.when, Continuous):
                execution.stop("this instance stopped")
        await self._wait_for_tasks()
        for execution in self._executions.values():
            execution.stop("this instance stopped")
        await self._wait_for_tasks()
        for task in self._tasks.values():
            task.cancel()
        await self._wait_for_tasks()
        self._reap()

    async def _wait_for_tasks(self) -> None:
        if self._tasks:
            await asyncio.wait(self._tasks.values(), timeout=self._config.stop_seconds / 2)


def _by_name(jobs: Iterable[Job]) -> dict[str, Job]:
    named: dict[str, Job] = {}
    for job in jobs:
        if job.name in named:
            raise InvalidInput(f"Two jobs are named {job.name}. Use unique names.")
        check(job)
        named[job.name] = job
    return named
