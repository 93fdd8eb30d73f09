"""Kept here: a tape being played: its place by the wall clock, its speed, and how to move it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final, Literal, TypeAlias

from grandstand.base.clock import Clock
from grandstand.simulators.scores.course import Moment, Timeline
from grandstand.simulators.scores.tape import Tape

PlayStatus: TypeAlias = Literal["playing", "paused"]

_LISTED_BEFORE_SECONDS: Final = 3600.0
_LISTED_AFTER_SECONDS: Final = 900.0
_LISTED_WALL_SECONDS: Final = 30.0


class Replay:
    """One match on the air. Nothing ticks: where it stands is reckoned from the time.

    `starts_at` is the appointed start on the wall. Play moves `speed` seconds of the match in one
    second of the wall.
    """

    def __init__(
        self,
        tape: Tape,
        timeline: Timeline,
        clock: Clock,
        *,
        starts_at: datetime,
        speed: float = 1.0,
        match_id: int | None = None,
    ) -> None:
        self.tape = tape
        self.timeline = timeline
        self.match_id = tape.id if match_id is None else match_id
        self.starts_at = starts_at.astimezone(UTC)
        self._clock = clock
        self._speed = speed
        self._anchor = self.starts_at
        self._cursor = 0.0
        self._paused = False

    @property
    def status(self) -> PlayStatus:
        """Whether it moves."""
        return "paused" if self._paused else "playing"

    @property
    def speed(self) -> float:
        """How many seconds of the match pass in one of the wall."""
        return self._speed

    @property
    def position(self) -> float:
        """The second of the match, from its appointed start; below zero before it."""
        if self._paused:
            return self._cursor
        return self._cursor + (self._clock.now() - self._anchor).total_seconds() * self._speed

    @property
    def moment(self) -> Moment:
        """What is known now."""
        return self.timeline.at(self.position)

    @property
    def is_listed(self) -> bool:
        """Whether it is among the live scores: from an hour before until a while after its end."""
        rest, position = _LISTED_WALL_SECONDS * self._speed, self.position
        before = max(_LISTED_BEFORE_SECONDS, rest)
        after = max(_LISTED_AFTER_SECONDS, rest)
        return -before <= position <= self.timeline.ends_at + after

    def play(self, speed: float | None = None) -> None:
        """Go on from here, at another speed if one is given."""
        self._moor(self.position)
        self._speed = self._speed if speed is None else speed
        self._paused = False

    def pause(self) -> None:
        """Stay here."""
        self._moor(self.position)
        self._paused = True

    def seek(self, seconds: float) -> None:
        """Go to a second of the match, forwards or back."""
        self._moor(seconds)

    def seek_ball(self, shown: int) -> None:
        """Go to where so many deliveries of the match have been posted; 0 is the first innings."""
        self._moor(self.timeline.second_of(shown))

    def wall_time(self, seconds: float) -> datetime:
        """Answer when a second of the match is or was on the wall, at the present speed."""
        return self._anchor + timedelta(seconds=(seconds - self._cursor) / self._speed)

    def _moor(self, seconds: float) -> None:
        self._anchor, self._cursor = self._clock.now(), seconds
