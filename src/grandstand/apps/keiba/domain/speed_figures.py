"""Speed figures: race classes, standard times learned from runs, and figures against them."""

from __future__ import annotations

import math
import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from functools import lru_cache
from operator import sub
from typing import Final, Generic, NamedTuple, TypeAlias, TypeVar

from grandstand.apps.keiba.domain.horses import Form, PastRun
from grandstand.apps.keiba.domain.races import Going, RaceCard, Surface

# From newcomers to grade 1. Until 2019 classes were named by earnings in units of 10,000 yen,
# since then by wins.
_CLASS_PATTERN: Final = re.compile(
    r"(?P<c8>\b(?:G|JPN)(?:I|1)\b)|(?P<c7>\b(?:G|JPN)(?:II|2)\b)|(?P<c6>\b(?:G|JPN)(?:III|3)\b)"
    r"|(?P<c5>オープン|\(L\)|\(OP\)|^L$|^OP$)|(?P<c4>3勝|1600万)|(?P<c3>2勝|1000万|900万)"
    r"|(?P<c2>1勝|500万)|(?P<c1>未勝利)|(?P<c0>新馬|メイクデビュー)"
)

# Lowest first prizes of classes 1 to 8 in units of 10,000 yen, set between the usual JRA prizes:
# maidens win about 550, then 800, 1140, 1840, 2400, 4000, 6000, 10000.
_FROM_PRIZE: Final = (450, 680, 960, 1450, 2100, 3500, 5000, 8000)

# Shares of the first prize paid to the first five.
_SHARES: Final = (Decimal(1), Decimal("0.4"), Decimal("0.25"), Decimal("0.15"), Decimal("0.1"))


def class_of_run(run: PastRun) -> int | None:
    """Return the class of a past race, from 0 (newcomers) to 8 (grade 1); None if unknown.

    It follows from the name, else from the prize of a horse in the first five.
    """
    named = _parse_class(run.race_name)
    if named is not None or run.prize is None or run.position is None or run.prize <= 0:
        return named
    if not 1 <= run.position <= len(_SHARES):
        return None
    return _class_from_prize(run.prize / _SHARES[run.position - 1])


def class_of_card(card: RaceCard) -> int | None:
    """Return the class of a race from its grade, class or name, else from its first prize."""
    for text in (card.grade, card.race_class, card.race_name):
        if text and (step := _parse_class(text)) is not None:
            return step
    return _class_from_prize(card.prize_money[0]) if card.prize_money else None


# A card of 18 runners has some 700 past races, with few distinct names.
@lru_cache(maxsize=4096)
def _parse_class(text: str) -> int | None:
    found = _CLASS_PATTERN.search(unicodedata.normalize("NFKC", text).upper())
    return int(found.lastgroup[1:]) if found is not None and found.lastgroup else None


def _class_from_prize(first_prize: Decimal) -> int:
    return bisect_right(_FROM_PRIZE, first_prize)


POINTS: Final = 1000.0
"""Points per unit of log time: one second in one hundred is ten points."""

K = TypeVar("K", bound=Hashable)

_Course: TypeAlias = tuple[str, Surface, int]
_Ground: TypeAlias = tuple[Surface, Going | None]
_Day: TypeAlias = tuple[str, Surface, date]

# Seconds at a middle distance in meters, and the exponent of time over distance: close to the
# averages of Japanese racing. They only matter while few runs are known.
_LINES: Final[Mapping[Surface, tuple[float, int, float]]] = {
    "turf": (95.5, 1600, 1.09),
    "dirt": (100.3, 1600, 1.12),
    "jump": (200.0, 3000, 1.05),
}


_SECONDS: Final = re.compile(r"\d+\.\d")
_CLOCK: Final = re.compile(r"(?:(\d+)[:.])?(\d{1,2}\.\d)")


@dataclass(frozen=True, slots=True)
class StandardTimes:
    """Expected log times: a line over distance plus learned shifts."""

    surfaces: Mapping[Surface, float] = field(default_factory=dict)
    courses: Mapping[_Course, float] = field(default_factory=dict)
    goings: Mapping[_Ground, float] = field(default_factory=dict)
    days: Mapping[_Day, float] = field(default_factory=dict)
    races: Mapping[str, float] = field(default_factory=dict)

    def figure(self, run: PastRun) -> float | None:
        """Return the points by which a run beat the standard; None if time or course is unknown."""
        expected, taken = self._expected(run), run_seconds(run)
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


def learn_standard_times(forms: Iterable[Form], *, before: date) -> StandardTimes:
    """Learn standard times from all timed runs before a date and from their winners' times.

    Shifts of surface, course, going, day and race are separated from the ability of horses, and
    shrunk toward zero the fewer runs they have.
    """
    times = tuple(_times(forms, before))
    runs = [(each.run, each.surface) for each in times]
    surface = _Effect([kind for _, kind in runs], shrinkage=1.0)
    course = _Effect([(run.track, kind, run.distance or 0) for run, kind in runs], shrinkage=1.0)
    going = _Effect([(kind, run.going) for run, kind in runs], shrinkage=4.0)
    day = _Effect([(run.track, kind, run.run_on) for run, kind in runs], shrinkage=10.0)
    race = _Effect([_race(run) for run, _ in runs], shrinkage=2.0)
    horse = _Effect([each.horse for each in times], shrinkage=1.0)
    residuals = [math.log(each.seconds) - each.line for each in times]
    for _ in range(6):
        for effect in (surface, course, going, day, race, horse):
            residuals = effect.absorb(residuals)
    return StandardTimes(surface.shifts, course.shifts, going.shifts, day.shifts, race.shifts)


class _Time(NamedTuple):
    """A time on a course; an unknown winner is identified by its class."""

    run: PastRun
    surface: Surface
    horse: str
    line: float
    seconds: float


def _times(forms: Iterable[Form], before: date) -> Iterator[_Time]:
    """Yield every timed run, and per race the time of its winner if that is not among them."""
    winners: dict[str, _Time] = {}
    won: set[str] = set()
    for form in forms:
        for run in form.recent_results:
            if run.run_on >= before:
                continue
            taken, line, surface = run_seconds(run), _line(run), run.track_type
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


def run_seconds(run: PastRun) -> float | None:
    """Return the time of a run in seconds, from the number or a text such as `1:34.5`."""
    if run.time_seconds is not None:
        return float(run.time_seconds) if run.time_seconds > 0 else None
    written = _CLOCK.fullmatch(run.time or "")
    if written is None:
        return None
    return int(written[1] or 0) * 60 + float(written[2])


def _behind(run: PastRun) -> float | None:
    """Return the seconds behind the winner, which is how horse pages state margins."""
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
    """The shift of log times by key, estimated from the residuals of the other effects.

    `shrinkage` is the number of runs at which a shift counts half: the variance of a single run
    over that of the shifts, both known only roughly.
    """

    def __init__(self, keys: Sequence[K], *, shrinkage: float) -> None:
        self._names = tuple(dict.fromkeys(keys))
        places = {name: place for place, name in enumerate(self._names)}
        self._at = [places[key] for key in keys]
        counts = Counter(self._at)
        self._counts = [counts[place] for place in range(len(self._names))]
        self._shrinkage = shrinkage
        self._shifts = [0.0] * len(self._names)

    @property
    def shifts(self) -> dict[K, float]:
        return dict(zip(self._names, self._shifts, strict=True))

    def absorb(self, residuals: Sequence[float]) -> list[float]:
        """Update the shifts from the residuals and return the new residuals."""
        sums = [0.0] * len(self._names)
        for place, value in zip(self._at, residuals, strict=True):
            sums[place] += value
        old, shrinkage = self._shifts, self._shrinkage
        self._shifts = [
            (total + count * shift) / (count + shrinkage)
            for total, count, shift in zip(sums, self._counts, old, strict=True)
        ]
        moved = list(map(sub, self._shifts, old))
        return list(map(sub, residuals, map(moved.__getitem__, self._at)))
