"""The timeline of a replay: when each ball is posted, breaks, interruptions and corrections."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from random import Random
from typing import Annotated, Final, Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from grandstand.core.clock import Clock
from grandstand.simulators.scores.match_record import Delivery, Dismissal, Innings, MatchRecord

# Measured on a live feed: about one ball in seven is first posted wrong.
CORRECTION_SHARE: Final = 1 / 7


class Correction(msgspec.Struct, frozen=True):
    """A delivery as it is first posted; a deleted one has an id of its own."""

    posted: Delivery
    deleted: bool = False


def random_corrections(
    record: MatchRecord, seed: int, share: float = CORRECTION_SHARE
) -> dict[int, Correction]:
    """Return the deliveries that are first posted wrong, by position, for a seed."""
    found: dict[int, Correction] = {}
    for place, ball in enumerate(record.deliveries):
        random = Random(f"{seed}:{place}")  # noqa: S311 - repeatable
        if random.random() < share:
            found[place] = Correction(_wrong(ball, random), random.random() < 0.2)
    return found


def _wrong(ball: Delivery, random: Random) -> Delivery:
    """Return a plausible wrong version of a delivery."""
    if ball.wicket:
        return replace(ball, dismissal=None)
    if ball.wides:
        return replace(ball, wides=0, runs=4, boundary=True)
    if ball.noballs:
        return replace(ball, noballs=0)
    if ball.byes or ball.legbyes:
        return replace(ball, byes=0, legbyes=0, runs=ball.byes + ball.legbyes, boundary=False)
    if ball.boundary:
        return replace(ball, runs=10 - ball.runs)
    if not ball.runs and random.random() < 0.05:
        return replace(ball, dismissal=Dismissal(ball.batter, "lbw"))
    return replace(ball, runs=ball.runs + 1)


CalledOff: TypeAlias = Literal["Aban.", "Cancl.", "Postp."]

FINISHED: Final = "Finished"
_DAY_SECONDS: Final = 86_400.0
_ORDINALS: Final = {1: "1st", 2: "2nd", 3: "3rd", 4: "4th"}


class Interruption(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Rain after a number of deliveries of an innings, and the revised overs and target."""

    inning: int
    balls: Annotated[int, msgspec.Meta(ge=0)]
    minutes: Annotated[float, msgspec.Meta(ge=2)]
    overs: int | None = None
    target: int | None = None


class TimelineConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The pace, breaks and interruptions of a match.

    Sessions and stumps apply to matches over days. A match can be called off after a number of
    deliveries. At night, tea comes before dinner.
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


class TimelineMoment(msgspec.Struct, frozen=True):
    """The state of a match from one second on, counted from its scheduled start.

    `shown` deliveries are posted; with a `correction` the last of them is still wrong.
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
    correction: Correction | None = None

    @property
    def is_played_out(self) -> bool:
        """Whether it ended with a result."""
        return self.ended and self.status == FINISHED


@dataclass(frozen=True)
class Timeline:
    """All moments of a match in order."""

    moments: tuple[TimelineMoment, ...]

    @cached_property
    def _starts(self) -> list[float]:
        return [moment.at for moment in self.moments]

    @cached_property
    def _posted(self) -> list[float]:
        """When play began, and when each delivery was first posted."""
        posted: list[float] = []
        for moment in self.moments:
            if moment.inning and moment.shown == len(posted):
                posted.append(moment.at)
        return posted or [self.moments[-1].at]

    def at(self, seconds: float) -> TimelineMoment:
        """Return the moment at a second of the match."""
        return self.moments[max(0, bisect_right(self._starts, seconds) - 1)]

    def second_of(self, shown: int) -> float:
        """Return when a number of deliveries had been posted."""
        return self._posted[min(shown, len(self._posted) - 1)]

    @property
    def ends_at(self) -> float:
        """The second after which nothing changes."""
        return self.moments[-1].at


def build_timeline(
    record: MatchRecord, config: TimelineConfig, corrections: Mapping[int, Correction] | None = None
) -> Timeline:
    """Return the timeline of a match; `corrections` are the corrections by position."""
    writing = _Writing(record, config, corrections or {})
    writing.before()
    for innings in record.innings:
        if not writing.called_off:
            writing.innings(innings)
    writing.end()
    return Timeline(tuple(writing.moments))


@dataclass
class _Writing:
    """A timeline being built; `now` is the current moment."""

    record: MatchRecord
    config: TimelineConfig
    corrections: Mapping[int, Correction]
    moments: list[TimelineMoment] = field(default_factory=list)
    now: TimelineMoment = field(default_factory=lambda: TimelineMoment(-_DAY_SECONDS))
    day: int = 1
    overs_today: int = 0

    def before(self) -> None:
        self.moments.append(self.now)
        self._write(-self.config.toss_minutes_before * 60, tossed=True)
        self.now = replace(self.now, at=0.0)

    def innings(self, innings: Innings) -> None:
        status = f"{_ORDINALS[min(innings.number, 4)]} Innings"
        rain = [each for each in self.config.interruptions if each.inning == innings.number]
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
        status = self.config.called_off if self.called_off else None
        self._write(self.now.at + self._gap, status=status or FINISHED, ended=True)

    @property
    def called_off(self) -> bool:
        config = self.config
        return config.called_off is not None and self.now.shown >= config.called_off_after

    @property
    def _gap(self) -> float:
        return self.config.seconds_per_ball

    def _ball(self) -> None:
        """Post the next delivery, and correct it some seconds later if it was wrong."""
        at, correction = self.now.at + self._gap, self.corrections.get(self.now.shown)
        self._write(at, shown=self.now.shown + 1, correction=correction)
        if correction is not None:
            self._write(at + min(self.config.fix_seconds, self._gap / 2), correction=None)
            self.now = replace(self.now, at=at)

    def _between(self, innings: Innings) -> None:
        config, before = self.config, self.record.innings[innings.number - 2]
        long = self.record.is_long or innings.super_over
        minutes = config.long_innings_break_minutes if long else config.innings_break_minutes
        revised = {}
        target = None
        if not self.record.is_long and innings.number % 2 == 0:
            target = before.runs + 1
            rain = self.config.interruptions
            revises = any(each.inning == innings.number and each.target for each in rain)
            if innings.target not in {None, target} and not revises:
                revised = {"revised_target": innings.target, "revised_overs": innings.overs}
        self._write(
            self.now.at + self._gap,
            status="Innings Break",
            super_over=innings.super_over or self.now.super_over,
            target=target,
            **revised,
        )
        self.now = replace(self.now, at=self.now.at + minutes * 60)

    def _rain(self, rain: Interruption, status: str) -> None:
        """Stop play; overs and target are revised before it resumes."""
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
        self.overs_today += done and self.record.is_long
        return done and not last and self.record.is_long

    def _session(self, status: str) -> None:
        """Insert lunch, tea and stumps after their overs."""
        config, sessions = self.config, self.overs_today // self.config.session_overs
        if self.overs_today % config.session_overs or not sessions:
            return
        start = self.now.at + self._gap
        if sessions == 1:
            self._write(start, status="Tea Break" if config.by_night else "Lunch")
            resumes = start + config.lunch_minutes * 60
        elif sessions == 2:
            self._write(start, status="Dinner" if config.by_night else "Tea Break")
            resumes = start + config.tea_minutes * 60
        else:
            self._write(start, status=f"Stump Day {min(self.day, 4)}")
            resumes = self.day * _DAY_SECONDS
            self.day, self.overs_today = self.day + 1, 0
        self._write(max(resumes, start + self._gap), status=status)

    def _write(self, at: float, **changed: object) -> None:
        self.now = replace(self.now, at=at, **changed)
        self.moments.append(self.now)


PlayStatus: TypeAlias = Literal["playing", "paused"]


class Replay:
    """A replay of one match; its position is computed from the clock.

    `starts_at` is the scheduled start. `speed` seconds of the match pass per second.
    """

    def __init__(
        self,
        record: MatchRecord,
        timeline: Timeline,
        clock: Clock,
        *,
        starts_at: datetime,
        speed: float = 1.0,
        match_id: int | None = None,
    ) -> None:
        self.record = record
        self.timeline = timeline
        self.match_id = record.id if match_id is None else match_id
        self.starts_at = starts_at.astimezone(UTC)
        self._clock = clock
        self._speed = speed
        self._anchor = self.starts_at
        self._cursor = 0.0
        self._paused = False

    @property
    def state(self) -> PlayStatus:
        """Whether it is playing or paused."""
        return "paused" if self._paused else "playing"

    @property
    def speed(self) -> float:
        """Seconds of the match per second."""
        return self._speed

    @property
    def position(self) -> float:
        """The second of the match, negative before its start."""
        if self._paused:
            return self._cursor
        return self._cursor + (self._clock.now() - self._anchor).total_seconds() * self._speed

    @property
    def moment(self) -> TimelineMoment:
        """The current moment."""
        return self.timeline.at(self.position)

    @property
    def is_listed(self) -> bool:
        """Whether it is in the livescores: from an hour before its start until after its end."""
        rest, position = 30.0 * self._speed, self.position
        before = max(3600.0, rest)
        after = max(900.0, rest)
        return -before <= position <= self.timeline.ends_at + after

    def play(self, speed: float | None = None) -> None:
        """Resume, at another speed if one is given."""
        self._moor(self.position)
        self._speed = self._speed if speed is None else speed
        self._paused = False

    def pause(self) -> None:
        self._moor(self.position)
        self._paused = True

    def seek(self, seconds: float) -> None:
        """Go to a second of the match."""
        self._moor(seconds)

    def seek_ball(self, shown: int) -> None:
        """Go to where a number of deliveries have been posted."""
        self._moor(self.timeline.second_of(shown))

    def wall_time(self, seconds: float) -> datetime:
        """Return the clock time of a second of the match at the current speed."""
        return self._anchor + timedelta(seconds=(seconds - self._cursor) / self._speed)

    def _moor(self, seconds: float) -> None:
        self._anchor, self._cursor = self._clock.now(), seconds
