"""Kept here: removing items whose time is over."""

from __future__ import annotations

from typing import Final

from grandstand.storage.tables.encoding.packing import unpack
from grandstand.storage.tables.engines.sqlite.file.connections import Lane
from grandstand.storage.tables.engines.sqlite.items.changes import record_change, trim_changes
from grandstand.storage.tables.engines.sqlite.tables.catalogue import layout_of, read_record
from grandstand.storage.tables.engines.sqlite.tables.shadow import note

# Other writers wait while a stretch is swept, so it is kept short.
SWEPT_AT_ONCE: Final = 100

_FIVE_YEARS_SECONDS: Final = 5 * 365 * 24 * 3600


def sweep(lane: Lane, request: tuple[str, int]) -> int:
    """Remove some expired items and some old changes; answer how many items went.

    A moment more than five years gone is taken for a mistake and left, as DynamoDB does.
    """
    name, limit = request
    layout = layout_of(lane, name)
    if layout.ttl is None and layout.view is None:
        return 0
    with lane.writing:
        trim_changes(lane, read_record(lane, name))
        if layout.ttl is None:
            return 0
        now = lane.shared.clock.epoch()
        physical = layout.physical
        rows = lane.execute(
            f"SELECT pk, sk, item FROM {physical.table} INDEXED BY {physical.expiring} "
            "WHERE ttl IS NOT NULL AND ttl < ? AND ttl > ? ORDER BY ttl LIMIT ?",
            (now, now - _FIVE_YEARS_SECONDS, limit),
        ).fetchall()
        for pk, sk, blob in rows:
            lane.execute(layout.remove, (pk, sk))
            if layout.view is not None:
                record_change(lane, layout, (blob, None), unpack(blob), expired=True)
            if layout.delayed:
                note(lane, layout, (pk, sk))
    return len(rows)
