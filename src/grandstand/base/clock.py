"""Kept here: the time, handed in by argument wherever it is needed."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """Where the time comes from."""

    def now(self) -> datetime:
        """Answer the present moment, aware, in UTC."""
        ...

    def epoch(self) -> float:
        """Answer the present moment in seconds since 1970."""
        ...

    def monotonic(self) -> float:
        """Answer seconds that never go back, from an arbitrary start."""
        ...

    def sleep(self, seconds: float) -> None:
        """Return after that many seconds have passed."""
        ...


class SystemClock:
    """The machine's own clock."""

    def now(self) -> datetime:
        """Answer the present moment, aware, in UTC."""
        return datetime.now(UTC)

    def epoch(self) -> float:
        """Answer the present moment in seconds since 1970."""
        return time.time()

    def monotonic(self) -> float:
        """Answer seconds that never go back, from an arbitrary start."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Return after that many seconds have passed."""
        time.sleep(seconds)


@dataclass
class ManualClock:
    """A clock that moves only when told to; sleeping moves it."""

    moment: datetime = field(default_factory=lambda: datetime(2026, 1, 1, tzinfo=UTC))
    elapsed: float = 0.0

    def now(self) -> datetime:
        """Answer the moment it was last moved to."""
        return self.moment

    def epoch(self) -> float:
        """Answer that moment in seconds since 1970."""
        return self.moment.timestamp()

    def monotonic(self) -> float:
        """Answer how far it has been moved."""
        return self.elapsed

    def sleep(self, seconds: float) -> None:
        """Move on by that many seconds, at once."""
        self.advance(seconds)

    def advance(self, seconds: float) -> None:
        """Move on by that many seconds."""
        self.moment += timedelta(seconds=seconds)
        self.elapsed += seconds
