"""Validation of values that feeds and files deliver, and the rows rejected by it."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Final, TypeAlias

from grandstand.apps.bets.domain.records import RejectedRow
from grandstand.core.errors import InvalidInput, LimitReached
from grandstand.net.client import Response
from grandstand.net.errors import InvalidResponse

Row: TypeAlias = dict[str, object]

_MIN_PRICE: Final = 100
_MAX_PRICE: Final = 100_000
_MAX_REJECTIONS: Final = 200
_MAX_TEXT_LENGTH: Final = 200
_MAX_LINE: Final = 2000
_MAX_SCORE: Final = 1000
_YEARS: Final = range(1870, 2200)


class InvalidValue(Exception):
    """A value is invalid; always caught where its row is rejected."""


class AlreadyStarted(InvalidValue):
    """A game is under way: its data is valid but too late."""


class Rejections:
    """Rejected rows with reasons; repeated ones are counted.

    `invalid` counts those that are faults of the source.
    """

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str]] = Counter()
        self.invalid = 0

    def add(self, row: str, reason: object) -> None:
        self._counts[shorten(row), shorten(str(reason))] += 1
        self.invalid += not isinstance(reason, AlreadyStarted)

    @property
    def all(self) -> tuple[RejectedRow, ...]:
        """Each rejection, with its count if it occurred more than once."""
        return tuple(
            RejectedRow(row, reason if times == 1 else f"{reason} ({times} times)")
            for (row, reason), times in self._counts.most_common(_MAX_REJECTIONS)
        )


def shorten(text: str) -> str:
    """Return a text as one line of bounded length."""
    plain = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return plain if len(plain) <= _MAX_TEXT_LENGTH else f"{plain[: _MAX_TEXT_LENGTH - 1]}…"


def require_object(value: object, name: str) -> Row:
    """Return a JSON object.

    Raises InvalidValue.
    """
    if not isinstance(value, dict):
        raise InvalidValue(f"{name} is not an object")
    return value


def require_list(value: object, name: str) -> list[object]:
    """Return a list, empty for None.

    Raises InvalidValue.
    """
    if value is None:
        return []
    if not isinstance(value, list):
        raise InvalidValue(f"{name} is not a list")
    return value


def require_text(row: Row, name: str) -> str:
    """Return a non-blank text.

    Raises InvalidValue.
    """
    value = row.get(name)
    if not isinstance(value, str) or not value.strip():
        raise InvalidValue(f"{name} is missing")
    if len(value) > _MAX_TEXT_LENGTH or not value.isprintable():
        raise InvalidValue(f"{name} is not plain text")
    return value.strip()


def parse_timestamp(value: object, name: str) -> datetime:
    """Return a time in UTC.

    Raises InvalidValue if it is malformed or has no time zone.
    """
    if not isinstance(value, str):
        raise InvalidValue(f"{name} is not a time")
    try:
        parsed = datetime.fromisoformat(value.strip())
        _check_zone(parsed, name)
        instant = parsed.astimezone(UTC)
    except (ValueError, OverflowError):
        raise InvalidValue(f"{name} is not a time: {shorten(value)!r}") from None
    return check_year(instant, name)


def check_year(instant: datetime, name: str) -> datetime:
    """Return the time if its year is plausible.

    Raises InvalidValue.
    """
    if instant.year not in _YEARS:
        raise InvalidValue(f"{name} is out of range")
    return instant


def _check_zone(instant: datetime, name: str) -> None:
    if instant.tzinfo is None:
        raise InvalidValue(f"{name} has no time zone: use 2026-01-31T18:00:00Z")


def optional_timestamp(row: Row, name: str) -> datetime | None:
    """Return a time, None if it is missing or blank."""
    value = row.get(name)
    return None if value is None or value == "" else parse_timestamp(value, name)


def parse_number(value: object, name: str) -> Decimal:
    """Return a finite number.

    Raises InvalidValue.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        raise InvalidValue(f"{name} is not a number")
    try:
        number = Decimal(str(value).strip())
    except InvalidOperation:
        raise InvalidValue(f"{name} is not a number: {shorten(str(value))!r}") from None
    if not number.is_finite() or abs(number.adjusted()) > 12:
        raise InvalidValue(f"{name} is out of range")
    return number


def parse_american_price(value: object) -> int:
    """Return an American price, given as a number.

    Raises InvalidValue.
    """
    number = parse_number(value, "a price") if not isinstance(value, str) else None
    if number is None:
        raise InvalidValue(f"a price is not a number: {shorten(str(value))!r}")
    if number != int(number) or not _MIN_PRICE <= abs(number) <= _MAX_PRICE:
        raise InvalidValue(f"{number} is not an American price: use +100 or more, or -100 or less")
    return int(number)


def parse_line(value: object) -> Decimal:
    """Return a line in multiples of 0.25.

    Raises InvalidValue.
    """
    number = parse_number(value, "a line")
    if abs(number) > _MAX_LINE or number * 4 != int(number * 4):
        raise InvalidValue(f"{number} is not a line: lines are multiples of 0.25")
    return number.normalize() if number != int(number) else Decimal(int(number))


def parse_score(value: object) -> Decimal:
    """Return a score, given as text or number.

    Raises InvalidValue.
    """
    number = parse_number(value, "a score")
    if number != int(number) or not 0 <= number <= _MAX_SCORE:
        raise InvalidValue(f"{shorten(str(value))!r} is not a score")
    return Decimal(int(number))


class CreditsExhausted(LimitReached):
    """A request would cost more credits than may be spent; it was not sent."""

    code = "credits-exhausted"
    retry = False


def invalid_file(name: str, reason: str, line: int | None = None) -> InvalidInput:
    """Return the error of a file that cannot be read, with the line if known."""
    location = name if line is None else f"{name}, line {line}"
    return InvalidInput(f"Cannot read {location}: {reason}.")


def decode_json(response: Response) -> object:
    """Return the JSON of a reply.

    Raises InvalidResponse.
    """
    try:
        return response.json(object)
    except RecursionError:
        message = f"{response.source} returned JSON that is nested too deeply"
    raise InvalidResponse(message, source=response.source)
