"""Parsers of the texts in table cells and headers."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from typing import Final

from grandstand.apps.keiba.domain.races import Direction, Going, Outcome, Sex, Surface, Weather

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
# Marks of apprentice allowances before the name.
_MARKS: Final = "★☆▲△◇◆"


def normalize(text: str | None) -> str:
    """Return a text in NFKC form on one line."""
    if not text:
        return ""
    normalized = text if text.isascii() else unicodedata.normalize("NFKC", text)
    # The plain space is the only printable one, so such a text needs no joining.
    if normalized.isprintable() and " " not in normalized:
        return normalized
    return " ".join(normalized.split())


def compact(text: str | None) -> str:
    """Return a normalized text without spaces, for comparing headers."""
    return normalize(text).replace(" ", "")


def parse_decimal(text: str | None) -> Decimal | None:
    """Return a number; None for placeholders (**, ---.-) and other texts."""
    compacted = compact(text).replace(",", "")
    return Decimal(compacted) if _NUMBER.fullmatch(compacted) else None


def parse_int(text: str | None) -> int | None:
    if text and len(text) < 10 and text.isascii() and text.isdigit():
        return int(text)
    found = parse_decimal(text)
    return int(found) if found is not None and found == found.to_integral_value() else None


def parse_positive_int(text: str | None) -> int | None:
    """Return an integer above zero; None for anything else."""
    found = parse_int(text)
    return found if found is not None and found > 0 else None


def parse_percent(text: str | None) -> Decimal | None:
    """Return a percentage."""
    return parse_decimal(compact(text).removesuffix("%"))


def parse_money(text: str | None) -> Decimal | None:
    """Return an amount compacted with 億 and 万 in units of 10,000 yen."""
    found = _MONEY.match(compact(text).replace(",", ""))
    if found is None or (found[1] is None and found[2] is None):
        return None
    return Decimal(found[1] or 0) * 10_000 + Decimal(found[2] or 0)


def parse_course(text: str | None) -> tuple[Surface | None, int | None]:
    """Return surface and distance in meters."""
    found = _DISTANCE.search(compact(text))
    if found is None:
        return None, None
    return _SURFACES.get(found[1] or ""), int(found[2])


def parse_body_weight(text: str | None) -> tuple[int | None, int | None]:
    """Return body weight and its change; both None if it was not measured (計不)."""
    found = _BODY.match(normalize(text))
    if found is None:
        return None, None
    return int(found[1]), None if found[2] is None else int(found[2])


def parse_race_time(text: str | None) -> Decimal | None:
    """Return a race time such as 1:34.5 in seconds."""
    found = _TIME.fullmatch(compact(text))
    if found is None or int(found[2]) >= 60:
        return None
    return Decimal(int(found[1] or 0) * 60 + int(found[2])) + Decimal(f"0.{found[3]}")


def parse_clock(text: str | None) -> str | None:
    """Return a time of day as HH:MM."""
    found = _CLOCK.search(normalize(text))
    if found is None or int(found[1]) >= 24 or int(found[2]) >= 60:
        return None
    return f"{int(found[1]):02}:{found[2]}"


def parse_date(text: str | None) -> date | None:
    """Return the first date in a text."""
    found = _DATE.search(normalize(text))
    if found is None:
        return None
    try:
        return date(int(found[1]), int(found[2]), int(found[3]))
    except ValueError:
        return None


def parse_sex_and_age(text: str | None) -> tuple[Sex | None, int | None]:
    """Return sex and age from a text such as 牡3."""
    found = _AGE.search(normalize(text))
    if found is None:
        return None, None
    return _SEXES[found[1]], None if found[2] is None else int(found[2])


def parse_going(text: str | None) -> Going | None:
    return _GOINGS.get(normalize(text)[:1])


def parse_weather(text: str | None) -> Weather | None:
    return _WEATHERS.get(normalize(text))


def parse_direction(text: str | None) -> Direction | None:
    return next((_DIRECTIONS[letter] for letter in normalize(text) if letter in _DIRECTIONS), None)


def parse_jockey_name(text: str | None) -> tuple[str | None, str | None]:
    """Return the allowance mark before a jockey's name, and the name."""
    name = normalize(text)
    marks = name[: len(name) - len(name.lstrip(_MARKS))]
    return marks or None, name.lstrip(_MARKS).strip() or None


@dataclass(frozen=True, slots=True)
class Finish:
    """A finishing position, or why there is none."""

    position: int | None
    outcome: Outcome
    demoted: bool = False


def parse_finish(text: str | None) -> Finish | None:
    """Return the finishing position or outcome; None if there is neither."""
    compacted = compact(text)
    found = _POSITION.match(compacted)
    if found and int(found[1]) > 0:
        return Finish(int(found[1]), "finished", found[2] is not None)
    outcome = _OUTCOMES.get(compacted[:1])
    return Finish(None, outcome) if outcome else None


def parse_corner_positions(text: str | None) -> tuple[int, ...]:
    """Return the positions at the corners from a text such as 3-3-2."""
    compacted = compact(text)
    return tuple(map(int, compacted.split("-"))) if _PASSING.fullmatch(compacted) else ()


def round_percent(part: int, total: int) -> Decimal:
    """Return a percentage with one digit, rounded like on the site."""
    share = Decimal(100 * part) / Decimal(total)
    return share.quantize(Decimal("0.1"), rounding=ROUND_HALF_UP)
