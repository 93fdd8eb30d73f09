"""Kept here: the families horses come from: sires and dams, generation on generation."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, TypeAlias

from grandstand.simulators.racing.chance import chance, scattered
from grandstand.simulators.racing.names import NAMES, horse_name

Sex: TypeAlias = Literal["sire", "dam"]

_SIRES: Final = 60
_KNOWN_ANCESTORS: Final = 8_192
_FOREIGN: Final = re.compile("000a[0-9a-f]{6}")
_NATIVE: Final = re.compile("[0-9]{4}[23][0-9]{5}")
MARES: Final = 2_000
_GENERATION_YEARS: Final = 9
_OLDEST_FIRST_YEARS: Final = 18
_SPAN_YEARS: Final = 5
_FOREIGN_EVERY: Final = 4
_DIGIT: Final[dict[Sex, str]] = {"sire": "2", "dam": "3"}
_COATS: Final = ("鹿毛", "黒鹿毛", "栗毛", "芦毛", "青鹿毛", "青毛", "栃栗毛")
_LANDS: Final = ("米", "英", "愛", "仏", "加", "豪")
_SIRE_SPREAD: Final = 0.35
_DAM_SPREAD: Final = 0.25


@dataclass(frozen=True, slots=True)
class Ancestor:
    """A sire or dam; the parents of those that race are of generation 1, theirs of generation 2.

    `worth` is what it adds to the ability of its foals. A foreign one has a country.
    """

    id: str
    generation: int
    sex: Sex
    number: int
    name: str
    english: str
    born: int
    coat: str
    country: str | None
    family: str
    worth: float


class Families:
    """All ancestors of one world, each made when asked for and the latest kept."""

    def __init__(self, seed: int, first_year: int) -> None:
        self._seed = seed
        self._first_year = first_year
        self.ancestor = lru_cache(maxsize=_KNOWN_ANCESTORS)(self._ancestor)

    def _ancestor(self, generation: int, sex: Sex, number: int) -> Ancestor:
        draw = chance(self._seed, "ancestor", generation, sex, number)
        name, english = horse_name(NAMES - 1 - (generation * 4_100 + number * 2 + (sex == "dam")))
        born = self._oldest(generation) + number % _SPAN_YEARS
        foreign = generation > 1 and number % _FOREIGN_EVERY == 0
        foreign |= generation == 1 and sex == "dam" and number % (2 * _FOREIGN_EVERY) == 1
        return Ancestor(
            id=_foreign_id(generation, sex, number)
            if foreign
            else f"{born}{_DIGIT[sex]}{number:05}",
            generation=generation,
            sex=sex,
            number=number,
            name=name,
            english=english,
            born=born,
            coat=draw.choice(_COATS),
            country=draw.choice(_LANDS) if foreign else None,
            family=f"{draw.randint(1, 23)}-{draw.choice('abcdh')}",
            worth=draw.gauss(0, _SIRE_SPREAD if sex == "sire" else _DAM_SPREAD),
        )

    def parents(self, ancestor: Ancestor) -> tuple[Ancestor, Ancestor]:
        """Answer an ancestor's own sire and dam."""
        draw = chance(self._seed, "parents", ancestor.id)
        older = ancestor.generation + 1
        sire = self.ancestor(older, "sire", draw.randrange(_SIRES))
        return sire, self.ancestor(older, "dam", draw.randrange(MARES))

    def of_foal(self, year: int, number: int) -> tuple[Ancestor, Ancestor]:
        """Answer the sire and dam of a foal; a mare has one foal a year."""
        sire = scattered(self._seed + year * MARES + number, _SIRES)
        mare = (number * 7 + year * 13) % MARES
        return self.ancestor(1, "sire", sire), self.ancestor(1, "dam", mare)

    def foal_of(self, mare: int, year: int) -> int:
        """Answer the number a mare's foal of a year has."""
        return (mare - year * 13) * pow(7, -1, MARES) % MARES

    def find(self, horse_id: str) -> Ancestor | None:
        """Answer the ancestor of an id, None if no ancestor has it."""
        if _FOREIGN.fullmatch(horse_id):
            known = _known_foreign(horse_id)
        elif _NATIVE.fullmatch(horse_id):
            known = self._known_native(horse_id)
        else:
            return None
        found = self.ancestor(*known)
        return found if found.id == horse_id else None

    def _known_native(self, horse_id: str) -> tuple[int, Sex, int]:
        sex: Sex = "sire" if horse_id[4] == _DIGIT["sire"] else "dam"
        back = self._oldest(1) + _GENERATION_YEARS - int(horse_id[:4]) - 1
        return max(back // _GENERATION_YEARS + 1, 1), sex, int(horse_id[5:])

    def _oldest(self, generation: int) -> int:
        older = _GENERATION_YEARS * (generation - 1)
        return self._first_year - _OLDEST_FIRST_YEARS - older


def _foreign_id(generation: int, sex: Sex, number: int) -> str:
    return f"000a{generation << 17 | (sex == 'dam') << 16 | number:06x}"


def _known_foreign(horse_id: str) -> tuple[int, Sex, int]:
    packed = int(horse_id[4:], 16)
    return packed >> 17, "dam" if packed >> 16 & 1 else "sire", packed & 0xFFFF
