"""Kept here: until when a site that turned us away is left alone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Protocol

LONGEST: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Pause:
    """A site left alone: until when, why, and how often in a row it turned us away."""

    until: datetime
    why: str
    times: int = 1


class Pauses(Protocol):
    """Whoever keeps the pauses; shared by all processes that must keep to them together."""

    async def find(self, site: str) -> Pause | None:
        """Answer the last pause of a site, over or not; None after it answered again."""
        ...

    async def put(self, site: str, pause: Pause) -> None:
        """Keep a pause over the one before."""
        ...

    async def forget(self, site: str) -> None:
        """Forget the pauses of a site that answers."""
        ...


class MemoryPauses:
    """Keeps the pauses of one process."""

    def __init__(self) -> None:
        self._kept: dict[str, Pause] = {}

    async def find(self, site: str) -> Pause | None:
        """Answer the last pause of a site, over or not; None after it answered again."""
        return self._kept.get(site)

    async def put(self, site: str, pause: Pause) -> None:
        """Keep a pause over the one before."""
        self._kept[site] = pause

    async def forget(self, site: str) -> None:
        """Forget the pauses of a site that answers."""
        self._kept.pop(site, None)


def next_pause(
    before: Pause | None, now: datetime, why: str, *, first: timedelta, asked: timedelta
) -> Pause:
    """Answer the pause after a refusal: twice as long each time, and never less than asked for."""
    times = before.times + 1 if before else 1
    grown = min(first * 2 ** min(times - 1, 16), LONGEST)
    return Pause(now + max(grown, min(asked, LONGEST)), why, times)
