"""Ids of races, horses, jockeys and trainers, and the race tracks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from typing import ClassVar, Final, Literal, TypeAlias

from grandstand.core.errors import InvalidInput

Circuit: TypeAlias = Literal["jra", "nar", "overseas"]

CIRCUITS: Final[tuple[Circuit, ...]] = ("jra", "nar")
"""The circuits in Japan."""


class InvalidId(InvalidInput):
    """Not a valid id of a race, horse, jockey or trainer."""

    code: ClassVar[str] = "invalid-id"


@dataclass(frozen=True, slots=True)
class Track:
    """A race track: its code in race ids, its name on the site, and its English name."""

    code: str
    name: str
    english: str
    circuit: Circuit


TRACKS: Final = {
    code: Track(code, name, english, "jra" if code <= "10" else "nar")
    for code, name, english in (
        ("01", "札幌", "Sapporo"),
        ("02", "函館", "Hakodate"),
        ("03", "福島", "Fukushima"),
        ("04", "新潟", "Niigata"),
        ("05", "東京", "Tokyo"),
        ("06", "中山", "Nakayama"),
        ("07", "中京", "Chukyo"),
        ("08", "京都", "Kyoto"),
        ("09", "阪神", "Hanshin"),
        ("10", "小倉", "Kokura"),
        ("30", "門別", "Monbetsu"),
        ("35", "盛岡", "Morioka"),
        ("36", "水沢", "Mizusawa"),
        ("42", "浦和", "Urawa"),
        ("43", "船橋", "Funabashi"),
        ("44", "大井", "Oi"),
        ("45", "川崎", "Kawasaki"),
        ("46", "金沢", "Kanazawa"),
        ("47", "笠松", "Kasamatsu"),
        ("48", "名古屋", "Nagoya"),
        ("50", "園田", "Sonoda"),
        ("51", "姫路", "Himeji"),
        ("54", "高知", "Kochi"),
        ("55", "佐賀", "Saga"),
        ("65", "帯広", "Obihiro"),
    )
}

_RACE: Final = re.compile(r"[0-9]{4}[0-9A-Za-z]{8}")
_HORSE: Final = re.compile(r"[0-9a-z]{10}")
_PERSON: Final = re.compile(r"[0-9a-z]{5}")


def race_id(text: str) -> str:
    """Return a race id if it is valid, else raise InvalidId."""
    return _validate(_RACE, text, "race", "12 characters starting with the year")


def horse_id(text: str) -> str:
    """Return a horse id if it is valid, else raise InvalidId."""
    return _validate(_HORSE, text, "horse", "10 digits or lowercase letters")


def person_id(text: str) -> str:
    """Return a jockey or trainer id if it is valid, else raise InvalidId."""
    return _validate(_PERSON, text, "jockey or trainer", "5 digits or lowercase letters")


def circuit_of(race: str) -> Circuit:
    """Return the circuit of a race; ids of overseas races contain letters."""
    if not race.isdigit():
        return "overseas"
    return "jra" if "01" <= race[4:6] <= "10" else "nar"


def track_of(race: str) -> Track | None:
    """Return the track of a race; None if it is overseas or unknown."""
    return TRACKS.get(race[4:6]) if race.isdigit() else None


def number_of(race: str) -> int | None:
    """Return the number of a race on its day."""
    return int(race[10:]) or None if race[10:].isdigit() else None


def meeting_of(race: str) -> tuple[int, int] | None:
    """Return meeting and day number of a JRA race; None for others."""
    return (int(race[6:8]), int(race[8:10])) if circuit_of(race) == "jra" else None


def date_of(race: str) -> date | None:
    """Return the date of a NAR race; other ids do not contain it."""
    if circuit_of(race) != "nar" or int(race[:4]) not in range(1900, 2200):
        return None
    try:
        return date(int(race[:4]), int(race[6:8]), int(race[8:10]))
    except ValueError:
        return None


def _validate(pattern: re.Pattern[str], text: str, what: str, expected: str) -> str:
    if not pattern.fullmatch(text):
        raise InvalidId(f"Invalid {what} id {text[:40]!r}. Expected {expected}.")
    return text
