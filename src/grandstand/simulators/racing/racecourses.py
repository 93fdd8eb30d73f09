"""Race tracks, their courses, and the racing calendar."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone
from typing import Final, Literal, TypeAlias

from grandstand.simulators.racing.rng import seeded_random

Circuit: TypeAlias = Literal["jra", "nar"]
Surface: TypeAlias = Literal["turf", "dirt", "jump"]

LETTER: Final[dict[Surface, str]] = {"turf": "芝", "dirt": "ダ", "jump": "障"}
GOINGS: Final = ("良", "稍重", "重", "不良")


@dataclass(frozen=True, slots=True)
class Track:
    """One track; its code is part of every race id."""

    code: str
    name: str
    circuit: Circuit
    turn: str
    turf: tuple[int, ...] = ()
    dirt: tuple[int, ...] = ()
    jump: tuple[int, ...] = ()

    def distances(self, surface: Surface) -> tuple[int, ...]:
        """Return the distances run on a surface."""
        return {"turf": self.turf, "dirt": self.dirt, "jump": self.jump}[surface]


_JRA: Final = (
    Track("01", "札幌", "jra", "右", (1200, 1500, 1800, 2000), (1000, 1700), (2900,)),
    Track("02", "函館", "jra", "右", (1200, 1800, 2000), (1000, 1700), (2800,)),
    Track("03", "福島", "jra", "右", (1200, 1800, 2000), (1150, 1700), (2770,)),
    Track("04", "新潟", "jra", "左", (1000, 1400, 1600, 2000), (1200, 1800), (2890,)),
    Track("05", "東京", "jra", "左", (1400, 1600, 1800, 2400), (1400, 1600, 2100), (3110,)),
    Track("06", "中山", "jra", "右", (1200, 1600, 2000, 2500), (1200, 1800), (2910, 3210)),
    Track("07", "中京", "jra", "左", (1200, 1600, 2000), (1400, 1800), (3000,)),
    Track("08", "京都", "jra", "右", (1200, 1600, 2000, 2400), (1200, 1800), (2910, 3170)),
    Track("09", "阪神", "jra", "右", (1200, 1600, 1800, 2200), (1400, 1800), (2970, 3140)),
    Track("10", "小倉", "jra", "右", (1200, 1800, 2000), (1000, 1700), (2860,)),
)
_NAR: Final = (
    Track("30", "門別", "nar", "右", dirt=(1000, 1200, 1700)),
    Track("35", "盛岡", "nar", "左", turf=(1600, 1700), dirt=(1200, 1600, 1800)),
    Track("36", "水沢", "nar", "右", dirt=(1300, 1400, 1600)),
    Track("42", "浦和", "nar", "左", dirt=(1400, 1500, 2000)),
    Track("43", "船橋", "nar", "左", dirt=(1200, 1600, 1800)),
    Track("44", "大井", "nar", "右", dirt=(1200, 1400, 1600, 1800)),
    Track("45", "川崎", "nar", "左", dirt=(900, 1400, 1500, 2100)),
    Track("46", "金沢", "nar", "右", dirt=(1400, 1500, 1700)),
    Track("47", "笠松", "nar", "右", dirt=(1400, 1600)),
    Track("48", "名古屋", "nar", "右", dirt=(920, 1500, 1700)),
    Track("50", "園田", "nar", "右", dirt=(1230, 1400, 1700)),
    Track("51", "姫路", "nar", "右", dirt=(1400, 1500, 1800)),
    Track("54", "高知", "nar", "右", dirt=(1300, 1400, 1600)),
    Track("55", "佐賀", "nar", "右", dirt=(1300, 1400, 1800)),
)
TRACKS: Final = {track.code: track for track in (*_JRA, *_NAR)}

# Four weeks each: the first two race on both days of the weekend, the third on Sundays.
BLOCKS: Final = (
    ("06", "08", "10"),
    ("05", "08", "10"),
    ("06", "09", "07"),
    ("06", "09", "03"),
    ("05", "08", "04"),
    ("05", "08", "02"),
    ("03", "10", "02"),
    ("04", "07", "01"),
    ("04", "10", "01"),
    ("06", "09", "07"),
    ("05", "08", "04"),
    ("05", "08", "03"),
    ("06", "09", "07"),
)
# Monday to Sunday; the week's number picks one of each.
ROTA: Final = (
    (("42", "44"), ()),
    (("43", "45"), ()),
    (("44", "42", "45"), ("50", "51")),
    (("45", "43"), ()),
    (("44", "48", "47", "46"), ()),
    (("54", "36"), ()),
    (("55", "35", "30"), ()),
)


JST: Final = timezone(timedelta(hours=9), "JST")
_WEEKS_A_BLOCK: Final = 4
_FIRST_OFF: Final[dict[Circuit, time]] = {"jra": time(10, 5), "nar": time(14, 30)}
_BETWEEN: Final = timedelta(minutes=30)
_LUNCH: Final = timedelta(minutes=25)
_STAGGER: Final = timedelta(minutes=5)
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
        return 12 if self.circuit == "jra" else 10

    def race_id(self, number: int) -> str:
        """Return the id of one of its races."""
        return f"{self.kaisai_id}{number:02}"

    def off(self, number: int) -> datetime:
        """Return when one of its races starts, in UTC."""
        start = datetime.combine(self.held_on, _FIRST_OFF[self.circuit], JST)
        late = _LUNCH if self.circuit == "jra" and number > 4 else timedelta(0)
        return (start + (number - 1) * _BETWEEN + late + self.place * _STAGGER).astimezone(UTC)

    def going(self, surface: Surface) -> int:
        """Return how soft the ground is, as an index of the goings."""
        return self.dirt_going if surface == "dirt" else self.turf_going


def jst_hour(day: date, hour: int) -> datetime:
    """Return an hour of a Japanese day, in UTC."""
    return datetime.combine(day, time(hour), JST).astimezone(UTC)


def plan_meetings(seed: int, circuit: Circuit, year: int) -> tuple[Meeting, ...]:
    """Return a circuit's meetings of a year, day by day."""
    return tuple((_weekends if circuit == "jra" else _weekdays)(seed, year))


def _meeting(seed: int, on: date, code: str, *, kai: int, day: int, place: int) -> Meeting:
    draw, track = seeded_random(seed, "sky", on, code), TRACKS[code]
    sky = draw.choice(("晴", "晴", "晴", "曇", "曇", "小雨", "雨"))
    turf_going, dirt_going = draw.randint(*_SOFTENED[sky]), draw.randint(*_SOFTENED[sky])
    return Meeting(track.circuit, on, track, kai, day, place, sky, turf_going, dirt_going)


def _weekends(seed: int, year: int) -> Iterator[Meeting]:
    first = date(year, 1, 1)
    saturday = first + timedelta(days=(5 - first.weekday()) % 7)
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
                    yield _meeting(seed, on, code, kai=kais[code], day=days[code], place=place)


def _weekdays(seed: int, year: int) -> Iterator[Meeting]:
    on, days = date(year, 1, 1), Counter[tuple[str, int]]()
    while on.year == year:
        week = on.toordinal() // 7
        for place, codes in enumerate(ROTA[on.weekday()]):
            if codes:
                code = codes[week % len(codes)]
                days[code, on.month] += 1
                yield _meeting(seed, on, code, kai=on.month, day=days[code, on.month], place=place)
        on += timedelta(days=1)
