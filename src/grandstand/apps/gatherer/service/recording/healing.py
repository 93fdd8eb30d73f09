"""Kept here: telling the house that gaps were healed, not too often."""

from __future__ import annotations

from typing import Final

from grandstand.apps.gatherer.service.values import Ingest
from grandstand.base.clock import Clock
from grandstand.kit.events import Events

_HREF: Final = "/gatherer/coverage"
_EVERY_SECONDS: Final = 60.0


class Healing:
    """Tells of gaps since the last time: at once of the first, then at most once a minute."""

    def __init__(self, events: Events, clock: Clock) -> None:
        self._events = events
        self._clock = clock
        self._told = 0
        self._told_at = float("-inf")

    async def tell(self, ingest: Ingest) -> None:
        """Tell of the gaps that were closed meanwhile, if there are any."""
        closed, now = ingest.gaps_closed - self._told, self._clock.monotonic()
        if closed <= 0 or now - self._told_at < _EVERY_SECONDS:
            return
        self._told, self._told_at = ingest.gaps_closed, now
        gaps = "A gap was" if closed == 1 else f"{closed:,} gaps were"
        left = f"{ingest.gaps_open:,} are open" if ingest.gaps_open else "none is open"
        text = f"{gaps} healed: the books {ingest.gatherer} follows are right again, {left}"
        await self._events.record("gatherer", "healed", text, _HREF)
