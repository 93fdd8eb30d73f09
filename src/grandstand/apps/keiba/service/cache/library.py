"""Kept here: one page at a time: from the cache, or from the site and into the cache."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import date, timedelta
from typing import Any, Final, TypeVar
from weakref import WeakValueDictionary

from grandstand.apps.keiba.model import (
    Circuit,
    Form,
    HorseProfile,
    JockeyRecord,
    Odds,
    Parents,
    Pedigree,
    RaceCard,
    RaceEntry,
    RaceResult,
    ids,
)
from grandstand.apps.keiba.model.errors import NotPublished, PageUnreadable
from grandstand.apps.keiba.model.parents import parents_of
from grandstand.apps.keiba.service.cache.forms import Forms, forms_of
from grandstand.apps.keiba.service.means import Means
from grandstand.apps.keiba.service.values import Origin, Sourced, State
from grandstand.apps.keiba.sources import addresses
from grandstand.apps.keiba.sources.addresses import Place
from grandstand.apps.keiba.sources.reading.page import Parsed
from grandstand.storage.tables.cache import AsyncCache, Cached, CacheKey, CacheSettings

T = TypeVar("T")

# A page waits behind others of its host: at two to three seconds each, so many of them.
_FLIGHT_SECONDS: Final = 180.0
_WAIT_SECONDS: Final = 120.0
_STATES: Final[dict[str, State]] = {"fresh": "fresh", "stale": "stale", "miss": "fetched"}
_NOTHING_THERE: Final = "there was nothing when it was last asked for"


class Library:
    """Answers pages as values: the cache is asked first, and what is fetched is put there.

    Every method that fetches raises what `Netkeiba` raises; NotPublished is remembered for a
    while. With `anew` the site is asked unless what is kept is young.
    """

    def __init__(self, means: Means) -> None:
        self.forms: Forms = forms_of(means.settings)
        self.cache = AsyncCache(
            means.store,
            owner=means.owner,
            random=means.random,
            settings=CacheSettings(flight_seconds=_FLIGHT_SECONDS, wait_seconds=_WAIT_SECONDS),
        )
        self._means = means
        self._site = means.site
        self._renewing: WeakValueDictionary[tuple[object, ...], asyncio.Lock] = (
            WeakValueDictionary()
        )
        settings = means.settings
        self._stems = {
            "race": settings.race_url.rstrip("/"),
            "nar": settings.nar_url.rstrip("/"),
            "db": settings.db_url.rstrip("/"),
        }

    async def day(
        self, race_date: date, circuit: Circuit, *, anew: bool = False
    ) -> Sourced[tuple[RaceEntry, ...]]:
        """Answer a day's list of one circuit; none on a day without racing."""

        async def fetch() -> Parsed[tuple[RaceEntry, ...]]:
            read = await self._site.day_list(race_date, circuit)
            return Parsed(read.value.races, read.warnings)

        key = self.forms.day_of(race_date, circuit)
        return await self._demand(key, addresses.day_list(race_date, circuit), fetch, anew=anew)

    async def meeting_days(self, around: date, circuit: Circuit) -> Sourced[tuple[date, ...]]:
        """Answer the days of racing around a day."""
        key = self.forms.meetings.key(around=around, circuit=circuit)
        place = addresses.meeting_days(around, circuit)
        return await self._demand(key, place, lambda: self._site.meeting_days(around, circuit))

    async def race(self, race_id: str, *, anew: bool = False) -> Sourced[RaceCard]:
        """Answer a race with its runners."""
        place = addresses.card(race_id)
        key = self.forms.race.key(race_id=race_id)
        return await self._demand(key, place, lambda: self._site.card(race_id), anew=anew)

    async def result(self, race_id: str, *, anew: bool = False) -> Sourced[RaceResult]:
        """Answer a result."""
        place = addresses.result(race_id)
        key = self.forms.result.key(race_id=race_id)
        return await self._demand(key, place, lambda: self._site.result(race_id), anew=anew)

    async def odds(self, race_id: str, *, anew: bool = False) -> Sourced[Odds] | None:
        """Answer the odds of a race; None before there are any."""
        place = addresses.odds(race_id)
        key = self.forms.odds.key(race_id=race_id)
        return await self._find(key, place, lambda: self._site.odds(race_id), anew=anew)

    async def results(self, horse_id: str, name: str = "", *, anew: bool = False) -> Sourced[Form]:
        """Answer a horse's earlier races."""
        place = addresses.horse_results(horse_id)
        key = self.forms.results.key(horse_id=horse_id)
        return await self._demand(
            key, place, lambda: self._site.horse_results(horse_id, name), anew=anew
        )

    async def profile(self, horse_id: str, *, anew: bool = False) -> Sourced[HorseProfile]:
        """Answer what is said of a horse."""
        place = addresses.horse_profile(horse_id)
        key = self.forms.profile.key(horse_id=horse_id)
        return await self._demand(key, place, lambda: self._site.horse_profile(horse_id), anew=anew)

    async def pedigree(self, horse_id: str, *, anew: bool = False) -> Sourced[Pedigree]:
        """Answer a horse's ancestors."""
        place = addresses.pedigree(horse_id)
        key = self.forms.pedigree.key(horse_id=horse_id)
        return await self._demand(key, place, lambda: self._site.pedigree(horse_id), anew=anew)

    async def parents(self, horse_id: str, *, anew: bool = False) -> Sourced[Parents]:
        """Answer a horse's sire and dam, made of its pedigree and their own profiles."""
        place = addresses.pedigree(horse_id)
        key = self.forms.parents.key(horse_id=horse_id)
        return await self._demand(key, place, lambda: self._parents(horse_id), anew=anew)

    async def jockey(self, jockey_id: str, *, anew: bool = False) -> Sourced[JockeyRecord]:
        """Answer a jockey's career and all years."""
        place = addresses.jockey_years(jockey_id)
        key = self.forms.jockey.key(jockey_id=jockey_id)
        return await self._demand(
            key, place, lambda: self._site.jockey(jockey_id, all_years=True), anew=anew
        )

    async def look(
        self, wanted: Sequence[tuple[CacheKey[Any], Place]]
    ) -> list[Sourced[Any] | None]:
        """Answer what is kept of many pages in one reading, None for what is not or is nothing."""
        found = await self.cache.get_many([key for key, _ in wanted])
        return [
            self._sourced(cached, place) if cached.value is not None else None
            for cached, (_, place) in zip(found, wanted, strict=True)
        ]

    async def kept_days(
        self, days: Iterable[date], circuits: Sequence[Circuit] = ("jra", "nar")
    ) -> dict[tuple[date, Circuit], tuple[RaceEntry, ...]]:
        """Answer the lists that are kept of some days, fetching nothing."""
        wanted = [(day, circuit) for day in days for circuit in circuits]
        found = await self.cache.get_many([self.forms.day_of(*each) for each in wanted])
        return {
            each: cached.value.value
            for each, cached in zip(wanted, found, strict=True)
            if cached.value is not None
        }

    async def date_of(self, card: RaceCard, reach_days: int = 10) -> date | None:
        """Answer when a race is run: what its page or id says, else what kept lists say."""
        known = card.race_date or ids.date_of(card.race_id)
        if known is not None:
            return known
        today = self._means.today()
        days = [today + timedelta(days=at) for at in range(-reach_days, reach_days + 1)]
        for (day, _), races in (await self.kept_days(days, ["jra"])).items():
            if any(race.race_id == card.race_id for race in races):
                return day
        return None

    async def _parents(self, horse_id: str) -> Parsed[Parents]:
        """Make parents of pages, each kept under its own id.

        A profile that cannot be read is a warning; a site that cannot be asked raises.
        """
        pedigree = await self.pedigree(horse_id)
        profiles, warnings = [], list(pedigree.warnings)
        for horse in (pedigree.value.sire, pedigree.value.dam):
            if horse is None or horse.id is None:
                continue
            try:
                profiles.append((await self.profile(horse.id)).value)
            except (NotPublished, PageUnreadable) as fault:
                warnings.append(str(fault))
        return Parsed(parents_of(pedigree.value, *profiles), tuple(warnings))

    async def _demand(
        self,
        key: CacheKey[Parsed[T]],
        place: Place,
        fetch: Callable[[], Awaitable[Parsed[T]]],
        *,
        anew: bool = False,
    ) -> Sourced[T]:
        found = await self._find(key, place, fetch, anew=anew)
        if found is None:
            raise NotPublished(self._address(place), _NOTHING_THERE)
        return found

    async def _find(
        self,
        key: CacheKey[Parsed[T]],
        place: Place,
        fetch: Callable[[], Awaitable[Parsed[T]]],
        *,
        anew: bool = False,
    ) -> Sourced[T] | None:
        async def fetched() -> Parsed[T] | None:
            try:
                return await fetch()
            except NotPublished:
                return None

        if anew:
            return await self._renewed(key, place, fetched)
        cached = await self.cache.get_or_fetch(key, fetched)
        return None if cached.value is None else self._sourced(cached, place)

    async def _renewed(
        self,
        key: CacheKey[Parsed[T]],
        place: Place,
        fetched: Callable[[], Awaitable[Parsed[T] | None]],
    ) -> Sourced[T] | None:
        """Ask the site again unless what is kept is young; what fails leaves it as it was."""
        lock = self._renewing.setdefault(key.values, asyncio.Lock())
        async with lock:
            kept = await self.cache.get(key)
            young = kept.age_seconds is not None and (
                kept.age_seconds < self._means.settings.refresh_seconds
            )
            if not young:
                value = await fetched()
                await self.cache.put(key, value)
                kept = Cached(value, "miss", 0.0)
        return None if kept.value is None else self._sourced(kept, place)

    def _sourced(self, cached: Cached[Parsed[T]], place: Place) -> Sourced[T]:
        assert cached.value is not None  # noqa: S101 - asked by every caller
        age = max(0.0, cached.age_seconds or 0.0)
        origin = Origin(
            page=self._address(place),
            state=_STATES[cached.state],
            fetched_at=(self._means.clock.now() - timedelta(seconds=age)).replace(microsecond=0),
            age_seconds=age,
            warnings=cached.value.warnings,
            error=None if cached.error is None else str(cached.error),
        )
        return Sourced(cached.value.value, origin)

    def _address(self, place: Place) -> str:
        return f"{self._stems[place.site]}{place.target}"
