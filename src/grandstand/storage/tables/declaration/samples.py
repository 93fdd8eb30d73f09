"""Kept here: stand-ins for arguments, so that an access pattern can be compiled and read aloud."""

from __future__ import annotations

import dataclasses
import enum
import typing
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, Final, get_args, get_origin

from grandstand.storage.tables.declaration.codecs import without_none
from grandstand.storage.tables.errors import DeclarationFault


def mark(name: str) -> str:
    """Write a name the way documents show an argument."""
    return f"‹{name}›"  # noqa: RUF001 - quotation marks no key of ours holds


class SampleTime(datetime):
    """A moment that is written by its name, also when a span was added or taken away."""

    name = "time"

    def __add__(self, span: timedelta) -> SampleTime:
        return _time(self.name)

    def __sub__(self, other: Any) -> Any:  # noqa: ANN401 - a span or another moment
        return _time(self.name) if isinstance(other, timedelta) else SampleSpan(self.name)

    def isoformat(self, sep: str = "T", timespec: str = "auto") -> str:  # noqa: ARG002
        """Answer its name in place of the moment."""
        return mark(self.name)

    def __format__(self, spec: str) -> str:
        return mark(self.name)


class SampleSpan:
    """How long after 1970 a sample moment is: in whichever unit, it is written by its name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __floordiv__(self, unit: timedelta) -> SampleNumber:
        return _number(self.name)


class SampleDate(date):
    """A date that is written by its name."""

    name = "date"

    def isoformat(self) -> str:
        """Answer its name in place of the date."""
        return mark(self.name)

    def __format__(self, spec: str) -> str:
        return mark(self.name)


class SampleNumber(int):
    """A number that is written by its name."""

    name = "n"

    def __format__(self, spec: str) -> str:
        return mark(self.name)

    def __str__(self) -> str:
        return mark(self.name)

    __repr__ = __str__


def _time(name: str) -> SampleTime:
    sample = SampleTime(2000, 1, 1, tzinfo=UTC)
    sample.name = name
    return sample


def _date(name: str) -> SampleDate:
    sample = SampleDate(2000, 1, 1)
    sample.name = name
    return sample


def _number(name: str) -> SampleNumber:
    sample = SampleNumber(20)
    sample.name = name
    return sample


_PLAIN: Final[dict[object, Callable[[str], object]]] = {
    str: mark,
    datetime: _time,
    date: _date,
    int: _number,
    Decimal: lambda _name: Decimal(1),
    bool: lambda _name: True,
    bytes: lambda name: name.encode(),
    Any: mark,
}


def sample(name: str, annotation: object) -> object:
    """Make a stand-in for an argument; raise DeclarationFault when its kind has none."""
    kind, _ = without_none(annotation)
    make = _PLAIN.get(kind)
    if make is not None:
        return make(name)
    origin = get_origin(kind)
    if origin is typing.Literal:
        return get_args(kind)[0]
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return next(iter(kind))
    if origin is dict:
        return {}
    if origin in (tuple, list, frozenset):
        return typing.cast("Callable[[Any], object]", origin)([sample(name, get_args(kind)[0])])
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        hints = typing.get_type_hints(kind)
        given = {f.name: sample(f.name, hints[f.name]) for f in dataclasses.fields(kind)}
        return typing.cast("Callable[..., object]", kind)(**given)
    message = (
        f"{name}: an access pattern takes plain arguments (str, int, Decimal, datetime, date, bool,"
        f" enumerations, dataclasses and tuples of them), not {annotation!r}"
    )
    raise DeclarationFault(message)
