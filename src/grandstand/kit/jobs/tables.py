"""Tables of jobs and their runs."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final, Literal, Self, TypeAlias

from grandstand.storage.tables import Entity, Get, Query, Table, Update, absent, field, key, ttl

Outcome: TypeAlias = Literal["done", "failed", "timed out", "lost", "stopped"]

jobs: Final = Table(
    "grandstand-jobs",
    partition="platform",
    sort="jobName",
    ttl="ttl",
    purpose="Jobs: due time, current instance and last outcome.",
)

job_runs: Final = Table(
    "grandstand-job-runs",
    partition="jobName",
    sort="run",
    ttl="ttl",
    purpose="Job runs and their outcomes.",
)

JOB_TABLES: Final = (jobs, job_runs)


class JobRun(Entity, table=job_runs, names="camel", times="epoch_ms"):
    """The outcome of one run."""

    job: str
    token: int
    attempt: int
    instance: str
    started_at: datetime
    ended_at: datetime
    outcome: Outcome
    result: str | None = None
    error: str | None = None
    gone_at: datetime | None = ttl()

    row = key("{job}", "{token:012d}")

    @classmethod
    def of_job(cls, job: str) -> Query[Self]:
        """Return the runs of a job, newest first."""
        return cls.row(job=job).newest()

    @property
    def seconds(self) -> float:
        """The duration in seconds."""
        return (self.ended_at - self.started_at).total_seconds()


class JobState(Entity, table=jobs, names="camel", times="epoch_ms"):
    """The state of a job.

    `token` is that of the last run started: a run with a smaller token may write nothing here.
    While `running_on` is set a run has started and not ended; its lease tells whether it is alive.
    `attempt` counts the attempts for the current due time. A job that no instance has declared for
    a month expires.
    """

    name: str
    purpose: str
    schedule: str
    seen_at: datetime
    due_at: datetime | None = None
    requested_at: datetime | None = None
    paused_at: datetime | None = None
    token: int = 0
    attempt: int = 0
    running_on: str | None = None
    running_since: datetime | None = None
    last_outcome: Outcome | None = None
    last_started_at: datetime | None = None
    last_ended_at: datetime | None = None
    last_result: str | None = None
    last_error: str | None = None
    failures: int = 0
    gone_at: datetime | None = ttl(after=timedelta(days=30), of="seen_at")

    row = key("JOBS", "{name}")

    @classmethod
    def one(cls, name: str) -> Get[Self]:
        """Return a job by name, consistently."""
        return cls.get(name=name).consistent()

    @classmethod
    def everyone(cls) -> Query[Self]:
        """Return all jobs by name, consistently."""
        return cls.row().consistent()

    @classmethod
    def enrol(
        cls, name: str, purpose: str, schedule: str, due_at: datetime, now: datetime
    ) -> Update[Self]:
        """Declare a job; an existing due time stays."""
        enrolled = cls.update(name=name).upsert()
        return enrolled.set(purpose=purpose, schedule=schedule, seen_at=now).set_if_absent(
            due_at=due_at
        )

    @classmethod
    def reschedule(cls, name: str, due_at: datetime) -> Update[Self]:
        """Change the due time."""
        return cls.update(name=name).set(due_at=due_at)

    def reset_due(self, now: datetime) -> Update[JobState]:
        """Make the job due now if its due time is as read; remove times that are in the future."""
        reset = JobState.update(name=self.name).set(due_at=now)
        if any(at is not None and at > now for at in (self.last_started_at, self.last_ended_at)):
            reset = reset.remove("last_started_at", "last_ended_at")
        return reset.when(
            (field(JobState.due_at) == self.due_at) & absent(field(JobState.running_on))
        )

    @classmethod
    def request(cls, name: str, now: datetime) -> Update[Self]:
        """Request a run as soon as possible."""
        return cls.update(name=name).set(requested_at=now)

    @classmethod
    def pause(cls, name: str, now: datetime) -> Update[Self]:
        """Pause the job."""
        return cls.update(name=name).set(paused_at=now)

    @classmethod
    def resume(cls, name: str) -> Update[Self]:
        """Resume the job."""
        return cls.update(name=name).remove("paused_at")

    def begin(self, token: int, instance: str, now: datetime) -> Update[JobState]:
        """Start a run if the state is as read and no later run has started."""
        begun = JobState.update(name=self.name).set(
            token=token,
            attempt=self.attempt + 1,
            running_on=instance,
            running_since=now,
            requested_at=None,
        )
        instance_read, due_read = (
            absent(place) if value is None else field(place) == value
            for place, value in (
                (JobState.running_on, self.running_on),
                (JobState.due_at, self.due_at),
            )
        )
        newer = absent(JobState.token) | (JobState.token < token)
        return begun.when(instance_read & due_read & newer)

    @classmethod
    def end(
        cls, name: str, token: int, run: JobRun, *, attempt: int, failures: int, due_at: datetime
    ) -> Update[Self]:
        """End a run and set the next due time, unless a later run has started."""
        ended = cls.update(name=name).set(
            running_on=None,
            running_since=None,
            attempt=attempt,
            failures=failures,
            due_at=due_at,
            last_outcome=run.outcome,
            last_started_at=run.started_at,
            last_ended_at=run.ended_at,
            last_result=run.result,
            last_error=run.error,
        )
        return ended.when(JobState.token == token)
