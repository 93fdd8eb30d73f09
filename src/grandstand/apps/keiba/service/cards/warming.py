"""Kept here: gathering every card of a day beforehand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date

from grandstand.apps.keiba.model import Circuit
from grandstand.apps.keiba.model.errors import SitePaused
from grandstand.apps.keiba.service.cards.gathering import Gathering
from grandstand.apps.keiba.service.days import Days
from grandstand.apps.keiba.service.means import Means
from grandstand.apps.keiba.service.values import Card, Progress, Warmed
from grandstand.base.errors import GrandstandError


class Warming:
    """Gathers the cards of a day one after another."""

    def __init__(self, means: Means, days: Days, gathering: Gathering) -> None:
        self._means = means
        self._days = days
        self._gathering = gathering

    async def day(
        self,
        race_date: date,
        told: Callable[[Progress], None] | None,
        circuit: Circuit | None,
    ) -> Warmed:
        """Gather every card of a day; raises what the day's list does."""
        day = await self._days.day(race_date, circuit, anew=False)
        races = [race.entry.race_id for meeting in day.meetings for race in meeting.races]
        counts, failed = Progress(total=len(races)), list[tuple[str, str]]()
        began = self._means.clock.monotonic()
        for race_id in races:
            try:
                card = await self._gathering.card(race_id, None)
            except GrandstandError as fault:
                failed.append((race_id, str(fault)))
                counts = replace(counts, failed=counts.failed + 1)
                stopped = isinstance(fault, SitePaused)
            else:
                counts = _added(counts, card)
                stopped = bool(card.counts.failed) and await self._paused()
                failed += [(race_id, note) for note in _notes(card)]
            counts = self._timed(replace(counts, done=counts.done + 1), began)
            if told is not None:
                told(counts)
            if stopped:
                break
        return Warmed(race_date, len(races), replace(counts, finished=True), tuple(failed))

    async def _paused(self) -> bool:
        return any(site.paused_until is not None for site in await self._means.site.status())

    def _timed(self, counts: Progress, began: float) -> Progress:
        each = (self._means.clock.monotonic() - began) / counts.done
        return replace(counts, seconds_left=each * (counts.total - counts.done))


def _added(counts: Progress, card: Card) -> Progress:
    return replace(
        counts,
        cached=counts.cached + card.counts.cached,
        fetched=counts.fetched + card.counts.fetched,
        failed=counts.failed + card.counts.failed,
    )


def _notes(card: Card) -> list[str]:
    """Answer what is missing of a card, the same reason once."""
    if not card.counts.failed:
        return []
    return list(dict.fromkeys(note for each in card.runners for note in each.warnings))[:1]
