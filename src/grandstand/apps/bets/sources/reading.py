"""Kept here: reading what outsiders wrote, a value at a time; what is no value says why."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Final, TypeAlias

from grandstand.apps.bets.model.feeds import Refused

Row: TypeAlias = dict[str, object]

EVEN: Final = 100
_LONGEST_PRICE: Final = 100_000
_MOST_REFUSED: Final = 200
_TEXT_CHARS: Final = 200
_MOST_POINT: Final = 2000
_MOST_SCORE: Final = 1000
_YEARS: Final = range(1870, 2200)


class Unfit(Exception):
    """A value is not what it should be; caught where its row is refused, never further."""


class Begun(Unfit):
    """A game is under way: nothing is wrong with it, but it comes too late."""


class Refusals:
    """What was refused, each with its reason; the same complaint is kept once and counted.

    `unfit` of them are faults of whoever wrote them.
    """

    def __init__(self) -> None:
        self._said: Counter[tuple[str, str]] = Counter()
        self.unfit = 0

    def add(self, what: str, why: object) -> None:
        """Note something that is not taken."""
        self._said[shortened(what), shortened(str(why))] += 1
        self.unfit += not isinstance(why, Begun)

    @property
    def all(self) -> tuple[Refused, ...]:
        """Each complaint, with how often it was made when that was more than once."""
        return tuple(
            Refused(what, why if times == 1 else f"{why} ({times} times)")
            for (what, why), times in self._said.most_common(_MOST_REFUSED)
        )


def shortened(text: str) -> str:
    """Answer a text in one line of bounded length, fit for a report."""
    plain = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    return plain if len(plain) <= _TEXT_CHARS else f"{plain[: _TEXT_CHARS - 1]}…"


def object_of(value: object, what: str) -> Row:
    """Answer an object; raise Unfit when it is none."""
    if not isinstance(value, dict):
        raise Unfit(f"{what} is no object")
    return value


def rows_of(value: object, what: str) -> list[object]:
    """Answer a list, empty where there is nothing; raise Unfit when it is something else."""
    if value is None:
        return []
    if not isinstance(value, list):
        raise Unfit(f"{what} is no list")
    return value


def text_of(row: Row, name: str) -> str:
    """Answer a text with something in it; raise Unfit when there is none."""
    value = row.get(name)
    if not isinstance(value, str) or not value.strip():
        raise Unfit(f"{name} is missing")
    if len(value) > _TEXT_CHARS or not value.isprintable():
        raise Unfit(f"{name} is no plain text")
    return value.strip()


def moment_of(value: object, name: str) -> datetime:
    """Answer a moment in UTC; raise Unfit when it is none or has no zone."""
    if not isinstance(value, str):
        raise Unfit(f"{name} is no moment")
    try:
        moment = datetime.fromisoformat(value.strip())
        _check_zone(moment, name)
        found = moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise Unfit(f"{name} is no moment: {shortened(value)!r}") from None
    return within_reason(found, name)


def within_reason(moment: datetime, name: str) -> datetime:
    """Answer a moment of the years people write about; raise Unfit for others."""
    if moment.year not in _YEARS:
        raise Unfit(f"{name} is out of bounds")
    return moment


def _check_zone(moment: datetime, name: str) -> None:
    if moment.tzinfo is None:
        raise Unfit(f"{name} has no zone: write it as 2026-01-31T18:00:00Z")


def find_moment(row: Row, name: str) -> datetime | None:
    """Answer a moment, None where there is none."""
    value = row.get(name)
    return None if value is None or value == "" else moment_of(value, name)


def number_of(value: object, name: str) -> Decimal:
    """Answer a number; raise Unfit when it is none, or endless."""
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        raise Unfit(f"{name} is no number")
    try:
        number = Decimal(str(value).strip())
    except InvalidOperation:
        raise Unfit(f"{name} is no number: {shortened(str(value))!r}") from None
    if not number.is_finite() or abs(number.adjusted()) > 12:  # noqa: PLR2004 - nothing sporting
        raise Unfit(f"{name} is out of bounds")
    return number


def price_of(value: object) -> int:
    """Answer an American price; raise Unfit between -100 and 100, where there is none."""
    number = number_of(value, "a price") if not isinstance(value, str) else None
    if number is None:
        raise Unfit(f"a price is no number: {shortened(str(value))!r}")
    if number != int(number) or not EVEN <= abs(number) <= _LONGEST_PRICE:
        raise Unfit(f"{number} is no American price: it is never between -100 and 100")
    return int(number)


def point_of(value: object) -> Decimal:
    """Answer a line in quarters of a point; raise Unfit when it is none."""
    number = number_of(value, "a line")
    if abs(number) > _MOST_POINT or number * 4 != int(number * 4):
        raise Unfit(f"{number} is no line: lines are quarters")
    return number.normalize() if number != int(number) else Decimal(int(number))


def score_of(value: object) -> Decimal:
    """Answer a score, told as a text or a number; raise Unfit when it is none."""
    number = number_of(value, "a score")
    if number != int(number) or not 0 <= number <= _MOST_SCORE:
        raise Unfit(f"{shortened(str(value))!r} is no score")
    return Decimal(int(number))
