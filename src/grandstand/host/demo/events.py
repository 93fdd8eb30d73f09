"""The activity logs of the real and the simulated side, combined."""

from __future__ import annotations

from collections.abc import AsyncIterator
from heapq import merge
from itertools import islice
from typing import Any

from grandstand.kit.auth.caller import Caller
from grandstand.kit.events import Event, Events


class CombinedEvents:
    """Reads both logs; records into the real one."""

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
        """Store and publish an event; with a user id, for that user only."""
        return await self._real.record(app, kind, text, href, user_id=user_id)

    async def recent(self, limit: int, caller: Caller) -> tuple[Event, ...]:
        """Return the latest events the caller may see, newest first."""
        seen = [await side.recent(limit, caller) for side in (self._real, self._simulated)]
        newest = merge(*seen, key=lambda event: event.event_id, reverse=True)
        return tuple(islice(newest, limit))

    async def export(self, user_id: str) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        """Yield the events that only this user may see."""
        for side in (self._real, self._simulated):
            async for told in side.export(user_id):
                yield told

    async def erase(self, user_id: str) -> int:
        """Delete the events that only this user may see, and return how many."""
        return await self._real.erase(user_id) + await self._simulated.erase(user_id)
