"""Job declarations and schedules."""

from __future__ import annotations

import calendar
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Final, TypeAlias
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cronsim import CronSim, CronSimError

from grandstand.core.errors import InvalidInput
from grandstand.net.retry import backoff_seconds


@dataclass(frozen=True, slots=True)
class Every:
    """A fixed interval after the last start, with a share of it as jitter."""

    seconds: float
    jitter: float = 0.1


@dataclass(frozen=True, slots=True)
class Cron:
    """A cron expression in a time zone; missed runs are made up for once."""

    line: str
    zone: str = "UTC"
    jitter_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Continuous:
    """Runs without end in one instance at a time; restarted after a pause."""

    pause_seconds: float = 1.0


Schedule: TypeAlias = Every | Cron | Continuous


@dataclass(frozen=True, slots=True)
class JobContext:
    """One run of a job; its `token` is greater than that of every earlier run, for fencing."""

    job: str
    token: int
    attempt: int
    started_at: datetime
    tell: Callable[[str], None] = field(compare=False)


Work: TypeAlias = Callable[[JobContext], Awaitable[str | None]]


@dataclass(frozen=True, slots=True)
class Job:
    """A named piece of work, its schedule and its retries.

    The work returns a sentence on what it did, or None. `name` is `<app>.<what>`.
    """

    name: str
    purpose: str
    when: Schedule
    work: Work = field(compare=False)
    timeout_seconds: float | None = 300.0
    tries: int = 3
    backoff_seconds: float = 1.0


# How far the clocks of two instances may be apart.
CLOCK_TOLERANCE: Final = timedelta(minutes=1)

_MAX_RETRY_SECONDS: Final = 300.0
_RETRY_SPREAD: Final = 0.25

_PLAIN_CRON: Final = re.compile(
    r"cron (?P<minute>\d{1,2}) (?P<hour>\d{1,2}) \* \* (?P<day>[0-7*]) (?P<zone>\S+)"
)


def check(job: Job) -> None:
    """Raise InvalidInput if a job can never be due or never be tried."""
    when = job.when
    if isinstance(when, Cron):
        _next_moment(job.name, when, datetime(2026, 1, 1, tzinfo=UTC))
    elif isinstance(when, Every) and when.seconds <= 0:
        raise InvalidInput(
            f"{job.name}: the interval must be more than 0 seconds, not {when.seconds}"
        )
    if job.tries < 1:
        raise InvalidInput(f"{job.name}: tries must be at least 1, not {job.tries}")


def first_due(job: Job, now: datetime, random: Random) -> datetime:
    """Return when a job that has never run is due."""
    when = job.when
    if isinstance(when, Cron):
        return _cron(job.name, when, now, random)
    if isinstance(when, Every):
        spread = min(when.seconds * when.jitter, 5.0)
        return now + timedelta(seconds=spread * random.random())
    return now


def next_due(
    job: Job, *, started_at: datetime, ended_at: datetime, was_due_at: datetime, random: Random
) -> datetime:
    """Return when a job is due after a run; missed runs are made up for at once.

    A run requested before a cron job was due does not move its due time.
    """
    when = job.when
    if isinstance(when, Continuous):
        return ended_at + timedelta(seconds=when.pause_seconds)
    if isinstance(when, Every):
        spread = 1 + when.jitter * (random.random() - 0.5)
        return max(ended_at, started_at + timedelta(seconds=when.seconds * spread))
    if was_due_at > started_at:
        return was_due_at
    return _cron(job.name, when, max(was_due_at, ended_at), random)


def retry_due(job: Job, *, ended_at: datetime, failures: int, random: Random) -> datetime:
    """Return when to retry after the nth failure in a row, with doubling waits."""
    pause = backoff_seconds(failures, job.backoff_seconds, _MAX_RETRY_SECONDS)
    spread = random.uniform(1 - _RETRY_SPREAD, 1 + _RETRY_SPREAD)
    return ended_at + timedelta(seconds=pause * spread)


def latest_due(job: Job, now: datetime, *, failures: int = 0) -> datetime:
    """Return the latest time at which a job can be due: one period or retry from now.

    A later due time was stored by a clock that was ahead.
    """
    when, later = job.when, now + CLOCK_TOLERANCE
    if isinstance(when, Cron):
        due_at = _next_moment(job.name, when, later) + timedelta(seconds=when.jitter_seconds)
    elif isinstance(when, Every):
        due_at = later + timedelta(seconds=when.seconds * (1 + when.jitter))
    else:
        due_at = later + timedelta(seconds=when.pause_seconds)
    if not failures:
        return due_at
    pause = backoff_seconds(failures, job.backoff_seconds, _MAX_RETRY_SECONDS)
    return max(due_at, later + timedelta(seconds=pause * (1 + _RETRY_SPREAD)))


def retention_of(when: Schedule) -> timedelta:
    """Return how long run records are kept: about a thousand runs, a day to a month."""
    most = timedelta(days=30)
    if not isinstance(when, Every):
        return most
    thousand_runs = timedelta(seconds=min(when.seconds * 1000, most.total_seconds()))
    return max(thousand_runs, timedelta(days=1))


def describe_schedule(when: Schedule) -> str:
    """Return a schedule as text."""
    if isinstance(when, Continuous):
        return "always"
    if isinstance(when, Every):
        return f"every {_span(when.seconds)}"
    return f"cron {when.line} {when.zone}"


def humanize_schedule(schedule: str) -> str:
    """Return a schedule in everyday words where possible."""
    plain = _PLAIN_CRON.fullmatch(schedule)
    if plain is None:
        return schedule.replace("every 1 d", "daily").replace("every 1 h", "hourly")
    day = plain["day"]
    named = "daily" if day == "*" else f"{calendar.day_name[(int(day) - 1) % 7]}s"
    return f"{named} at {int(plain['hour']):02}:{int(plain['minute']):02} {plain['zone']}"


def _span(seconds: float) -> str:
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size and seconds % size == 0:
            return f"{seconds / size:g} {unit}"
    return f"{seconds:g} s"


def _cron(name: str, when: Cron, after: datetime, random: Random) -> datetime:
    spread = timedelta(seconds=when.jitter_seconds * random.random())
    return _next_moment(name, when, after) + spread


def _next_moment(name: str, when: Cron, after: datetime) -> datetime:
    try:
        zone = ZoneInfo(when.zone)
    except (ZoneInfoNotFoundError, ValueError, OSError) as fault:
        raise InvalidInput(
            f"{name}: unknown time zone {when.zone!r}; use a name such as Europe/London"
        ) from fault
    try:
        # In the repeated hour of a DST change, cronsim may return its first pass while `after` lies
        # in its second.
        local = CronSim(when.line, after.astimezone(zone))
        return next(at for each in local if (at := each.astimezone(UTC)) > after)
    except (CronSimError, StopIteration, RuntimeError) as fault:
        raise InvalidInput(f"{name}: the cron line {when.line!r} is invalid: {fault}") from fault
