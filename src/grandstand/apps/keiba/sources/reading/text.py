"""Kept here: how the site writes numbers, money, weights, times and the words of racing."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from typing import Final

from grandstand.apps.keiba.model.words import (
    Direction,
    Going,
    Outcome,
    Sex,
    Surface,
    Weather,
)

# A word is cut to its first letters in some places: 稍 for 稍重, 不 for 不良, 中 for 中止.
_GOINGS: Final[dict[str, Going]] = {"不": "soft", "稍": "good", "重": "yielding", "良": "firm"}
_WEATHERS: Final[dict[str, Weather]] = {
    "晴": "fine",
    "曇": "cloudy",
    "雨": "rainy",
    "小雨": "drizzle",
    "雪": "snow",
    "小雪": "light_snow",
}
_SEXES: Final[dict[str, Sex]] = {
    "牡": "male",
    "牝": "female",
    "セ": "gelding",
    "騙": "gelding",
    "騸": "gelding",
}
_SURFACES: Final[dict[str, Surface]] = {"芝": "turf", "ダ": "dirt", "障": "jump"}
_DIRECTIONS: Final[dict[str, Direction]] = {"左": "left", "右": "right", "直": "straight"}
_OUTCOMES: Final[dict[str, Outcome]] = {
    "中": "stopped",
    "取": "withdrawn",
    "除": "excluded",
    "失": "disqualified",
}

_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,12}(?:\.[0-9]{1,6})?")
_MONEY: Final = re.compile(r"(?:([0-9]{1,6})億)?(?:([0-9]{1,10}(?:\.[0-9]{1,4})?)万)?円?")
_DISTANCE: Final = re.compile(r"([芝ダ障])?[^0-9]{0,8}?([0-9]{3,4})(?![0-9])m?")
_BODY: Final = re.compile(r"([0-9]{2,4})(?:kg)?\s*(?:\(\s*([+-]?[0-9]{1,3})\s*\))?")
_TIME: Final = re.compile(r"(?:([0-9]{1,2}):)?([0-9]{1,2})\.([0-9])")
_CLOCK: Final = re.compile(r"([0-9]{1,2}):([0-9]{2})")
_DATE: Final = re.compile(r"([0-9]{4})[/年.\-]\s*([0-9]{1,2})[/月.\-]\s*([0-9]{1,2})")
_AGE: Final = re.compile(r"(牡|牝|セ|騙|騸)\s*([0-9]{1,2})?")
_POSITION: Final = re.compile(r"([0-9]{1,2})\s*(\(降\)|降)?")
_PASSING: Final = re.compile(r"[0-9]{1,2}(?:-[0-9]{1,2})*")
# What a young jockey's weight is reduced by, before the name.
_MARKS: Final = "★☆▲△◇◆"
_SHORT: Final = 10
_HOURS, _MINUTES, _SECONDS = 24, 60, 60


def normal(text: str | None) -> str:
    """Answer a text with wide, half-width and joined letters in their usual form, on one line."""
    if not text:
        return ""
    usual = text if text.isascii() else unicodedata.normalize("NFKC", text)
    # Of all spaces only the plain one is printable, so that there is nothing to be joined.
    return usual if usual.isprintable() and " " not in usual else " ".join(usual.split())


def bare(text: str | None) -> str:
    """Answer a text in its usual form without any space, as headers are compared."""
    return normal(text).replace(" ", "")


def decimal(text: str | None) -> Decimal | None:
    """Answer a number; None for what hides one (**), stands for none (---.-) or is no number."""
    written = bare(text).replace(",", "")
    return Decimal(written) if _NUMBER.fullmatch(written) else None


def whole(text: str | None) -> int | None:
    """Answer a whole number; None for anything else."""
    if text and len(text) < _SHORT and text.isascii() and text.isdigit():
        return int(text)
    found = decimal(text)
    return int(found) if found is not None and found == found.to_integral_value() else None


def positive(text: str | None) -> int | None:
    """Answer a whole number above nought, such as that of a horse; None for anything else."""
    found = whole(text)
    return found if found is not None and found > 0 else None


def rate(text: str | None) -> Decimal | None:
    """Answer a rate in per cent."""
    return decimal(bare(text).removesuffix("%"))


def money(text: str | None) -> Decimal | None:
    """Answer money in units of ten thousand yen, from what is written with 億 and 万."""
    found = _MONEY.match(bare(text).replace(",", ""))
    if found is None or (found[1] is None and found[2] is None):
        return None
    return Decimal(found[1] or 0) * 10_000 + Decimal(found[2] or 0)


def surface_and_distance(text: str | None) -> tuple[Surface | None, int | None]:
    """Answer the surface and the metres of a course."""
    found = _DISTANCE.search(bare(text))
    if found is None:
        return None, None
    return _SURFACES.get(found[1] or ""), int(found[2])


def body_weight(text: str | None) -> tuple[int | None, int | None]:
    """Answer a horse's weight and its change; both None where it could not be taken (計不)."""
    found = _BODY.match(normal(text))
    if found is None:
        return None, None
    return int(found[1]), None if found[2] is None else int(found[2])


def seconds(text: str | None) -> Decimal | None:
    """Answer the seconds of a running time."""
    found = _TIME.fullmatch(bare(text))
    if found is None or int(found[2]) >= _SECONDS:
        return None
    return Decimal(int(found[1] or 0) * 60 + int(found[2])) + Decimal(f"0.{found[3]}")


def clock(text: str | None) -> str | None:
    """Answer a time of day as HH:MM."""
    found = _CLOCK.search(normal(text))
    if found is None or int(found[1]) >= _HOURS or int(found[2]) >= _MINUTES:
        return None
    return f"{int(found[1]):02}:{found[2]}"


def day(text: str | None) -> date | None:
    """Answer the first date in a text."""
    found = _DATE.search(normal(text))
    if found is None:
        return None
    try:
        return date(int(found[1]), int(found[2]), int(found[3]))
    except ValueError:
        return None


def sex_and_age(text: str | None) -> tuple[Sex | None, int | None]:
    """Answer sex and age as they stand together."""
    found = _AGE.search(normal(text))
    if found is None:
        return None, None
    return _SEXES[found[1]], None if found[2] is None else int(found[2])


def going(text: str | None) -> Going | None:
    """Answer the state of the ground."""
    return _GOINGS.get(normal(text)[:1])


def weather(text: str | None) -> Weather | None:
    """Answer the weather."""
    return _WEATHERS.get(normal(text))


def direction(text: str | None) -> Direction | None:
    """Answer which way round a course is run."""
    return next((_DIRECTIONS[letter] for letter in normal(text) if letter in _DIRECTIONS), None)


def jockey(text: str | None) -> tuple[str | None, str | None]:
    """Answer the mark before a jockey's name, and the name."""
    name = normal(text)
    marks = name[: len(name) - len(name.lstrip(_MARKS))]
    return marks or None, name.lstrip(_MARKS).strip() or None


@dataclass(frozen=True, slots=True)
class Arrival:
    """How a race ended for a horse."""

    position: int | None
    outcome: Outcome
    demoted: bool = False


def arrival(text: str | None) -> Arrival | None:
    """Answer how a race ended for a horse; None when it is not said."""
    written = bare(text)
    found = _POSITION.match(written)
    if found and int(found[1]) > 0:
        return Arrival(int(found[1]), "finished", found[2] is not None)
    outcome = _OUTCOMES.get(written[:1])
    return Arrival(None, outcome) if outcome else None


def passing(text: str | None) -> tuple[int, ...]:
    """Answer the places at the corners."""
    written = bare(text)
    return tuple(map(int, written.split("-"))) if _PASSING.fullmatch(written) else ()


def percentage(part: int, of: int) -> Decimal:
    """Answer a share in per cent with one digit, rounded as the site does."""
    share = Decimal(100 * part) / Decimal(of)
    return share.quantize(Decimal("0.1"), rounding=ROUND_HALF_UP)
