"""Race conditions and the entries of a season."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from random import Random
from typing import Final

from grandstand.simulators.racing.population import (
    FOALS,
    GROWN,
    OLDEST,
    YOUNGEST,
    Horse,
    Population,
    site,
)
from grandstand.simulators.racing.racecourses import Circuit, Meeting, Surface, plan_meetings
from grandstand.simulators.racing.rng import seeded_random, shuffle

_FIELD: Final[dict[Circuit, tuple[float, float, int]]] = {
    "jra": (13.5, 2.2, 18),
    "nar": (9.8, 1.4, 12),
}
_LEAST_FIELD: Final = 5

# A band is a range of ability as judged before a season, not a count of wins: the age of its
# horses (4 is four and over, J is jumping), then low, middle and open.
_BANDS: Final[dict[Circuit, dict[int, tuple[tuple[float, str], ...]]]] = {
    "jra": {
        2: ((0.3, "2L"), (9.0, "2M")),
        3: ((0.0, "3L"), (1.9, "3M"), (9.0, "3O")),
        4: ((0.0, "4L"), (1.6, "4M"), (9.0, "4O")),
    },
    "nar": {
        2: ((9.0, "2L"),),
        3: ((0.0, "3L"), (9.0, "3M")),
        4: ((-0.3, "4L"), (1.2, "4M"), (9.0, "4O")),
    },
}
_ABROAD: Final = (
    ("メイダン", "J0", 3, 28),
    ("シャティン", "H1", 4, 26),
    ("パリロンシャン", "FP", 10, 4),
)


@dataclass(frozen=True, slots=True, eq=False)
class RaceSlot:
    """One race of the year with its entries in draw order."""

    race_id: str
    meeting: Meeting
    number: int
    band: str
    debut: bool
    entered: tuple[Horse, ...]


@dataclass(frozen=True, slots=True)
class OverseasRace:
    """An overseas race and the horses sent there."""

    race_id: str
    track: str
    held_on: date
    entered: tuple[Horse, ...]

    def draw(self, horse: Horse) -> int | None:
        """Return a horse's index among those sent; None if it was not."""
        return next((at for at, one in enumerate(self.entered) if one.id == horse.id), None)


@dataclass(frozen=True, slots=True)
class Season:
    """A circuit's year: races by id, meetings by day, entries by horse."""

    circuit: Circuit
    year: int
    slots: Mapping[str, RaceSlot]
    days: Mapping[date, tuple[Meeting, ...]]
    entries: Mapping[str, tuple[RaceSlot, ...]]
    abroad: tuple[OverseasRace, ...]


def plan_season(people: Population, seed: int, circuit: Circuit, year: int) -> Season:
    """Generate a circuit's year."""
    bands = _assign_bands(people, seed, circuit, year)
    held = plan_meetings(seed, circuit, year)
    filled = sorted(
        _fill_races(
            bands, _plan_races(held, bands, circuit), seeded_random(seed, circuit, year), circuit
        ),
        key=lambda slot: (slot.meeting.held_on, slot.meeting.place, slot.number),
    )
    entries: dict[str, list[RaceSlot]] = {}
    days: dict[date, list[Meeting]] = {}
    for slot in filled:
        for horse in slot.entered:
            entries.setdefault(horse.id, []).append(slot)
    for meeting in held:
        days.setdefault(meeting.held_on, []).append(meeting)
    return Season(
        circuit,
        year,
        {slot.race_id: slot for slot in filled},
        {day: tuple(each) for day, each in days.items()},
        {horse: tuple(each) for horse, each in entries.items()},
        tuple(_plan_overseas(bands["4O"], entries, seed, year)) if circuit == "jra" else (),
    )


def _assign_bands(
    people: Population, seed: int, circuit: Circuit, year: int
) -> dict[str, list[Horse]]:
    bands: dict[str, list[Horse]] = {}
    draw = seeded_random(seed, "judged", circuit, year)
    for age in range(YOUNGEST, OLDEST + 1):
        for number in range(sum(FOALS.values())):
            horse = people.horse(year - age, number)
            judged = horse.ability + draw.gauss(0, 1.1)
            if not horse.races_in(year) or horse.circuit(year) != circuit:
                continue
            if horse.jumps and age >= GROWN:
                bands.setdefault("J", []).append(horse)
                continue
            limits = _BANDS[circuit][min(age, GROWN)]
            band = next((name for most, name in limits if judged < most), limits[-1][1])
            bands.setdefault(band, []).append(horse)
    return bands


@dataclass
class _Plan:
    """The races assigned to one band, in order."""

    weight: float
    credit: float = 0.0
    races: list[tuple[Meeting, int]] = field(default_factory=list)


def _plan_races(
    held: tuple[Meeting, ...], bands: Mapping[str, list[Horse]], circuit: Circuit
) -> dict[str, _Plan]:
    """Assign every race to a band, in proportion to its horses and evenly over the year."""
    plans = {band: _Plan(len(horses)) for band, horses in bands.items()}
    races = [(one, number) for one in held for number in range(1, one.races + 1)]
    races.sort(key=lambda race: (race[0].held_on, race[1], race[0].place))
    for meeting, number in races:
        if "J" in plans and meeting.place == 0 and number == 4:
            plans["J"].races.append((meeting, number))
            continue
        main = number == {"jra": 11, "nar": 10}[circuit]
        young = meeting.held_on.month >= 6
        able = [
            plan
            for band, plan in plans.items()
            if band != "J" and band.endswith("O") == main and (young or band[0] != "2")
        ]
        total = sum(plan.weight for plan in able)
        for plan in able:
            plan.credit += plan.weight / total
        chosen = max(able, key=lambda plan: plan.credit)
        chosen.credit -= 1
        chosen.races.append((meeting, number))
    return plans


def _fill_races(
    bands: Mapping[str, list[Horse]], plans: Mapping[str, _Plan], draw: Random, circuit: Circuit
) -> Iterator[RaceSlot]:
    for band, plan in plans.items():
        order = shuffle(draw, bands[band])
        races, turn = iter(plan.races), 0
        while True:
            # Everyone of two years begins in the first round, so that debutants meet.
            debut = band[0] == "2" and turn == 0
            there = [horse for horse in order if debut or draw.random() >= 0.25]
            for entered in _split_fields(there, draw, circuit):
                race = next(races, None)
                if race is None:
                    break
                meeting, number = race
                race_id = meeting.race_id(number)
                yield RaceSlot(race_id, meeting, number, band, debut, entered)
            else:
                order = _reshuffle(order, draw)
                turn += 1
                continue
            break


def _reshuffle(order: list[Horse], draw: Random) -> list[Horse]:
    """Shuffle for the next round so that no horse runs again within half a round."""
    reach = len(order) / 2
    keyed = sorted((at + draw.random() * reach, horse.id, horse) for at, horse in enumerate(order))
    return [horse for _, _, horse in keyed]


def _split_fields(
    there: list[Horse], draw: Random, circuit: Circuit
) -> Iterator[tuple[Horse, ...]]:
    mean, spread, most = _FIELD[circuit]
    at = 0
    while len(there) - at >= _LEAST_FIELD:
        size = min(most, max(_LEAST_FIELD, round(draw.gauss(mean, spread))))
        yield tuple(shuffle(draw, there[at : at + size]))
        at += size


def _plan_overseas(
    able: list[Horse], entries: Mapping[str, list[RaceSlot]], seed: int, year: int
) -> Iterator[OverseasRace]:
    gone: set[str] = set()
    for track, code, month, day in _ABROAD:
        on = date(year, month, day)
        rested = [
            horse
            for horse in able
            if horse.id not in gone
            and all(
                abs(slot.meeting.held_on - on) > timedelta(days=20)
                for slot in entries.get(horse.id, ())
            )
        ]
        sent = seeded_random(seed, "abroad", track, year).sample(rested, min(3, len(rested)))
        gone.update(horse.id for horse in sent)
        yield OverseasRace(f"{year}{code}{month:02}{day:02}09", track, on, tuple(sent))


_SHARES: Final = (1.0, 0.4, 0.25, 0.15, 0.1)
_AGES: Final = {"2": "２歳", "3": "３歳", "4": "４歳以上", "J": "４歳以上"}
_CLASSES: Final = {
    "jra": {"L": "１勝クラス", "M": "２勝クラス", "O": "オープン", "J": "オープン"},
    "nar": {"L": "C", "M": "B", "O": "A"},
}
# In units of ten thousand yen, for the winner.
_FIRST_PRIZES: Final = {
    "jra": {"L": 800, "M": 1550, "O": 2400, "J": 1300},
    "nar": {"L": 120, "M": 250, "O": 700},
}
_GRADED: Final = (
    ("GI", 1, 20_000, 0.05),
    ("GII", 2, 6_700, 0.10),
    ("GIII", 3, 4_300, 0.25),
    ("L", 15, 2_800, 0.20),
)


@dataclass(frozen=True, slots=True)
class Conditions:
    """The conditions of a race; `grade_icon` is the number of its grade icon, if any."""

    name: str
    surface: Surface
    metres: int
    age: str
    rank: str
    prizes: tuple[float, ...]
    grade: str | None = None
    grade_icon: int | None = None

    @property
    def graded(self) -> bool:
        """Whether it is a graded race."""
        return self.grade is not None and self.grade.startswith("G")

    def prize(self, place: int, sharing: int = 1) -> float:
        """Return the prize of a position; a dead heat shares the prizes."""
        taken = [
            self.prizes[at] for at in range(place - 1, place - 1 + sharing) if at < len(self.prizes)
        ]
        return round(sum(taken) / sharing, 1)


def draw_conditions(seed: int, slot: RaceSlot) -> Conditions:
    """Return the conditions of a race."""
    draw = seeded_random(seed, "terms", slot.race_id)
    track, circuit = slot.meeting.track, slot.meeting.circuit
    surface: Surface = "jump" if slot.band == "J" else "dirt"
    if surface == "dirt" and track.turf and draw.random() < 0.5:
        surface = "turf"
    metres = draw.choice(track.distances(surface))
    age, level = _AGES[slot.band[0]], slot.band[-1]
    rank = "新馬" if slot.debut else _CLASSES[circuit]["O" if slot.band == "2M" else level]
    first = {"jra": 720, "nar": 200}[circuit] if slot.debut else _FIRST_PRIZES[circuit][level]
    grade, icon = None, None
    if level == "O" and circuit == "jra":
        luck = draw.random()
        for name, number, prize, share in _GRADED:
            if luck < share:
                grade, icon, first = name, number, prize
                break
            luck -= share
    title = _title(slot, f"{age}{rank}", draw.random())
    prizes = tuple(round(first * share) * 1.0 for share in _SHARES)
    return Conditions(title, surface, metres, f"サラ系{age}", rank, prizes, grade, icon)


def _title(slot: RaceSlot, plain: str, luck: float) -> str:
    if slot.band == "J":
        return f"障害{plain}"
    if slot.band.endswith("O"):
        return f"{site(slot.race_id)}ステークス"
    named = slot.band.endswith("M") and not slot.debut and luck < 0.5
    return f"{site(slot.race_id)}特別" if named else plain
