"""Kept here: how the rows of one series are laid out in its files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from operator import itemgetter, pos
from typing import Any, Final, Generic, TypeAlias, TypeVar
from uuid import UUID

from grandstand.storage.series.declaration import Column, Kind, Series, SeriesFault
from grandstand.storage.series.rows import Shape, plain, shape_of

R = TypeVar("R", bound=tuple[Any, ...])
Stored: TypeAlias = tuple[Any, ...]
Change: TypeAlias = Callable[[Any], Any]

_SQL: Final[dict[Kind, str]] = {
    "int64": "INTEGER",
    "int32": "INTEGER",
    "int16": "INTEGER",
    "text": "TEXT",
    "bool": "INTEGER",
    "uuid": "BLOB",
    "json": "TEXT",
}
# Measured: rows so many to a statement take little more than half the time of one to each. Other
# threads of Python run meanwhile, and may keep the sender waiting for 5 ms after every statement.
AT_ONCE: Final = (1000, 100, 10)
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Layout(Generic[R]):
    """A series as its files hold it: what SQLite is told, and how values are stored.

    A stored row is a tuple in the order of the row's fields: a bool is 0 or 1, a UUID its 16
    bytes, whose order is the order of the UUIDs, and JSON its text. `order` is the identity led by
    the time: the primary key, and the order rows are answered in.
    """

    series: Series[R]
    columns: tuple[Column, ...]
    order: tuple[str, ...]
    time_at: int
    create: str
    insert: str
    insert_many: tuple[tuple[int, str], ...]
    indexes: tuple[str, ...]
    shape: Shape

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(column.name for column in self.columns)

    def plain(self, rows: Sequence[R]) -> tuple[list[Stored], list[int]]:
        """Answer rows as plain tuples, and their times; raise SeriesFault if one is unfit."""
        found = plain(self.series.name, self.columns, self.shape, rows)
        return found, [*map(itemgetter(self.time_at), found)]

    def values(self, rows: Iterable[Stored]) -> list[Any]:
        """Answer the values of plain rows as stored, row after row in one list."""
        width, found = len(self.columns), [*chain.from_iterable(rows)]
        for at, column in enumerate(self.columns):
            change = _STORING.get(column.kind)
            if change is not None:
                found[at::width] = _changed(change, found[at::width], column)
        return found

    def stored(self, rows: Sequence[R]) -> tuple[Iterator[Stored], Sequence[int]]:
        """Answer rows as stored, once, and their times; raise SeriesFault if one is unfit."""
        found, times = self.plain(rows)
        return self.cut(self.values(found)), times

    def cut(self, values: Iterable[Any]) -> Iterator[Stored]:
        """Answer the rows of which these are the values, row after row."""
        return zip(*[iter(values)] * len(self.columns), strict=True)

    def rows(self, batch: Sequence[Stored]) -> Iterator[R]:
        """Answer stored rows as rows of the series."""
        # What a named tuple's `_make` does, without a call of Python for each row.
        make: Callable[[type[R], Iterable[Any]], R] = tuple.__new__
        if not any(column.kind in _LOADING for column in self.columns):
            return map(make, repeat(self.series.row), batch)
        columns: list[Iterable[Any]] = [*zip(*batch, strict=True)]
        for at, column in enumerate(self.columns):
            change = _LOADING.get(column.kind)
            if change is not None:
                columns[at] = _changed(change, columns[at], column)
        return map(make, repeat(self.series.row), zip(*columns, strict=True))

    def identity(self, fields: Sequence[str]) -> Callable[[Stored], Any]:
        """Answer what picks time and identity out of a stored row that has these fields."""
        return itemgetter(*(fields.index(name) for name in self.order))


def laid_out(series: Series[R]) -> Layout[R]:
    """Work out the layout of a series; raise SeriesFault for names that cannot be files."""
    columns = series.columns
    for name in (series.name, *(column.name for column in columns)):
        if not _NAME.fullmatch(name):
            message = f"{name!r} cannot name a series or column: use letters, digits and _"
            raise SeriesFault(message)
    order = (series.time, *(name for name in series.identity if name != series.time))
    names = [column.name for column in columns]
    declared = ", ".join(map(typed, columns))
    primary = ", ".join(map(quoted, order))
    into = f"INSERT INTO kept ({', '.join(map(quoted, names))}) VALUES "
    one = f"({', '.join('?' * len(names))})"
    # OR IGNORE would also pass over an empty column; this passes over the same identity only.
    without = " ON CONFLICT DO NOTHING"
    return Layout(
        series=series,
        columns=columns,
        order=order,
        time_at=names.index(series.time),
        create=(
            f"CREATE TABLE IF NOT EXISTS kept ({declared}, PRIMARY KEY ({primary})) WITHOUT ROWID"
        ),
        insert=f"{into}{one}{without}",
        insert_many=tuple((rows, f"{into}{', '.join([one] * rows)}{without}") for rows in AT_ONCE),
        indexes=_indexes(series),
        shape=shape_of(columns),
    )


def quoted(name: str) -> str:
    """Answer a name as SQLite takes any name."""
    return f'"{name}"'


def _indexes(series: Series[Any]) -> tuple[str, ...]:
    """Answer what builds the declared indexes, and last the one by key, which says all are there.

    A declared one by key and time is the one by key: SQLite reads an index either way.
    """
    by_key = (series.key, series.time)
    declared = [
        _index(index.name, index.columns)
        for index in series.indexes
        if tuple(name.lstrip("-") for name in index.columns) != by_key
    ]
    return (*declared, _index("by_key", by_key))


def _index(name: str, columns: Sequence[str]) -> str:
    listed = ", ".join(
        quoted(column.lstrip("-")) + (" DESC" if column.startswith("-") else "")
        for column in columns
    )
    return f"CREATE INDEX IF NOT EXISTS {quoted(name)} ON kept ({listed})"


def typed(column: Column) -> str:
    """Answer a column as SQLite is told of it."""
    return f"{quoted(column.name)} {_SQL[column.kind]}{'' if column.nullable else ' NOT NULL'}"


def _changed(change: Change, values: Iterable[Any], column: Column) -> Iterable[Any]:
    if column.nullable:
        return [None if value is None else change(value) for value in values]
    return map(change, values)


def _bytes(value: UUID) -> bytes:
    return value.bytes


def _uuid(value: bytes) -> UUID:
    return UUID(bytes=value)


_STORING: Final[dict[Kind, Change]] = {"bool": pos, "uuid": _bytes}
_LOADING: Final[dict[Kind, Change]] = {"bool": bool, "uuid": _uuid}
