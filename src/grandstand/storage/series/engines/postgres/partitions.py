"""Kept here: the partitions of a series on plain PostgreSQL, made ahead and dropped when old."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final

from grandstand.storage.series.declaration import Series, Span
from grandstand.storage.series.engines.postgres.ddl import LOWEST, PAST_HIGHEST, partition
from grandstand.storage.series.engines.postgres.failures import Occupied
from grandstand.storage.series.engines.postgres.migrate import LOCK
from grandstand.storage.series.engines.postgres.names import relation

if TYPE_CHECKING:
    from grandstand.storage.series.engines.postgres.connections import Connection, Connections

_BOUNDS: Final = re.compile(r"FROM \('?(-?\d+|MINVALUE)'?\) TO \('?(-?\d+|MAXVALUE)'?\)")


def existing(connection: Connection, series: Series[Any]) -> dict[Span, str]:
    """Answer the partitions there are, by what they hold, with their names ready to be written."""
    rows = connection.execute(
        "SELECT pg_get_expr(part.relpartbound, part.oid), part.oid::regclass::text "
        "FROM pg_inherits JOIN pg_class AS part ON part.oid = inhrelid "
        f"WHERE inhparent = {relation(series)}::regclass"
    )
    found: dict[Span, str] = {}
    for bounds, name in rows:
        match = _BOUNDS.search(bounds)
        if match is not None:
            lower, upper = match.groups()
            start = LOWEST if lower == "MINVALUE" else int(lower)
            found[Span(start, PAST_HIGHEST if upper == "MAXVALUE" else int(upper))] = name
    return dict(sorted(found.items()))


def make(connections: Connections, series: Series[Any], starts: Iterable[int]) -> tuple[Span, ...]:
    """Make the partitions of chunks, where there are none, and answer all there are.

    Where partitions of another length stand, a new one fills only the room between them.
    """
    wanted = sorted(starts)
    with connections.transaction() as connection:
        found = tuple(existing(connection, series))
        if not any(missing(series, start, found) for start in wanted):
            return found
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
        found = tuple(existing(connection, series))
        for start in wanted:
            for span in missing(series, start, found):
                connection.execute(partition(series, *span))
                found = (*found, span)
        return found


def missing(series: Series[Any], start: int, found: Iterable[Span]) -> list[Span]:
    """Answer the parts of the chunk from `start` that none of the spans found holds."""
    at, end = max(start, LOWEST), min(start + series.chunk_us, PAST_HIGHEST)
    parts = []
    for span in sorted(span for span in found if span.start < end and span.end > at):
        if span.start > at:
            parts.append(Span(at, span.start))
        at = span.end
    if at < end:
        parts.append(Span(at, end))
    return parts


def drop(connections: Connections, series: Series[Any], before: int) -> int:
    """Drop the partitions that end by a moment, and answer how many were dropped.

    To drop one waits for everyone who reads the series; what is still read after a second is left
    for the next round.
    """
    with connections.transaction() as connection:
        old = [name for span, name in existing(connection, series).items() if span.end <= before]
    return sum(1 for _ in takewhile(partial(_dropped, connections), old))


def _dropped(connections: Connections, name: str) -> bool:
    try:
        with connections.transaction() as connection:
            # To wait longer behind a reader would keep every later reader waiting as well.
            connection.execute("SET LOCAL lock_timeout = '1s'")
            connection.execute(f"DROP TABLE IF EXISTS {name}")
    except Occupied:
        return False
    return True
