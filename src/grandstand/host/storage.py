"""Kept here: what every table and series of the house holds and takes."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import Any, Literal

from grandstand.host.catalogue import APPS, tables_by_owner
from grandstand.storage.series.declaration import Series
from grandstand.storage.series.engines.protocol import SeriesEngine
from grandstand.storage.tables.declaration.table import Table
from grandstand.storage.tables.errors import TableNotFound
from grandstand.storage.tables.store import AsyncStore, Store


@dataclass(frozen=True, slots=True)
class Part:
    """One table or series; rows and bytes are None where there is none of it yet."""

    name: str
    kind: Literal["table", "series"]
    owner: str
    engine: str
    rows: int | None
    size_bytes: int | None
    simulated: bool = False


async def storage_of(store: AsyncStore, series: SeriesEngine) -> tuple[Part, ...]:
    """Describe every table and series, off the event loop."""
    return await asyncio.to_thread(_described, store.store, series)


async def simulated_storage_of(
    store: AsyncStore, series: SeriesEngine, apps: frozenset[str]
) -> tuple[Part, ...]:
    """Describe the tables and series of simulated applications, off the event loop."""
    parts = await storage_of(store, series)
    return tuple(replace(part, simulated=True) for part in parts if part.owner in apps)


def _described(store: Store, engine: SeriesEngine) -> tuple[Part, ...]:
    owned = tables_by_owner()
    tables = [_table(store, owner, one) for owner, its in owned.items() for one in its]
    series = [_series(engine, app.name, one) for app in APPS for one in app.series]
    return (*tables, *series)


def _table(store: Store, owner: str, table: Table) -> Part:
    name, engine = store.session.name(table), store.session.engine
    kind = type(engine).__name__.removesuffix("Engine").lower()
    try:
        told = engine.describe_table(name)
    except TableNotFound:
        return Part(name, "table", owner, kind, None, None)
    return Part(name, "table", owner, kind, told.items, told.size_bytes)


def _series(engine: SeriesEngine, owner: str, series: Series[Any]) -> Part:
    engine.prepare(series)
    chunks = engine.status(series).chunks
    rows = sum(chunk.rows + chunk.late for chunk in chunks)
    size = sum(chunk.size_bytes for chunk in chunks)
    kind = type(engine).__name__.removesuffix("Engine").lower()
    return Part(series.name, "series", owner, kind, rows, size)
