"""Reading, appending, status and verification of series on PostgreSQL."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from operator import itemgetter, lt
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, TypeVar

from grandstand.core.errors import Broken, NotFound
from grandstand.storage.series.declaration import (
    Column,
    Kind,
    Series,
    SeriesFault,
    Shape,
    shape_of,
    validate_rows,
)
from grandstand.storage.series.engines.postgres.schema import (
    END_OF_TIME,
    MIN_TIME,
    TYPES,
    ChunkInfo,
    Edition,
    allow_unlimited_decompression,
    is_hypertable,
    list_chunks,
    list_partitions,
    missing_spans,
    quote_name,
    quote_names,
    quote_table,
    rest_of_identity,
)
from grandstand.storage.series.errors import SeriesChanged
from grandstand.storage.series.query import Bars, ChunkState, ChunkStatus, SeriesStatus, Window
from grandstand.storage.series.verify import Finding

if TYPE_CHECKING:
    import psycopg
    import pyarrow as pa

    from grandstand.storage.series.engines.postgres.connection import Connection
    from grandstand.storage.series.engines.postgres.engine import PostgresEngine

    Cursor: TypeAlias = psycopg.Cursor[tuple[Any, ...]]

R = TypeVar("R", bound=tuple[Any, ...])

TABLE_ROWS: Final = 10_000

_INTEGER_KINDS: Final = frozenset(("int64", "int32", "int16"))
_STAGING_PREFIX: Final = "_grandstand_incoming_"
_FIRST_BACKOFF: Final = 16
_LONGEST_BACKOFF: Final = 1024
_MIGRATE: Final = "run `grandstand series migrate`"
_RUN_UPKEEP: Final = "run `grandstand series upkeep`"
_INVALID_INDEXES: Final = """
WITH RECURSIVE part (oid) AS (
    SELECT {table}::regclass::oid
    UNION SELECT inhrelid FROM pg_inherits JOIN part ON part.oid = inhparent
)
SELECT indexrelid::regclass::text FROM pg_index JOIN part ON part.oid = indrelid
WHERE NOT indisvalid OR NOT indisready ORDER BY 1
"""


class Statement(NamedTuple):
    """SQL and its parameters."""

    sql: str
    parameters: tuple[Any, ...]


def rows_statement(window: Window[R]) -> Statement:
    """Return the query for the rows of a window; JSON comes as text."""
    columns = ", ".join(map(_column_as_read, window.series.columns))
    return _select(window, columns, ordered=window.order != "any")


def bars_statement(bars: Bars[R]) -> Statement:
    """Return the query for the bars of a window.

    The first and last value of a bucket are found by row numbers, which the server can compute on
    disk; arrays would need memory for a whole bucket. Rows without a value are counted, but are
    neither first nor last.

    Raises SeriesFault if the bucket size or a column is invalid.
    """
    series = bars.window.series
    _check_bars(bars)
    names = (series.key, *series.identity, *filter(None, (bars.value, bars.total)))
    columns = quote_names(tuple(dict.fromkeys(names)))
    rows = _select(bars.window, columns, ordered=bars.window.limit is not None)
    time, value = quote_name(series.time), quote_name(bars.value) if bars.value else "NULL::bigint"
    total = quote_name(bars.total) if bars.total else "NULL::bigint"
    size = f"{bars.bucket_us}::bigint"
    bucket = f"{time} - mod(mod({time}, {size}) + {size}, {size})"
    first, last = (
        f"row_number() OVER (PARTITION BY {quote_name(series.key)}, {bucket} "
        f"ORDER BY ({value}) IS NULL, {_order_by(series, direction)})"
        for direction in ("ASC", "DESC")
    )
    numbered = (
        f'SELECT {quote_name(series.key)}::text COLLATE "C" AS bar_key, {bucket} AS bar_start, '
        f"{value} AS bar_value, {total} AS bar_total, {first} AS first, {last} AS last "
        f"FROM ({rows.sql}) AS windowed"
    )
    sql = (
        "SELECT bar_key, bar_start, count(*), sum(bar_total), "
        "max(bar_value) FILTER (WHERE first = 1), max(bar_value), min(bar_value), "
        "max(bar_value) FILTER (WHERE last = 1) "
        f"FROM ({numbered}) AS numbered GROUP BY bar_key, bar_start ORDER BY bar_key, bar_start"
    )
    return Statement(sql, rows.parameters)


def _select(window: Window[R], columns: str, *, ordered: bool) -> Statement:
    series = window.series
    conditions, parameters = _conditions(window)
    sql = f"SELECT {columns} FROM {quote_name(series.name)} WHERE {' AND '.join(conditions)}"
    if ordered:
        sql += f" ORDER BY {_order_by(series, 'DESC' if window.order == 'newest' else 'ASC')}"
    if window.limit is not None:
        sql += " LIMIT %s"
        parameters.append(min(max(window.limit, 0), END_OF_TIME - 1))
    return Statement(sql, tuple(parameters))


def _conditions(window: Window[R]) -> tuple[list[str], list[Any]]:
    series = window.series
    if window.end <= window.start or window.start >= END_OF_TIME or window.end <= MIN_TIME:
        return ["FALSE"], []
    conditions = [f"{quote_name(series.time)} >= %s::bigint"]
    parameters: list[Any] = [max(window.start, MIN_TIME)]
    if window.end < END_OF_TIME:
        conditions.append(f"{quote_name(series.time)} < %s::bigint")
        parameters.append(window.end)
    if window.keys:
        conditions.append(f"{_key_as_text(series)} = ANY(%s::text[])")
        parameters.append(list(window.keys))
    return conditions, parameters


def _key_as_text(series: Series[Any]) -> str:
    (column,) = (column for column in series.columns if column.name == series.key)
    return quote_name(series.key) if column.kind == "text" else f"{quote_name(series.key)}::text"


def _order_by(series: Series[Any], direction: str) -> str:
    names = (series.time, *rest_of_identity(series))
    return ", ".join(f"{quote_name(name)} {direction}" for name in names)


def _column_as_read(column: Column) -> str:
    return f"{quote_name(column.name)}::text" if column.kind == "json" else quote_name(column.name)


def _check_bars(bars: Bars[R]) -> None:
    series = bars.window.series
    if bars.bucket_us <= 0:
        raise SeriesFault(f"{series.name}: a bucket must be at least 1 microsecond long")
    integers = {column.name for column in series.columns if column.kind in _INTEGER_KINDS}
    for name in filter(None, (bars.value, bars.total)):
        if name not in integers:
            raise SeriesFault(
                f"{series.name}: {name} is not an integer column. "
                f"Integer columns: {', '.join(sorted(integers))}."
            )


@dataclass(frozen=True, slots=True)
class CopyPlan:
    """How the rows of a series are sent. Computed once, since it costs as much as many rows."""

    series: Series[Any]
    columns: tuple[Column, ...]
    shape: Shape
    time_at: int
    types: tuple[str, ...]
    copy_direct: str | None
    create_staging: str
    copy_staging: str
    merge_staging: str
    identity: Callable[[tuple[Any, ...]], Any]

    def validate(self, rows: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        """Return rows as they are sent.

        Raises SeriesFault if a row does not fit the columns.
        """
        return validate_rows(self.series.name, self.columns, self.shape, rows)

    def times(self, rows: Sequence[tuple[Any, ...]]) -> list[int]:
        """Return the times of rows."""
        return [*map(itemgetter(self.time_at), rows)]


def copy_plan(series: Series[Any]) -> CopyPlan:
    """Return the copy plan of a series."""
    columns = series.columns
    types = tuple(map(_copy_type, columns))
    declared = ", ".join(
        f"{quote_name(column.name)} {sql_type}"
        for column, sql_type in zip(columns, types, strict=True)
    )
    order = (series.time, *rest_of_identity(series))
    # The temporary table exists as long as the connection, so its name depends on its columns.
    staging = f"{_STAGING_PREFIX}{zlib.crc32(declared.encode()):08x}"
    return CopyPlan(
        series=series,
        columns=columns,
        shape=shape_of(columns),
        time_at=series.fields.index(series.time),
        types=tuple(sql_type.lower() for sql_type in types),
        copy_direct=_copy_direct_sql(series, columns),
        create_staging=(
            f"CREATE TEMPORARY TABLE IF NOT EXISTS {staging} ({declared}) ON COMMIT DELETE ROWS"
        ),
        copy_staging=f"COPY {staging} FROM STDIN (FORMAT BINARY)",
        merge_staging=_merge_sql(series, columns, staging),
        identity=itemgetter(*(series.fields.index(name) for name in order)),
    )


@dataclass(slots=True)
class DirectCopy:
    """Decides whether rows are copied into the table directly or through a temporary table.

    A direct copy takes the server half as long, but fails at the first row that exists already and
    leaves dead rows behind. After a failure the next batches use the temporary table, twice as
    many with each further failure.
    """

    _skip: int = 0
    _backoff: int = _FIRST_BACKOFF

    @property
    def enabled(self) -> bool:
        """Whether the next batch is to be copied directly."""
        return self._skip == 0

    def record_success(self) -> None:
        """Note that a direct copy succeeded."""
        self._backoff = _FIRST_BACKOFF

    def record_duplicate(self) -> None:
        """Note that a direct copy failed because a row existed."""
        self._skip, self._backoff = self._backoff, min(2 * self._backoff, _LONGEST_BACKOFF)

    def record_staged(self) -> None:
        """Note that a batch was copied through the temporary table."""
        self._skip = max(0, self._skip - 1)


def append_rows(
    connection: Connection,
    plan: CopyPlan,
    rows: Sequence[tuple[Any, ...]],
    edition: Edition,
    direct: DirectCopy,
) -> int:
    """Insert validated rows that do not exist yet and return how many there were.

    They are inserted in order of their identity, because two writers of the same rows in different
    orders would deadlock. Rows mostly come in order of time, and the server reads a temporary
    table in the order it was filled.
    """
    ordered = _in_order(plan, rows)
    if edition == "plain" and plan.copy_direct is not None and direct.enabled:
        if _try_direct_copy(connection, plan, plan.copy_direct, ordered):
            direct.record_success()
            return len(rows)
        direct.record_duplicate()
    if edition == "timescale":
        # Late rows may belong to compressed chunks, which accept a limited number by default.
        allow_unlimited_decompression(connection)
    with connection.cursor() as cursor:
        cursor.execute(plan.create_staging)
        _copy(cursor, plan.copy_staging, plan, ordered)
        cursor.execute(plan.merge_staging)
        direct.record_staged()
        return cursor.rowcount


def _try_direct_copy(
    connection: Connection, plan: CopyPlan, statement: str, rows: Sequence[tuple[Any, ...]]
) -> bool:
    """Copy rows into the table; return False, and store none, if one of them exists."""
    from psycopg.errors import UniqueViolation

    try:
        with connection.transaction(), connection.cursor() as cursor:
            _copy(cursor, statement, plan, rows)
    except UniqueViolation:
        return False
    return True


def _copy(cursor: Cursor, statement: str, plan: CopyPlan, rows: Sequence[tuple[Any, ...]]) -> None:
    with cursor.copy(statement) as copy:
        copy.set_types(plan.types)
        for row in rows:
            copy.write_row(row)


def _in_order(plan: CopyPlan, rows: Sequence[tuple[Any, ...]]) -> Sequence[tuple[Any, ...]]:
    times = plan.times(rows)
    if all(map(lt, times, islice(times, 1, None))):
        return rows
    return sorted(rows, key=plan.identity)


def _copy_direct_sql(series: Series[Any], columns: tuple[Column, ...]) -> str | None:
    """Return the COPY into the table; None if JSON has to be parsed from text."""
    if any(column.kind == "json" for column in columns):
        return None
    columns_sql = quote_names(series.fields)
    return f"COPY {quote_name(series.name)} ({columns_sql}) FROM STDIN (FORMAT BINARY)"


def _merge_sql(series: Series[Any], columns: tuple[Column, ...], staging: str) -> str:
    values = ", ".join(
        f"{quote_name(column.name)}::jsonb" if column.kind == "json" else quote_name(column.name)
        for column in columns
    )
    return (
        f"INSERT INTO {quote_name(series.name)} ({quote_names(series.fields)}) "
        f"SELECT {values} FROM {staging} ON CONFLICT DO NOTHING"
    )


def _copy_type(column: Column) -> str:
    # JSON is sent as text and parsed by the server.
    return "TEXT" if column.kind == "json" else TYPES[column.kind]


def arrow_schema(series: Series[Any]) -> pa.Schema:
    """Return the Arrow schema of a series, the same as of the chunk engine."""
    import pyarrow as pa

    types: dict[Kind, pa.DataType] = {
        "int64": pa.int64(),
        "int32": pa.int32(),
        "int16": pa.int16(),
        "text": pa.dictionary(pa.int32(), pa.string()),
        "bool": pa.bool_(),
        "uuid": pa.binary(16),
        "json": pa.string(),
    }
    return pa.schema(
        [pa.field(column.name, types[column.kind], column.nullable) for column in series.columns]
    )


def arrow_tables(series: Series[Any], rows: Iterable[tuple[Any, ...]]) -> Iterator[pa.Table]:
    """Convert rows to Arrow tables of a few thousand rows each. None is empty."""
    import pyarrow as pa

    schema = arrow_schema(series)
    columns = series.columns
    remaining = iter(rows)
    while batch := list(islice(remaining, TABLE_ROWS)):
        arrays = [
            pa.array(_arrow_values(column, values), type=field.type)
            for column, values, field in zip(columns, zip(*batch, strict=True), schema, strict=True)
        ]
        yield pa.Table.from_arrays(arrays, schema=schema)


def _arrow_values(column: Column, values: Sequence[Any]) -> Sequence[Any]:
    if column.kind != "uuid":
        return values
    return [None if value is None else value.bytes for value in values]


def series_status(
    connection: Connection, series: Series[Any], edition: Edition, now_us: int
) -> SeriesStatus:
    """Return the chunks that have rows and the gaps between them.

    Counts every row, which reads the whole series.
    """
    if edition == "plain":
        chunks = _list_partition_sizes(connection, series)
    else:
        chunks = list_chunks(connection, series)
    counts = _count_rows(connection, series, [chunk.span.start for chunk in chunks])
    filled = tuple(
        ChunkStatus(
            start=chunk.span.start,
            end=chunk.span.end,
            state=_chunk_state(chunk, now_us),
            rows=counts[number],
            size_bytes=chunk.size_bytes,
        )
        for number, chunk in enumerate(chunks, start=1)
        if number in counts
    )
    gaps = [(before.end, after.start) for before, after in pairwise(filled)]
    return SeriesStatus(series.name, filled, tuple(gap for gap in gaps if gap[0] < gap[1]))


def _chunk_state(chunk: ChunkInfo, now_us: int) -> ChunkState:
    if chunk.compressed:
        return "compressed"
    return "open" if now_us < chunk.span.end else "closed"


def _list_partition_sizes(connection: Connection, series: Series[Any]) -> list[ChunkInfo]:
    partitions = list_partitions(connection, series)
    sizes = connection.execute(
        "SELECT pg_total_relation_size(name::regclass) "
        "FROM unnest(%s::text[]) WITH ORDINALITY AS part (name, at) ORDER BY at",
        (list(partitions.values()),),
    ).fetchall()
    return [
        ChunkInfo(span, compressed=False, size_bytes=size)
        for span, (size,) in zip(partitions, sizes, strict=True)
    ]


def _count_rows(connection: Connection, series: Series[Any], starts: list[int]) -> dict[int, int]:
    """Return the number of rows by the position, from 1, of their chunk."""
    if not starts:
        return {}
    rows = connection.execute(
        f"SELECT width_bucket({quote_name(series.time)}, %s::bigint[]), count(*) "
        f"FROM {quote_name(series.name)} GROUP BY 1",
        (starts,),
    )
    return {int(number): int(count) for number, count in rows}


def verify_server(
    engine: PostgresEngine, series: Series[Any], on_progress: Callable[[int, int], None]
) -> Iterator[Finding]:
    """Verify the table of a series, its partitions and indexes, and read every row."""
    place = f"table {series.name}"
    try:
        pending = engine.pending(series)
    except SeriesChanged as error:
        yield Finding(series.name, place, "differs from the declaration", str(error))
        return
    for step in pending:
        yield Finding(series.name, place, f"the step {step.name!r} has not been run", _MIGRATE)
    try:
        yield from _verify_structure(engine, series, place)
        _read_all(engine, series, on_progress)
    except NotFound:
        if not pending:
            raise
    except Broken as error:
        yield Finding(series.name, place, f"cannot be read ({error})", "restore it from a backup")


def _verify_structure(engine: PostgresEngine, series: Series[Any], place: str) -> Iterator[Finding]:
    with engine.connections.transaction() as connection:
        if engine.edition == "plain":
            yield from _verify_partitions(connection, series, series.chunk_of(engine.now_us()))
        elif not is_hypertable(connection, series):
            remedy = f"call create_hypertable as in `grandstand series ddl {series.name}`"
            yield Finding(series.name, place, "is not a hypertable", remedy)
        for (name,) in connection.execute(_INVALID_INDEXES.format(table=quote_table(series))):
            yield Finding(series.name, f"index {name}", "is incomplete", f"run REINDEX on {name}")


def _verify_partitions(
    connection: Connection, series: Series[Any], current: int
) -> Iterator[Finding]:
    spans = tuple(list_partitions(connection, series))
    for start in (current, current + series.chunk_us):
        for span in missing_spans(series, start, spans):
            place = f"partition from {span.start} to {span.end}"
            yield Finding(series.name, place, "is missing", _RUN_UPKEEP)


def _read_all(
    engine: PostgresEngine, series: Series[Any], on_progress: Callable[[int, int], None]
) -> None:
    """Read every row, one chunk at a time.

    The primary key, which is part of the structure, ensures that identities are unique.

    Raises Broken if the server finds a damaged page.
    """
    chunks = engine.status(series).chunks
    time = quote_name(series.time)
    sql = (
        f"SELECT count(part::text) FROM {quote_name(series.name)} AS part "
        f"WHERE {time} >= %s AND {time} < %s"
    )
    for done, chunk in enumerate(chunks):
        on_progress(done, len(chunks))
        span = max(chunk.start, MIN_TIME), min(chunk.end, END_OF_TIME - 1)
        with engine.connections.transaction() as connection:
            connection.execute(sql, span)
    on_progress(len(chunks), len(chunks))
