"""Clocks: the system clock, and one that tests move by hand."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """A source of the current time."""

    def now(self) -> datetime:
        """Return the current time in UTC, timezone-aware."""

    def epoch(self) -> float:
        """Return the current time in seconds since 1970."""

    def monotonic(self) -> float:
        """Return seconds from an arbitrary start that never go back."""

    def sleep(self, seconds: float) -> None:
        """Block for that many seconds."""


class SystemClock:
    """The clock of this machine."""

    def now(self) -> datetime:
        """Return the current time in UTC, timezone-aware."""
        return datetime.now(UTC)

    def epoch(self) -> float:
        """Return the current time in seconds since 1970."""
        return time.time()

    def monotonic(self) -> float:
        """Return seconds from an arbitrary start that never go back."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Block for that many seconds."""
        time.sleep(seconds)


@dataclass
class ManualClock:
    """A clock that only `advance` and `sleep` move."""

    moment: datetime = field(default_factory=lambda: datetime(2026, 1, 1, tzinfo=UTC))
    elapsed: float = 0.0

    def now(self) -> datetime:
        """Return the time it was last moved to."""
        return self.moment

    def epoch(self) -> float:
        """Return that time in seconds since 1970."""
        return self.moment.timestamp()

    def monotonic(self) -> float:
        """Return how many seconds it has been moved."""
        return self.elapsed

    def sleep(self, seconds: float) -> None:
        """Advance by that many seconds without waiting."""
        self.advance(seconds)

    def advance(self, seconds: float) -> None:
        """Advance by that many seconds."""
        self.moment += timedelta(seconds=seconds)
        self.elapsed += seconds
