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
    """A runner and deliverers that run side by side in one event loop.

    The simulated side has an outbox of its own, and so a deliverer among the `others`.
    """

    runner: Runner
    deliverer: Deliverer
    others: tuple[Deliverer, ...] = ()

    async def run(self) -> None:
        """Run all until `stop`; when one breaks, stop the others and raise what broke it."""
        every = [
            asyncio.create_task(self.runner.run(), name="runner"),
            *(
                asyncio.create_task(each.run(), name="deliverer")
                for each in (self.deliverer, *self.others)
            ),
        ]
        try:
            await asyncio.wait(every, return_when=asyncio.FIRST_EXCEPTION)
        finally:
            await self.stop()
            ended = await asyncio.gather(*every, return_exceptions=True)
        for fault in ended:
            if isinstance(fault, BaseException):
                log("runner").critical("work behind the pages broke off", exc_info=fault)
                raise fault

    async def stop(self) -> None:
        """Begin nothing new, let short work end, stop the rest; return when that is done."""
        deliverers = (self.deliverer, *self.others)
        await asyncio.gather(self.runner.stop(), *(each.stop() for each in deliverers))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[asyncio.Task[None]]:
        """Run all for the length of a block, in a task that the block may look at."""
        task = asyncio.create_task(self.run(), name="background")
        try:
            yield task
        finally:
            await self.stop()
            await task
