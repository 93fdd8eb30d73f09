"""Detection of new race results, published once each as events."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

import msgspec

from grandstand.apps.keiba.domain.errors import NotPublished, SiteCoolingDown
from grandstand.apps.keiba.domain.races import RaceEntry, RaceResult
from grandstand.apps.keiba.services.page_cache import PageCache, start_time, today_in_japan
from grandstand.apps.keiba.settings import KeibaSettings
from grandstand.core.clock import Clock
from grandstand.core.errors import GrandstandError
from grandstand.core.logging import get_logger
from grandstand.kit.events import Events
from grandstand.kit.outbox import Outbox, OutboxMessage

RESULT_TOPIC: Final = "keiba.result"

# Results are confirmed about ten minutes after the start and are news for the rest of the day.
_MIN_AGE: Final = timedelta(minutes=10)
_MAX_AGE: Final = timedelta(hours=6)
_MAX_FETCHES: Final = 8


class _ResultMessage(msgspec.Struct):
    """Body of a result message in the outbox."""

    race_id: str
    text: str


@dataclass(kw_only=True)
class ResultWatcher:
    """Looks for results of today's races whose cards are cached, that is, were viewed."""

    pages: PageCache
    outbox: Outbox
    events: Events
    clock: Clock
    settings: KeibaSettings
    _checked_at: dict[str, float] = field(default_factory=dict, init=False)

    async def check(self) -> int:
        """Write a message for each race with a new result; return the number of messages."""
        written = 0
        for race, result in await self._results():
            if result.confirmed:
                body = _ResultMessage(race.race_id, _summary(race, result))
                written += await self.outbox.put(RESULT_TOPIC, race.race_id, body)
        return written

    async def deliver(self, message: OutboxMessage) -> None:
        """Record the event of a result message."""
        body = msgspec.json.decode(message.body, type=_ResultMessage)
        href = f"/keiba/races/{body.race_id}/result"
        await self.events.record("keiba", "result", body.text, href)

    async def _results(self) -> list[tuple[RaceEntry, RaceResult]]:
        now = self.clock.now()
        lists = await self.pages.cached_days([today_in_japan(self.clock)])
        recent = [
            race
            for (day, _), races in lists.items()
            for race in races
            if _is_recent(start_time(day, race.post_time), now)
        ]
        cards = await self.pages.cached_cards([race.race_id for race in recent])
        viewed = [race for race, card in zip(recent, cards, strict=True) if card is not None]
        keys = [self.pages.kinds.result.key(race_id=race.race_id) for race in viewed]
        confirmed: list[tuple[RaceEntry, RaceResult]] = []
        missing: list[RaceEntry] = []
        cached_results = await self.pages.cache.get_many(keys)
        for race, cached in zip(viewed, cached_results, strict=True):
            if cached.value is not None and cached.value.value.confirmed:
                confirmed.append((race, cached.value.value))
            else:
                missing.append(race)
        return confirmed + await self._fetch(self._next_to_check(missing))

    def _next_to_check(self, races: list[RaceEntry]) -> list[RaceEntry]:
        """Return the races checked longest ago, so that a missing result does not block others."""
        checked = {
            race.race_id: self._checked_at.get(race.race_id, float("-inf")) for race in races
        }
        due = sorted(races, key=lambda race: checked[race.race_id])[:_MAX_FETCHES]
        now = self.clock.monotonic()
        self._checked_at = checked | {race.race_id: now for race in due}
        return due

    async def _fetch(self, races: list[RaceEntry]) -> list[tuple[RaceEntry, RaceResult]]:
        """Fetch results until the site has to be left alone."""
        found: list[tuple[RaceEntry, RaceResult]] = []
        for race in races if self.settings.result_fetches else []:
            try:
                found.append((race, (await self.pages.result(race.race_id)).value))
            except NotPublished:
                continue
            except SiteCoolingDown:
                break
            except GrandstandError as error:
                get_logger("keiba").info(
                    "result_unavailable", race_id=race.race_id, error=str(error)
                )
        return found


def _is_recent(off_at: datetime | None, now: datetime) -> bool:
    return off_at is not None and _MIN_AGE <= now - off_at <= _MAX_AGE


def _summary(race: RaceEntry, result: RaceResult) -> str:
    placed = sorted(
        (each for each in result.finishers if each.position is not None and each.position <= 3),
        key=lambda each: each.position or 0,
    )
    names = ", ".join(each.horse_name for each in placed)
    return f"{race.label} {race.race_name or result.race_name}: {names}"
