"""Maintenance jobs of the platform, and the size of every table and series."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from grandstand.core.metrics import Metrics
from grandstand.host.registry import APPS, all_series, all_tables, tables_by_owner
from grandstand.kit.jobs.job import Every, Job, JobContext
from grandstand.kit.live import Publisher
from grandstand.storage.series.engines.protocol import SeriesEngine
from grandstand.storage.tables.errors import TableNotFound
from grandstand.storage.tables.maintenance import sweep
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
    return await asyncio.to_thread(_describe, store.store, series)


async def describe_demo_storage(
    store: AsyncStore, series: SeriesEngine, apps: frozenset[str]
) -> tuple[StoragePart, ...]:
    """Return the size of the tables and series of simulated apps, off the event loop."""
    parts = await describe_storage(store, series)
    return tuple(replace(part, simulated=True) for part in parts if part.owner in apps)


def _describe(store: Store, series_engine: SeriesEngine) -> tuple[StoragePart, ...]:
    engine, parts = store.session.engine, list[StoragePart]()
    kind = type(engine).__name__.removesuffix("Engine").lower()
    for owner, tables in tables_by_owner().items():
        for name in map(store.session.name, tables):
            try:
                table = engine.describe_table(name)
            except TableNotFound:
                parts.append(StoragePart(name, "table", owner, kind, None, None))
            else:
                size = table.size_bytes
                parts.append(StoragePart(name, "table", owner, kind, table.items, size))
    kind = type(series_engine).__name__.removesuffix("Engine").lower()
    for owner, series in ((app.name, series) for app in APPS for series in app.series):
        series_engine.prepare(series)
        chunks = series_engine.status(series).chunks
        rows = sum(chunk.rows + chunk.late for chunk in chunks)
        size = sum(chunk.size_bytes for chunk in chunks)
        parts.append(StoragePart(series.name, "series", owner, kind, rows, size))
    return tuple(parts)


def platform_jobs(
    sides: Sequence[tuple[Store, SeriesEngine]],
    metrics: Metrics,
    publisher: Publisher,
    storage: Callable[[], Awaitable[Sequence[StoragePart]]],
) -> tuple[Job, ...]:
    """Return the jobs that sweep expired items, maintain series and measure storage.

    `sides` are the real store and series, and the simulated ones if there are any.
    """

    async def sweep_tables(_run: JobContext) -> str:
        reports = [
            await asyncio.to_thread(sweep, store, all_tables(), 10_000) for store, _ in sides
        ]
        total = sum(report.total for report in reports)
        return f"{total:,} expired items deleted" if total else "no expired items"

    async def maintain_series(run: JobContext) -> str:
        done = 0
        for engine, series in [(engine, series) for _, engine in sides for series in all_series()]:
            run.tell(series.name)
            await asyncio.to_thread(engine.prepare, series)
            upkeep = await asyncio.to_thread(engine.upkeep, series)
            done += upkeep.closed + upkeep.compressed + upkeep.merged + upkeep.dropped
        return f"{done} chunks processed" if done else "nothing due"

    async def measure(_run: JobContext) -> str:
        parts = await storage()
        for part in parts:
            name = f"simulated/{part.name}" if part.simulated else part.name
            metrics.set("storage_rows", part.rows or 0, part=name)
            metrics.set("storage_bytes", part.size_bytes or 0, part=name)
        size = sum(part.size_bytes or 0 for part in parts)
        publisher.publish("platform/storage", {"size_bytes": size})
        return f"{size:,} bytes in {len(parts)} tables and series"

    return (
        Job("platform.sweep", "Delete expired items.", Every(60), sweep_tables),
        Job(
            "platform.series",
            "Close, compress and drop chunks of series.",
            Every(600),
            maintain_series,
        ),
        Job("platform.storage", "Measure the size of tables and series.", Every(60), measure),
    )
