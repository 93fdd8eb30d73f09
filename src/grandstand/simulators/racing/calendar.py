"""Kept here: which tracks race on which days, when each race is off, and what its id says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone
from typing import Final

from grandstand.simulators.racing.chance import chance
from grandstand.simulators.racing.tracks import BLOCKS, ROTA, TRACKS, Circuit, Surface, Track

JST: Final = timezone(timedelta(hours=9), "JST")
_WEEKS_A_BLOCK: Final = 4
_RACES: Final[dict[Circuit, int]] = {"jra": 12, "nar": 10}
_FIRST_OFF: Final[dict[Circuit, time]] = {"jra": time(10, 5), "nar": time(14, 30)}
_BETWEEN: Final = timedelta(minutes=30)
_LUNCH: Final = timedelta(minutes=25)
_LUNCH_AFTER: Final = 4
_STAGGER: Final = timedelta(minutes=5)
_SATURDAY: Final = 5
_SKIES: Final = ("晴", "晴", "晴", "曇", "曇", "小雨", "雨")
# By sky: the least and the most the ground has softened, as an index of the goings.
_SOFTENED: Final = {"晴": (0, 0), "曇": (0, 1), "小雨": (0, 2), "雨": (1, 3)}


@dataclass(frozen=True, slots=True)
class Meeting:
    """One track's racing on one day."""

    circuit: Circuit
    held_on: date
    track: Track
    kai: int
    day: int
    place: int
    sky: str
    turf_going: int
    dirt_going: int

    @property
    def kaisai_id(self) -> str:
        """The id of the meeting: a race id without its race."""
        on = self.held_on
        first, second = (on.month, on.day) if self.circuit == "nar" else (self.kai, self.day)
        return f"{on.year}{self.track.code}{first:02}{second:02}"

    @property
    def races(self) -> int:
        """How many races it has."""
        return _RACES[self.circuit]

    def race_id(self, number: int) -> str:
        """Answer the id of one of its races."""
        return f"{self.kaisai_id}{number:02}"

    def off(self, number: int) -> datetime:
        """Answer when one of its races starts, in UTC."""
        start = datetime.combine(self.held_on, _FIRST_OFF[self.circuit], JST)
        late = _LUNCH if self.circuit == "jra" and number > _LUNCH_AFTER else timedelta(0)
        return (start + (number - 1) * _BETWEEN + late + self.place * _STAGGER).astimezone(UTC)

    def going(self, surface: Surface) -> int:
        """Answer how soft the ground is, as an index of the goings."""
        return self.dirt_going if surface == "dirt" else self.turf_going


def morning(day: date, hour: int) -> datetime:
    """Answer an hour of a Japanese day, in UTC."""
    return datetime.combine(day, time(hour), JST).astimezone(UTC)


def meetings(seed: int, circuit: Circuit, year: int) -> tuple[Meeting, ...]:
    """Answer a circuit's meetings of a year, day by day."""
    held = _weekends(year) if circuit == "jra" else _weekdays(year)
    return tuple(_meeting(seed, circuit, one) for one in held)


@dataclass(frozen=True, slots=True)
class _Held:
    on: date
    code: str
    kai: int
    day: int
    place: int


def _meeting(seed: int, circuit: Circuit, held: _Held) -> Meeting:
    draw = chance(seed, "sky", held.on, held.code)
    sky = draw.choice(_SKIES)
    softened = _SOFTENED[sky]
    return Meeting(
        circuit,
        held.on,
        TRACKS[held.code],
        held.kai,
        held.day,
        held.place,
        sky,
        turf_going=draw.randint(*softened),
        dirt_going=draw.randint(*softened),
    )


def _weekends(year: int) -> Iterator[_Held]:
    first = date(year, 1, 1)
    saturday = first + timedelta(days=(_SATURDAY - first.weekday()) % 7)
    kais: Counter[str] = Counter()
    for block, codes in enumerate(BLOCKS):
        kais.update(codes)
        days: Counter[str] = Counter()
        for week in range(_WEEKS_A_BLOCK):
            start = saturday + timedelta(weeks=block * _WEEKS_A_BLOCK + week)
            for offset, racing in enumerate((codes[:2], codes)):
                on = start + timedelta(days=offset)
                if on.year != year:
                    continue
                days.update(racing)
                for place, code in enumerate(racing):
                    yield _Held(on, code, kais[code], days[code], place)


def _weekdays(year: int) -> Iterator[_Held]:
    on, days = date(year, 1, 1), Counter[tuple[str, int]]()
    while on.year == year:
        week = on.toordinal() // 7
        for place, codes in enumerate(ROTA[on.weekday()]):
            if codes:
                code = codes[week % len(codes)]
                days[code, on.month] += 1
                yield _Held(on, code, on.month, days[code, on.month], place)
        on += timedelta(days=1)
