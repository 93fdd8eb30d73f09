"""The size of every table and series."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import Any, Literal

from grandstand.host.registry import APPS, tables_by_owner
from grandstand.storage.series.declaration import Series
from grandstand.storage.series.engines.protocol import SeriesEngine
from grandstand.storage.tables.declaration.table import Table
from grandstand.storage.tables.errors import TableNotFound
from grandstand.storage.tables.store import AsyncStore, Store


@dataclass(frozen=True, slots=True)
class StoragePart:
    """One table or series; rows and bytes are None if it does not exist yet."""

    name: str
    kind: Literal["table", "series"]
    owner: str
    engine: str
    rows: int | None
    size_bytes: int | None
    simulated: bool = False


async def describe_storage(store: AsyncStore, series: SeriesEngine) -> tuple[StoragePart, ...]:
    """Return the size of every table and series, off the event loop."""
    return await asyncio.to_thread(_described, store.store, series)


async def describe_demo_storage(
    store: AsyncStore, series: SeriesEngine, apps: frozenset[str]
) -> tuple[StoragePart, ...]:
    """Return the size of the tables and series of simulated apps, off the event loop."""
    parts = await describe_storage(store, series)
    return tuple(replace(part, simulated=True) for part in parts if part.owner in apps)


def _described(store: Store, engine: SeriesEngine) -> tuple[StoragePart, ...]:
    owned = tables_by_owner()
    tables = [_table(store, owner, one) for owner, its in owned.items() for one in its]
    series = [_series(engine, app.name, one) for app in APPS for one in app.series]
    return (*tables, *series)


def _table(store: Store, owner: str, table: Table) -> StoragePart:
    name, engine = store.session.name(table), store.session.engine
    kind = type(engine).__name__.removesuffix("Engine").lower()
    try:
        told = engine.describe_table(name)
    except TableNotFound:
        return StoragePart(name, "table", owner, kind, None, None)
    return StoragePart(name, "table", owner, kind, told.items, told.size_bytes)


def _series(engine: SeriesEngine, owner: str, series: Series[Any]) -> StoragePart:
    engine.prepare(series)
    chunks = engine.status(series).chunks
    rows = sum(chunk.rows + chunk.late for chunk in chunks)
    size = sum(chunk.size_bytes for chunk in chunks)
    kind = type(engine).__name__.removesuffix("Engine").lower()
    return StoragePart(series.name, "series", owner, kind, rows, size)
