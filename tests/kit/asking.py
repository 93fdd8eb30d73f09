"""A process that asks a source again and again, by the rate and the quota kept in a file."""

from __future__ import annotations

import asyncio
import sys
from random import Random

from grandstand.base.clock import SystemClock
from grandstand.base.metrics import Metrics
from grandstand.kit.allowances import TableAllowance, TableQuotas
from grandstand.wire.errors import QuotaSpent
from grandstand.wire.web import Rate, Web
from tests.kit.stores import open_at


async def _ask(place: str, owner: str, url: str, count: int) -> None:
    clock, random = SystemClock(), Random(owner)
    store = open_at(place, "")
    allowance = TableAllowance(store, owner=owner, clock=clock, random=random)
    quotas = TableQuotas(store, clock=clock, random=random)
    web = Web(clock=clock, random=random, metrics=Metrics(), allowance=allowance, quotas=quotas)
    rate = Rate(per_second=20, concurrent=1)
    async with web:
        source = web.source("site", base_url=url, rate=rate, daily_quota=15)
        # Whoever is ready waits for the other, so that both ask at once.
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        sys.stdin.readline()
        for at in range(count):
            try:
                await source.get(f"/{owner}/{at}")
            except QuotaSpent:
                sys.stdout.write("spent\n")
    store.store.close()


if __name__ == "__main__":
    asyncio.run(_ask(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])))
