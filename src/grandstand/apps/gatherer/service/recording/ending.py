"""Kept here: how work in tasks comes to an end, and that it does."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable
from typing import Any, Final

_STEP_SECONDS: Final = 1.0
_STEPS: Final = 5


async def first(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Return when one of these tasks is over; raise what any of them raised."""
    done, _ = await asyncio.wait([*tasks], return_when=asyncio.FIRST_COMPLETED)
    for task in done:
        if not task.cancelled():
            task.result()


async def over(tasks: Iterable[asyncio.Task[Any]]) -> int:
    """Cancel tasks and return when they are over; answer how many are not after some seconds.

    One that was about to go on may miss that it is cancelled, so it is told again.
    """
    left = {*tasks}
    for _ in range(_STEPS):
        for task in left:
            task.cancel()
        if left:
            done, left = await asyncio.wait(left, timeout=_STEP_SECONDS)
            for task in done:
                if not task.cancelled():
                    task.exception()
    return len(left)


async def within(seconds: float, work: Awaitable[Any]) -> bool:
    """Tell whether something was done in so many seconds; it is given up otherwise."""
    try:
        async with asyncio.timeout(seconds):
            await work
    except TimeoutError:
        return False
    return True
