"""SQLite chunk files: layout of rows, connections, inserts, and translation of errors."""

from __future__ import annotations

import errno
import re
import sqlite3
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain, repeat
from operator import itemgetter, pos
from pathlib import Path
from typing import Any, Final, Generic, Literal, TypeAlias, TypeVar
from urllib.parse import quote
from uuid import UUID

from grandstand.core.errors import Broken, GrandstandError
from grandstand.storage.series.declaration import (
    Column,
    Kind,
    Series,
    SeriesFault,
    Shape,
    shape_of,
    validate_rows,
)
from grandstand.storage.series.errors import (
    SeriesChanged,
    SeriesDamaged,
    SeriesReadOnly,
    SeriesUnavailable,
)

R = TypeVar("R", bound=tuple[Any, ...])
StoredRow: TypeAlias = tuple[Any, ...]
Converter: TypeAlias = Callable[[Any], Any]
Durability: TypeAlias = Literal["process", "power"]
FileId: TypeAlias = tuple[int, int]

_SQL_TYPES: Final[dict[Kind, str]] = {
    "int64": "INTEGER",
    "int32": "INTEGER",
    "int16": "INTEGER",
    "text": "TEXT",
    "bool": "INTEGER",
    "uuid": "BLOB",
    "json": "TEXT",
}
# Measured: multi-row inserts take little more than half the time of single-row ones. After each
# statement other Python threads may hold the GIL for 5 ms, so fewer statements also wait less.
ROWS_PER_INSERT: Final = (1000, 100, 10)
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

_SYNCHRONOUS: Final = {"process": "NORMAL", "power": "FULL"}
# Writers take turns by the lock of the series; this only waits for another process's index build
# or recovery.
_BUSY_TIMEOUT_SECONDS: Final = 30.0
# Measured: appends are a tenth faster than with pages of 4096 bytes.
_PAGE_BYTES: Final = 16384
_MAX_OPEN_FILES: Final = 16
# While another process creates or removes a file, its WAL does not match it for a moment, and
# SQLite reports an I/O error. A real one persists.
_MAX_OPEN_ATTEMPTS: Final = 50
_WAL_SIZE_LIMIT: Final = 64 * 1024 * 1024

_PRIMARY_CODE_MASK: Final = 0xFF
_NO_SPACE_ERRNOS: Final = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EFBIG))
_READ_ONLY_ERRNOS: Final = frozenset((errno.EACCES, errno.EPERM, errno.EROFS))
_COLUMN_MESSAGES: Final = ("no such column", "has no column")


@contextmanager
def translate_errors(path: Path) -> Iterator[None]:
    """Translate SQLite and OS errors to errors of series storage."""
    try:
        yield
    except sqlite3.Error as error:
        raise _translate_sqlite_error(error, path) from error
    except OSError as error:
        raise _translate_os_error(error, path) from error


def error_code(error: sqlite3.Error) -> int | None:
    """Return the primary SQLite result code; None for errors of the Python module."""
    code = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & _PRIMARY_CODE_MASK


def is_missing_table(error: sqlite3.Error) -> bool:
    """Return whether the file exists but its table has not been created yet."""
    return error_code(error) == sqlite3.SQLITE_ERROR and "no such table" in str(error)


def _translate_sqlite_error(error: sqlite3.Error, path: Path) -> GrandstandError:
    code = error_code(error)
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return SeriesUnavailable(f"{path} is locked by another process. Try again later.")
    if code == sqlite3.SQLITE_FULL:
        return _no_space(path)
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
        return _read_only(path)
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return SeriesDamaged(f"{path} is damaged ({error}). Restore it from a backup.")
    if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR):
        return SeriesUnavailable(f"{path} cannot be accessed: {error} ({error.sqlite_errorname})")
    if code is None and isinstance(error, sqlite3.ProgrammingError):
        return SeriesUnavailable(f"{path} is closed.")
    if any(text in str(error) for text in _COLUMN_MESSAGES):
        return SeriesChanged(f"The columns of {path} do not match the series: {error}")
    return Broken(f"{path}: {error}")


def _translate_os_error(error: OSError, path: Path) -> GrandstandError:
    if error.errno in _NO_SPACE_ERRNOS:
        return _no_space(path)
    if error.errno in _READ_ONLY_ERRNOS:
        return _read_only(path)
    return SeriesUnavailable(f"{path} cannot be accessed: {error}")


def _no_space(path: Path) -> SeriesUnavailable:
    return SeriesUnavailable(f"No space left for {path}. Free disk space and append again.")


def _read_only(path: Path) -> SeriesReadOnly:
    return SeriesReadOnly(f"{path} is read-only. Make the file and its directory writable.")


@dataclass(frozen=True, slots=True)
class Layout(Generic[R]):
    """SQL statements of a series, and conversion of its rows.

    A stored row is a tuple in field order. A bool is stored as 0 or 1, a UUID as its 16 bytes,
    which sort like the UUIDs, and JSON as text. `order` is the identity with the time first: the
    primary key and the order of query results.
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
        """The column names in order."""
        return tuple(column.name for column in self.columns)

    def validate(self, rows: Sequence[R]) -> tuple[list[StoredRow], list[int]]:
        """Return rows as plain tuples, and their times.

        Raises SeriesFault if a row does not fit the columns.
        """
        validated = validate_rows(self.series.name, self.columns, self.shape, rows)
        return validated, [*map(itemgetter(self.time_at), validated)]

    def to_values(self, rows: Iterable[StoredRow]) -> list[Any]:
        """Return the stored values of plain rows, row by row in one list."""
        width, values = len(self.columns), [*chain.from_iterable(rows)]
        for at, column in enumerate(self.columns):
            convert = _TO_STORED.get(column.kind)
            if convert is not None:
                values[at::width] = _convert(convert, values[at::width], column)
        return values

    def to_stored(self, rows: Sequence[R]) -> Iterator[StoredRow]:
        """Validate rows and return them as stored."""
        validated, _ = self.validate(rows)
        return self.split_values(self.to_values(validated))

    def split_values(self, values: Iterable[Any]) -> Iterator[StoredRow]:
        """Split a flat list of values into rows."""
        return zip(*[iter(values)] * len(self.columns), strict=True)

    def to_rows(self, batch: Sequence[StoredRow]) -> Iterator[R]:
        """Return stored rows as rows of the series."""
        # This is what NamedTuple._make does, without a Python call per row.
        make: Callable[[type[R], Iterable[Any]], R] = tuple.__new__
        if not any(column.kind in _FROM_STORED for column in self.columns):
            return map(make, repeat(self.series.row), batch)
        columns: list[Iterable[Any]] = [*zip(*batch, strict=True)]
        for at, column in enumerate(self.columns):
            convert = _FROM_STORED.get(column.kind)
            if convert is not None:
                columns[at] = _convert(convert, columns[at], column)
        return map(make, repeat(self.series.row), zip(*columns, strict=True))

    def identity(self, fields: Sequence[str]) -> Callable[[StoredRow], Any]:
        """Return a function that extracts the identity from a stored row with these fields."""
        return itemgetter(*(fields.index(name) for name in self.order))


def build_layout(series: Series[R]) -> Layout[R]:
    """Return the layout of a series.

    Raises SeriesFault if a name is not usable in files and SQL.
    """
    columns = series.columns
    for name in (series.name, *(column.name for column in columns)):
        if not _NAME.fullmatch(name):
            raise SeriesFault(f"Invalid series or column name {name!r}. Use letters, digits and _.")
    order = (series.time, *(name for name in series.identity if name != series.time))
    names = [column.name for column in columns]
    declared = ", ".join(map(column_sql, columns))
    primary = ", ".join(map(quoted, order))
    insert_into = f"INSERT INTO series_rows ({', '.join(map(quoted, names))}) VALUES "
    placeholders = f"({', '.join('?' * len(names))})"
    # OR IGNORE would also skip rows with a missing value; this skips known identities only.
    on_conflict = " ON CONFLICT DO NOTHING"
    return Layout(
        series=series,
        columns=columns,
        order=order,
        time_at=names.index(series.time),
        create=(
            f"CREATE TABLE IF NOT EXISTS series_rows ({declared}, PRIMARY KEY ({primary})) "
            "WITHOUT ROWID"
        ),
        insert=f"{insert_into}{placeholders}{on_conflict}",
        insert_many=tuple(
            (rows, f"{insert_into}{', '.join([placeholders] * rows)}{on_conflict}")
            for rows in ROWS_PER_INSERT
        ),
        indexes=_index_statements(series),
        shape=shape_of(columns),
    )


def quoted(name: str) -> str:
    """Return a quoted SQL identifier."""
    return f'"{name}"'


def column_sql(column: Column) -> str:
    """Return the SQL declaration of a column."""
    not_null = "" if column.nullable else " NOT NULL"
    return f"{quoted(column.name)} {_SQL_TYPES[column.kind]}{not_null}"


def _index_statements(series: Series[Any]) -> tuple[str, ...]:
    """Return the statements that create the indexes.

    The index by key comes last: it marks the chunk as closed. A declared index by key and time is
    the same index, because SQLite reads an index in both directions.
    """
    by_key = (series.key, series.time)
    declared = [
        _create_index(index.name, index.columns)
        for index in series.indexes
        if tuple(name.lstrip("-") for name in index.columns) != by_key
    ]
    return (*declared, _create_index("by_key", by_key))


def _create_index(name: str, columns: Sequence[str]) -> str:
    terms = ", ".join(
        quoted(column.lstrip("-")) + (" DESC" if column.startswith("-") else "")
        for column in columns
    )
    return f"CREATE INDEX IF NOT EXISTS {quoted(name)} ON series_rows ({terms})"


def _convert(convert: Converter, values: Iterable[Any], column: Column) -> Iterable[Any]:
    if column.nullable:
        return [None if value is None else convert(value) for value in values]
    return map(convert, values)


def _uuid_to_bytes(value: UUID) -> bytes:
    return value.bytes


def _uuid_from_bytes(value: bytes) -> UUID:
    return UUID(bytes=value)


_TO_STORED: Final[dict[Kind, Converter]] = {"bool": pos, "uuid": _uuid_to_bytes}
_FROM_STORED: Final[dict[Kind, Converter]] = {"bool": bool, "uuid": _uuid_from_bytes}


@dataclass(slots=True)
class WriteConnections:
    """Write connections to the most recently used files.

    Callers hold the lock of the series. A file that another process has replaced or removed is
    never written through an old connection.
    """

    durability: Durability
    max_bytes: int | None
    connections: OrderedDict[Path, tuple[sqlite3.Connection, FileId]] = field(
        default_factory=OrderedDict
    )

    def open(self, path: Path, create: str) -> sqlite3.Connection:
        """Return a connection to a file, which is created with its table if it does not exist."""
        known = self.connections.get(path)
        if known is not None and known[1] == file_id(path):
            self.connections.move_to_end(path)
            return known[0]
        self.discard(path)
        connection = self._connect(path, create)
        identity = file_id(path)
        if identity is None:
            connection.close()
            raise FileNotFoundError(path)
        self.connections[path] = (connection, identity)
        while len(self.connections) > _MAX_OPEN_FILES:
            self.discard(next(iter(self.connections)))
        return connection

    def discard(self, path: Path) -> None:
        """Close the connection to a file, if there is one."""
        known = self.connections.pop(path, None)
        if known is not None:
            known[0].close()

    def close(self) -> None:
        """Close all connections."""
        for path in tuple(self.connections):
            self.discard(path)

    def _connect(self, path: Path, create: str) -> sqlite3.Connection:
        connection = sqlite3.connect(
            path, timeout=_BUSY_TIMEOUT_SECONDS, isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
            connection.execute("PRAGMA journal_mode = WAL").fetchall()
            connection.execute(f"PRAGMA synchronous = {_SYNCHRONOUS[self.durability]}")
            connection.execute(f"PRAGMA journal_size_limit = {_WAL_SIZE_LIMIT}").fetchall()
            if self.max_bytes is not None:
                (page_bytes,) = connection.execute("PRAGMA page_size").fetchone()
                pages = max(1, self.max_bytes // page_bytes)
                connection.execute(f"PRAGMA max_page_count = {pages}").fetchall()
            connection.execute(create)
        except BaseException:
            connection.close()
            raise
        return connection


def insert_rows(connection: sqlite3.Connection, layout: Layout[Any], values: list[Any]) -> int:
    """Insert rows in one transaction and return how many were new.

    `values` are the stored values, row by row in one list. Columns that were declared after the
    file was created are added to it.

    Raises sqlite3.Error.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        added = _insert_with_new_columns(connection, layout, values)
        connection.execute("COMMIT")
    finally:
        # When the disk is full, SQLite may have rolled back already.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    return added


def _insert_with_new_columns(
    connection: sqlite3.Connection, layout: Layout[Any], values: list[Any]
) -> int:
    try:
        return _insert(connection, layout, values)
    except sqlite3.OperationalError as error:
        # SQLite compiles a statement before it inserts the first row.
        if "has no column named" not in str(error):
            raise
        existing = column_names(connection)
        missing = [column for column in layout.columns if column.name not in existing]
        if not all(column.nullable for column in missing):
            raise
    for column in missing:
        connection.execute(f"ALTER TABLE series_rows ADD COLUMN {column_sql(column)}")
    return _insert(connection, layout, values)


def _insert(connection: sqlite3.Connection, layout: Layout[Any], values: list[Any]) -> int:
    added = done = 0
    max_variables = connection.getlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER)
    for rows, sql in layout.insert_many:
        size = rows * len(layout.columns)
        while size <= max_variables and done + size <= len(values):
            added += connection.execute(sql, values[done : done + size]).rowcount
            done += size
    if done < len(values):
        added += connection.executemany(layout.insert, layout.split_values(values[done:])).rowcount
    return added


def open_reader(path: Path) -> sqlite3.Connection | None:
    """Open a file for reading its current state; None if it does not exist.

    Readers never block a writer.
    """
    for _ in range(_MAX_OPEN_ATTEMPTS):
        try:
            return _open_reader(path)
        except sqlite3.OperationalError as error:
            if error_code(error) == sqlite3.SQLITE_CANTOPEN and not path.exists():
                return None
            if error_code(error) != sqlite3.SQLITE_IOERR:
                raise
    return _open_reader(path)


def _open_reader(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"file:{quote(str(path))}?mode=ro",
        uri=True,
        timeout=_BUSY_TIMEOUT_SECONDS,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        connection.execute("BEGIN")
        connection.execute("SELECT 1 FROM sqlite_master").fetchall()
    except BaseException:
        connection.close()
        raise
    return connection


def checkpoint(connection: sqlite3.Connection) -> bool:
    """Move the WAL into the file, and return whether nothing is left in the WAL."""
    busy, logged, moved = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    return not busy and logged == moved


def column_names(connection: sqlite3.Connection) -> frozenset[str]:
    """Return the columns a file has; columns that were declared later are missing.

    SQLite would treat the quoted name of a missing column as a string literal.
    """
    return frozenset(
        name for (name,) in connection.execute("SELECT name FROM pragma_table_info('series_rows')")
    )


def has_key_index(connection: sqlite3.Connection) -> bool:
    """Return whether the index by key exists, which marks a closed chunk."""
    row = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'by_key'").fetchone()
    return row is not None


def count_rows(connection: sqlite3.Connection) -> int:
    """Return the number of rows in a file; 0 if its table was not created."""
    if not column_names(connection):
        return 0
    (rows,) = connection.execute("SELECT count(*) FROM series_rows").fetchone()
    return int(rows)


def file_id(path: Path) -> FileId | None:
    """Return device and inode of a file; None if it does not exist."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino
