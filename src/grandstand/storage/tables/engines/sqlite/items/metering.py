"""Kept here: what a write did to each index, for whoever counts capacity."""

from __future__ import annotations

from grandstand.storage.tables.engines.sqlite.ordered.ways import Way
from grandstand.storage.tables.engines.sqlite.tables.layout import Layout
from grandstand.storage.tables.requests import IndexWrite
from grandstand.storage.tables.values import Item, item_size, same


def index_writes(layout: Layout, old: Item | None, new: Item | None) -> tuple[IndexWrite, ...]:
    """Tell which indexes a write changed; one whose view stayed the same costs nothing."""
    writes = []
    for name, way in layout.ways.items():
        before, after = _view(way, old), _view(way, new)
        if before is None and after is None:
            continue
        if before is not None and after is not None and same(before, after):
            continue
        writes.append(
            IndexWrite(
                index=name,
                old_bytes=0 if before is None else item_size(before),
                new_bytes=0 if after is None else item_size(after),
                key_changed=_moved(way, before, after),
            )
        )
    return tuple(writes)


def _view(way: Way, item: Item | None) -> Item | None:
    if item is None or not all(name in item for name in way.key_names):
        return None
    if way.mask is None:
        return item
    return {name: value for name, value in item.items() if name in way.mask}


def _moved(way: Way, before: Item | None, after: Item | None) -> bool:
    if before is None or after is None:
        return False
    return any(not same(before[name], after[name]) for name in way.key_names)
