"""Kept here: moments as stored text and numbers, in forms whose order is the order of time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, Final, Literal, TypeAlias

from grandstand.base.errors import InvalidInput

TimeForm: TypeAlias = Literal["seconds", "milliseconds", "microseconds", "epoch", "epoch_ms"]

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)
_SECOND: Final = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class TimeCodec:
    """How one form is written and read; what is finer than the form is cut off, never rounded."""

    write: Callable[[datetime], str | int]
    read: Callable[[str | int | Decimal], datetime]
    numeric: bool


def _utc(moment: datetime) -> datetime:
    if moment.tzinfo is UTC:
        return moment
    if moment.tzinfo is None:
        message = f"{moment} has no time zone; give an aware moment such as datetime.now(UTC)"
        raise InvalidInput(message)
    return moment.astimezone(UTC)


def _text(timespec: str) -> Callable[[datetime], str]:
    return lambda moment: _utc(moment).isoformat(timespec=timespec).replace("+00:00", "Z")


def _from_text(text: Any) -> datetime:  # noqa: ANN401 - a str; asking would cost a fifth of it
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo is UTC else moment.astimezone(UTC)


def _epoch(moment: datetime) -> int:
    return (_utc(moment) - _EPOCH) // _SECOND


def _epoch_ms(moment: datetime) -> int:
    return (_utc(moment) - _EPOCH) // _MILLISECOND


def _from_epoch(number: str | int | Decimal) -> datetime:
    return _EPOCH + timedelta(seconds=int(number))


def _from_epoch_ms(number: str | int | Decimal) -> datetime:
    return _EPOCH + timedelta(milliseconds=int(number))


TIMES: Final[dict[TimeForm, TimeCodec]] = {
    "seconds": TimeCodec(_text("seconds"), _from_text, numeric=False),
    "milliseconds": TimeCodec(_text("milliseconds"), _from_text, numeric=False),
    "microseconds": TimeCodec(_text("microseconds"), _from_text, numeric=False),
    "epoch": TimeCodec(_epoch, _from_epoch, numeric=True),
    "epoch_ms": TimeCodec(_epoch_ms, _from_epoch_ms, numeric=True),
}
