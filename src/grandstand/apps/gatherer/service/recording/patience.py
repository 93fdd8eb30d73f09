"""Kept here: an engine on loan, and patience with what may pass by itself."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

from grandstand.base.errors import GrandstandError, LimitReached, SourceFailed, Unavailable
from grandstand.storage.series.engines.protocol import SeriesEngine

T = TypeVar("T")

PASSING: Final = (SourceFailed, Unavailable, LimitReached)
_FIRST_REST_SECONDS: Final = 0.5
_LONGEST_REST_SECONDS: Final = 60.0


class Lent:
    """The house's engine, lent to a buffer: closing it is the house's business."""

    def __init__(self, engine: SeriesEngine) -> None:
        self._engine = engine

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - as the engine's own
        return getattr(self._engine, name)

    def close(self) -> None:
        """Leave the engine open."""


async def patiently(
    work: Callable[[], Awaitable[T]],
    trouble: Callable[[GrandstandError], None] = lambda _: None,
) -> T:
    """Do something, again after growing waits as long as it may pass by itself.

    Raises what does not pass.
    """
    wait = _FIRST_REST_SECONDS
    while True:
        try:
            return await work()
        except PASSING as fault:
            if not fault.retry:
                raise
            trouble(fault)
        await asyncio.sleep(wait)
        wait = min(wait * 2, _LONGEST_REST_SECONDS)
