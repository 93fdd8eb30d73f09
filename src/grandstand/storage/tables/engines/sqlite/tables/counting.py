"""Kept here: how much a table and its indexes hold, told in bounded time."""

from __future__ import annotations

from typing import Final

from grandstand.storage.tables.engines.sqlite.file.connections import Lane
from grandstand.storage.tables.engines.sqlite.tables.layout import Layout

# DynamoDB's own figures are up to six hours old. Ours are exact while counting is quick, and
# above that an estimate from stretches spread evenly over the table.
_EXACT: Final = 10_000
_STRETCHES: Final = 64
_STRETCH: Final = 100


def count_items(lane: Lane, layout: Layout) -> tuple[tuple[int, int], dict[str, tuple[int, int]]]:
    """Answer items and bytes of the table, and of each index by its name.

    An index is measured by the whole of its items, whatever it shows of them.
    """
    sums = ["count(*)", "total(size)"]
    for way in layout.ways.values():
        inside = " AND ".join(f"{column} IS NOT NULL" for column in way.sparse) or "1"
        sums += [f"total({inside})", f"total(CASE WHEN {inside} THEN size END)"]
    table, told = layout.physical.table, ", ".join(sums)
    looked_at = ", ".join({"size", *(name for way in layout.ways.values() for name in way.sparse)})
    found = lane.execute(
        f"SELECT {told} FROM (SELECT {looked_at} FROM {table} NOT INDEXED LIMIT {_EXACT + 1})"
    ).fetchone()
    if found[0] > _EXACT:
        found = _estimate(lane, table, told)
    counts = [round(number) for number in found]
    indexes = {
        name: (counts[2 * at + 2], counts[2 * at + 3]) for at, name in enumerate(layout.ways)
    }
    return (counts[0], counts[1]), indexes


def _estimate(lane: Lane, table: str, told: str) -> list[float]:
    low, high = lane.execute(
        f"SELECT (SELECT min(id) FROM {table}), (SELECT max(id) FROM {table})"
    ).fetchone()
    span = high - low + 1
    totals: list[float] = []
    for at in range(_STRETCHES):
        start = low + (span - _STRETCH) * at // (_STRETCHES - 1)
        row = lane.execute(
            f"SELECT {told} FROM {table} WHERE id BETWEEN ? AND ?", (start, start + _STRETCH - 1)
        ).fetchone()
        totals = [a + b for a, b in zip(totals or [0.0] * len(row), row, strict=True)]
    return [total * span / (_STRETCHES * _STRETCH) for total in totals]
