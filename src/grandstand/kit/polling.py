"""A loop that polls the store until it is stopped."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from contextlib import suppress

from grandstand.core.errors import GrandstandError
from grandstand.core.logging import redact
from grandstand.net.retry import backoff_seconds


class PollingLoop(ABC):
    """Polls when something is due or `_wake` is set; failed polls are repeated later and later."""

    def __init__(self, poll_seconds: float) -> None:
        self._poll_seconds = poll_seconds
        self._wake = asyncio.Event()
        self._stopping = False
        self._ended: asyncio.Event | None = None

    async def run(self) -> None:
        """Poll until stopped."""
        self._ended = asyncio.Event()
        failures = 0
        try:
            while not self._stopping:
                try:
                    pause, failures = await self._poll(), 0
                except GrandstandError as error:
                    failures += 1
                    pause = backoff_seconds(failures, 2 * self._poll_seconds, 30.0)
                    self._poll_failed(redact(str(error)), pause)
                with suppress(TimeoutError):
                    async with asyncio.timeout(pause):
                        await self._wake.wait()
                self._wake.clear()
        finally:
            await self._wind_down()
            self._ended.set()

    async def stop(self) -> None:
        """Start nothing new, let short work finish, stop the rest, and return.

        What was stopped is due at once, for another instance or the next start.
        """
        self._stopping = True
        self._wake.set()
        if self._ended is not None:
            await self._ended.wait()

    @abstractmethod
    async def _poll(self) -> float:
        """Start what is due and return the seconds until the next poll."""

    @abstractmethod
    def _poll_failed(self, error: str, pause_seconds: float) -> None:
        """Log that the store could not be polled."""

    @abstractmethod
    async def _wind_down(self) -> None:
        """Finish or stop what is running."""
