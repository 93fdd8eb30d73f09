"""Kept here: which horses meet in which race of a year: bands of equals that meet in rounds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from random import Random
from typing import Final

from grandstand.simulators.racing.calendar import Meeting, meetings
from grandstand.simulators.racing.chance import chance, shuffled
from grandstand.simulators.racing.population import (
    FOALS,
    GROWN,
    OLDEST,
    YOUNGEST,
    Horse,
    Population,
)
from grandstand.simulators.racing.tracks import Circuit

_RESTING: Final = 0.25
_SHUFFLED: Final = 0.5
_FIELD: Final[dict[Circuit, tuple[float, float, int]]] = {
    "jra": (13.5, 2.2, 18),
    "nar": (9.8, 1.4, 12),
}
_LEAST_FIELD: Final = 5
_FIRST_MONTH_OF_TWO_YEAR_OLDS: Final = 6
_JUMP_RACE: Final = 4
_MAIN_RACE: Final[dict[Circuit, int]] = {"jra": 11, "nar": 10}
_JUDGED: Final = 1.1
_REST_ABROAD: Final = timedelta(days=20)

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
class Slot:
    """One race of the year and who is entered, in the order of the draw."""

    race_id: str
    meeting: Meeting
    number: int
    band: str
    debut: bool
    entered: tuple[Horse, ...]


@dataclass(frozen=True, slots=True)
class Abroad:
    """A race in another country and who went there from here."""

    race_id: str
    track: str
    held_on: date
    entered: tuple[Horse, ...]

    def draw(self, horse: Horse) -> int | None:
        """Answer a horse's place among those that went, from 0, None if it stayed."""
        return next((at for at, one in enumerate(self.entered) if one.id == horse.id), None)


@dataclass(frozen=True, slots=True)
class Season:
    """A circuit's year: its races by day, by id and by horse."""

    circuit: Circuit
    year: int
    slots: Mapping[str, Slot]
    days: Mapping[date, tuple[Meeting, ...]]
    entries: Mapping[str, tuple[Slot, ...]]
    abroad: tuple[Abroad, ...]


def season(people: Population, seed: int, circuit: Circuit, year: int) -> Season:
    """Answer a circuit's year, made from nothing but the arguments."""
    bands = _banded(people, seed, circuit, year)
    held = meetings(seed, circuit, year)
    filled = sorted(
        _filled(bands, _planned(held, bands, circuit), chance(seed, circuit, year), circuit),
        key=lambda slot: (slot.meeting.held_on, slot.meeting.place, slot.number),
    )
    entries: dict[str, list[Slot]] = {}
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
        tuple(_sent_abroad(bands["4O"], entries, seed, year)) if circuit == "jra" else (),
    )


def _banded(people: Population, seed: int, circuit: Circuit, year: int) -> dict[str, list[Horse]]:
    bands: dict[str, list[Horse]] = {}
    draw = chance(seed, "judged", circuit, year)
    for age in range(YOUNGEST, OLDEST + 1):
        for number in range(sum(FOALS.values())):
            horse = people.horse(year - age, number)
            judged = horse.ability + draw.gauss(0, _JUDGED)
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
    """The races of the year given to one band, in order."""

    weight: float
    credit: float = 0.0
    races: list[tuple[Meeting, int]] = field(default_factory=list)


def _planned(
    held: tuple[Meeting, ...], bands: Mapping[str, list[Horse]], circuit: Circuit
) -> dict[str, _Plan]:
    """Give every race to a band: each gets as many as it has horses, evenly over the year."""
    plans = {band: _Plan(len(horses)) for band, horses in bands.items()}
    races = [(one, number) for one in held for number in range(1, one.races + 1)]
    races.sort(key=lambda race: (race[0].held_on, race[1], race[0].place))
    for meeting, number in races:
        if "J" in plans and meeting.place == 0 and number == _JUMP_RACE:
            plans["J"].races.append((meeting, number))
            continue
        main = number == _MAIN_RACE[circuit]
        young = meeting.held_on.month >= _FIRST_MONTH_OF_TWO_YEAR_OLDS
        able = [
            plan
            for band, plan in plans.items()
            if band != "J" and band.endswith("O") == main and (young or band[0] != "2")
        ]
        whole = sum(plan.weight for plan in able)
        for plan in able:
            plan.credit += plan.weight / whole
        chosen = max(able, key=lambda plan: plan.credit)
        chosen.credit -= 1
        chosen.races.append((meeting, number))
    return plans


def _filled(
    bands: Mapping[str, list[Horse]], plans: Mapping[str, _Plan], draw: Random, circuit: Circuit
) -> Iterator[Slot]:
    for band, plan in plans.items():
        order = shuffled(draw, bands[band])
        races, turn = iter(plan.races), 0
        while True:
            # Everyone of two years begins in the first round, so that debutants meet.
            debut = band[0] == "2" and turn == 0
            there = [horse for horse in order if debut or draw.random() >= _RESTING]
            for entered in _divided(there, draw, circuit):
                race = next(races, None)
                if race is None:
                    break
                meeting, number = race
                race_id = meeting.race_id(number)
                yield Slot(race_id, meeting, number, band, debut, entered)
            else:
                order = _mixed(order, draw)
                turn += 1
                continue
            break


def _mixed(order: list[Horse], draw: Random) -> list[Horse]:
    """Shuffle for the next round, so that nobody runs again within half a round."""
    reach = len(order) * _SHUFFLED
    keyed = sorted((at + draw.random() * reach, horse.id, horse) for at, horse in enumerate(order))
    return [horse for _, _, horse in keyed]


def _divided(there: list[Horse], draw: Random, circuit: Circuit) -> Iterator[tuple[Horse, ...]]:
    mean, spread, most = _FIELD[circuit]
    at = 0
    while len(there) - at >= _LEAST_FIELD:
        size = min(most, max(_LEAST_FIELD, round(draw.gauss(mean, spread))))
        yield tuple(shuffled(draw, there[at : at + size]))
        at += size


def _sent_abroad(
    able: list[Horse], entries: Mapping[str, list[Slot]], seed: int, year: int
) -> Iterator[Abroad]:
    gone: set[str] = set()
    for track, code, month, day in _ABROAD:
        on = date(year, month, day)
        rested = [
            horse
            for horse in able
            if horse.id not in gone
            and all(
                abs(slot.meeting.held_on - on) > _REST_ABROAD for slot in entries.get(horse.id, ())
            )
        ]
        sent = chance(seed, "abroad", track, year).sample(rested, min(3, len(rested)))
        gone.update(horse.id for horse in sent)
        yield Abroad(f"{year}{code}{month:02}{day:02}09", track, on, tuple(sent))
