"""Kept here: one run of one job: the lease, the work, and what is written down about it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Any, Final, TypeVar

from grandstand.base.clock import Clock
from grandstand.base.errors import Conflict, GrandstandError
from grandstand.base.log import log, redact
from grandstand.base.metrics import Metrics
from grandstand.kit.jobs.due import kept_for, next_due, retry_due
from grandstand.kit.jobs.job import Always, Job, Run
from grandstand.kit.jobs.tables import JobRun, KeptJob, Outcome
from grandstand.kit.live import Teller
from grandstand.storage.tables.errors import ConditionFailed, LeaseLost
from grandstand.storage.tables.holding import AsyncHolding
from grandstand.storage.tables.leases import Leases, LeaseTaken
from grandstand.storage.tables.operations.single import Operation
from grandstand.storage.tables.store import AsyncStore

R = TypeVar("R")

TOPIC: Final = "house/jobs"
_LONGEST_TEXT: Final = 1000
_STEADY: Final = timedelta(minutes=1)
_FIRST_PAUSE_SECONDS: Final = 0.1
_LONGEST_PAUSE_SECONDS: Final = 2.0


def lease_name(job: str) -> str:
    """Answer the name of the lease whoever runs a job holds."""
    return f"job/{job}"


def is_due(found: KeptJob, now: datetime) -> bool:
    """Tell whether a job whose lease is free is to be run, or cleared up after."""
    if found.asked_at is not None or found.running_on is not None:
        return True
    return found.paused_at is None and found.due_at is not None and found.due_at <= now


@dataclass(frozen=True, slots=True)
class Means:
    """What every run on one instance is made with."""

    store: AsyncStore
    leases: Leases
    clock: Clock
    random: Random
    metrics: Metrics
    teller: Teller


@dataclass(frozen=True, slots=True)
class Report:
    """How the work of a run ended, and whether another try may end otherwise."""

    outcome: Outcome
    said: str | None = None
    error: str | None = None
    hopeless: bool = False


class Attendant:
    """Runs one job once, if it gets the job's lease and the job is still due then.

    `ran` tells whether it did, and how it went was written down.
    """

    def __init__(self, job: Job, means: Means) -> None:
        self.job = job
        self.ran = False
        self._means = means
        self._task: asyncio.Task[None] | None = None
        self._working = False
        self._why: str | None = None
        self._progress: str | None = None

    def start(self, then: Callable[[], None]) -> asyncio.Task[None]:
        """Begin in a task of its own, and call `then` when it has ended."""
        self._task = asyncio.create_task(self.attend(), name=f"job {self.job.name}")
        self._task.add_done_callback(lambda _: then())
        return self._task

    def stop(self, why: str) -> None:
        """Stop the work, and write down why; what is already being written down is left alone."""
        if self._why is None and self._task is not None:
            self._why = why
            if self._working:
                self._task.cancel()

    async def attend(self) -> None:
        """Run the job if nobody else does; errors of the work and of the store end here."""
        means, name = self._means, self.job.name
        holding = AsyncHolding(means.store, means.leases, lease_name(name), random=means.random)
        try:
            async with holding as held:
                assert held.token is not None  # noqa: S101 - the house's leases count
                await self._run(held.token)
        except LeaseTaken:
            return
        except LeaseLost as lost:
            self.ran = False
            means.metrics.count("job_runs", job=name, outcome="lost")
            log("jobs").warning("the lease was lost", job=name, reason=str(lost))
        except GrandstandError as fault:
            self.ran = False
            log("jobs").error("the job could not be run", job=name, error=redact(str(fault)))

    async def _run(self, token: int) -> None:
        means, instance = self._means, self._means.leases.owner
        found = await means.store.read(KeptJob.one(self.job.name))
        now = means.clock.now()
        if self._why is not None or not is_due(found, now):
            return
        try:
            begun = await means.store(found.begin(token, instance, now))
        except ConditionFailed:
            return
        self.ran = True
        run = Run(self.job.name, token, begun.attempt, now, self._tell)
        report = None
        if found.running_on is not None:
            report = await self._take_over(found, now)
        self._news("running", attempt=run.attempt)
        await self._end(found, run, report or await self._carry_out(run))

    async def _take_over(self, found: KeptJob, now: datetime) -> Report | None:
        """Write down that an earlier run was lost; answer a report when there is to be no other."""
        lost = JobRun(
            job=found.name,
            token=found.token,
            attempt=found.attempt,
            instance=found.running_on or "",
            started_at=found.running_since or now,
            ended_at=now,
            outcome="lost",
            error=f"{found.running_on} stopped answering",
            gone_at=now + kept_for(self.job.when),
        )
        await self._insist(lost.keep())
        if found.paused_at is not None and found.asked_at is None:
            return Report("stopped", "the job is paused")
        if not isinstance(self.job.when, Always) and found.attempt >= self.job.tries:
            return Report("failed", error=f"given up: {found.attempt} tries, the last one lost")
        return None

    async def _carry_out(self, run: Run) -> Report:
        """Do the work; cancelled without a reason of ours, it is the lease that was lost."""
        job = self.job
        limit = None if isinstance(job.when, Always) else job.timeout_seconds
        self._working = True
        try:
            async with asyncio.timeout(limit) as limited:
                said = await job.work(run)
        except TimeoutError as fault:
            if limited.expired():
                return Report("timed out", error=f"it took longer than {limit:g} seconds")
            return self._failed(fault)
        except asyncio.CancelledError:
            return self._cancelled()
        except Exception as fault:  # noqa: BLE001 - whatever ends the work is written down
            return self._failed(fault)
        finally:
            self._working = False
        return Report("done", _short(said or self._progress))

    def _cancelled(self) -> Report:
        """Answer why the work was cancelled; raise CancelledError on when the lease was lost."""
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - a coroutine that runs is some task's
        if not task.cancelling():
            return Report("failed", error="what the work waited for was cancelled")
        if self._why is None:
            raise asyncio.CancelledError
        task.uncancel()
        return Report("stopped", self._why)

    def _failed(self, fault: BaseException) -> Report:
        told = _short(f"{type(fault).__name__}: {fault}")
        known = fault if isinstance(fault, GrandstandError) else None
        hopeless = known is not None and not known.retry and not isinstance(known, Conflict)
        unforeseen = fault if known is None else None
        log("jobs").warning("a run failed", job=self.job.name, error=told, exc_info=unforeseen)
        return Report("failed", error=told, hopeless=hopeless)

    async def _end(self, found: KeptJob, run: Run, report: Report) -> None:
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
            gone_at=now + kept_for(job.when),
        )
        after = self._afterwards(found, record, hopeless=report.hopeless)
        try:
            await self._insist(KeptJob.end(job.name, run.token, record, **after))
        except ConditionFailed:
            means.metrics.count("job_runs", job=job.name, outcome="fenced")
            log("jobs").warning("a late result was refused", job=job.name, run=run.token)
            return
        await self._insist(record.keep())
        means.metrics.count("job_runs", job=job.name, outcome=report.outcome)
        means.metrics.observe("job_seconds", record.seconds, job=job.name)
        self._news("ended", outcome=report.outcome, said=report.said, error=report.error)

    def _afterwards(self, found: KeptJob, ended: JobRun, *, hopeless: bool) -> dict[str, Any]:
        """Work out how often it was tried and has failed by now, and when it is due again."""
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
        if isinstance(job.when, Always):
            if ended.ended_at - ended.started_at > _STEADY:
                failures = 1
            later = retry_due(job, ended_at=now, failures=failures, random=random)
            return {"attempt": 0, "failures": failures, "due_at": max(due_at, later)}
        if ended.attempt < job.tries and not hopeless:
            due_at = retry_due(job, ended_at=now, failures=ended.attempt, random=random)
            return {"attempt": ended.attempt, "failures": failures, "due_at": due_at}
        return {"attempt": 0, "failures": failures, "due_at": due_at}

    async def _insist(self, operation: Operation[R]) -> R:
        """Carry an operation out, again and again for as long as the lease is held."""
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
        self._means.teller.tell(TOPIC, {"job": self.job.name, "state": state, "at": at, **more})


def _short(text: str | None) -> str | None:
    return redact(text)[:_LONGEST_TEXT] or None if text else None
