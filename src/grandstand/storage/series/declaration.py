"""Series declarations, and validation of rows and stored columns against them."""

from __future__ import annotations

import typing
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import chain
from operator import itemgetter
from types import NoneType
from typing import Annotated, Any, Final, Generic, Literal, NamedTuple, NoReturn, TypeAlias, TypeVar
from uuid import UUID

import msgspec

from grandstand.core.errors import InvalidInput
from grandstand.storage.series.errors import SeriesChanged

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
    """A series declaration or a row is invalid."""

    code = "series-fault"


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name, its type, and whether it is nullable."""

    name: str
    kind: Kind
    nullable: bool = False

    @property
    def bound(self) -> int | None:
        """The smallest positive integer that does not fit, or None if the column is not numeric."""
        return _BOUNDS.get(self.kind)


@dataclass(frozen=True, slots=True)
class SeriesIndex:
    """A named index. Columns with a leading `-` are in descending order."""

    name: str
    columns: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Series(Generic[R]):
    """An append-only table of rows, partitioned into chunks by time.

    Attributes:
        row: NamedTuple class whose annotations define the columns.
        time: column with microseconds since 1970; it determines the chunk.
        identity: columns that make a row unique. They include the time.
        key: column that queries filter by, such as the ticker.
        chunk: time span of one chunk.
        compress_after: age at which chunks are compressed, or None for never.
        retain: age at which chunks are deleted, or None for never.

    Example:
        >>> class Trade(NamedTuple):
        ...     ticker: str
        ...     time_us: int
        ...     price: int
        >>> TRADES = Series(
        ...     "trades", Trade, time="time_us", identity=("ticker", "time_us"), key="ticker",
        ...     chunk=timedelta(days=1), compress_after=timedelta(days=2),
        ... )
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
        used = {self.time, self.key, *self.identity}
        for index in self.indexes:
            used |= {name.lstrip("-") for name in index.columns}
        unknown = sorted(used - columns.keys())
        if unknown:
            raise SeriesFault(
                f"{self.name} has no column {', '.join(unknown)}. Columns: {', '.join(columns)}."
            )
        if columns[self.time].kind != "int64" or columns[self.time].nullable:
            raise SeriesFault(
                f"{self.name}: the time column {self.time} must be int (microseconds)"
            )
        if self.time not in self.identity:
            raise SeriesFault(f"{self.name}: the identity must include the time column {self.time}")
        nullable = [name for name in self.identity if columns[name].nullable]
        if nullable:
            raise SeriesFault(
                f"{self.name}: identity columns cannot be nullable: {', '.join(nullable)}"
            )

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns in field order.

        Raises SeriesFault if a field has an unsupported type.
        """
        hints = typing.get_type_hints(self.row, include_extras=True)
        return tuple(_column(self.name, name, hints[name]) for name in self.fields)

    @property
    def fields(self) -> tuple[str, ...]:
        fields: tuple[str, ...] = self.row._fields  # type: ignore[attr-defined]
        return fields

    @property
    def chunk_us(self) -> int:
        return self.chunk // timedelta(microseconds=1)

    def chunk_of(self, time_us: int) -> int:
        """Return the start, in microseconds, of the chunk that contains a time."""
        return time_us - time_us % self.chunk_us


def _column(series: str, name: str, hint: object) -> Column:
    nullable = False
    arguments = typing.get_args(hint)
    if type(None) in arguments:
        (hint,) = (argument for argument in arguments if argument is not type(None))
        nullable = True
    kind = _KINDS.get(hint)
    if kind is None:
        raise SeriesFault(
            f"{series}.{name}: unsupported column type {hint!r}. "
            "Use int, Int32, Int16, str, bool, UUID or Json, optionally with | None."
        )
    return Column(name, kind, nullable)


class Span(NamedTuple):
    """A half-open time interval in microseconds since 1970."""

    start: int
    end: int


Shape: TypeAlias = type[list[tuple[Any, ...]]]


class Checked(list[R]):
    """Rows that have been validated already and are not validated again by an engine."""


_TYPES: Final[dict[Kind, type]] = {
    "int64": int,
    "int32": int,
    "int16": int,
    "text": str,
    "bool": bool,
    "uuid": UUID,
    "json": str,
}
# msgspec accepts text as a UUID, and any text as text.
_CHECKED_AFTER_MSGSPEC: Final = frozenset({"text", "json", "uuid"})


def shape_of(columns: tuple[Column, ...]) -> Shape:
    """Return the msgspec type of a list of rows with these columns."""
    return list[tuple[tuple(map(_hint, columns))]]  # type: ignore[misc, return-value]


def validate_rows(
    series: str, columns: tuple[Column, ...], shape: Shape, rows: Sequence[tuple[Any, ...]]
) -> list[tuple[Any, ...]]:
    """Validate rows and return them as plain tuples. `Checked` rows are returned as they are.

    Types must match exactly: an int subclass is refused.

    Raises SeriesFault if a value does not fit its column.
    """
    if type(rows) is Checked:
        return rows
    converted = convert_rows(series, columns, shape, rows)
    allowed = {_TYPES[column.kind] for column in columns} | {NoneType}
    exact = allowed.issuperset(map(type, chain.from_iterable(rows)))
    return converted if exact else [*zip(*validate_columns(series, columns, rows), strict=True)]


def convert_rows(
    series: str, columns: tuple[Column, ...], shape: Shape, rows: Sequence[tuple[Any, ...]]
) -> list[tuple[Any, ...]]:
    """Validate rows like `validate_rows`, but convert subclasses of int to int.

    msgspec validates four times as fast as `validate_columns`, which only runs to build the error
    message.
    """
    try:
        converted = msgspec.convert(rows, shape)
    except msgspec.ValidationError:
        return [*zip(*validate_columns(series, columns, rows), strict=True)]
    for position, column in enumerate(columns):
        if column.kind in _CHECKED_AFTER_MSGSPEC:
            _check(series, column, tuple(map(itemgetter(position), rows)))
    return converted


def validate_columns(
    series: str, columns: tuple[Column, ...], rows: Sequence[tuple[Any, ...]]
) -> list[tuple[Any, ...]]:
    """Validate rows and return the values column by column.

    Types must match exactly, integers must fit their column, text must not contain NUL (which
    PostgreSQL cannot store), and JSON columns must contain JSON.

    Raises SeriesFault for the first value that does not fit.
    """
    width = len(columns)
    try:
        by_column = list(zip(*rows, strict=True))
    except ValueError:
        by_column = []
    if rows and len(by_column) != width:
        index = next(index for index, row in enumerate(rows) if len(row) != width)
        raise SeriesFault(
            f"{series}: row {index} has {len(rows[index])} columns instead of {width}"
        )
    if not rows:
        return [()] * width
    for column, values in zip(columns, by_column, strict=True):
        _check(series, column, values)
    return by_column


def _hint(column: Column) -> object:
    hint: Any = _TYPES[column.kind]
    if column.bound is not None:
        hint = Annotated[int, msgspec.Meta(ge=-column.bound, le=column.bound - 1)]
    return hint | None if column.nullable else hint


def _check(series: str, column: Column, values: tuple[Any, ...]) -> None:
    expected = _TYPES[column.kind]
    types = set(map(type, values))
    if types - ({expected, NoneType} if column.nullable else {expected}):
        _raise_wrong_type(series, column, values)
    present = [value for value in values if value is not None] if NoneType in types else values
    if not present:
        return
    bound = column.bound
    if bound is not None:
        if min(present) < -bound or max(present) >= bound:
            raise SeriesFault(f"{series}.{column.name}: a number does not fit {column.kind}")
    elif expected is str:
        _check_text(series, column, {*present} if column.kind == "text" else present)


def _raise_wrong_type(series: str, column: Column, values: tuple[Any, ...]) -> None:
    expected = _TYPES[column.kind]
    for index, value in enumerate(values):
        if type(value) is expected or (value is None and column.nullable):
            continue
        actual = "None" if value is None else type(value).__name__
        raise SeriesFault(
            f"{series}.{column.name}: row {index} has {actual} instead of {column.kind}"
        )


def _check_text(series: str, column: Column, values: Collection[str]) -> None:
    try:
        encoded = "".join(values).encode()
    except UnicodeEncodeError as error:
        raise SeriesFault(f"{series}.{column.name}: text is not valid Unicode") from error
    if b"\x00" in encoded:
        raise SeriesFault(f"{series}.{column.name}: text contains a NUL character")
    if column.kind == "json":
        try:
            for value in values:
                msgspec.json.decode(value)
        except msgspec.DecodeError as error:
            raise SeriesFault(f"{series}.{column.name}: text is not JSON: {error}") from error


def missing_columns(
    series: Series[Any], stored: Mapping[str, tuple[str, bool]], identity: Collection[str]
) -> tuple[Column, ...]:
    """Return the declared columns that the storage does not have yet; all of them are nullable.

    Args:
        series: the declaration.
        stored: type and nullability of each stored column.
        identity: the stored identity.

    Raises SeriesChanged for any difference other than new nullable columns.
    """
    declared = {column.name: column for column in series.columns}
    removed = sorted(stored.keys() - declared.keys())
    if removed:
        raise_series_changed(series, f"stored columns are not declared: {', '.join(removed)}")
    for name, (kind, nullable) in stored.items():
        column = declared[name]
        if (column.kind, column.nullable) != (kind, nullable):
            raise_series_changed(
                series, f"{name} is stored as {kind}{' | None' if nullable else ''}"
            )
    if {*identity} != {*series.identity}:
        raise_series_changed(series, f"the stored identity is {', '.join(identity)}")
    added = tuple(column for column in series.columns if column.name not in stored)
    for column in added:
        if not column.nullable:
            raise_series_changed(series, f"the new column {column.name} must allow None")
    return added


def raise_series_changed(series: Series[Any], reason: str) -> NoReturn:
    """Raise SeriesChanged with advice on what to do."""
    raise SeriesChanged(
        f"{series.name}: {reason}. Restore the previous declaration, or declare the series under "
        "a new name."
    )
