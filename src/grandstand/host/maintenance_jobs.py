"""Maintenance jobs of the platform."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from grandstand.core.metrics import Metrics
from grandstand.host.registry import all_series, all_tables
from grandstand.host.storage import StoragePart
from grandstand.kit.jobs.job import Every, Job, JobContext
from grandstand.kit.live import Publisher
from grandstand.storage.series.engines.protocol import SeriesEngine
from grandstand.storage.tables.maintenance import sweep
from grandstand.storage.tables.store import Store

_AT_ONCE = 10_000


def platform_jobs(
    sides: Sequence[tuple[Store, SeriesEngine]],
    metrics: Metrics,
    publisher: Publisher,
    storage: Callable[[], Awaitable[Sequence[StoragePart]]],
) -> tuple[Job, ...]:
    """Return the jobs that sweep expired items, maintain series and measure storage.

    `sides` are the real store and series, and the simulated ones if there are any.
    """

    async def clear(_run: JobContext) -> str:
        swept = [await asyncio.to_thread(sweep, one, all_tables(), _AT_ONCE) for one, _ in sides]
        total = sum(each.total for each in swept)
        return f"{total:,} expired items deleted" if total else "no expired items"

    async def tidy(run: JobContext) -> str:
        done = 0
        for series, one in [(series, one) for _, series in sides for one in all_series()]:
            run.tell(one.name)
            await asyncio.to_thread(series.prepare, one)
            round_ = await asyncio.to_thread(series.upkeep, one)
            done += round_.closed + round_.compressed + round_.merged + round_.dropped
        return f"{done} chunks processed" if done else "nothing due"

    async def count(_run: JobContext) -> str:
        parts = await storage()
        for part in parts:
            name = f"simulated/{part.name}" if part.simulated else part.name
            metrics.set("storage_rows", part.rows or 0, part=name)
            metrics.set("storage_bytes", part.size_bytes or 0, part=name)
        size = sum(part.size_bytes or 0 for part in parts)
        publisher.publish("platform/storage", {"size_bytes": size})
        return f"{size:,} bytes in {len(parts)} tables and series"

    return (
        Job("platform.sweep", "Delete expired items.", Every(60), clear),
        Job("platform.series", "Close, compress and drop chunks of series.", Every(600), tidy),
        Job("platform.storage", "Measure the size of tables and series.", Every(60), count),
    )
