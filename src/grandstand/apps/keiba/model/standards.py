"""Kept here: the time a mean horse takes on a course, learnt from runs, and figures against it."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from operator import sub
from typing import Final, Generic, NamedTuple, TypeAlias, TypeVar

from grandstand.apps.keiba.model.classes import class_of_run
from grandstand.apps.keiba.model.people import Form, PastRun
from grandstand.apps.keiba.model.words import Going, Surface

POINTS: Final = 1000.0
"""A figure counts thousandths of the standard time: one second in one hundred is ten points."""

K = TypeVar("K", bound=Hashable)

_Course: TypeAlias = tuple[str, Surface, int]
_Ground: TypeAlias = tuple[Surface, Going | None]
_Day: TypeAlias = tuple[str, Surface, date]

# Seconds at a middle distance in metres, and the power of distance by which time grows: close to
# the means of Japanese racing over all classes. They only matter until runs are known.
_LINES: Final[Mapping[Surface, tuple[float, int, float]]] = {
    "turf": (95.5, 1600, 1.09),
    "dirt": (100.3, 1600, 1.12),
    "jump": (200.0, 3000, 1.05),
}

_PASSES: Final = 6

_SECONDS: Final = re.compile(r"\d+\.\d")
_CLOCK: Final = re.compile(r"(?:(\d+)[:.])?(\d{1,2}\.\d)")


@dataclass(frozen=True, slots=True)
class Standards:
    """Expected times as logarithms: a line over distance and what shifts it.

    Without any runs it is the line alone.
    """

    surfaces: Mapping[Surface, float] = field(default_factory=dict)
    courses: Mapping[_Course, float] = field(default_factory=dict)
    goings: Mapping[_Ground, float] = field(default_factory=dict)
    days: Mapping[_Day, float] = field(default_factory=dict)
    races: Mapping[str, float] = field(default_factory=dict)

    def figure(self, run: PastRun) -> float | None:
        """Points by which a run was faster than standard; None where time or course is unknown."""
        expected, taken = self._expected(run), seconds(run)
        if expected is None or taken is None:
            return None
        return POINTS * (expected - math.log(taken))

    def _expected(self, run: PastRun) -> float | None:
        line = _line(run)
        if line is None or run.track_type is None or run.distance is None:
            return None
        expected = line + self.surfaces.get(run.track_type, 0.0)
        expected += self.courses.get((run.track, run.track_type, run.distance), 0.0)
        expected += self.goings.get((run.track_type, run.going), 0.0)
        expected += self.days.get((run.track, run.track_type, run.run_on), 0.0)
        return expected + self.races.get(_race(run), 0.0)


def learn_standards(forms: Iterable[Form], *, before: date) -> Standards:
    """Standards from all timed runs before a date, and from the times of those who beat them.

    Shifts of surface, course, going, day and race are told apart from the quality of horses, and
    each is believed the more runs it has.
    """
    times = tuple(_times(forms, before))
    runs = [(each.run, each.surface) for each in times]
    surface = _Effect([kind for _, kind in runs], doubt=1.0)
    course = _Effect([(run.track, kind, run.distance or 0) for run, kind in runs], doubt=1.0)
    going = _Effect([(kind, run.going) for run, kind in runs], doubt=4.0)
    day = _Effect([(run.track, kind, run.run_on) for run, kind in runs], doubt=10.0)
    race = _Effect([_race(run) for run, _ in runs], doubt=2.0)
    horse = _Effect([each.horse for each in times], doubt=1.0)
    left = [math.log(each.seconds) - each.line for each in times]
    for _ in range(_PASSES):
        for effect in (surface, course, going, day, race, horse):
            left = effect.absorb(left)
    return Standards(surface.shifts, course.shifts, going.shifts, day.shifts, race.shifts)


class _Time(NamedTuple):
    """A time on a course; of an unknown winner only the class is known."""

    run: PastRun
    surface: Surface
    horse: str
    line: float
    seconds: float


def _times(forms: Iterable[Form], before: date) -> Iterator[_Time]:
    """Every timed run once, and once per race the time of its winner if not among them."""
    winners: dict[str, _Time] = {}
    won: set[str] = set()
    for form in forms:
        for run in form.recent_results:
            if run.run_on >= before:
                continue
            taken, line, surface = seconds(run), _line(run), run.track_type
            if taken is None or line is None or surface is None:
                continue
            yield _Time(run, surface, form.horse_id, line, taken)
            behind = _behind(run)
            if run.position == 1:
                won.add(_race(run))
            elif behind is not None and 0 <= behind < taken:
                winner = f"winner of class {class_of_run(run)}"
                winners[_race(run)] = _Time(run, surface, winner, line, taken - behind)
    yield from (winner for race, winner in winners.items() if race not in won)


def seconds(run: PastRun) -> float | None:
    """The time of a run in seconds, from the number or from its writing such as `1:34.5`."""
    if run.time_seconds is not None:
        return float(run.time_seconds) if run.time_seconds > 0 else None
    written = _CLOCK.fullmatch(run.time or "")
    if written is None:
        return None
    return int(written[1] or 0) * 60 + float(written[2])


def _behind(run: PastRun) -> float | None:
    """Seconds behind the winner, which is how a horse's own page states margins."""
    stated = _SECONDS.fullmatch(run.margin or "")
    return None if stated is None else float(stated[0])


def _race(run: PastRun) -> str:
    return run.race_id or f"{run.run_on} {run.track} {run.race_number} {run.race_name}"


def _line(run: PastRun) -> float | None:
    if run.track_type is None or run.distance is None or run.distance <= 0:
        return None
    return _on_line(run.track_type, run.distance)


@lru_cache(maxsize=1024)
def _on_line(surface: Surface, distance: int) -> float:
    taken, metres, power = _LINES[surface]
    return math.log(taken) + power * math.log(distance / metres)


class _Effect(Generic[K]):
    """How far each key shifts times, found from what the other effects leave.

    `doubt` is how many runs a shift needs to be believed by half: the variance of a single run
    over that of the shifts, both known only roughly.
    """

    def __init__(self, keys: Sequence[K], *, doubt: float) -> None:
        self._names = tuple(dict.fromkeys(keys))
        places = {name: place for place, name in enumerate(self._names)}
        self._at = [places[key] for key in keys]
        counts = Counter(self._at)
        self._counts = [counts[place] for place in range(len(self._names))]
        self._doubt = doubt
        self._shifts = [0.0] * len(self._names)

    @property
    def shifts(self) -> dict[K, float]:
        """The shift of every key."""
        return dict(zip(self._names, self._shifts, strict=True))

    def absorb(self, left: Sequence[float]) -> list[float]:
        """Take into the shifts what they explain of what is left; answers what is left then."""
        sums = [0.0] * len(self._names)
        for place, value in zip(self._at, left, strict=True):
            sums[place] += value
        old, doubt = self._shifts, self._doubt
        self._shifts = [
            (whole + count * shift) / (count + doubt)
            for whole, count, shift in zip(sums, self._counts, old, strict=True)
        ]
        moved = list(map(sub, self._shifts, old))
        return list(map(sub, left, map(moved.__getitem__, self._at)))
