"""Search for races, horses and jockeys among cached pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

from grandstand.apps.keiba.domain.races import RaceEntry
from grandstand.apps.keiba.services.page_cache import PageCache, start_time, today_in_japan
from grandstand.apps.keiba.store import Watch
from grandstand.core.clock import Clock
from grandstand.kit.app import SearchHit
from grandstand.kit.auth.caller import Caller
from grandstand.kit.text_search import MAX_HITS, best_matches
from grandstand.storage.tables import AsyncStore


@dataclass(frozen=True, slots=True)
class _Document:
    """A search hit and the texts it is found by."""

    hit: SearchHit
    texts: tuple[str, ...]


@dataclass(kw_only=True)
class RacingSearch:
    """Searches the cached days and cards around today, and the caller's watched horses.

    The index is rebuilt from the cache at most once a minute. Nothing is fetched.
    """

    store: AsyncStore
    pages: PageCache
    clock: Clock
    _index: tuple[tuple[_Document, ...], ...] = field(default=(), init=False)
    _index_expires: float = field(default=float("-inf"), init=False)

    async def search(self, query: str, caller: Caller) -> tuple[SearchHit, ...]:
        """Return matching horses, then races, then jockeys."""
        if self.clock.monotonic() >= self._index_expires:
            self._index = await self._build_index()
            self._index_expires = self.clock.monotonic() + 60.0
        watched = [
            _Document(_horse(watch.horse_id, watch.horse_name, "Watched"), (watch.horse_name,))
            for watch in await self.store(Watch.of_user(caller.user_id))
        ]
        hits: dict[str, SearchHit] = {}
        for documents in (watched, *self._index):
            for document in best_matches(query, documents, lambda document: document.texts, 4):
                hits.setdefault(document.hit.href, document.hit)
        return tuple(hits.values())[:MAX_HITS]

    async def _build_index(self) -> tuple[tuple[_Document, ...], ...]:
        today, now = today_in_japan(self.clock), self.clock.now()
        days = [today + timedelta(days=at) for at in range(-2, 5 + 1)]
        races = {
            race.race_id: (race, day)
            for (day, _), entries in (await self.pages.cached_days(days)).items()
            for race in entries
        }
        ordered = sorted(races.values(), key=lambda each: _distance(each[0], each[1], now))
        horses, jockeys = await self._runners({race.race_id: race for race, _ in ordered})
        return horses, tuple(_race(race, day) for race, day in ordered), jockeys

    async def _runners(
        self, races: Mapping[str, RaceEntry]
    ) -> tuple[tuple[_Document, ...], tuple[_Document, ...]]:
        """Return the horses and jockeys of the races' cached cards."""
        horses: dict[str, _Document] = {}
        jockeys: dict[str, _Document] = {}
        for card in await self.pages.cached_cards(list(races)[:200]):
            if card is None:
                continue
            label = races[card.race_id].label
            for runner in card.horses:
                horse = _horse(runner.horse_id, runner.horse_name, f"Runs in {label}")
                texts = (runner.horse_name, runner.horse_id)
                horses.setdefault(runner.horse_id, _Document(horse, texts))
                if runner.jockey_id and runner.jockey_name:
                    href = f"/keiba/jockeys/{runner.jockey_id}"
                    jockey = SearchHit("jockey", runner.jockey_name, f"Rides in {label}", href)
                    jockeys.setdefault(runner.jockey_id, _Document(jockey, (runner.jockey_name,)))
        return tuple(horses.values()), tuple(jockeys.values())


def _horse(horse_id: str, name: str, detail: str) -> SearchHit:
    return SearchHit("horse", name, detail, f"/keiba/horses/{horse_id}")


def _race(race: RaceEntry, day: date) -> _Document:
    name = race.race_name or f"Race {race.race_number}"
    post_time = f" {race.post_time} JST" if race.post_time else ""
    detail = f"{race.label}, {day:%a %d %b}{post_time}"
    texts = (name, race.track_name, race.label, race.grade or "", race.race_id)
    return _Document(SearchHit("race", name, detail, f"/keiba/races/{race.race_id}"), texts)


def _distance(race: RaceEntry, day: date, now: datetime) -> tuple[bool, float]:
    """Sort key: time between now and the start; races without a post time last."""
    off_at = start_time(day, race.post_time)
    return off_at is None, 0.0 if off_at is None else abs((off_at - now).total_seconds())
