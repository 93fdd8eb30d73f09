"""Kept here: the statements that make the table of a series, for each edition of the server."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from typing import Any, Final, Literal, TypeAlias

from grandstand.storage.series.declaration import Column, Series, SeriesIndex
from grandstand.storage.series.engines.postgres.names import (
    TYPES,
    check_names,
    listed,
    literal,
    quoted,
    relation,
    rest_of_identity,
)

Edition: TypeAlias = Literal["plain", "timescale", "timescale-apache"]
Due: TypeAlias = Literal["once", "changed", "always"]

TABLE: Final = "table"
NOW_FUNCTION: Final = "grandstand_now_us"
LOWEST: Final = -(2**63)
PAST_HIGHEST: Final = 2**63

# With an integer time the policies' own schedule would be once a day.
_SCHEDULE: Final = "INTERVAL '1 hour'"


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a migration: it may be done twice; steps are done in order of their numbers.

    A step is known by its name. `due` tells when it is done: once, where a changed text stops the
    migration; again whenever its text has changed; or always, because it is only asked for where
    what it makes is missing.
    """

    number: int
    name: str
    sql: str
    due: Due = "once"

    @property
    def fingerprint(self) -> str:
        """What is recorded of the text, to tell later whether it has changed."""
        return sha256(self.sql.encode()).hexdigest()


def steps(
    series: Series[Any],
    edition: Edition,
    *,
    wide: bool = False,
    added: tuple[Column, ...] | None = None,
) -> tuple[Step, ...]:
    """Answer what makes a series' table on a server of that edition, in order.

    `wide` compresses for very many keys: without segments, ordered by the key first. `added` are
    the columns a table that is already there lacks. Raises SeriesFault for names PostgreSQL cannot
    keep.
    """
    check_names(series)
    if added is None:
        found = [_table(series, edition)]
    else:
        found = [_added(series, column) for column in added]
    found += _time_index(series) if edition == "plain" else _hypertable(series)
    found += _indexes(series)
    if edition == "timescale":
        found += _policies(series, wide=wide)
    return tuple(Step(number, *parts) for number, parts in enumerate(found, start=1))


def table_columns(series: Series[Any]) -> str:
    """Write the columns of a series as its table declares them."""
    return ",\n    ".join(map(_column, series.columns))


def partition_name(series: Series[Any], start: int) -> str:
    """Answer what the partition from that moment is called."""
    return f"{series.name}_p{start}" if start >= 0 else f"{series.name}_m{-start}"


def partition(series: Series[Any], start: int, end: int) -> str:
    """Write the statements that make one partition, without keeping readers of others waiting.

    To attach a table takes a weaker lock than to make it as a partition.
    """
    name = quoted(partition_name(series, start))
    lower = "MINVALUE" if start <= LOWEST else str(start)
    upper = "MAXVALUE" if end >= PAST_HIGHEST else str(end)
    return (
        f"CREATE TABLE {name} (LIKE {quoted(series.name)} INCLUDING DEFAULTS);\n"
        f"ALTER TABLE {quoted(series.name)} ATTACH PARTITION {name}\n"
        f"    FOR VALUES FROM ({lower}) TO ({upper})"
    )


def compression_order(series: Series[Any], *, wide: bool) -> str:
    """Write the order of compressed rows: the whole identity, so that repeats are found fast."""
    rest = tuple(name for name in rest_of_identity(series) if name != series.key)
    if wide:
        return listed((series.key, series.time, *rest))
    return ", ".join([f"{quoted(series.time)} DESC", *map(quoted, rest)])


def microseconds(span: timedelta) -> int:
    """Answer how many microseconds a span lasts."""
    return span // timedelta(microseconds=1)


_Parts: TypeAlias = tuple[str, str] | tuple[str, str, Due]


def _column(column: Column) -> str:
    # Byte order, so that rows come in the same order from every engine and under every locale.
    collation = ' COLLATE "C"' if column.kind == "text" else ""
    empty = "" if column.nullable else " NOT NULL"
    return f"{quoted(column.name)} {TYPES[column.kind]}{collation}{empty}"


def _table(series: Series[Any], edition: Edition) -> _Parts:
    sql = (
        f"CREATE TABLE IF NOT EXISTS {quoted(series.name)} (\n"
        f"    {table_columns(series)},\n"
        f"    PRIMARY KEY ({listed(series.identity)})\n)"
    )
    if edition == "plain":
        sql += f" PARTITION BY RANGE ({quoted(series.time)})"
    return TABLE, sql, "always"


def _added(series: Series[Any], column: Column) -> _Parts:
    # The table is locked for a moment. To wait long for it behind a reader would keep everyone
    # else waiting as well.
    return (
        f"column {column.name}",
        (
            "SET LOCAL lock_timeout = '10s';\n"
            f"ALTER TABLE {quoted(series.name)} ADD COLUMN IF NOT EXISTS {_column(column)}"
        ),
        "always",
    )


def _time_index(series: Series[Any]) -> Iterator[_Parts]:
    name = quoted(f"{series.name}_time_brin")
    yield (
        "time index",
        (
            f"CREATE INDEX IF NOT EXISTS {name} ON {quoted(series.name)}\n"
            f"    USING brin ({quoted(series.time)})"
        ),
    )


def _hypertable(series: Series[Any]) -> Iterator[_Parts]:
    own_index = "FALSE" if series.identity[0] == series.time else "TRUE"
    yield (
        "hypertable",
        (
            f"SELECT create_hypertable({relation(series)}, {literal(series.time)},\n"
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
            f"SELECT set_integer_now_func({relation(series)}, {literal(NOW_FUNCTION)},\n"
            "    replace_if_exists => TRUE)"
        ),
        "changed",
    )


def _indexes(series: Series[Any]) -> Iterator[_Parts]:
    for index in series.indexes:
        yield f"index {index.name}", _index(series, index)


def _index(series: Series[Any], index: SeriesIndex) -> str:
    columns = ", ".join(
        f"{quoted(name[1:])} DESC" if name.startswith("-") else quoted(name)
        for name in index.columns
    )
    return f"CREATE INDEX IF NOT EXISTS {quoted(index.name)} ON {quoted(series.name)} ({columns})"


def _policies(series: Series[Any], *, wide: bool) -> Iterator[_Parts]:
    if series.compress_after is not None:
        segments = literal("" if wide else quoted(series.key))
        order = literal(compression_order(series, wide=wide))
        yield (
            "compression",
            (
                f"ALTER TABLE {quoted(series.name)} SET (\n"
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
                f"SELECT remove_compression_policy({relation(series)}, if_exists => TRUE);\n"
                f"SELECT add_compression_policy({relation(series)},\n"
                f"    compress_after => {after}::bigint, if_not_exists => TRUE,\n"
                f"    schedule_interval => {_SCHEDULE})"
            ),
            "changed",
        )
    yield "retention policy", _retention(series), "changed"


def _retention(series: Series[Any]) -> str:
    """Write the retention; a series that is now kept for ever loses the policy it had."""
    removal = f"SELECT remove_retention_policy({relation(series)}, if_exists => TRUE)"
    if series.retain is None:
        return removal
    return (
        f"{removal};\n"
        f"SELECT add_retention_policy({relation(series)},\n"
        f"    drop_after => {microseconds(series.retain)}::bigint, if_not_exists => TRUE,\n"
        f"    schedule_interval => {_SCHEDULE})"
    )
