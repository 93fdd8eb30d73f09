"""Kept here: what a file of balls leaves out: when each was bowled, breaks, rain and slips."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Final, Literal, TypeAlias

import msgspec

from grandstand.simulators.scores.slips import Slip
from grandstand.simulators.scores.tape import Innings, Tape

CalledOff: TypeAlias = Literal["Aban.", "Cancl.", "Postp."]

FINISHED: Final = "Finished"
_DAY_SECONDS: Final = 86_400.0
_LAST_NAMED: Final = 4
_ORDINALS: Final = {1: "1st", 2: "2nd", 3: "3rd", 4: "4th"}
_MOST_STUMPS: Final = 4


class Interruption(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Rain after so many deliveries of an innings, and what it does to the overs and the target."""

    inning: int
    balls: Annotated[int, msgspec.Meta(ge=0)]
    minutes: Annotated[float, msgspec.Meta(ge=2)]
    overs: int | None = None
    target: int | None = None


class Course(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a match goes on the clock; sessions and stumps are for matches over days.

    A match can be called off after so many deliveries, or before any. By night, tea comes first and
    dinner second.
    """

    interruptions: tuple[Interruption, ...] = ()
    called_off: CalledOff | None = None
    called_off_after: Annotated[int, msgspec.Meta(ge=0)] = 0
    by_night: bool = False
    seconds_per_ball: Annotated[float, msgspec.Meta(gt=0)] = 40.0
    toss_minutes_before: float = 30.0
    innings_break_minutes: float = 20.0
    long_innings_break_minutes: float = 10.0
    session_overs: Annotated[int, msgspec.Meta(gt=0)] = 30
    lunch_minutes: float = 40.0
    tea_minutes: float = 20.0
    fix_seconds: float = 10.0


@dataclass(frozen=True, slots=True)
class Moment:
    """What is known from a second of the match on, reckoned from its appointed start.

    `shown` deliveries are posted; with a `slip` the last of them is not yet as it should be.
    """

    at: float
    status: str = "NS"
    shown: int = 0
    inning: int = 0
    tossed: bool = False
    target: int | None = None
    revised_target: int | None = None
    revised_overs: int | None = None
    super_over: bool = False
    ended: bool = False
    slip: Slip | None = None

    @property
    def is_played_out(self) -> bool:
        """Whether it has come to a result, and was not called off."""
        return self.ended and self.status == FINISHED


@dataclass(frozen=True)
class Timeline:
    """All moments of a match, in their order; the first is long before the start."""

    moments: tuple[Moment, ...]

    @cached_property
    def _starts(self) -> list[float]:
        return [moment.at for moment in self.moments]

    @cached_property
    def _posted(self) -> list[float]:
        """When play began, and when each delivery was posted first."""
        posted: list[float] = []
        for moment in self.moments:
            if moment.inning and moment.shown == len(posted):
                posted.append(moment.at)
        return posted or [self.moments[-1].at]

    def at(self, seconds: float) -> Moment:
        """Answer what is known at a second of the match."""
        return self.moments[max(0, bisect_right(self._starts, seconds) - 1)]

    def second_of(self, shown: int) -> float:
        """Answer when so many deliveries were posted; the last one when there are not so many."""
        return self._posted[min(shown, len(self._posted) - 1)]

    @property
    def ends_at(self) -> float:
        """The second from which nothing changes any more."""
        return self.moments[-1].at


def timeline(tape: Tape, course: Course, slips: Mapping[int, Slip] | None = None) -> Timeline:
    """Answer the moments of a match; `slips` are deliveries posted wrong at first, by place."""
    writing = _Writing(tape, course, slips or {})
    writing.before()
    for innings in tape.innings:
        if not writing.called_off:
            writing.innings(innings)
    writing.end()
    return Timeline(tuple(writing.moments))


@dataclass
class _Writing:
    """A timeline being written; `now` is the moment that holds at present."""

    tape: Tape
    course: Course
    slips: Mapping[int, Slip]
    moments: list[Moment] = field(default_factory=list)
    now: Moment = field(default_factory=lambda: Moment(-_DAY_SECONDS))
    day: int = 1
    overs_today: int = 0

    def before(self) -> None:
        self.moments.append(self.now)
        self._write(-self.course.toss_minutes_before * 60, tossed=True)
        self.now = replace(self.now, at=0.0)

    def innings(self, innings: Innings) -> None:
        status = f"{_ORDINALS[min(innings.number, _LAST_NAMED)]} Innings"
        rain = [each for each in self.course.interruptions if each.inning == innings.number]
        if innings.number > 1:
            self._between(innings)
        for each in rain:
            if each.balls == 0:
                self._rain(each, "Delayed" if innings.number == 1 else "Int.")
        self._write(self.now.at, status=status, inning=innings.number)
        for bowled in range(1, len(innings.deliveries) + 1):
            self._ball()
            for each in rain:
                if each.balls == bowled:
                    self._rain(each, "Int.")
                    if bowled < len(innings.deliveries):
                        self._write(self.now.at, status=status)
            if self.called_off:
                return
            if self._over_done(innings, bowled):
                self._session(status)

    def end(self) -> None:
        status = self.course.called_off if self.called_off else None
        self._write(self.now.at + self._gap, status=status or FINISHED, ended=True)

    @property
    def called_off(self) -> bool:
        course = self.course
        return course.called_off is not None and self.now.shown >= course.called_off_after

    @property
    def _gap(self) -> float:
        return self.course.seconds_per_ball

    def _ball(self) -> None:
        """Post the next delivery, and put it right some seconds later where it slipped."""
        at, slip = self.now.at + self._gap, self.slips.get(self.now.shown)
        self._write(at, shown=self.now.shown + 1, slip=slip)
        if slip is not None:
            self._write(at + min(self.course.fix_seconds, self._gap / 2), slip=None)
            self.now = replace(self.now, at=at)

    def _between(self, innings: Innings) -> None:
        course, before = self.course, self.tape.innings[innings.number - 2]
        long = self.tape.is_long or innings.super_over
        minutes = course.long_innings_break_minutes if long else course.innings_break_minutes
        revised = {}
        target = None
        if not self.tape.is_long and innings.number % 2 == 0:
            target = before.runs + 1
            if innings.target not in {None, target} and not self._will_revise(innings.number):
                revised = {"revised_target": innings.target, "revised_overs": innings.overs}
        self._write(
            self.now.at + self._gap,
            status="Innings Break",
            super_over=innings.super_over or self.now.super_over,
            target=target,
            **revised,
        )
        self.now = replace(self.now, at=self.now.at + minutes * 60)

    def _will_revise(self, inning: int) -> bool:
        return any(each.inning == inning and each.target for each in self.course.interruptions)

    def _rain(self, rain: Interruption, status: str) -> None:
        """Stop play; overs and target are set anew before it goes on."""
        start = self.now.at + (self._gap if rain.balls else 0)
        self._write(start, status=status)
        self.now = replace(self.now, at=start + rain.minutes * 60)
        if rain.overs or rain.target:
            self._write(
                self.now.at - 60,
                revised_overs=rain.overs or self.now.revised_overs,
                revised_target=rain.target or self.now.revised_target,
            )
            self.now = replace(self.now, at=self.now.at + 60)

    def _over_done(self, innings: Innings, bowled: int) -> bool:
        balls = innings.deliveries
        last = bowled == len(balls)
        done = last or balls[bowled].over != balls[bowled - 1].over
        self.overs_today += done and self.tape.is_long
        return done and not last and self.tape.is_long

    def _session(self, status: str) -> None:
        """Lunch, tea and stumps come when their overs are bowled."""
        course, sessions = self.course, self.overs_today // self.course.session_overs
        if self.overs_today % course.session_overs or not sessions:
            return
        start = self.now.at + self._gap
        if sessions == 1:
            self._write(start, status="Tea Break" if course.by_night else "Lunch")
            resumes = start + course.lunch_minutes * 60
        elif sessions == 2:  # noqa: PLR2004 - a day has three sessions
            self._write(start, status="Dinner" if course.by_night else "Tea Break")
            resumes = start + course.tea_minutes * 60
        else:
            self._write(start, status=f"Stump Day {min(self.day, _MOST_STUMPS)}")
            resumes = self.day * _DAY_SECONDS
            self.day, self.overs_today = self.day + 1, 0
        self._write(max(resumes, start + self._gap), status=status)

    def _write(self, at: float, **changed: object) -> None:
        self.now = replace(self.now, at=at, **changed)  # type: ignore[arg-type]
        self.moments.append(self.now)
