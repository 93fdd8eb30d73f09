"""Kept here: reading the feed's JSON with patience: what is wrong is counted, not fatal."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Final, Generic, TypeAlias, TypeVar

T = TypeVar("T")

Row: TypeAlias = dict[str, object]

_MOST_WARNINGS: Final = 50
_TEXT_CHARS: Final = 300
_MOST_INT: Final = 10**12
_MOST_DIGITS: Final = 12
_YEARS: Final = range(1800, 2200)


@dataclass(frozen=True, slots=True)
class Parsed(Generic[T]):
    """A value read from the feed, and what could not be read or was left out."""

    value: T
    warnings: tuple[str, ...] = ()


class Reading:
    """One answer being read, and what there is to say about it."""

    def __init__(self) -> None:
        self._warned: Counter[str] = Counter()

    @property
    def warnings(self) -> tuple[str, ...]:
        """Each complaint once, with how often it had to be made."""
        return tuple(
            f"{what} ({times} times)" if times > 1 else what
            for what, times in self._warned.most_common(_MOST_WARNINGS)
        )

    def warn(self, what: str) -> None:
        """Note something that is not as agreed."""
        self._warned[what] += 1

    def rows(self, row: Row, name: str) -> list[Row]:
        """Answer an included list, bare or wrapped in `data`; rows that are none are left out."""
        value = _unwrapped(row.get(name))
        if value is None:
            return []
        if not isinstance(value, list):
            self.warn(f"{name} is not a list")
            return []
        found = [each for each in value if isinstance(each, dict)]
        if len(found) < len(value):
            self.warn(f"{name} has rows that are none")
        return found

    def row(self, row: Row, name: str) -> Row:
        """Answer an included object, bare or wrapped; empty when it is not there."""
        value = _unwrapped(row.get(name))
        if value is None or value == []:
            return {}
        if isinstance(value, dict):
            return value
        self.warn(f"{name} is not an object")
        return {}

    def text(self, row: Row, name: str) -> str:
        """Answer a text, empty when it is missing; numbers are taken for texts."""
        value = row.get(name)
        if isinstance(value, str):
            return value[:_TEXT_CHARS]
        if value is None:
            return ""
        if isinstance(value, int | float) and not isinstance(value, bool):
            return str(value)
        self.warn(f"{name} is not a text")
        return ""

    def key(self, row: Row, name: str) -> str:
        """Answer an id as a text, empty when it is missing."""
        number = self.find_number(row, name)
        return "" if number is None else str(number)

    def find_number(self, row: Row, name: str) -> int | None:
        """Answer a whole number, None when it is missing or not to be read as one."""
        value = row.get(name)
        if type(value) is int:
            return self._bounded(value, name)
        if value is None or value == "":
            return None
        if isinstance(value, str | float) and not isinstance(value, bool):
            try:
                number = Decimal(str(value))
            except InvalidOperation:
                number = Decimal("NaN")
            if number.is_finite() and number.adjusted() <= _MOST_DIGITS:
                return self._bounded(int(number), name)
        self.warn(f"{name} is not a number")
        return None

    def number(self, row: Row, name: str) -> int:
        """Answer a whole number, 0 when it is missing."""
        return self.find_number(row, name) or 0

    def flag(self, row: Row, name: str) -> bool:
        """Answer whether something is so; 0 and 1 are taken for it."""
        value = row.get(name)
        if isinstance(value, bool):
            return value
        if value is not None and value not in (0, 1, "0", "1"):
            self.warn(f"{name} is neither true nor false")
        return value in (1, "1")

    def decimal(self, row: Row, name: str) -> Decimal | None:
        """Answer a number of one decimal, such as overs; None when it is missing or none."""
        value = row.get(name)
        if value is None or value == "":
            return None
        if isinstance(value, int | float | str) and not isinstance(value, bool):
            try:
                # The feed sends 17.3 as a float: with one decimal it is what was meant.
                number = Decimal(str(value)).quantize(Decimal("0.1"))
            except InvalidOperation:
                number = Decimal("NaN")
            if number.is_finite() and 0 <= number < _MOST_INT:
                return number.to_integral_value() if number == int(number) else number
        self.warn(f"{name} is not a number")
        return None

    def moment(self, row: Row, name: str) -> datetime | None:
        """Answer a moment in UTC, None when it is missing or none."""
        value = row.get(name)
        if not value:
            return None
        try:
            moment = datetime.fromisoformat(str(value))
        except ValueError:
            self.warn(f"{name} is not a moment")
            return None
        if moment.year not in _YEARS:
            self.warn(f"{name} is out of bounds")
            return None
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)

    def _bounded(self, value: int, name: str) -> int | None:
        if -_MOST_INT < value < _MOST_INT:
            return value
        self.warn(f"{name} is out of bounds")
        return None


def _unwrapped(value: object) -> object:
    """An include comes bare or as {"data": …}, depending on the endpoint."""
    return value["data"] if isinstance(value, dict) and set(value) == {"data"} else value
