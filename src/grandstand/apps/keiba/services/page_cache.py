"""Pages of netkeiba as values: read from the cache, or fetched and then cached."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta, timezone
from random import Random
from typing import Any, Final, Generic, Literal, TypeAlias, TypeVar
from weakref import WeakValueDictionary

from grandstand.apps.keiba import store
from grandstand.apps.keiba.domain import ids
from grandstand.apps.keiba.domain.errors import NotPublished, PageUnreadable
from grandstand.apps.keiba.domain.form import Record, record_of
from grandstand.apps.keiba.domain.horses import (
    Form,
    HorseProfile,
    JockeyRecord,
    Parents,
    Pedigree,
    parents_of,
)
from grandstand.apps.keiba.domain.ids import Circuit
from grandstand.apps.keiba.domain.races import (
    Odds,
    RaceCard,
    RaceEntry,
    RaceResult,
    WrittenPreview,
)
from grandstand.apps.keiba.settings import KeibaSettings
from grandstand.apps.keiba.sources import netkeiba
from grandstand.apps.keiba.sources.html_reader import Parsed
from grandstand.apps.keiba.sources.netkeiba import Netkeiba, SitePage
from grandstand.core.clock import Clock
from grandstand.core.errors import GrandstandError
from grandstand.storage.tables import AsyncStore
from grandstand.storage.tables.cache import AsyncCache, Cached, CacheForm, CacheKey, CacheSettings

T = TypeVar("T")

CacheState: TypeAlias = Literal["fresh", "fetched", "stale"]

JST: Final = timezone(timedelta(hours=9), "JST")
"""Japan Standard Time, which has no daylight saving."""

_WEEK: Final = store.WEEK.total_seconds()
_DAY: Final = store.DAY.total_seconds()
_STATES: Final[dict[str, CacheState]] = {"fresh": "fresh", "stale": "stale", "miss": "fetched"}


def today_in_japan(clock: Clock) -> date:
    """Return the current date in Japan."""
    return clock.now().astimezone(JST).date()


def now_to_second(clock: Clock) -> datetime:
    """Return the current time with the precision of the table."""
    return clock.now().replace(microsecond=0)


def start_time(race_date: date | None, post_time: str | None) -> datetime | None:
    """Return when a race starts, in JST; None if the date or the post time is unknown."""
    if race_date is None or post_time is None:
        return None
    try:
        return datetime.combine(race_date, time.fromisoformat(post_time.zfill(5)), JST)
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class Origin:
    """The page a value was read from, and how old the copy is.

    `state` is "fetched" (requested just now), "fresh" (cached) or "stale" (expired, and used only
    where the settings allow it; `error` then says why). `warnings` list what could not be parsed.
    """

    page: str
    state: CacheState
    fetched_at: datetime
    age_seconds: float
    warnings: tuple[str, ...] = ()
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Sourced(Generic[T]):
    """A value with its origin."""

    value: T
    origin: Origin

    @property
    def state(self) -> CacheState:
        """Whether the value was cached, fetched just now, or is stale."""
        return self.origin.state

    @property
    def fetched_at(self) -> datetime:
        """When the page was fetched."""
        return self.origin.fetched_at

    @property
    def warnings(self) -> tuple[str, ...]:
        """What could not be parsed."""
        return self.origin.warnings


@dataclass(frozen=True, slots=True)
class Horse:
    """A horse: profile, career, parents and five-generation pedigree; missing parts are None."""

    horse_id: str
    name: str
    profile: Sourced[HorseProfile]
    form: Sourced[Form] | None
    parents: Sourced[Parents] | None
    pedigree: Sourced[Pedigree] | None
    career: Record
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CacheKinds:
    """Every kind of cached page: its table entity and its time to live."""

    race: CacheForm[Parsed[RaceCard]]
    result: CacheForm[Parsed[RaceResult]]
    odds: CacheForm[Parsed[Odds]]
    form: CacheForm[Parsed[Form]]
    parents: CacheForm[Parsed[Parents]]
    profile: CacheForm[Parsed[HorseProfile]]
    pedigree: CacheForm[Parsed[Pedigree]]
    jockey: CacheForm[Parsed[JockeyRecord]]
    day: CacheForm[Parsed[tuple[RaceEntry, ...]]]
    local_day: CacheForm[Parsed[tuple[RaceEntry, ...]]]
    meetings: CacheForm[Parsed[tuple[date, ...]]]
    preview: CacheForm[Parsed[WrittenPreview]]

    def day_key(self, race_date: date, circuit: Circuit) -> CacheKey[Parsed[tuple[RaceEntry, ...]]]:
        """Return the key of a circuit's race list of a day."""
        kind = self.local_day if circuit == "nar" else self.day
        return kind.key(race_date=race_date)

    def all(self) -> tuple[CacheForm[Any], ...]:
        """Return every kind."""
        return tuple(getattr(self, name) for name in self.__slots__)


def build_cache_kinds(settings: KeibaSettings) -> CacheKinds:
    """Return the cache policy of every kind of page.

    The five kinds of the specification have the specified times to live, unless a page could be
    parsed only in part.
    """
    revalidate_seconds = settings.stale_while_revalidate_seconds
    error_seconds = settings.stale_on_error_seconds

    def kind(entity: type[store.CachedPage], ttl: Callable[[T], float]) -> CacheForm[Parsed[T]]:
        def seconds(parsed: Parsed[T]) -> float:
            full = ttl(parsed.value)
            return min(full, settings.partial_seconds) if parsed.warnings else full

        return CacheForm(
            entity=entity,
            seconds=seconds,
            negative_seconds=settings.missing_seconds,
            stale_seconds=max(revalidate_seconds, error_seconds),
            revalidates=revalidate_seconds > 0,
            outlives_errors=error_seconds > 0,
            also=lambda parsed: {"data": parsed.value, "warnings": parsed.warnings or None},
            whole=lambda record: Parsed(record.data, record.warnings or ()),
        )

    def week(_: object) -> float:
        return _WEEK

    def day_ttl(races: tuple[RaceEntry, ...]) -> float:
        return _DAY if races else settings.partial_seconds

    def card_ttl(card: RaceCard) -> float:
        numbered = any(runner.horse_number is not None for runner in card.horses)
        return _WEEK if numbered else settings.partial_seconds

    def result_ttl(result: RaceResult) -> float:
        return _WEEK if result.confirmed else settings.unconfirmed_seconds

    def odds_ttl(odds: Odds) -> float:
        return _WEEK if odds.status == "final" else settings.odds_seconds

    def form_ttl(form: Form) -> float:
        # A horse that has not run yet is likely to run soon.
        return _WEEK if form.recent_results else _DAY

    return CacheKinds(
        race=kind(store.Race, card_ttl),
        result=kind(store.RaceOutcome, result_ttl),
        odds=kind(store.RaceOdds, odds_ttl),
        form=kind(store.HorseResults, form_ttl),
        parents=kind(store.HorseParents, week),
        profile=kind(store.HorseCareer, week),
        pedigree=kind(store.HorsePedigree, week),
        jockey=kind(store.JockeyStats, week),
        day=kind(store.DayRaces, day_ttl),
        local_day=kind(store.LocalDayRaces, day_ttl),
        meetings=kind(store.MeetingDays, lambda _: _DAY),
        preview=kind(store.Analysis, week),
    )


class PageCache:
    """Reads pages through the cache.

    Every method that may fetch raises what `Netkeiba` raises; NotPublished is cached for
    `missing_seconds`. With `refresh` a page is fetched again unless its copy is younger than
    `refresh_seconds`.
    """

    def __init__(
        self,
        *,
        store: AsyncStore,
        site: Netkeiba,
        clock: Clock,
        random: Random,
        owner: str,
        settings: KeibaSettings,
    ) -> None:
        self.kinds = build_cache_kinds(settings)
        self.cache = AsyncCache(
            store,
            owner=owner,
            random=random,
            # A page queues behind others of its host, at two to three seconds each.
            settings=CacheSettings(flight_seconds=180.0, wait_seconds=120.0),
        )
        self._site = site
        self._clock = clock
        self._refresh_seconds = settings.refresh_seconds
        self._refreshing: WeakValueDictionary[tuple[object, ...], asyncio.Lock] = (
            WeakValueDictionary()
        )
        self._base_urls = {
            "race": settings.race_url.rstrip("/"),
            "nar": settings.nar_url.rstrip("/"),
            "db": settings.db_url.rstrip("/"),
        }

    async def day(
        self, race_date: date, circuit: Circuit, *, refresh: bool = False
    ) -> Sourced[tuple[RaceEntry, ...]]:
        """Return a circuit's race list of a day; empty if there is no racing."""
        page = netkeiba.day_list_page(race_date, circuit)
        return await self._require(page, self.kinds.day_key(race_date, circuit), refresh=refresh)

    async def meeting_days(self, around: date, circuit: Circuit) -> Sourced[tuple[date, ...]]:
        """Return the racing days around a date, as the site lists them."""
        page = netkeiba.meeting_days_page(around, circuit)
        return await self._require(page, self.kinds.meetings.key(around=around, circuit=circuit))

    async def race(self, race_id: str, *, refresh: bool = False) -> Sourced[RaceCard]:
        """Return a race with its runners."""
        page = netkeiba.card_page(race_id)
        return await self._require(page, self.kinds.race.key(race_id=race_id), refresh=refresh)

    async def dated_race(self, race_id: str, *, refresh: bool = False) -> Sourced[RaceCard]:
        """Return a race with its runners, its date filled in from cached day lists if needed."""
        race = await self.race(race_id, refresh=refresh)
        race_date = await self.race_date(race.value)
        return Sourced(replace(race.value, race_date=race_date), race.origin)

    async def result(self, race_id: str, *, refresh: bool = False) -> Sourced[RaceResult]:
        """Return a result; it has no finishers until it is confirmed."""
        page = netkeiba.result_page(race_id)
        return await self._require(page, self.kinds.result.key(race_id=race_id), refresh=refresh)

    async def odds(self, race_id: str, *, refresh: bool = False) -> Sourced[Odds] | None:
        """Return the odds of a race; None before any are published."""
        page = netkeiba.odds_page(race_id)
        return await self._find(page, self.kinds.odds.key(race_id=race_id), refresh=refresh)

    async def form(self, horse_id: str, name: str = "", *, refresh: bool = False) -> Sourced[Form]:
        """Return a horse's past races."""
        page = netkeiba.horse_results_page(horse_id, name)
        return await self._require(page, self.kinds.form.key(horse_id=horse_id), refresh=refresh)

    async def profile(self, horse_id: str, *, refresh: bool = False) -> Sourced[HorseProfile]:
        """Return a horse's profile."""
        page = netkeiba.horse_profile_page(horse_id)
        return await self._require(page, self.kinds.profile.key(horse_id=horse_id), refresh=refresh)

    async def pedigree(self, horse_id: str, *, refresh: bool = False) -> Sourced[Pedigree]:
        """Return a horse's ancestors."""
        page = netkeiba.pedigree_page(horse_id)
        return await self._require(
            page, self.kinds.pedigree.key(horse_id=horse_id), refresh=refresh
        )

    async def parents(self, horse_id: str) -> Sourced[Parents]:
        """Return a horse's sire and dam, from its pedigree and their own profiles."""
        page, key = netkeiba.pedigree_page(horse_id), self.kinds.parents.key(horse_id=horse_id)
        return await self._require(page, key, lambda: self._build_parents(horse_id))

    async def jockey(self, jockey_id: str, *, refresh: bool = False) -> Sourced[JockeyRecord]:
        """Return a jockey's career and all years."""
        page = netkeiba.jockey_page(jockey_id)
        return await self._require(
            page, self.kinds.jockey.key(jockey_id=jockey_id), refresh=refresh
        )

    async def horse(self, horse_id: str, *, refresh: bool = False) -> Horse:
        """Return all pages of a horse.

        Raises if the profile is unavailable; any other missing page is a warning.
        """
        profile = await self.profile(horse_id, refresh=refresh)
        name = profile.value.horse_name
        warnings = list(profile.warnings)

        async def optional(what: str, page: Awaitable[Sourced[T]]) -> Sourced[T] | None:
            try:
                sourced = await page
            except GrandstandError as error:
                warnings.append(f"{what}: {error}")
                return None
            warnings.extend(sourced.warnings)
            return sourced

        form = await optional("Past races missing", self.form(horse_id, name, refresh=refresh))
        pedigree = await optional("Pedigree missing", self.pedigree(horse_id, refresh=refresh))
        parents = None
        if pedigree is not None:
            parents = await optional("Parents missing", self.parents(horse_id))
        return Horse(
            horse_id=horse_id,
            name=name,
            profile=profile,
            form=form,
            parents=parents,
            pedigree=pedigree,
            career=record_of(() if form is None else form.value.recent_results),
            warnings=tuple(dict.fromkeys(warnings)),
        )

    async def cached(
        self, wanted: Sequence[tuple[CacheKey[Any], SitePage[Any]]]
    ) -> list[Sourced[Any] | None]:
        """Return the cached copies of many pages in one read, without fetching."""
        found = await self.cache.get_many([key for key, _ in wanted])
        return [
            self._sourced(cached, page) if cached.value is not None else None
            for cached, (_, page) in zip(found, wanted, strict=True)
        ]

    async def cached_days(
        self, days: Iterable[date], circuits: Sequence[Circuit] = ids.CIRCUITS
    ) -> dict[tuple[date, Circuit], tuple[RaceEntry, ...]]:
        """Return the cached race lists of some days, without fetching."""
        wanted = [(day, circuit) for day in days for circuit in circuits]
        found = await self.cache.get_many([self.kinds.day_key(*each) for each in wanted])
        return {
            each: cached.value.value
            for each, cached in zip(wanted, found, strict=True)
            if cached.value is not None
        }

    async def cached_cards(self, race_ids: Sequence[str]) -> list[RaceCard | None]:
        """Return the cached cards of some races, without fetching."""
        keys = [self.kinds.race.key(race_id=race_id) for race_id in race_ids]
        found = await self.cache.get_many(keys)
        return [None if cached.value is None else cached.value.value for cached in found]

    async def race_date(self, card: RaceCard, reach_days: int = 10) -> date | None:
        """Return the date of a race: from its page or id, else from cached day lists."""
        known = card.race_date or ids.date_of(card.race_id)
        if known is not None:
            return known
        today = today_in_japan(self._clock)
        days = [today + timedelta(days=at) for at in range(-reach_days, reach_days + 1)]
        for (day, _), races in (await self.cached_days(days, ["jra"])).items():
            if any(race.race_id == card.race_id for race in races):
                return day
        return None

    async def _build_parents(self, horse_id: str) -> Parsed[Parents]:
        """Combine a pedigree and two profiles, each cached under its own id.

        A profile that is missing or unreadable is a warning; an unavailable site raises.
        """
        pedigree = await self.pedigree(horse_id)
        profiles, warnings = [], list(pedigree.warnings)
        for parent in (pedigree.value.sire, pedigree.value.dam):
            if parent is None or parent.id is None:
                continue
            try:
                profiles.append((await self.profile(parent.id)).value)
            except (NotPublished, PageUnreadable) as error:
                warnings.append(str(error))
        return Parsed(parents_of(pedigree.value, *profiles), tuple(warnings))

    async def _require(
        self,
        page: SitePage[Any],
        key: CacheKey[Parsed[T]],
        fetch: Callable[[], Awaitable[Parsed[T]]] | None = None,
        *,
        refresh: bool = False,
    ) -> Sourced[T]:
        sourced = await self._find(page, key, fetch, refresh=refresh)
        if sourced is None:
            raise NotPublished(self._url(page), "it was missing at the last request")
        return sourced

    async def _find(
        self,
        page: SitePage[Any],
        key: CacheKey[Parsed[T]],
        fetch: Callable[[], Awaitable[Parsed[T]]] | None = None,
        *,
        refresh: bool = False,
    ) -> Sourced[T] | None:
        """Return the cached copy of a page, or the page from `fetch`, by default from the site."""

        async def fetch_or_none() -> Parsed[T] | None:
            try:
                return await (self._site.fetch(page) if fetch is None else fetch())
            except NotPublished:
                return None

        if refresh:
            cached = await self._refresh(key, fetch_or_none)
        else:
            cached = await self.cache.get_or_fetch(key, fetch_or_none)
        return None if cached.value is None else self._sourced(cached, page)

    async def _refresh(
        self, key: CacheKey[Parsed[T]], fetch: Callable[[], Awaitable[Parsed[T] | None]]
    ) -> Cached[Parsed[T]]:
        """Fetch a page again unless its copy is young; a failure leaves the copy in place."""
        lock = self._refreshing.setdefault(key.values, asyncio.Lock())
        async with lock:
            cached = await self.cache.get(key)
            if cached.age_seconds is None or cached.age_seconds >= self._refresh_seconds:
                value = await fetch()
                await self.cache.put(key, value)
                cached = Cached(value, "miss", 0.0)
        return cached

    def _sourced(self, cached: Cached[Parsed[T]], page: SitePage[Any]) -> Sourced[T]:
        assert cached.value is not None  # noqa: S101 - checked by every caller
        age = max(0.0, cached.age_seconds or 0.0)
        origin = Origin(
            page=self._url(page),
            state=_STATES[cached.state],
            fetched_at=(self._clock.now() - timedelta(seconds=age)).replace(microsecond=0),
            age_seconds=age,
            warnings=cached.value.warnings,
            error=None if cached.error is None else str(cached.error),
        )
        return Sourced(cached.value.value, origin)

    def _url(self, page: SitePage[Any]) -> str:
        return f"{self._base_urls[page.site]}{page.target}"
