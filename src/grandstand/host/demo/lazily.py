"""Kept here: an outsider that is made when it is first asked, so that opening costs nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from grandstand.simulators.asgi import Application, Message, Receive, Send


class Lazily:
    """An ASGI application that is made off the event loop with the first request."""

    def __init__(self, make: Callable[[], Application]) -> None:
        self._make = make
        self._made: Application | None = None
        self._lock = asyncio.Lock()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a request, having made what answers."""
        if self._made is None:
            async with self._lock:
                if self._made is None:
                    self._made = await asyncio.to_thread(self._make)
        await self._made(scope, receive, send)
