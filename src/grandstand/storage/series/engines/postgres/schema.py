"""Tables of series on PostgreSQL and TimescaleDB: DDL, migrations and partitions.

All statements that only TimescaleDB understands are in this module.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from hashlib import sha256
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

from grandstand.storage.series.declaration import (
    Column,
    Kind,
    Series,
    SeriesFault,
    SeriesIndex,
    Span,
    missing_columns,
    raise_series_changed,
)
from grandstand.storage.series.engines.postgres.connection import TableLocked
from grandstand.storage.series.errors import SeriesChanged

if TYPE_CHECKING:
    from grandstand.storage.series.engines.postgres.connection import Connection, Connections

TYPES: Final[dict[Kind, str]] = {
    "int64": "BIGINT",
    "int32": "INTEGER",
    "int16": "SMALLINT",
    "text": "TEXT",
    "bool": "BOOLEAN",
    "uuid": "UUID",
    "json": "JSONB",
}

_PLAIN_NAME: Final = re.compile(r"[a-z_][a-z0-9_]*\Z")
# Partition names consist of the series and its start, and PostgreSQL cuts names at 63 bytes.
_MAX_NAME_LENGTH: Final = 40

# Reserved words of PostgreSQL, including those allowed as function or type names.
_RESERVED_WORDS: Final = """
    all analyse analyze and any array as asc asymmetric authorization binary both case cast check
    collate collation column concurrently constraint create cross current_catalog current_date
    current_role current_schema current_time current_timestamp current_user default deferrable
    desc distinct do else end except false fetch for foreign freeze from full grant group having
    ilike in initially inner intersect into is isnull join lateral leading left like limit
    localtime localtimestamp natural not notnull null offset on only or order outer overlaps
    placing primary references returning right select session_user similar some symmetric
    system_user table tablesample then to trailing true union unique user using variadic verbose
    when where window with
"""
_RESERVED: Final = frozenset(_RESERVED_WORDS.split())


def quote_name(name: str) -> str:
    """Return an identifier, quoted only if necessary."""
    if _PLAIN_NAME.match(name) and name not in _RESERVED:
        return name
    return '"' + name.replace('"', '""') + '"'


def quote_names(names: tuple[str, ...]) -> str:
    """Return identifiers separated by commas."""
    return ", ".join(map(quote_name, names))


def quote_literal(text: str) -> str:
    """Return a string literal for statements that take no parameters."""
    return "'" + text.replace("'", "''") + "'"


def quote_table(series: Series[Any]) -> str:
    """Return the table name of a series as a string literal, as functions expect it."""
    return quote_literal(quote_name(series.name))


def rest_of_identity(series: Series[Any]) -> tuple[str, ...]:
    """Return the identity without the time, which orders rows of the same time."""
    return tuple(name for name in series.identity if name != series.time)


def check_names(series: Series[Any]) -> None:
    """Raise SeriesFault if PostgreSQL would shorten or misread a name."""
    if len(series.name) > _MAX_NAME_LENGTH or not _PLAIN_NAME.match(series.name):
        raise SeriesFault(
            f"Invalid table name {series.name!r}. "
            f"Use at most {_MAX_NAME_LENGTH} lowercase letters, digits and _."
        )
    invalid = [
        name
        for name in series.fields
        if not _PLAIN_NAME.match(name) or len(name) > _MAX_NAME_LENGTH
    ]
    if invalid:
        raise SeriesFault(
            f"{series.name}: invalid column names {', '.join(invalid)}. "
            "Use lowercase letters, digits and _."
        )


Edition: TypeAlias = Literal["plain", "timescale", "timescale-apache"]
Due: TypeAlias = Literal["once", "changed", "always"]

TABLE: Final = "table"
NOW_FUNCTION: Final = "grandstand_now_us"
MIN_TIME: Final = -(2**63)
END_OF_TIME: Final = 2**63

# With an integer time column, TimescaleDB would run policies only once a day.
_POLICY_SCHEDULE: Final = "INTERVAL '1 hour'"


@dataclass(frozen=True, slots=True)
class Step:
    """An idempotent step of a migration, identified by its name.

    `due` tells when it runs: "once", where changed SQL is an error; "changed", whenever its SQL has
    changed; or "always", because it is only planned where its result is missing.
    """

    number: int
    name: str
    sql: str
    due: Due = "once"

    @property
    def fingerprint(self) -> str:
        """Hash of the SQL, by which changes are detected."""
        return sha256(self.sql.encode()).hexdigest()


def steps(
    series: Series[Any],
    edition: Edition,
    *,
    wide: bool = False,
    added: tuple[Column, ...] | None = None,
) -> tuple[Step, ...]:
    """Return the steps that create the table of a series.

    Args:
        series: the declaration.
        edition: the kind of server.
        wide: compress for very many keys: without segments, ordered by key first.
        added: columns to add to an existing table; None if the table does not exist.

    Raises SeriesFault if PostgreSQL cannot use a name.
    """
    check_names(series)
    if added is None:
        parts = [_create_table(series, edition)]
    else:
        parts = [_add_column(series, column) for column in added]
    parts += _time_index(series) if edition == "plain" else _hypertable(series)
    parts += _indexes(series)
    if edition == "timescale":
        parts += _policies(series, wide=wide)
    return tuple(Step(number, *part) for number, part in enumerate(parts, start=1))


def table_columns_sql(series: Series[Any]) -> str:
    """Return the column declarations of a table."""
    return ",\n    ".join(map(_column_sql, series.columns))


def partition_name(series: Series[Any], start: int) -> str:
    """Return the name of the partition that starts at a time."""
    return f"{series.name}_p{start}" if start >= 0 else f"{series.name}_m{-start}"


def create_partition_sql(series: Series[Any], start: int, end: int) -> str:
    """Return the statements that create one partition.

    ATTACH takes a weaker lock than CREATE TABLE ... PARTITION OF, so readers do not wait.
    """
    name = quote_name(partition_name(series, start))
    lower = "MINVALUE" if start <= MIN_TIME else str(start)
    upper = "MAXVALUE" if end >= END_OF_TIME else str(end)
    return (
        f"CREATE TABLE {name} (LIKE {quote_name(series.name)} INCLUDING DEFAULTS);\n"
        f"ALTER TABLE {quote_name(series.name)} ATTACH PARTITION {name}\n"
        f"    FOR VALUES FROM ({lower}) TO ({upper})"
    )


def compression_order_sql(series: Series[Any], *, wide: bool) -> str:
    """Return the order of compressed rows: the identity, so that duplicates are found fast."""
    rest = tuple(name for name in rest_of_identity(series) if name != series.key)
    if wide:
        return quote_names((series.key, series.time, *rest))
    return ", ".join([f"{quote_name(series.time)} DESC", *map(quote_name, rest)])


def microseconds(span: timedelta) -> int:
    return span // timedelta(microseconds=1)


_StepParts: TypeAlias = tuple[str, str] | tuple[str, str, Due]


def _column_sql(column: Column) -> str:
    # Byte order, so that every engine and locale returns rows in the same order.
    collation = ' COLLATE "C"' if column.kind == "text" else ""
    not_null = "" if column.nullable else " NOT NULL"
    return f"{quote_name(column.name)} {TYPES[column.kind]}{collation}{not_null}"


def _create_table(series: Series[Any], edition: Edition) -> _StepParts:
    sql = (
        f"CREATE TABLE IF NOT EXISTS {quote_name(series.name)} (\n"
        f"    {table_columns_sql(series)},\n"
        f"    PRIMARY KEY ({quote_names(series.identity)})\n)"
    )
    if edition == "plain":
        sql += f" PARTITION BY RANGE ({quote_name(series.time)})"
    return TABLE, sql, "always"


def _add_column(series: Series[Any], column: Column) -> _StepParts:
    # This locks the table for a moment. While it waits for a reader, everyone else waits too.
    return (
        f"column {column.name}",
        (
            "SET LOCAL lock_timeout = '10s';\n"
            f"ALTER TABLE {quote_name(series.name)} ADD COLUMN IF NOT EXISTS {_column_sql(column)}"
        ),
        "always",
    )


def _time_index(series: Series[Any]) -> Iterator[_StepParts]:
    name = quote_name(f"{series.name}_time_brin")
    yield (
        "time index",
        (
            f"CREATE INDEX IF NOT EXISTS {name} ON {quote_name(series.name)}\n"
            f"    USING brin ({quote_name(series.time)})"
        ),
    )


def _hypertable(series: Series[Any]) -> Iterator[_StepParts]:
    own_index = "FALSE" if series.identity[0] == series.time else "TRUE"
    yield (
        "hypertable",
        (
            f"SELECT create_hypertable({quote_table(series)}, {quote_literal(series.time)},\n"
            f"    chunk_time_interval => {series.chunk_us}::bigint,\n"
            f"    create_default_indexes => {own_index}, if_not_exists => TRUE)"
        ),
    )
    yield (
        "clock",
        (
            f"CREATE OR REPLACE FUNCTION {NOW_FUNCTION}() RETURNS BIGINT LANGUAGE SQL STABLE AS\n"
            "    $$ SELECT (extract(epoch FROM now()) * 1000000)::bigint $$"
        ),
        "changed",
    )
    yield (
        "clock of the table",
        (
            f"SELECT set_integer_now_func({quote_table(series)}, {quote_literal(NOW_FUNCTION)},\n"
            "    replace_if_exists => TRUE)"
        ),
        "changed",
    )


def _indexes(series: Series[Any]) -> Iterator[_StepParts]:
    for index in series.indexes:
        yield f"index {index.name}", _index(series, index)


def _index(series: Series[Any], index: SeriesIndex) -> str:
    columns = ", ".join(
        f"{quote_name(name[1:])} DESC" if name.startswith("-") else quote_name(name)
        for name in index.columns
    )
    name, table = quote_name(index.name), quote_name(series.name)
    return f"CREATE INDEX IF NOT EXISTS {name} ON {table} ({columns})"


def _policies(series: Series[Any], *, wide: bool) -> Iterator[_StepParts]:
    if series.compress_after is not None:
        segments = quote_literal("" if wide else quote_name(series.key))
        order = quote_literal(compression_order_sql(series, wide=wide))
        yield (
            "compression",
            (
                f"ALTER TABLE {quote_name(series.name)} SET (\n"
                "    timescaledb.compress,\n"
                f"    timescaledb.compress_segmentby = {segments},\n"
                f"    timescaledb.compress_orderby = {order}\n"
                ")"
            ),
            "changed",
        )
        after = microseconds(series.compress_after)
        yield (
            "compression policy",
            (
                f"SELECT remove_compression_policy({quote_table(series)}, if_exists => TRUE);\n"
                f"SELECT add_compression_policy({quote_table(series)},\n"
                f"    compress_after => {after}::bigint, if_not_exists => TRUE,\n"
                f"    schedule_interval => {_POLICY_SCHEDULE})"
            ),
            "changed",
        )
    yield "retention policy", _retention(series), "changed"


def _retention(series: Series[Any]) -> str:
    """Return the retention policy; without a retention, an earlier policy is removed."""
    removal = f"SELECT remove_retention_policy({quote_table(series)}, if_exists => TRUE)"
    if series.retain is None:
        return removal
    return (
        f"{removal};\n"
        f"SELECT add_retention_policy({quote_table(series)},\n"
        f"    drop_after => {microseconds(series.retain)}::bigint, if_not_exists => TRUE,\n"
        f"    schedule_interval => {_POLICY_SCHEDULE})"
    )


_STORED_COLUMNS: Final = """
SELECT attname, format_type(atttypid, atttypmod), NOT attnotnull
FROM pg_attribute
WHERE attrelid = to_regclass(format('%%I.%%I', current_schema, %s::text))
    AND attnum > 0 AND NOT attisdropped
ORDER BY attnum
"""
_PRIMARY_KEY: Final = """
SELECT attname FROM pg_index
JOIN pg_attribute ON attrelid = indrelid AND attnum = ANY (indkey)
WHERE indisprimary AND indrelid = to_regclass(format('%%I.%%I', current_schema, %s::text))
ORDER BY array_position(indkey::smallint[], attnum)
"""
_PARTITION_COLUMN: Final = """
SELECT attname FROM pg_partitioned_table
JOIN pg_attribute ON attrelid = partrelid AND attnum = partattrs[0]
WHERE partstrat = 'r' AND partnatts = 1
    AND partrelid = to_regclass(format('%%I.%%I', current_schema, %s::text))
"""

_KINDS: Final[dict[str, str]] = {sql_type.lower(): kind for kind, sql_type in TYPES.items()}


@dataclass(frozen=True, slots=True)
class StoredTable:
    """An existing table: type and nullability of its columns, primary key, partition column."""

    columns: Mapping[str, tuple[str, bool]]
    identity: tuple[str, ...]
    partition_column: str | None


def migration_steps(
    connection: Connection, series: Series[Any], edition: Edition, *, wide: bool
) -> tuple[Step, ...]:
    """Return the steps a series needs on this server: the whole table, or its missing columns.

    Raises SeriesChanged if the existing table differs by more than nullable columns.
    """
    table = stored_table(connection, series)
    if table is None:
        return steps(series, edition, wide=wide)
    if edition == "plain" and table.partition_column != series.time:
        raise_series_changed(series, f"the existing table is not partitioned by {series.time}")
    added = missing_columns(series, table.columns, table.identity)
    return steps(series, edition, wide=wide, added=added)


def stored_table(connection: Connection, series: Series[Any]) -> StoredTable | None:
    """Return the existing table of a series; None if there is none."""
    name = (series.name,)
    columns = {
        column: (_KINDS.get(str(kind), str(kind)), bool(nullable))
        for column, kind, nullable in connection.execute(_STORED_COLUMNS, name)
    }
    if not columns:
        return None
    identity = tuple(column for (column,) in connection.execute(_PRIMARY_KEY, name))
    partition_column = connection.execute(_PARTITION_COLUMN, name).fetchone()
    return StoredTable(columns, identity, None if partition_column is None else partition_column[0])


if TYPE_CHECKING:
    Plan: TypeAlias = Callable[[Connection], Sequence[Step]]

MIGRATION_LOCK: Final = 7_135_244_001

_CREATE_MIGRATIONS: Final = """
CREATE TABLE IF NOT EXISTS _grandstand_migrations (
    series TEXT NOT NULL,
    name TEXT NOT NULL,
    number INTEGER NOT NULL,
    fingerprint TEXT NOT NULL,
    applied_at BIGINT NOT NULL,
    PRIMARY KEY (series, name)
)
"""
_INSERT_MIGRATION: Final = """
INSERT INTO _grandstand_migrations (series, name, number, fingerprint, applied_at)
VALUES (%s, %s, %s, %s, %s)
ON CONFLICT (series, name) DO UPDATE
SET number = excluded.number, fingerprint = excluded.fingerprint, applied_at = excluded.applied_at
"""


class _AppliedStep(NamedTuple):
    number: int
    fingerprint: str


def migrate(
    connections: Connections,
    series: str,
    plan: Plan,
    *,
    now_us: int,
    dry_run: bool = False,
) -> tuple[Step, ...]:
    """Run the steps of a plan that are due, in one transaction, and return them.

    The plan is made while this migration holds the lock, so concurrent migrations run one after
    the other. New steps are numbered after the last one recorded. With `dry_run` nothing is
    changed.

    Raises SeriesChanged if a step that runs once has been run with other SQL.
    """
    with connections.transaction() as connection:
        if dry_run:
            return _due_steps(connection, series, plan(connection))
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (MIGRATION_LOCK,))
        connection.execute(_CREATE_MIGRATIONS)
        due = _due_steps(connection, series, plan(connection))
        for step in due:
            connection.execute(step.sql)
            record = (series, step.name, step.number, step.fingerprint, now_us)
            connection.execute(_INSERT_MIGRATION, record)
        return due


def create_schema(connections: Connections, schema: str) -> None:
    """Create the schema if it does not exist."""
    with connections.transaction() as connection:
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (MIGRATION_LOCK,))
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {quote_name(schema)}")


def _due_steps(connection: Connection, series: str, steps: Sequence[Step]) -> tuple[Step, ...]:
    applied = _applied_steps(connection, series)
    last = max((record.number for record in applied.values()), default=0)
    if any(step.name == TABLE for step in steps):
        applied = {}
    due = []
    for step in steps:
        record = applied.get(step.name)
        if record is None or step.due == "always":
            last += 1
            due.append(replace(step, number=last))
        elif record.fingerprint != step.fingerprint:
            if step.due == "once":
                raise SeriesChanged(
                    f"{series}: the step {step.name!r} was run with other SQL. Restore the "
                    "previous declaration, or declare the series under a new name."
                )
            due.append(replace(step, number=record.number))
    return tuple(due)


def _applied_steps(connection: Connection, series: str) -> dict[str, _AppliedStep]:
    table = connection.execute(
        "SELECT to_regclass(format('%I._grandstand_migrations', current_schema))"
    ).fetchone()
    if table is None or table[0] is None:
        return {}
    rows = connection.execute(
        "SELECT name, number, fingerprint FROM _grandstand_migrations WHERE series = %s", (series,)
    )
    return {name: _AppliedStep(number, fingerprint) for name, number, fingerprint in rows}


_PARTITION_BOUNDS: Final = re.compile(r"FROM \('?(-?\d+|MINVALUE)'?\) TO \('?(-?\d+|MAXVALUE)'?\)")


def list_partitions(connection: Connection, series: Series[Any]) -> dict[Span, str]:
    """Return the quoted names of the existing partitions by their time span."""
    rows = connection.execute(
        "SELECT pg_get_expr(part.relpartbound, part.oid), part.oid::regclass::text "
        "FROM pg_inherits JOIN pg_class AS part ON part.oid = inhrelid "
        f"WHERE inhparent = {quote_table(series)}::regclass"
    )
    partitions: dict[Span, str] = {}
    for bounds, name in rows:
        match = _PARTITION_BOUNDS.search(bounds)
        if match is not None:
            lower, upper = match.groups()
            start = MIN_TIME if lower == "MINVALUE" else int(lower)
            partitions[Span(start, END_OF_TIME if upper == "MAXVALUE" else int(upper))] = name
    return dict(sorted(partitions.items()))


def create_partitions(
    connections: Connections, series: Series[Any], starts: Iterable[int]
) -> tuple[Span, ...]:
    """Create the missing partitions of chunks and return the spans of all partitions.

    Where partitions of another length exist, a new one fills only the space between them.
    """
    ordered = sorted(starts)
    with connections.transaction() as connection:
        spans = tuple(list_partitions(connection, series))
        if not any(missing_spans(series, start, spans) for start in ordered):
            return spans
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (MIGRATION_LOCK,))
        spans = tuple(list_partitions(connection, series))
        for start in ordered:
            for span in missing_spans(series, start, spans):
                connection.execute(create_partition_sql(series, *span))
                spans = (*spans, span)
        return spans


def missing_spans(series: Series[Any], start: int, existing: Iterable[Span]) -> list[Span]:
    """Return the parts of the chunk from `start` that no existing span covers."""
    position, end = max(start, MIN_TIME), min(start + series.chunk_us, END_OF_TIME)
    missing = []
    for span in sorted(span for span in existing if span.start < end and span.end > position):
        if span.start > position:
            missing.append(Span(position, span.start))
        position = span.end
    if position < end:
        missing.append(Span(position, end))
    return missing


def drop_partitions(connections: Connections, series: Series[Any], before: int) -> int:
    """Drop the partitions that end before a time and return how many were dropped.

    A partition that is still being read after a second is left to the next run.
    """
    with connections.transaction() as connection:
        partitions = list_partitions(connection, series)
    old = [name for span, name in partitions.items() if span.end <= before]
    return sum(1 for _ in takewhile(partial(_drop_partition, connections), old))


def _drop_partition(connections: Connections, name: str) -> bool:
    try:
        with connections.transaction() as connection:
            # All later readers wait behind a waiting DROP TABLE.
            connection.execute("SET LOCAL lock_timeout = '1s'")
            connection.execute(f"DROP TABLE IF EXISTS {name}")
    except TableLocked:
        return False
    return True


_LICENSE: Final = """
SELECT current_setting('timescaledb.license', TRUE)
FROM pg_extension WHERE extname = 'timescaledb'
"""
_CHUNKS: Final = """
SELECT chunk.range_start_integer, chunk.range_end_integer, chunk.is_compressed,
    coalesce(size.total_bytes, 0)
FROM timescaledb_information.chunks AS chunk
JOIN pg_class AS class ON class.relname = chunk.hypertable_name
JOIN pg_namespace AS namespace
    ON namespace.oid = class.relnamespace AND namespace.nspname = chunk.hypertable_schema
LEFT JOIN chunks_detailed_size({table}) AS size
    ON size.chunk_schema = chunk.chunk_schema AND size.chunk_name = chunk.chunk_name
WHERE class.oid = {table}::regclass
ORDER BY 1
"""
_IS_HYPERTABLE: Final = """
SELECT FROM timescaledb_information.dimensions AS dimension
JOIN pg_class AS class ON class.relname = dimension.hypertable_name
JOIN pg_namespace AS namespace
    ON namespace.oid = class.relnamespace AND namespace.nspname = dimension.hypertable_schema
WHERE class.oid = {table}::regclass AND dimension.column_name = %s
"""
_UNLIMITED_DECOMPRESSION: Final = """
SELECT set_config(name, '0', TRUE)
FROM (VALUES ('timescaledb.max_tuples_decompressed_per_dml_transaction')) AS setting (name)
WHERE current_setting(name, TRUE) IS NOT NULL
"""


class ChunkInfo(NamedTuple):
    """A partition or TimescaleDB chunk as the server describes it."""

    span: Span
    compressed: bool
    size_bytes: int


def detect_edition(connections: Connections) -> Edition:
    """Return the edition of a server."""
    with connections.transaction() as connection:
        row = connection.execute(_LICENSE).fetchone()
    if row is None:
        return "plain"
    return "timescale-apache" if row[0] == "apache" else "timescale"


def list_chunks(connection: Connection, series: Series[Any]) -> list[ChunkInfo]:
    """Return the TimescaleDB chunks of a series, in order."""
    rows = connection.execute(_CHUNKS.format(table=quote_table(series)))
    return [
        ChunkInfo(Span(start, end), bool(compressed), size) for start, end, compressed, size in rows
    ]


def drop_chunks(connection: Connection, series: Series[Any], before: int) -> int:
    """Drop the TimescaleDB chunks that end before a time and return how many were dropped."""
    call = f"SELECT drop_chunks({quote_table(series)}, older_than => %s::bigint)"
    return len(connection.execute(call, (before,)).fetchall())


def is_hypertable(connection: Connection, series: Series[Any]) -> bool:
    """Return whether the table of a series is a hypertable by its time column."""
    sql = _IS_HYPERTABLE.format(table=quote_table(series))
    return connection.execute(sql, (series.time,)).fetchone() is not None


def allow_unlimited_decompression(connection: Connection) -> None:
    """Lift the limit on rows inserted into compressed chunks for this transaction."""
    connection.execute(_UNLIMITED_DECOMPRESSION)
