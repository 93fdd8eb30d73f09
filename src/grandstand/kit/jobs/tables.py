"""Kept here: the tables of jobs: how each stands now, and how its runs went."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final, Literal, Self, TypeAlias

from grandstand.storage.tables.declaration.entity import Entity
from grandstand.storage.tables.declaration.fields import ttl
from grandstand.storage.tables.declaration.table import Table
from grandstand.storage.tables.operations.checks import Check, absent, field
from grandstand.storage.tables.operations.queries import Query, key
from grandstand.storage.tables.operations.single import Get, Put
from grandstand.storage.tables.operations.updates import Update

Outcome: TypeAlias = Literal["done", "failed", "timed out", "lost", "stopped"]

jobs: Final = Table(
    "grandstand-jobs",
    partition="house",
    sort="jobName",
    ttl="ttl",
    purpose="Every job: when it is due, who runs it, how it went last.",
)

job_runs: Final = Table(
    "grandstand-job-runs",
    partition="jobName",
    sort="run",
    ttl="ttl",
    purpose="How runs of jobs went, each kept for a while.",
)

JOB_TABLES: Final = (jobs, job_runs)


class JobRun(Entity, table=job_runs, names="camel", times="epoch_ms"):
    """How one run of a job went."""

    job: str
    token: int
    attempt: int
    instance: str
    started_at: datetime
    ended_at: datetime
    outcome: Outcome
    said: str | None = None
    error: str | None = None
    gone_at: datetime | None = ttl()

    row = key("{job}", "{token:012d}")

    @classmethod
    def of_job(cls, job: str) -> Query[Self]:
        """The runs of a job, newest first."""
        return cls.row(job=job).newest()

    def keep(self) -> Put[Self]:
        """Keep how a run went."""
        return self.put()

    @property
    def seconds(self) -> float:
        """How long it took."""
        return (self.ended_at - self.started_at).total_seconds()


class KeptJob(Entity, table=jobs, names="camel", times="epoch_ms"):
    """How a job stands.

    `token` is that of the last run begun: whoever has a smaller one may write nothing here. While
    `running_on` is set a run has begun and not ended; its lease tells whether it still lives.
    `attempt` counts the tries at the moment that is due now. A job that no instance has declared
    for a month is forgotten.
    """

    name: str
    purpose: str
    rhythm: str
    seen_at: datetime
    due_at: datetime | None = None
    asked_at: datetime | None = None
    paused_at: datetime | None = None
    token: int = 0
    attempt: int = 0
    running_on: str | None = None
    running_since: datetime | None = None
    last_outcome: Outcome | None = None
    last_started_at: datetime | None = None
    last_ended_at: datetime | None = None
    last_said: str | None = None
    last_error: str | None = None
    failures: int = 0
    gone_at: datetime | None = ttl(after=timedelta(days=30), of="seen_at")

    row = key("JOBS", "{name}")

    @classmethod
    def one(cls, name: str) -> Get[Self]:
        """A job by its name, as it is at this moment."""
        return cls.get(name=name).consistent()

    @classmethod
    def everyone(cls) -> Query[Self]:
        """All jobs, by name, as they are at this moment."""
        return cls.row().consistent()

    @classmethod
    def enrol(
        cls, name: str, purpose: str, rhythm: str, due_at: datetime, now: datetime
    ) -> Update[Self]:
        """Say that an instance knows this job; a moment it is due at already stays."""
        enrolled = cls.update(name=name).upsert()
        return enrolled.set(purpose=purpose, rhythm=rhythm, seen_at=now).set_if_absent(
            due_at=due_at
        )

    @classmethod
    def reschedule(cls, name: str, due_at: datetime) -> Update[Self]:
        """Let a job be due at another moment than it was."""
        return cls.update(name=name).set(due_at=due_at)

    @classmethod
    def ask(cls, name: str, now: datetime) -> Update[Self]:
        """Ask for a run as soon as may be."""
        return cls.update(name=name).set(asked_at=now)

    @classmethod
    def pause(cls, name: str, now: datetime) -> Update[Self]:
        """Let a job rest until it is resumed."""
        return cls.update(name=name).set(paused_at=now)

    @classmethod
    def resume(cls, name: str) -> Update[Self]:
        """Let a job that rested be due again."""
        return cls.update(name=name).remove("paused_at")

    def begin(self, token: int, instance: str, now: datetime) -> Update[Self]:
        """Begin a run, if the job still stands as it was read and no later run has begun."""
        begun = (
            type(self)
            .update(name=self.name)
            .set(
                token=token,
                attempt=self.attempt + 1,
                running_on=instance,
                running_since=now,
                asked_at=None,
            )
        )
        return begun.when(self._unchanged() & (absent(KeptJob.token) | (KeptJob.token < token)))

    def _unchanged(self) -> Check:
        seen = ((KeptJob.running_on, self.running_on), (KeptJob.due_at, self.due_at))
        checks = [
            absent(place) if value is None else field(place) == value for place, value in seen
        ]
        return checks[0] & checks[1]

    @classmethod
    def end(
        cls, name: str, token: int, run: JobRun, *, attempt: int, failures: int, due_at: datetime
    ) -> Update[Self]:
        """End a run and say when the job is due again, unless a later run has begun."""
        ended = cls.update(name=name).set(
            running_on=None,
            running_since=None,
            attempt=attempt,
            failures=failures,
            due_at=due_at,
            last_outcome=run.outcome,
            last_started_at=run.started_at,
            last_ended_at=run.ended_at,
            last_said=run.said,
            last_error=run.error,
        )
        return ended.when(KeptJob.token == token)
