"""Kept here: the jobs that keep the house itself in order."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from grandstand.base.metrics import Metrics
from grandstand.host.catalogue import all_series, all_tables
from grandstand.host.storage import Part
from grandstand.kit.jobs.job import Every, Job, Run
from grandstand.kit.live import Teller
from grandstand.storage.series.engines.protocol import SeriesEngine
from grandstand.storage.tables.store import Store
from grandstand.storage.tables.upkeep.sweeping import sweep

_AT_ONCE = 10_000


def house_jobs(
    sides: Sequence[tuple[Store, SeriesEngine]],
    metrics: Metrics,
    teller: Teller,
    storage: Callable[[], Awaitable[Sequence[Part]]],
) -> tuple[Job, ...]:
    """Answer the jobs: clear away what expired, keep series in order, count what is kept.

    `sides` are the real store and series, and the simulated ones where there are any.
    """

    async def clear(_run: Run) -> str:
        swept = [await asyncio.to_thread(sweep, one, all_tables(), _AT_ONCE) for one, _ in sides]
        total = sum(each.total for each in swept)
        return f"{total:,} items had expired" if total else "nothing had expired"

    async def tidy(run: Run) -> str:
        done = 0
        for series, one in [(series, one) for _, series in sides for one in all_series()]:
            run.tell(one.name)
            await asyncio.to_thread(series.prepare, one)
            round_ = await asyncio.to_thread(series.upkeep, one)
            done += round_.closed + round_.baked + round_.merged + round_.dropped
        return f"{done} chunks were moved on" if done else "nothing was due"

    async def count(_run: Run) -> str:
        parts = await storage()
        for part in parts:
            name = f"simulated/{part.name}" if part.simulated else part.name
            metrics.set("storage_rows", part.rows or 0, part=name)
            metrics.set("storage_bytes", part.size_bytes or 0, part=name)
        size = sum(part.size_bytes or 0 for part in parts)
        teller.tell("house/storage", {"size_bytes": size})
        return f"{size:,} bytes in {len(parts)} tables and series"

    return (
        Job("house.sweep", "Clear away what has expired.", Every(60), clear),
        Job("house.series", "Close, compress and drop chunks of series.", Every(600), tidy),
        Job("house.storage", "Count what is kept.", Every(60), count),
    )
