"""Kept here: pauses of the race sites, kept together by all processes on one store."""

from __future__ import annotations

from grandstand.apps.keiba.sources.pauses import MemoryPauses, Pause
from grandstand.base.clock import Clock
from grandstand.kit.allowances import Refusal
from grandstand.kit.steady import Leaning
from grandstand.storage.tables import AsyncStore


class TablePauses:
    """Keeps pauses in the house's table of allowances.

    What this process hears itself it keeps in memory as well, so that a pause holds here while
    the store does not answer.
    """

    def __init__(self, store: AsyncStore, clock: Clock) -> None:
        self._store = store
        self._own = MemoryPauses()
        self._leaning = Leaning(clock, "pauses of the race sites")

    async def find(self, site: str) -> Pause | None:
        """Answer the last pause of a site, over or not; None after it answered again."""

        async def shared() -> Pause | None:
            kept = await self._store(Refusal.one(_name(site)))
            return None if kept is None else Pause(kept.until, kept.why, kept.times)

        return await self._leaning.first(shared, lambda: self._own.find(site))

    async def put(self, site: str, pause: Pause) -> None:
        """Keep a pause over the one before."""
        await self._own.put(site, pause)
        refusal = Refusal(name=_name(site), until=pause.until, why=pause.why, times=pause.times)

        async def shared() -> None:
            await self._store(refusal.keep())

        await self._leaning.first(shared, _nothing_more)

    async def forget(self, site: str) -> None:
        """Forget the pauses of a site that answers."""
        await self._own.forget(site)

        async def shared() -> None:
            await self._store(Refusal.forget(_name(site)))

        await self._leaning.first(shared, _nothing_more)


async def _nothing_more() -> None:
    """Leave it at what this process keeps."""


def _name(site: str) -> str:
    return f"netkeiba-{site}"
