"""Parsing of form fields, with an error message per field."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from grandstand.apps.bets.domain.odds import american_to_decimal, decimal_to_american

_AMERICAN: Final = 100
_PER_CENT: Final = Decimal(100)
_MAX_CENTS: Final = 100_000_000
_MAX_LINE: Final = 1000
_MAX_DECIMAL: Final = 10_001
_MAX_DIGITS: Final = 24
_EVENS: Final = frozenset({"evens", "even", "evs", "ev"})


@dataclass(frozen=True, slots=True)
class ParsedPrice:
    """A price in American and decimal odds."""

    american: int
    decimal: float


def parse_price(text: str) -> ParsedPrice | None:
    """Parse an American (-110, +150), decimal (1.91) or fractional (10/11) price; None if invalid.

    A number without a sign is American from 100 on, decimal below.
    """
    plain = _normalize(text).lower()
    if plain in _EVENS:
        return ParsedPrice(_AMERICAN, 2.0)
    above, parted, below = plain.partition("/")
    if parted:
        top, bottom = _parse_integer(above), _parse_integer(below)
        return _from_decimal(float(Fraction(top, bottom)) + 1.0) if top and bottom else None
    number = _parse_number(plain)
    if number is None:
        return None
    if plain[0] in "+-" or abs(number) >= _AMERICAN:
        whole = abs(number) >= _AMERICAN and number == number.to_integral_value()
        return ParsedPrice(int(number), american_to_decimal(int(number))) if whole else None
    return _from_decimal(float(number))


def _from_decimal(value: float) -> ParsedPrice | None:
    if not (math.isfinite(value) and 1.0 < value < _MAX_DECIMAL):
        return None
    return ParsedPrice(decimal_to_american(value), value)


class FormFields:
    """The fields of a form. Errors are collected by field name.

    An empty field is None, and an error only if it is `required`.
    """

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = dict(texts)
        self.errors: dict[str, str] = {}

    def text(self, name: str, max_length: int) -> str:
        """Return a stripped text."""
        text = self.texts.get(name, "").strip()
        if len(text) > max_length:
            self.add_error(name, f"At most {max_length} characters.")
        return text[:max_length]

    def add_error(self, name: str, message: str) -> None:
        """Record an error; the first one of a field stays."""
        self.errors.setdefault(name, message)

    def price(self, name: str, *, required: bool = True) -> ParsedPrice | None:
        text = self._read(name, required=required)
        price = parse_price(text) if text else None
        if text and price is None:
            hint = "Use a price such as -110, +150, 1.91 or 10/11."
            self.add_error(name, f"“{text[:_MAX_DIGITS]}” is not a price. {hint}")
        return price

    def cents(self, name: str, *, required: bool = False) -> int | None:
        """Return an amount of dollars in cents."""
        text = self._read(name, required=required)
        number = _parse_number(_normalize(text).removeprefix("$")) if text else None
        cents = None if number is None else number * _PER_CENT
        fits = cents is not None and cents == cents.to_integral_value() and 0 < cents <= _MAX_CENTS
        if text and not fits:
            self.add_error(name, "Enter dollars and cents, such as 25 or 12.50.")
        return int(cents) if cents is not None and fits else None

    def percentage(
        self, name: str, low: int, high: int, *, required: bool = True
    ) -> Decimal | None:
        """Return a percentage as a fraction."""
        text = self._read(name, required=required)
        number = _parse_number(_normalize(text).removesuffix("%").strip()) if text else None
        if text and (number is None or not low <= number <= high):
            self.add_error(name, f"Enter a percentage from {low} to {high}.")
            return None
        return None if number is None else number / _PER_CENT

    def line(self, name: str) -> Decimal | None:
        """Return a line in quarter points."""
        text = self.texts.get(name, "").strip()
        number = _parse_number(_normalize(text)) if text else None
        fits = number is not None and abs(number) < _MAX_LINE and number % Decimal("0.25") == 0
        if text and not fits:
            self.add_error(name, "Enter a line in quarter points, such as -3.5 or 221.")
        return number if fits else None

    def integer(self, name: str, low: int, high: int, default: int) -> int:
        text = self.texts.get(name, "").strip()
        number = _parse_integer(text)
        if text and (number is None or not low <= number <= high):
            self.add_error(name, f"Enter a whole number from {low} to {high}.")
            return default
        return default if number is None else number

    def date(self, name: str) -> date | None:
        text = self._read(name, required=True)
        try:
            return date.fromisoformat(text) if text else None
        except ValueError:
            self.add_error(name, "Enter a date such as 2026-01-31.")
            return None

    def time(self, name: str, zone: str) -> datetime | None:
        """Return a local time of the zone in UTC."""
        text = self.texts.get(name, "").strip()
        try:
            local = datetime.fromisoformat(text) if text else None
            return None if local is None else _to_utc(local, zone)
        except (ValueError, OverflowError):
            self.add_error(name, "Enter a date and time such as 2026-01-31 20:15.")
            return None

    def _read(self, name: str, *, required: bool) -> str:
        text = self.texts.get(name, "").strip()
        if required and not text:
            self.add_error(name, "This field is required.")
        return text


def _to_utc(moment: datetime, zone: str) -> datetime:
    try:
        time_zone = ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        time_zone = ZoneInfo("UTC")
    aware = moment if moment.tzinfo else moment.replace(tzinfo=time_zone)
    return aware.astimezone(UTC)


def _normalize(text: str) -> str:
    return text.strip().replace("\u2212", "-")


def _parse_number(text: str) -> Decimal | None:
    if len(text) > _MAX_DIGITS or not text.isascii() or any(sign.isalpha() for sign in text):
        return None
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _parse_integer(text: str) -> int | None:
    plain = text.strip()
    valid = plain.isascii() and plain.isdigit() and len(plain) <= _MAX_DIGITS
    return int(plain) if valid else None
