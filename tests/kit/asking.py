"""A process that asks a source again and again, by the rate and the quota kept in a file."""

from __future__ import annotations

import asyncio
import sys
from random import Random

from grandstand.core.clock import SystemClock
from grandstand.core.metrics import Metrics
from grandstand.kit.shared_limits import TableQuotas, TableRateLimiter
from grandstand.net.client import SourceRegistry
from grandstand.net.errors import QuotaExceeded
from grandstand.net.rate_limits import RateLimit
from tests.kit.stores import open_at


async def _ask(place: str, owner: str, url: str, count: int) -> None:
    clock, random = SystemClock(), Random(owner)
    store = open_at(place, "")
    rate_limiter = TableRateLimiter(store, owner=owner, clock=clock, random=random)
    quotas = TableQuotas(store, clock=clock, random=random)
    web = SourceRegistry(
        clock=clock, random=random, metrics=Metrics(), rate_limiter=rate_limiter, quotas=quotas
    )
    rate = RateLimit(per_second=20, concurrent=1)
    async with web:
        source = web.source("site", base_url=url, rate=rate, daily_quota=15)
        # Whoever is ready waits for the other, so that both ask at once.
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        sys.stdin.readline()
        for at in range(count):
            try:
                await source.get(f"/{owner}/{at}")
            except QuotaExceeded:
                sys.stdout.write("spent\n")
    store.store.close()


if __name__ == "__main__":
    asyncio.run(_ask(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])))
