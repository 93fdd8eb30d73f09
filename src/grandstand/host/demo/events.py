"""Kept here: what happened on both sides, the real and the simulated, as one log."""

from __future__ import annotations

from collections.abc import AsyncIterator
from heapq import merge
from itertools import islice
from typing import Any

from grandstand.kit.events import Event, Events
from grandstand.kit.who.caller import Caller


class BothEvents:
    """Reads the logs of both sides; what is recorded here goes into the real one."""

    def __init__(self, real: Events, simulated: Events) -> None:
        self._real = real
        self._simulated = simulated

    async def record(
        self,
        app: str,
        kind: str,
        text: str,
        href: str | None = None,
        *,
        user_id: str | None = None,
    ) -> Event:
        """Keep that something happened, and tell it; with a user id, to that person alone."""
        return await self._real.record(app, kind, text, href, user_id=user_id)

    async def recent(self, limit: int, caller: Caller) -> tuple[Event, ...]:
        """Answer the last events a caller may see, newest first."""
        seen = [await side.recent(limit, caller) for side in (self._real, self._simulated)]
        newest = merge(*seen, key=lambda event: event.event_id, reverse=True)
        return tuple(islice(newest, limit))

    async def export(self, user_id: str) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        """Answer every event that only this person may see."""
        for side in (self._real, self._simulated):
            async for told in side.export(user_id):
                yield told

    async def erase(self, user_id: str) -> int:
        """Erase every event that only this person may see, and answer how many there were."""
        return await self._real.erase(user_id) + await self._simulated.erase(user_id)
