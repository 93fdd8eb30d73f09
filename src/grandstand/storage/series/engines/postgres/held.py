"""Kept here: the table a server already holds of a series, and which columns it still lacks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from grandstand.storage.series.declaration import Series
from grandstand.storage.series.engines.postgres.ddl import Edition, Step, steps
from grandstand.storage.series.engines.postgres.names import TYPES
from grandstand.storage.series.growing import lacking, refuse

if TYPE_CHECKING:
    from grandstand.storage.series.engines.postgres.connections import Connection

_COLUMNS: Final = """
SELECT attname, format_type(atttypid, atttypmod), NOT attnotnull
FROM pg_attribute
WHERE attrelid = to_regclass(format('%%I.%%I', current_schema, %s::text))
    AND attnum > 0 AND NOT attisdropped
ORDER BY attnum
"""
_IDENTITY: Final = """
SELECT attname FROM pg_index
JOIN pg_attribute ON attrelid = indrelid AND attnum = ANY (indkey)
WHERE indisprimary AND indrelid = to_regclass(format('%%I.%%I', current_schema, %s::text))
ORDER BY array_position(indkey::smallint[], attnum)
"""
_CUT_BY: Final = """
SELECT attname FROM pg_partitioned_table
JOIN pg_attribute ON attrelid = partrelid AND attnum = partattrs[0]
WHERE partstrat = 'r' AND partnatts = 1
    AND partrelid = to_regclass(format('%%I.%%I', current_schema, %s::text))
"""

_KINDS: Final[dict[str, str]] = {written.lower(): kind for kind, written in TYPES.items()}


@dataclass(frozen=True, slots=True)
class Held:
    """A table as the server has it.

    Of each column the kind and whether it may be empty; the columns of its primary key; and the
    column its partitions are cut by, None when it has no partitions.
    """

    columns: Mapping[str, tuple[str, bool]]
    identity: tuple[str, ...]
    cut_by: str | None


def planned(
    connection: Connection, series: Series[Any], edition: Edition, *, wide: bool
) -> tuple[Step, ...]:
    """Answer the steps a series needs on this server: the whole table, or the columns it lacks.

    Raises SeriesChanged when the table there differs by more than columns that may be empty.
    """
    found = held(connection, series)
    if found is None:
        return steps(series, edition, wide=wide)
    if edition == "plain" and found.cut_by != series.time:
        refuse(series, f"the server's table is not partitioned by {series.time}")
    added = lacking(series, found.columns, found.identity)
    return steps(series, edition, wide=wide, added=added)


def held(connection: Connection, series: Series[Any]) -> Held | None:
    """Answer what the server has under the name of a series; None when there is nothing."""
    name = (series.name,)
    columns = {
        column: (_KINDS.get(str(kind), str(kind)), bool(empty))
        for column, kind, empty in connection.execute(_COLUMNS, name)
    }
    if not columns:
        return None
    identity = tuple(column for (column,) in connection.execute(_IDENTITY, name))
    cut_by = connection.execute(_CUT_BY, name).fetchone()
    return Held(columns, identity, None if cut_by is None else cut_by[0])
