"""Kept here: the work that goes on behind the pages: jobs when they are due, and the outbox."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from grandstand.base.log import log
from grandstand.kit.jobs.runner import Runner
from grandstand.kit.outbox import Deliverer


@dataclass(frozen=True, slots=True)
class Background:
    """A runner and a deliverer that run side by side in one event loop."""

    runner: Runner
    deliverer: Deliverer

    async def run(self) -> None:
        """Run both until `stop`; when one breaks, stop the other and raise what broke it."""
        both = [
            asyncio.create_task(self.runner.run(), name="runner"),
            asyncio.create_task(self.deliverer.run(), name="deliverer"),
        ]
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_EXCEPTION)
        finally:
            await self.stop()
            ended = await asyncio.gather(*both, return_exceptions=True)
        for fault in ended:
            if isinstance(fault, BaseException):
                log("runner").critical("work behind the pages broke off", exc_info=fault)
                raise fault

    async def stop(self) -> None:
        """Begin nothing new, let short work end, stop the rest; return when that is done."""
        await asyncio.gather(self.runner.stop(), self.deliverer.stop())

    @asynccontextmanager
    async def running(self) -> AsyncIterator[asyncio.Task[None]]:
        """Run both for the length of a block, in a task that the block may look at."""
        task = asyncio.create_task(self.run(), name="background")
        try:
            yield task
        finally:
            await self.stop()
            await task
