"""Kept here: horses, jockeys and trainers, with the true abilities nobody on the site can see."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from random import Random
from typing import Final

from grandstand.simulators.racing.breeding import Ancestor, Families
from grandstand.simulators.racing.chance import chance
from grandstand.simulators.racing.names import birthplace, horse_name, person, reading
from grandstand.simulators.racing.tracks import Circuit, Surface

FOALS: Final[dict[Circuit, int]] = {"jra": 1_000, "nar": 440}
JOCKEYS: Final[dict[Circuit, int]] = {"jra": 110, "nar": 80}
TRAINERS: Final[dict[Circuit, int]] = {"jra": 120, "nar": 90}
YOUNGEST: Final = 2
OLDEST: Final = 6
GROWN: Final = 4
_ABILITY_SPREAD: Final = 1.3
_LEAN_SPREAD: Final = 0.25
_WET_SPREAD: Final = 0.2
_DISTANCE_METRES: Final = (1_650, 320)
_DISTANCE_REACH: Final = 1_100
_DISTANCE_WORST: Final = 1.5
_SKILL_SPREAD: Final = 0.3
_STABLE_SPREAD: Final = 0.15
_JUMPERS: Final = 0.12
_LEAVERS: Final = 0.2
_NATIVE: Final = re.compile("[0-9]{4}1[0-9]{5}")
_KNOWN_HORSES: Final = 32_768
_NAMES_A_YEAR: Final = 1_600
_COATS: Final = ("鹿毛", "黒鹿毛", "栗毛", "芦毛", "青鹿毛")
# By years since the first ride: the mark before the name and the kilograms taken off.
_APPRENTICES: Final = {0: ("▲", 3), 1: ("▲", 3), 2: ("△", 2), 3: ("☆", 1)}


@dataclass(frozen=True, slots=True, eq=False)
class Horse:
    """A horse that races here: what its pages show, and what it truly can do."""

    id: str
    number: int
    name: str
    english: str
    born_on: date
    sex: str
    coat: str
    home: Circuit
    owner: str
    breeder: str
    birthplace: str
    sold_for: int | None
    sire: Ancestor
    dam: Ancestor
    kilograms: int
    retires_at: int
    leaves_at: int | None
    jumps: bool
    ability: float
    best_metres: float
    lean: float
    wet: float

    @property
    def foaled(self) -> int:
        """The year it was born in."""
        return self.born_on.year

    def races_in(self, year: int) -> bool:
        """Tell whether it is in training in a year."""
        return YOUNGEST <= year - self.foaled <= self.retires_at

    def circuit(self, year: int) -> Circuit:
        """Answer where it races in a year: some go from the central to a local circuit."""
        gone = self.leaves_at is not None and year - self.foaled >= self.leaves_at
        return "nar" if gone else self.home

    def worth(self, surface: Surface, metres: int, going: int) -> float:
        """Answer how strong it truly is over a course, before jockey and luck."""
        worth = self.ability + self.wet * going / 3
        if surface == "jump":
            return worth
        away = min(((metres - self.best_metres) / _DISTANCE_REACH) ** 2, _DISTANCE_WORST)
        return worth - away + (self.lean if surface == "turf" else -self.lean)


@dataclass(frozen=True, slots=True)
class Jockey:
    """A jockey; `skill` adds to the strength of what he or she rides."""

    id: str
    number: int
    circuit: Circuit
    name: str
    short: str
    kana: str
    born_on: date
    first_year: int
    skill: float

    def allowance(self, year: int) -> tuple[str, int]:
        """Answer the mark and the kilograms of an apprentice, an empty mark for others."""
        return _APPRENTICES.get(year - self.first_year, ("", 0))


@dataclass(frozen=True, slots=True)
class Trainer:
    """A trainer and where the stable stands."""

    id: str
    circuit: Circuit
    short: str
    stable: str
    skill: float


class Population:
    """Everybody of one world, each made when asked for and the latest kept."""

    def __init__(self, seed: int, first_year: int) -> None:
        self._seed = seed
        self._first_year = first_year
        self.families = Families(seed, first_year)
        self.horse = lru_cache(maxsize=_KNOWN_HORSES)(self._horse)
        self.jockey = lru_cache(maxsize=None)(self._jockey)
        self.trainer = lru_cache(maxsize=None)(self._trainer)

    def find_horse(self, horse_id: str) -> Horse | None:
        """Answer the horse of an id, None if none that races here has it."""
        if _NATIVE.fullmatch(horse_id) is None:
            return None
        year, number = int(horse_id[:4]), int(horse_id[5:])
        if year < self._first_year - OLDEST or number >= sum(FOALS.values()):
            return None
        return self.horse(year, number)

    def find_jockey(self, jockey_id: str) -> Jockey | None:
        """Answer the jockey of an id, None if there is none."""
        everyone = (
            self.jockey(circuit, at) for circuit in JOCKEYS for at in range(JOCKEYS[circuit])
        )
        return next((jockey for jockey in everyone if jockey.id == jockey_id), None)

    def trainer_of(self, horse: Horse, year: int) -> Trainer:
        """Answer who trains a horse in a year."""
        circuit = horse.circuit(year)
        return self.trainer(circuit, horse.number * 7 % TRAINERS[circuit])

    def siblings(self, horse: Horse) -> list[Horse]:
        """Answer the other foals of its dam that race here."""
        years = range(self._first_year - OLDEST, self._first_year)
        foals = [(year, self.families.foal_of(horse.dam.number, year)) for year in years]
        known = [self.horse(*foal) for foal in foals if foal[1] < sum(FOALS.values())]
        return [foal for foal in known if foal.id != horse.id]

    def _horse(self, year: int, number: int) -> Horse:
        draw = chance(self._seed, "horse", year, number)
        home: Circuit = "jra" if number < FOALS["jra"] else "nar"
        sire, dam = self.families.of_foal(year, number)
        name, english = horse_name((year - self._first_year + 8) * _NAMES_A_YEAR + number)
        jumps = home == "jra" and draw.random() < _JUMPERS
        leaves = home == "jra" and not jumps and draw.random() < _LEAVERS
        sold = draw.randint(3, 90) * 100 if draw.random() < 0.5 else None  # noqa: PLR2004 - even
        return Horse(
            id=f"{year}1{number:05}",
            number=number,
            name=name,
            english=english,
            born_on=date(year, 1, 20) + timedelta(days=draw.randrange(130)),
            sex=draw.choice("牡牡牡牝牝牝セ"),
            coat=draw.choice(_COATS),
            home=home,
            owner="".join(person(draw.randrange(800))),
            breeder=f"{person(draw.randrange(800))[0]}牧場",
            birthplace=birthplace(draw.randrange(64)),
            sold_for=sold,
            sire=sire,
            dam=dam,
            kilograms=2 * round(draw.gauss(235, 13)),
            retires_at=draw.choice((3, 4, 5, 5, 6, 6)),
            leaves_at=draw.choice((3, 4, 5)) if leaves else None,
            jumps=jumps,
            **_gifts(draw, sire, dam),
        )

    def _jockey(self, circuit: Circuit, number: int) -> Jockey:
        draw = chance(self._seed, "jockey", circuit, number)
        at = number if circuit == "jra" else number + JOCKEYS["jra"]
        family, given = person(at)
        # Local jockeys have ids with letters, some of them digits alone.
        local = f"a{0x100 + number * 13:04x}" if number % 3 else f"054{number:02}"
        first = self._first_year + (number % 24) - 20
        return Jockey(
            id=f"{1_001 + number:05}" if circuit == "jra" else local,
            number=number,
            circuit=circuit,
            name=f"{family} {given}",
            short=f"{family}{given}"[:4],
            kana=reading(at),
            born_on=date(first - 18, 1, 1) + timedelta(days=draw.randrange(365)),
            first_year=first,
            skill=draw.gauss(0, _SKILL_SPREAD),
        )

    def _trainer(self, circuit: Circuit, number: int) -> Trainer:
        draw = chance(self._seed, "trainer", circuit, number)
        family, given = person(number + (400 if circuit == "jra" else 600))
        stable = "地方" if circuit == "nar" else ("美浦", "栗東")[number % 2]
        trainer_id = f"{1_050 + number:05}" if circuit == "jra" else f"b{0x200 + number * 7:04x}"
        skill = draw.gauss(0, _STABLE_SPREAD)
        return Trainer(trainer_id, circuit, f"{family}{given}"[:4], stable, skill)


def _gifts(draw: Random, sire: Ancestor, dam: Ancestor) -> dict[str, float]:
    return {
        "ability": sire.worth + dam.worth + draw.gauss(0, _ABILITY_SPREAD),
        "best_metres": draw.gauss(*_DISTANCE_METRES),
        "lean": draw.gauss(0, _LEAN_SPREAD),
        "wet": draw.gauss(0, _WET_SPREAD),
    }
