"""Kept here: when a job is due, worked out from its declaration alone."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cronsim import CronSim, CronSimError

from grandstand.base.errors import InvalidInput
from grandstand.kit.jobs.job import Always, Cron, Every, Job, When

_FIRST_SPREAD_SECONDS: Final = 5.0
_LONGEST_BACKOFF_SECONDS: Final = 300.0
_KEPT_RUNS: Final = 1000
_KEPT_AT_LEAST: Final = timedelta(days=1)
_KEPT_AT_MOST: Final = timedelta(days=30)
_PLAIN_CRON: Final = re.compile(
    r"cron (?P<minute>\d{1,2}) (?P<hour>\d{1,2}) \* \* (?P<day>[0-7*]) (?P<zone>\S+)"
)
_WEEKDAYS: Final = (
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
)


def check(job: Job) -> None:
    """Raise InvalidInput, naming the job, when it can never be due or never be tried."""
    when = job.when
    if isinstance(when, Cron):
        _moment_after(job.name, when, datetime(2026, 1, 1, tzinfo=UTC))
    elif isinstance(when, Every) and when.seconds <= 0:
        message = f"{job.name}: a job is run again after more than 0 seconds, not {when.seconds}"
        raise InvalidInput(message)
    if job.tries < 1:
        message = f"{job.name}: a job is tried at least once, not {job.tries} times"
        raise InvalidInput(message)


def first_due(job: Job, now: datetime, random: Random) -> datetime:
    """Answer when a job nobody has run yet is due."""
    when = job.when
    if isinstance(when, Cron):
        return _cron(job.name, when, now, random)
    if isinstance(when, Every):
        spread = min(when.seconds * when.jitter, _FIRST_SPREAD_SECONDS)
        return now + timedelta(seconds=spread * random.random())
    return now


def next_due(
    job: Job, *, started_at: datetime, ended_at: datetime, was_due_at: datetime, random: Random
) -> datetime:
    """Answer when a job is due after a run; moments missed meanwhile are made up for at once.

    A run that was asked for before the job was due leaves a cron line's moment where it was.
    """
    when = job.when
    if isinstance(when, Always):
        return ended_at + timedelta(seconds=when.pause_seconds)
    if isinstance(when, Every):
        spread = 1 + when.jitter * (random.random() - 0.5)
        return max(ended_at, started_at + timedelta(seconds=when.seconds * spread))
    if was_due_at > started_at:
        return was_due_at
    return _cron(job.name, when, max(was_due_at, ended_at), random)


def retry_due(job: Job, *, ended_at: datetime, failures: int, random: Random) -> datetime:
    """Answer when a run that failed, the nth in a row, is tried again: each time twice as late."""
    pause = min(job.backoff_seconds * 2 ** min(failures - 1, 30), _LONGEST_BACKOFF_SECONDS)
    return ended_at + timedelta(seconds=pause * random.uniform(0.75, 1.25))


def kept_for(when: When) -> timedelta:
    """Answer how long the record of a run is kept: about a thousand runs, a day to a month."""
    if not isinstance(when, Every):
        return _KEPT_AT_MOST
    thousand = timedelta(seconds=min(when.seconds * _KEPT_RUNS, _KEPT_AT_MOST.total_seconds()))
    return max(thousand, _KEPT_AT_LEAST)


def rhythm(when: When) -> str:
    """Say when a job is due, in words."""
    if isinstance(when, Always):
        return "always"
    if isinstance(when, Every):
        return f"every {_span(when.seconds)}"
    return f"cron {when.line} {when.zone}"


def rhythm_words(rhythm: str) -> str:
    """Answer when a job runs as people say it, where a cron line is one of the plain kinds."""
    plain = _PLAIN_CRON.fullmatch(rhythm)
    if plain is None:
        return rhythm.replace("every 1 d", "daily").replace("every 1 h", "hourly")
    day = plain["day"]
    named = "daily" if day == "*" else f"{_WEEKDAYS[int(day) % 7]}s"
    return f"{named} at {int(plain['hour']):02}:{int(plain['minute']):02} {plain['zone']}"


def _span(seconds: float) -> str:
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size and seconds % size == 0:
            return f"{seconds / size:g} {unit}"
    return f"{seconds:g} s"


def _cron(name: str, when: Cron, after: datetime, random: Random) -> datetime:
    spread = timedelta(seconds=when.jitter_seconds * random.random())
    return _moment_after(name, when, after) + spread


def _moment_after(name: str, when: Cron, after: datetime) -> datetime:
    try:
        zone = ZoneInfo(when.zone)
    except (ZoneInfoNotFoundError, ValueError, OSError) as fault:
        message = f"{name}: there is no time zone {when.zone!r}; name one such as Europe/London"
        raise InvalidInput(message) from fault
    try:
        # In the hour that is had twice, cronsim may answer with its first pass while `after` lies
        # in its second.
        local = CronSim(when.line, after.astimezone(zone))
        return next(at for each in local if (at := each.astimezone(UTC)) > after)
    except (CronSimError, StopIteration, RuntimeError) as fault:
        message = f"{name}: the cron line {when.line!r} names no moment: {fault}"
        raise InvalidInput(message) from fault
