"""Kept here: whether rows fit the columns of their series."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import chain
from operator import itemgetter
from types import NoneType
from typing import Annotated, Any, Final, TypeAlias, TypeVar
from uuid import UUID

import msgspec

from grandstand.storage.series.declaration import Column, Kind, SeriesFault

R = TypeVar("R", bound=tuple[Any, ...])
Shape: TypeAlias = type[list[tuple[Any, ...]]]


class Checked(list[R]):
    """Rows of a series that were looked at already, and are not looked at again on their way."""


_TYPES: Final[dict[Kind, type]] = {
    "int64": int,
    "int32": int,
    "int16": int,
    "text": str,
    "bool": bool,
    "uuid": UUID,
    "json": str,
}
# msgspec takes text for a UUID, and any text for text.
_LOOKED_AT: Final = frozenset({"text", "json", "uuid"})


def shape_of(columns: tuple[Column, ...]) -> Shape:
    """Answer the type that a list of rows of these columns is converted to; see `plain`."""
    return list[tuple[tuple(map(_hint, columns))]]  # type: ignore[misc, return-value]


def plain(
    series: str, columns: tuple[Column, ...], shape: Shape, rows: Sequence[tuple[Any, ...]]
) -> list[tuple[Any, ...]]:
    """Answer rows as plain tuples; raise SeriesFault when a value does not fit, as `turned` does.

    Checked rows are answered as they are.
    """
    if type(rows) is Checked:
        return rows
    found = made_plain(series, columns, shape, rows)
    wanted = {_TYPES[column.kind] for column in columns} | {NoneType}
    exact = wanted.issuperset(map(type, chain.from_iterable(rows)))
    return found if exact else [*zip(*turned(series, columns, rows), strict=True)]


def made_plain(
    series: str, columns: tuple[Column, ...], shape: Shape, rows: Sequence[tuple[Any, ...]]
) -> list[tuple[Any, ...]]:
    """Answer rows as `plain` does, but make a number of int where one is of a kind of int.

    Rows are looked at by msgspec, four times as fast as here; what it finds fault with is looked
    at again to say what is wrong.
    """
    try:
        found = msgspec.convert(rows, shape)
    except msgspec.ValidationError:
        return [*zip(*turned(series, columns, rows), strict=True)]
    for at, column in enumerate(columns):
        if column.kind in _LOOKED_AT:
            _check(series, column, tuple(map(itemgetter(at), rows)))
    return found


def turned(
    series: str, columns: tuple[Column, ...], rows: Sequence[tuple[Any, ...]]
) -> list[tuple[Any, ...]]:
    """Answer the values of each column in turn; raise SeriesFault when one of them does not fit.

    Types must be exact, whole numbers within the bounds of their kind, text without the character
    zero, which PostgreSQL cannot keep, and JSON text must be JSON.
    """
    width = len(columns)
    try:
        values = list(zip(*rows, strict=True))
    except ValueError:
        values = []
    if rows and len(values) != width:
        index = next(index for index, row in enumerate(rows) if len(row) != width)
        message = f"{series}: row {index} has {len(rows[index])} columns instead of {width}"
        raise SeriesFault(message)
    if not rows:
        return [()] * width
    for column, given in zip(columns, values, strict=True):
        _check(series, column, given)
    return values


def _hint(column: Column) -> object:
    hint: Any = _TYPES[column.kind]
    if column.bound is not None:
        hint = Annotated[int, msgspec.Meta(ge=-column.bound, le=column.bound - 1)]
    return hint | None if column.nullable else hint


def _check(series: str, column: Column, values: tuple[Any, ...]) -> None:
    wanted = _TYPES[column.kind]
    kinds = set(map(type, values))
    holes = NoneType in kinds
    if kinds - ({wanted, NoneType} if column.nullable else {wanted}):
        _refuse(series, column, values)
    present = [value for value in values if value is not None] if holes else values
    if not present:
        return
    bound = column.bound
    if bound is not None:
        if min(present) < -bound or max(present) >= bound:
            message = f"{series}.{column.name}: a number does not fit {column.kind}"
            raise SeriesFault(message)
    elif wanted is str:
        _check_text(series, column, {*present} if column.kind == "text" else present)


def _refuse(series: str, column: Column, values: tuple[Any, ...]) -> None:
    wanted = _TYPES[column.kind]
    for index, value in enumerate(values):
        if type(value) is wanted or (value is None and column.nullable):
            continue
        given = "None" if value is None else type(value).__name__
        message = f"{series}.{column.name}: row {index} gives {given} for {column.kind}"
        raise SeriesFault(message)


def _check_text(series: str, column: Column, values: Collection[str]) -> None:
    try:
        whole = "".join(values).encode()
    except UnicodeEncodeError as fault:
        message = f"{series}.{column.name}: a text is not valid Unicode"
        raise SeriesFault(message) from fault
    if b"\x00" in whole:
        message = f"{series}.{column.name}: a text holds the character zero"
        raise SeriesFault(message)
    if column.kind == "json":
        try:
            for value in values:
                msgspec.json.decode(value)
        except msgspec.DecodeError as fault:
            message = f"{series}.{column.name}: a text is not JSON: {fault}"
            raise SeriesFault(message) from fault
