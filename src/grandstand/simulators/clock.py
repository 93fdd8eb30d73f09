"""Kept here: the time in a simulated world: it may run faster, and recordings happen now."""

from __future__ import annotations

from datetime import datetime, timedelta

from grandstand.base.clock import Clock


class WorldClock:
    """Starts at a moment of the world when the wall shows another, and runs at a speed of its own.

    With `starts_at` left out the world begins at the wall's own now. A recording is re-dated by
    `moved`: what was recorded at `recorded_from` happens when the world begins.
    """

    def __init__(
        self,
        wall: Clock,
        *,
        speed: float = 1.0,
        starts_at: datetime | None = None,
        recorded_from: datetime | None = None,
    ) -> None:
        self._wall = wall
        self._speed = speed
        self._began = wall.monotonic()
        self._starts_at = starts_at or wall.now()
        self._shift = self._starts_at - (recorded_from or self._starts_at)

    def now(self) -> datetime:
        """Answer the world's moment, aware, in UTC."""
        return self._starts_at + timedelta(seconds=self.monotonic())

    def epoch(self) -> float:
        """Answer the world's moment in seconds since 1970."""
        return self.now().timestamp()

    def monotonic(self) -> float:
        """Answer how many of the world's seconds have passed since it began."""
        return (self._wall.monotonic() - self._began) * self._speed

    def sleep(self, seconds: float) -> None:
        """Return after that many of the world's seconds."""
        self._wall.sleep(seconds / self._speed)

    def wall_seconds(self, seconds: float) -> float:
        """Answer how long so many of the world's seconds take on the wall."""
        return seconds / self._speed

    def moved(self, recorded: datetime) -> datetime:
        """Answer when something recorded happens in this world."""
        return recorded + self._shift
