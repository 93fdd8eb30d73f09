"""Kept here: noticing that a race has a result, and telling the house of it once."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

import msgspec

from grandstand.apps.keiba.model import RaceEntry, RaceResult
from grandstand.apps.keiba.model.errors import NotPublished, SitePaused
from grandstand.apps.keiba.service.cache.library import Library
from grandstand.apps.keiba.service.means import RESULTED, Means
from grandstand.apps.keiba.service.values import off_at
from grandstand.base.errors import GrandstandError
from grandstand.base.log import log
from grandstand.kit.outbox import Consequence

# A result is confirmed some ten minutes after the off, and is news for the rest of the day.
_SOONEST: Final = timedelta(minutes=10)
_LATEST: Final = timedelta(hours=6)
_MOST_FETCHED: Final = 8
_PLACED: Final = 3


class _Result(msgspec.Struct):
    """What the outbox keeps of a result."""

    race_id: str
    text: str


class Resulting:
    """Looks for results of today's races whose cards are kept: those somebody looked at."""

    def __init__(self, means: Means, library: Library) -> None:
        self._means = means
        self._library = library
        self._asked_at: dict[str, float] = {}

    async def look(self) -> int:
        """Note each race that has a result by now, once; answer how many are new."""
        noted = 0
        for race, result in await self._run_races():
            if result is not None and result.confirmed:
                body = _Result(race.race_id, _text(race, result))
                noted += await self._means.outbox.put(RESULTED, race.race_id, body)
        return noted

    async def tell(self, consequence: Consequence) -> None:
        """Tell the house of a result that was noted."""
        body = msgspec.json.decode(consequence.body, type=_Result)
        href = f"/keiba/races/{body.race_id}/result"
        await self._means.events.record("keiba", "result", body.text, href)

    async def _run_races(self) -> list[tuple[RaceEntry, RaceResult | None]]:
        today, now = self._means.today(), self._means.clock.now()
        lists = await self._library.kept_days([today])
        over = [
            race
            for (day, _), races in lists.items()
            for race in races
            if _is_news(off_at(day, race.post_time), now)
        ]
        forms, cache = self._library.forms, self._library.cache
        cards = await cache.get_many([forms.race.key(race_id=one.race_id) for one in over])
        looked_at = [one for one, card in zip(over, cards, strict=True) if card.value is not None]
        kept = await cache.get_many([forms.result.key(race_id=one.race_id) for one in looked_at])
        found: list[tuple[RaceEntry, RaceResult | None]] = []
        missing: list[RaceEntry] = []
        for race, cached in zip(looked_at, kept, strict=True):
            if cached.value is not None and cached.value.value.confirmed:
                found.append((race, cached.value.value))
            else:
                missing.append(race)
        return found + await self._fetched(self._longest_unasked(missing))

    def _longest_unasked(self, races: list[RaceEntry]) -> list[RaceEntry]:
        """Answer the races whose turn it is: results that never come must not hold up the rest."""
        asked = {one.race_id: self._asked_at.get(one.race_id, float("-inf")) for one in races}
        chosen = sorted(races, key=lambda one: asked[one.race_id])[:_MOST_FETCHED]
        now = self._means.clock.monotonic()
        self._asked_at = asked | {one.race_id: now for one in chosen}
        return chosen

    async def _fetched(self, races: list[RaceEntry]) -> list[tuple[RaceEntry, RaceResult | None]]:
        """Fetch results as far as that goes; a site that turned us away is left alone."""
        found: list[tuple[RaceEntry, RaceResult | None]] = []
        for race in races if self._means.settings.result_fetches else []:
            try:
                found.append((race, (await self._library.result(race.race_id)).value))
            except NotPublished:
                continue
            except SitePaused:
                break
            except GrandstandError as fault:
                log("keiba").info("a result is not there yet", race=race.race_id, error=str(fault))
        return found


def _is_news(off: datetime | None, now: datetime) -> bool:
    return off is not None and _SOONEST <= now - off <= _LATEST


def _text(race: RaceEntry, result: RaceResult) -> str:
    placed = sorted(
        (one for one in result.finishers if one.position is not None and one.position <= _PLACED),
        key=lambda one: one.position or 0,
    )
    names = ", ".join(one.horse_name for one in placed)
    return f"{race.where} {race.race_name or result.race_name}: {names}"
