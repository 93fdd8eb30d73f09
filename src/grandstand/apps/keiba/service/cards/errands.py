"""Kept here: cards gathered for open pages: once a race, however many look on."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import Any, Final

from grandstand.apps.keiba.model import ids
from grandstand.apps.keiba.service.cards.gathering import Gathering
from grandstand.apps.keiba.service.means import Means
from grandstand.apps.keiba.service.values import Progress
from grandstand.base.errors import GrandstandError
from grandstand.base.log import log

_REMEMBERED: Final = 256


@dataclass
class _Errand:
    """One card being gathered, or gathered: how far, and when it ended."""

    progress: Progress
    task: asyncio.Task[None] | None = None
    ended: float | None = None


class Errands:
    """Gathers cards in the background and tells open pages how far each has come.

    A card that was gathered is not begun again before `refresh_seconds` have passed, so that a
    page that never comes is not asked for without end.
    """

    def __init__(self, means: Means, gathering: Gathering) -> None:
        self._means = means
        self._gathering = gathering
        self._errands: dict[str, _Errand] = {}

    def begin(self, race_id: str) -> Progress:
        """Begin to gather a card unless that is under way or was done just now."""
        known = self._errands.get(ids.race_id(race_id))
        if known is not None and (known.ended is None or self._recent(known.ended)):
            return known.progress
        errand = _Errand(Progress())
        self._errands.pop(race_id, None)
        self._errands[race_id] = errand
        errand.task = asyncio.get_running_loop().create_task(self._run(race_id, errand))
        self._forget_oldest()
        return errand.progress

    def progress(self, race_id: str) -> Progress | None:
        """Answer how far a card has come; None when it was not begun, or long ago."""
        errand = self._errands.get(race_id)
        return None if errand is None else errand.progress

    async def settle(self) -> None:
        """Return when nothing is being gathered any more."""
        while running := [each.task for each in self._errands.values() if each.ended is None]:
            await asyncio.gather(*(task for task in running if task is not None))

    async def _run(self, race_id: str, errand: _Errand) -> None:
        def told(progress: Progress) -> None:
            errand.progress = replace(progress, finished=False)
            self._tell(race_id, errand.progress)

        try:
            card = await self._gathering.card(race_id, told)
        except GrandstandError as fault:
            log("keiba").warning("a card was not gathered", race=race_id, error=str(fault))
            errand.progress = replace(errand.progress, finished=True, error=str(fault))
        else:
            errand.progress = replace(card.counts, finished=True)
        finally:
            errand.ended = self._means.clock.monotonic()
            self._tell(race_id, errand.progress)

    def _tell(self, race_id: str, progress: Progress) -> None:
        self._means.teller.tell(f"keiba/card/{race_id}", as_news(progress))

    def _recent(self, ended: float) -> bool:
        return self._means.clock.monotonic() - ended < self._means.settings.refresh_seconds

    def _forget_oldest(self) -> None:
        over = [name for name, each in self._errands.items() if each.ended is not None]
        for name in over[: max(0, len(self._errands) - _REMEMBERED)]:
            del self._errands[name]


def as_news(progress: Progress) -> dict[str, Any]:
    """Answer progress as open pages hear it."""
    return {
        "done": progress.done,
        "cached": progress.cached,
        "fetched": progress.fetched,
        "failed": progress.failed,
        "total": progress.total,
        "seconds_left": progress.seconds_left,
        "finished": progress.finished,
        "error": progress.error,
    }
