"""Kept here: how an application declares a job."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Every:
    """Again and again, so many seconds after the last start; spread by a share of that time."""

    seconds: float
    jitter: float = 0.1


@dataclass(frozen=True, slots=True)
class Cron:
    """At the moments a cron line names, in a time zone; moments missed are made up for once."""

    line: str
    zone: str = "UTC"
    jitter_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Always:
    """Without end, in one instance at a time; begun again after a pause when it stops."""

    pause_seconds: float = 1.0


When: TypeAlias = Every | Cron | Always


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a job: `token` is greater than that of every earlier run, for fencing writes."""

    job: str
    token: int
    attempt: int
    started_at: datetime
    tell: Callable[[str], None] = field(compare=False)


Work: TypeAlias = Callable[[Run], Awaitable[str | None]]


@dataclass(frozen=True, slots=True)
class Job:
    """A named piece of work, when it is due, and how it is treated when it fails.

    The work answers a sentence on what it did, or None. `name` is `<app>.<what>`.
    """

    name: str
    purpose: str
    when: When
    work: Work = field(compare=False)
    timeout_seconds: float | None = 300.0
    tries: int = 3
    backoff_seconds: float = 1.0
