"""Kept here: what a server holds of a series: its chunks, their rows and bytes, its gaps."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from grandstand.storage.series.declaration import Series, Span
from grandstand.storage.series.engines.postgres.ddl import Edition
from grandstand.storage.series.engines.postgres.names import quoted, relation
from grandstand.storage.series.engines.postgres.partitions import existing
from grandstand.storage.series.window import ChunkState, ChunkStatus, SeriesStatus

if TYPE_CHECKING:
    from grandstand.storage.series.engines.postgres.connections import Connection

_CHUNKS: Final = """
SELECT chunk.range_start_integer, chunk.range_end_integer, chunk.is_compressed,
    coalesce(size.total_bytes, 0)
FROM timescaledb_information.chunks AS chunk
JOIN pg_class AS class ON class.relname = chunk.hypertable_name
JOIN pg_namespace AS namespace
    ON namespace.oid = class.relnamespace AND namespace.nspname = chunk.hypertable_schema
LEFT JOIN chunks_detailed_size({relation}) AS size
    ON size.chunk_schema = chunk.chunk_schema AND size.chunk_name = chunk.chunk_name
WHERE class.oid = {relation}::regclass
ORDER BY 1
"""


class _Chunk(NamedTuple):
    span: Span
    compressed: bool
    size_bytes: int


def status(
    connection: Connection, series: Series[Any], edition: Edition, now_us: int
) -> SeriesStatus:
    """Tell of every chunk that holds rows, and of the spans without any between them.

    Every row is counted, which reads the whole series.
    """
    chunks = _partitions(connection, series) if edition == "plain" else _chunks(connection, series)
    counts = _counts(connection, series, [chunk.span.start for chunk in chunks])
    filled = tuple(
        ChunkStatus(
            start=chunk.span.start,
            end=chunk.span.end,
            state=_state(chunk, now_us),
            rows=counts[number],
            size_bytes=chunk.size_bytes,
        )
        for number, chunk in enumerate(chunks, start=1)
        if number in counts
    )
    gaps = [(before.end, after.start) for before, after in pairwise(filled)]
    return SeriesStatus(series.name, filled, tuple(gap for gap in gaps if gap[0] < gap[1]))


def _state(chunk: _Chunk, now_us: int) -> ChunkState:
    if chunk.compressed:
        return "baked"
    return "open" if now_us < chunk.span.end else "closed"


def _partitions(connection: Connection, series: Series[Any]) -> list[_Chunk]:
    found = existing(connection, series)
    sizes = connection.execute(
        "SELECT pg_total_relation_size(name::regclass) "
        "FROM unnest(%s::text[]) WITH ORDINALITY AS part (name, at) ORDER BY at",
        (list(found.values()),),
    ).fetchall()
    return [_Chunk(span, False, size) for span, (size,) in zip(found, sizes, strict=True)]


def _chunks(connection: Connection, series: Series[Any]) -> list[_Chunk]:
    rows = connection.execute(_CHUNKS.format(relation=relation(series)))
    return [_Chunk(Span(start, end), bool(packed), size) for start, end, packed, size in rows]


def _counts(connection: Connection, series: Series[Any], starts: list[int]) -> dict[int, int]:
    if not starts:
        return {}
    rows = connection.execute(
        f"SELECT width_bucket({quoted(series.time)}, %s::bigint[]), count(*) "
        f"FROM {quoted(series.name)} GROUP BY 1",
        (starts,),
    )
    return {int(number): int(count) for number, count in rows}
