"""Kept here: a series as it is declared: its columns, its time, what makes a row the same row."""

from __future__ import annotations

import typing
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Any, Final, Generic, Literal, NamedTuple, TypeAlias, TypeVar
from uuid import UUID

from grandstand.base.errors import InvalidInput

Kind: TypeAlias = Literal["int64", "int32", "int16", "text", "bool", "uuid", "json"]
R = TypeVar("R", bound=tuple[Any, ...])

Int32: TypeAlias = Annotated[int, "int32"]
Int16: TypeAlias = Annotated[int, "int16"]
Json: TypeAlias = Annotated[str, "json"]

_KINDS: Final[dict[object, Kind]] = {
    int: "int64",
    str: "text",
    bool: "bool",
    UUID: "uuid",
    Int32: "int32",
    Int16: "int16",
    Json: "json",
}
_BOUNDS: Final[dict[Kind, int]] = {"int64": 2**63, "int32": 2**31, "int16": 2**15}


class SeriesFault(InvalidInput):
    """A series is declared wrongly, or a row does not fit it; the message names the fix."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name, its exact kind, and whether it may be empty."""

    name: str
    kind: Kind
    nullable: bool = False

    @property
    def bound(self) -> int | None:
        """The first whole number too large for it; None when it holds no numbers."""
        return _BOUNDS.get(self.kind)


@dataclass(frozen=True, slots=True)
class SeriesIndex:
    """An index by name; columns that start with `-` go from the highest."""

    name: str
    columns: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Series(Generic[R]):
    """An append-only table of rows of one kind, cut into chunks by its time.

    `row` is a NamedTuple class whose annotations give the columns. `time` is a column of
    microseconds since 1970 and decides the chunk. `identity` is what makes two rows the same row,
    and holds the time. `key` is the column windows are asked by, such as the ticker.
    `retain` None keeps rows for ever.
    """

    name: str
    row: type[R]
    time: str
    identity: tuple[str, ...]
    key: str
    chunk: timedelta
    compress_after: timedelta | None = None
    retain: timedelta | None = None
    indexes: tuple[SeriesIndex, ...] = ()
    purpose: str = ""

    def __post_init__(self) -> None:
        columns = {column.name: column for column in self.columns}
        named = {self.time, self.key, *self.identity}
        for index in self.indexes:
            named |= {name.lstrip("-") for name in index.columns}
        unknown = sorted(named - columns.keys())
        if unknown:
            message = f"{self.name} has no column {', '.join(unknown)}; it has {', '.join(columns)}"
            raise SeriesFault(message)
        if columns[self.time].kind != "int64" or columns[self.time].nullable:
            message = f"{self.name}: the time {self.time} counts microseconds: declare it int"
            raise SeriesFault(message)
        if self.time not in self.identity:
            message = f"{self.name}: the identity must hold the time {self.time}"
            raise SeriesFault(message)
        empty = [name for name in self.identity if columns[name].nullable]
        if empty:
            message = f"{self.name}: {', '.join(empty)} is part of the identity and cannot be None"
            raise SeriesFault(message)

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns, in the order of the row's fields; raises SeriesFault for a wrong kind."""
        hints = typing.get_type_hints(self.row, include_extras=True)
        return tuple(_column(self.name, name, hints[name]) for name in self.fields)

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        fields: tuple[str, ...] = self.row._fields  # type: ignore[attr-defined]
        return fields

    @property
    def chunk_us(self) -> int:
        """The length of a chunk, in microseconds."""
        return self.chunk // timedelta(microseconds=1)

    def chunk_of(self, time_us: int) -> int:
        """Answer the start of the chunk a moment falls into, in microseconds."""
        return time_us - time_us % self.chunk_us


def _column(series: str, name: str, hint: object) -> Column:
    nullable = False
    arguments = typing.get_args(hint)
    if type(None) in arguments:
        (hint,) = (argument for argument in arguments if argument is not type(None))
        nullable = True
    kind = _KINDS.get(hint)
    if kind is None:
        message = (
            f"{series}.{name}: {hint!r} cannot be a column: use int, Int32, Int16, str, bool, UUID "
            "or Json, each also with None"
        )
        raise SeriesFault(message)
    return Column(name, kind, nullable)


class Span(NamedTuple):
    """From a moment up to but without another, in microseconds since 1970."""

    start: int
    end: int
