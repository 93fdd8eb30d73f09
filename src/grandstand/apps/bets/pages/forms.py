"""Kept here: what people write into fields, read into values or refused beside the field."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from grandstand.apps.bets.model.prices.odds import american_of, decimal_of

_AMERICAN: Final = 100
_PER_CENT: Final = Decimal(100)
_MOST_CENTS: Final = 100_000_000
_MOST_POINT: Final = 1000
_MOST_DECIMAL: Final = 10_001
_LONGEST_NUMBER: Final = 24
_EVENS: Final = frozenset({"evens", "even", "evs", "ev"})


@dataclass(frozen=True, slots=True)
class GivenPrice:
    """A price as it was written, in both forms."""

    american: int
    decimal: float


def price_of(text: str) -> GivenPrice | None:
    """Read an American (-110, +150), decimal (1.91) or fractional (10/11) price; None otherwise.

    A number without a sign is American from 100 on, and decimal below.
    """
    plain = _plain(text).lower()
    if plain in _EVENS:
        return GivenPrice(_AMERICAN, 2.0)
    above, parted, below = plain.partition("/")
    if parted:
        top, bottom = _whole(above), _whole(below)
        return _from_decimal(float(Fraction(top, bottom)) + 1.0) if top and bottom else None
    number = _number(plain)
    if number is None:
        return None
    if plain[0] in "+-" or abs(number) >= _AMERICAN:
        whole = abs(number) >= _AMERICAN and number == number.to_integral_value()
        return GivenPrice(int(number), decimal_of(int(number))) if whole else None
    return _from_decimal(float(number))


def _from_decimal(value: float) -> GivenPrice | None:
    if not (math.isfinite(value) and 1.0 < value < _MOST_DECIMAL):
        return None
    return GivenPrice(american_of(value), value)


class Given:
    """What a form gave, read field by field; what cannot be read is noted beside its field.

    A field left empty is None, and no fault unless it is `required`.
    """

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = dict(texts)
        self.errors: dict[str, str] = {}

    def text(self, name: str, most: int) -> str:
        """Answer a text, without blanks around it."""
        found = self.texts.get(name, "").strip()
        if len(found) > most:
            self.refuse(name, f"At most {most} letters fit here.")
        return found[:most]

    def refuse(self, name: str, why: str) -> None:
        """Note why a field is refused; the first reason stays."""
        self.errors.setdefault(name, why)

    def price(self, name: str, *, required: bool = True) -> GivenPrice | None:
        """Answer a price."""
        text = self._asked(name, required=required)
        found = price_of(text) if text else None
        if text and found is None:
            why = "Write a price such as -110, +150, 1.91 or 10/11."
            self.refuse(name, f"“{text[:_LONGEST_NUMBER]}” is no price. {why}")
        return found

    def cents(self, name: str, *, required: bool = False) -> int | None:
        """Answer an amount of dollars in cents."""
        text = self._asked(name, required=required)
        number = _number(_plain(text).removeprefix("$")) if text else None
        cents = None if number is None else number * _PER_CENT
        fits = cents is not None and cents == cents.to_integral_value() and 0 < cents <= _MOST_CENTS
        if text and not fits:
            self.refuse(name, "Write dollars and cents, such as 25 or 12.50.")
        return int(cents) if cents is not None and fits else None

    def share(self, name: str, low: int, high: int, *, required: bool = True) -> Decimal | None:
        """Answer a percentage as a share of one."""
        text = self._asked(name, required=required)
        number = _number(_plain(text).removesuffix("%").strip()) if text else None
        if text and (number is None or not low <= number <= high):
            self.refuse(name, f"Write a percentage from {low} to {high}.")
            return None
        return None if number is None else number / _PER_CENT

    def point(self, name: str) -> Decimal | None:
        """Answer a line, in halves or quarters of a point."""
        text = self.texts.get(name, "").strip()
        number = _number(_plain(text)) if text else None
        fits = number is not None and abs(number) < _MOST_POINT and number % Decimal("0.25") == 0
        if text and not fits:
            self.refuse(name, "Write a line such as -3.5 or 221, in quarters of a point.")
        return number if fits else None

    def whole(self, name: str, low: int, high: int, usual: int) -> int:
        """Answer a whole number; what is usual where none is given."""
        text = self.texts.get(name, "").strip()
        number = _whole(text)
        if text and (number is None or not low <= number <= high):
            self.refuse(name, f"Write a whole number from {low} to {high}.")
            return usual
        return usual if number is None else number

    def day(self, name: str) -> date | None:
        """Answer a day."""
        text = self._asked(name, required=True)
        try:
            return date.fromisoformat(text) if text else None
        except ValueError:
            self.refuse(name, "Write a day as year-month-day, such as 2026-01-31.")
            return None

    def moment(self, name: str, zone: str) -> datetime | None:
        """Answer a moment that clocks of a zone show, in UTC."""
        text = self.texts.get(name, "").strip()
        try:
            found = datetime.fromisoformat(text) if text else None
            return None if found is None else _placed(found, zone)
        except (ValueError, OverflowError):
            self.refuse(name, "Write a moment such as 2026-01-31 20:15.")
            return None

    def _asked(self, name: str, *, required: bool) -> str:
        text = self.texts.get(name, "").strip()
        if required and not text:
            self.refuse(name, "This is needed.")
        return text


def _placed(moment: datetime, zone: str) -> datetime:
    try:
        known = ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        known = ZoneInfo("UTC")
    aware = moment if moment.tzinfo else moment.replace(tzinfo=known)
    return aware.astimezone(UTC)


def _plain(text: str) -> str:
    return text.strip().replace("\u2212", "-")


def _number(text: str) -> Decimal | None:
    if len(text) > _LONGEST_NUMBER or not text.isascii() or any(sign.isalpha() for sign in text):
        return None
    try:
        found = Decimal(text)
    except InvalidOperation:
        return None
    return found if found.is_finite() else None


def _whole(text: str) -> int | None:
    plain = text.strip()
    known = plain.isascii() and plain.isdigit() and len(plain) <= _LONGEST_NUMBER
    return int(plain) if known else None
