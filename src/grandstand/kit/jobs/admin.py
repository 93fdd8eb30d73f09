"""Listing, running and pausing jobs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from grandstand.core.clock import Clock
from grandstand.core.errors import NotFound
from grandstand.kit.jobs.runner import lease_name
from grandstand.kit.jobs.tables import JobRun, JobState, Outcome
from grandstand.storage.tables.errors import ConditionFailed, TableNotFound
from grandstand.storage.tables.operations.item_ops import Update
from grandstand.storage.tables.platform_tables import LeaseRecord
from grandstand.storage.tables.store import AsyncStore

JobPhase: TypeAlias = Literal["waiting", "requested", "running", "retrying", "paused"]


@dataclass(frozen=True, slots=True)
class JobStatus:
    """The status of a job; `running_on` is an instance with a valid lease."""

    name: str
    purpose: str
    schedule: str
    state: JobPhase
    paused: bool
    due_at: datetime | None
    running_on: str | None
    running_since: datetime | None
    attempt: int
    failures: int
    last_outcome: Outcome | None
    last_started_at: datetime | None
    last_ended_at: datetime | None
    last_result: str | None
    last_error: str | None


class JobAdmin:
    """All jobs declared by any instance on this store.

    Commands are stored and picked up by a runner within seconds. `retired` jobs are hidden.
    """

    def __init__(
        self, store: AsyncStore, clock: Clock, *, retired: frozenset[str] = frozenset()
    ) -> None:
        self._store = store
        self._clock = clock
        self._retired = retired

    async def list(self) -> tuple[JobStatus, ...]:
        """Return the status of all jobs by name; empty before the first runner has started."""
        try:
            stored = await self._store(JobState.everyone())
            jobs = [job for job in stored if job.name not in self._retired]
            leases = await self._store.get_many(
                LeaseRecord.get(name=lease_name(job.name)) for job in jobs
            )
        except TableNotFound:
            return ()
        now = self._clock.now()
        return tuple(
            _status(job, alive=bool(lease and lease.expires_at and lease.expires_at > now))
            for job, lease in zip(jobs, leases, strict=True)
        )

    async def one(self, name: str) -> JobStatus:
        """Return the status of one job. Raises NotFound."""
        for status in await self.list():
            if status.name == name:
                return status
        raise await self._unknown(name)

    async def history(self, name: str, limit: int = 20) -> tuple[JobRun, ...]:
        """Return the last runs of a job, newest first. Raises NotFound."""
        await self.one(name)
        return (await self._store.page(JobRun.of_job(name), limit)).items

    async def run_now(self, name: str) -> None:
        """Run a job as soon as possible, even if it is paused. Raises NotFound."""
        await self._update(name, JobState.request(name, self._clock.now()))

    async def pause(self, name: str) -> None:
        """Pause a job; a continuous one is stopped. Raises NotFound."""
        await self._update(name, JobState.pause(name, self._clock.now()))

    async def resume(self, name: str) -> None:
        """Resume a job; one run makes up for those missed. Raises NotFound."""
        await self._update(name, JobState.resume(name))

    async def _update(self, name: str, update: Update[JobState]) -> None:
        if name in self._retired:
            raise await self._unknown(name)
        try:
            await self._store(update)
        except (ConditionFailed, TableNotFound) as refused:
            raise await self._unknown(name) from refused

    async def _unknown(self, name: str) -> NotFound:
        known = ", ".join(status.name for status in await self.list())
        hint = f"there are {known}" if known else "a runner declares its jobs when it starts"
        return NotFound(f"No job named {name}; {hint}")


def _status(job: JobState, *, alive: bool) -> JobStatus:
    running = job.running_on if alive else None
    return JobStatus(
        name=job.name,
        purpose=job.purpose,
        schedule=job.schedule,
        state=_phase(job, running=running is not None),
        paused=job.paused_at is not None,
        due_at=job.due_at,
        running_on=running,
        running_since=job.running_since if running else None,
        attempt=job.attempt,
        failures=job.failures,
        last_outcome=job.last_outcome,
        last_started_at=job.last_started_at,
        last_ended_at=job.last_ended_at,
        last_result=job.last_result,
        last_error=job.last_error,
    )


def _phase(job: JobState, *, running: bool) -> JobPhase:
    if running:
        return "running"
    if job.requested_at is not None:
        return "requested"
    if job.paused_at is not None:
        return "paused"
    return "retrying" if job.attempt else "waiting"
