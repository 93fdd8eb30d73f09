"""HTTP routes of the keiba app."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, Final

from fastapi import Path, Query
from pydantic import Field
from starlette.responses import Response

from grandstand.apps.keiba.domain.errors import NotPublished
from grandstand.apps.keiba.domain.horses import JockeyRecord
from grandstand.apps.keiba.domain.ids import Circuit, InvalidId
from grandstand.apps.keiba.domain.races import Language, Odds, RaceCard, RaceResult
from grandstand.apps.keiba.services import Keiba, cache_admin
from grandstand.apps.keiba.services.analysis import BacktestReport
from grandstand.apps.keiba.services.cards import Card, Progress
from grandstand.apps.keiba.services.page_cache import (
    Horse,
    Sourced,
    now_to_second,
    today_in_japan,
)
from grandstand.apps.keiba.services.previews import Preview, PreviewRejected
from grandstand.apps.keiba.services.race_days import Day
from grandstand.apps.keiba.services.watchlist import WatchedHorse
from grandstand.core.errors import (
    GrandstandError,
    InvalidInput,
    LimitReached,
    SourceFailed,
    Unavailable,
)
from grandstand.kit.routes import (
    WRITTEN,
    AdminCaller,
    CurrentCaller,
    StrictModel,
    delete,
    get,
    post,
    put,
)

RaceId = Annotated[str, Path(pattern=r"^[0-9]{4}[0-9A-Za-z]{8}$", examples=["202605040611"])]
HorseId = Annotated[str, Path(pattern=r"^[0-9a-z]{10}$", examples=["2022104567"])]
JockeyId = Annotated[str, Path(pattern=r"^[0-9a-z]{5}$", examples=["01157"])]
RaceDate = Annotated[date, Path(examples=["2026-11-15"]), WRITTEN]
DateQuery = Annotated[date, WRITTEN]
Refresh = Annotated[bool, Query(description="Fetch again unless the cached copy is very recent.")]
Limit = Annotated[int, Query(ge=1, le=200, examples=[50])]
Cursor = Annotated[str | None, Query(max_length=4000)]
Key = Annotated[str, Query(min_length=1, max_length=200)]
Prefix = Annotated[str, Query(max_length=80, examples=["HORSE#"])]

_FETCH_ERRORS: Final[tuple[type[GrandstandError], ...]] = (
    InvalidId,
    NotPublished,
    SourceFailed,
    Unavailable,
    LimitReached,
)


@dataclass(frozen=True, slots=True)
class NextMeeting:
    """The next racing day in Japan; null if the site lists none."""

    race_date: date | None
    today: date
    now: datetime


@dataclass(frozen=True, slots=True)
class CardStatus:
    """A card as far as it is cached, and the progress of assembling it.

    `complete` if nothing is missing. `card` is null until the race itself is cached.
    """

    race_id: str
    complete: bool
    card: Card | None
    progress: Progress | None


@dataclass(frozen=True, slots=True)
class RaceOddsStatus:
    """The odds of a race; null before any are published."""

    race_id: str
    odds: Sourced[Odds] | None


@dataclass(frozen=True, slots=True)
class WatchedHorses:
    """The caller's watched horses, by name."""

    horses: tuple[WatchedHorse, ...]


@dataclass(frozen=True, slots=True)
class CacheEntries:
    """Entries of the cache; `cursor` continues the list."""

    entries: tuple[cache_admin.CacheEntry, ...]
    cursor: str | None


class PreviewRequest(StrictModel):
    """What the preview should focus on, and its language."""

    focus: Annotated[str, Field(max_length=4000, examples=["Who likes wet ground?"])] = ""
    language: Language = "en"


class PurgeRequest(StrictModel):
    """Which entries to remove: all conditions must hold, and at least one is required."""

    prefix: Annotated[str, Field(max_length=80, examples=["RACE#2025"])] = ""
    kind: Annotated[str, Field(min_length=1, max_length=80)] | None = None
    older_than_seconds: Annotated[float, Field(ge=0, le=1e10)] | None = None
    expired_only: bool = False
    dry_run: bool = True


class WatchRequest(StrictModel):
    """A note about the horse."""

    note: Annotated[str, Field(max_length=4000, examples=["Likes a left-handed course."])] = ""


class KeibaApi:
    """Racing data for programs."""

    def __init__(self, keiba: Keiba) -> None:
        self._keiba = keiba

    @get("/next", summary="Get the next racing day", problems=_FETCH_ERRORS)
    async def next_meeting(self, circuit: Circuit = "jra") -> NextMeeting:
        """The next racing day in Japan. Today counts until its last race has started."""
        clock = self._keiba.clock
        race_date = await self._keiba.days.next_meeting(circuit)
        return NextMeeting(race_date, today_in_japan(clock), now_to_second(clock))

    @get("/days/{race_date}", summary="Get a day's races by track", problems=_FETCH_ERRORS)
    async def day(
        self, race_date: RaceDate, circuit: Circuit | None = None, *, refresh: Refresh = False
    ) -> Day:
        """The meetings and races of a day, of both circuits by default."""
        return await self._keiba.days.day(race_date, circuit, refresh=refresh)

    @get("/races/{race_id}", summary="Get a race with its runners", problems=_FETCH_ERRORS)
    async def race(self, race_id: RaceId, *, refresh: Refresh = False) -> Sourced[RaceCard]:
        """A race as printed on its card."""
        return await self._keiba.pages.dated_race(race_id, refresh=refresh)

    @get(
        "/races/{race_id}/result", summary="Get a race's result and payouts", problems=_FETCH_ERRORS
    )
    async def result(self, race_id: RaceId, *, refresh: Refresh = False) -> Sourced[RaceResult]:
        """The result of a race. It has no finishers until it is confirmed."""
        return await self._keiba.pages.result(race_id, refresh=refresh)

    @get("/races/{race_id}/odds", summary="Get a race's odds", problems=_FETCH_ERRORS)
    async def odds(self, race_id: RaceId, *, refresh: Refresh = False) -> RaceOddsStatus:
        """The win and place odds of a race, and when they were published."""
        return RaceOddsStatus(race_id, await self._keiba.pages.odds(race_id, refresh=refresh))

    @get("/races/{race_id}/card", summary="Get the cached race card", problems=(InvalidId,))
    async def card(self, race_id: RaceId) -> CardStatus:
        """The race, its runners' form, parents and jockeys, and the ranking. Fetches nothing."""
        return await self._card_status(race_id)

    @post(
        "/races/{race_id}/card",
        summary="Assemble the full race card",
        problems=(InvalidId,),
        also={202: "In progress: what is cached so far, and the progress."},
    )
    async def assemble_card(self, race_id: RaceId, response: Response) -> CardStatus:
        """The card if it is complete. 202 while it is assembled, once for all callers."""
        status = await self._card_status(race_id)
        if status.complete:
            return status
        progress = self._keiba.background.start(race_id)
        response.status_code = 202
        response.headers["location"] = f"/api/keiba/races/{race_id}/card"
        return CardStatus(race_id, complete=False, card=status.card, progress=progress)

    @post(
        "/races/{race_id}/preview",
        summary="Write a preview",
        problems=(*_FETCH_ERRORS, PreviewRejected),
    )
    async def preview(self, race_id: RaceId, request: PreviewRequest) -> Preview:
        """A preview, written now or cached for the same data."""
        return await self._keiba.previews.write(race_id, request.focus, request.language)

    @get("/horses/{horse_id}", summary="Get a horse", problems=_FETCH_ERRORS)
    async def horse(self, horse_id: HorseId, *, refresh: Refresh = False) -> Horse:
        """A horse's profile, past races, parents and five-generation pedigree."""
        return await self._keiba.pages.horse(horse_id, refresh=refresh)

    @get("/jockeys/{jockey_id}", summary="Get a jockey", problems=_FETCH_ERRORS)
    async def jockey(
        self, jockey_id: JockeyId, *, refresh: Refresh = False
    ) -> Sourced[JockeyRecord]:
        """A jockey's career and statistics by year."""
        return await self._keiba.pages.jockey(jockey_id, refresh=refresh)

    @get("/watched", summary="List watched horses")
    async def watched(self, who: CurrentCaller) -> WatchedHorses:
        """The caller's watched horses, with the upcoming races they are entered in."""
        return WatchedHorses(await self._keiba.watchlist.horses(who))

    @put(
        "/watched/{horse_id}",
        summary="Watch a horse",
        problems=(*_FETCH_ERRORS, InvalidInput),
    )
    async def watch(
        self, who: CurrentCaller, horse_id: HorseId, request: WatchRequest
    ) -> WatchedHorse:
        """Watch a horse, or change the note of a watched one."""
        return await self._keiba.watchlist.watch(who, horse_id, request.note)

    @delete("/watched/{horse_id}", summary="Stop watching a horse", problems=(InvalidId,))
    async def unwatch(self, who: CurrentCaller, horse_id: HorseId) -> None:
        """Stop watching a horse. Succeeds if it was not watched."""
        await self._keiba.watchlist.unwatch(who, horse_id)

    @get("/backtest", summary="Backtest the ranking on cached results")
    async def backtest(self, first: DateQuery, last: DateQuery) -> BacktestReport:
        """Losses, calibration and betting returns. Fetches nothing."""
        return await self._keiba.backtester.run(first, last)

    @get("/cache", summary="Get cache statistics and site status")
    async def cache(self) -> cache_admin.CacheReport:
        """Hit rate, counts, ages and sizes of the cache; today's requests and cooldowns."""
        return await self._keiba.cache_admin.report()

    @get("/cache/entries", summary="List cache entries", access="admin")
    async def entries(
        self, who: AdminCaller, prefix: Prefix = "", limit: Limit = 50, cursor: Cursor = None
    ) -> CacheEntries:
        """Entries whose partition key starts with `prefix`, in no particular order."""
        cursors, question = self._keiba.cursors, f"keiba.cache/{prefix}"
        position = cursors.read(who, question, cursor)
        page = await self._keiba.cache_admin.entries(prefix, position, limit)
        return CacheEntries(page.entries, cursors.write(who, question, page.position))

    @get(
        "/cache/entry",
        summary="Get a cache entry",
        problems=(cache_admin.CacheEntryNotFound,),
        access="admin",
    )
    async def entry(self, partition: Key, sort: Key) -> cache_admin.CachePayload:
        """A cache entry with its payload."""
        return await self._keiba.cache_admin.inspect(partition, sort)

    @post("/cache/purge", summary="Remove cache entries", problems=(InvalidInput,), access="admin")
    async def purge(self, request: PurgeRequest) -> cache_admin.PurgeReport:
        """The number of matching entries. They are removed unless it is a dry run."""
        purge_filter = cache_admin.PurgeFilter(
            request.prefix, request.kind, request.older_than_seconds, request.expired_only
        )
        return await self._keiba.cache_admin.purge(purge_filter, dry_run=request.dry_run)

    async def _card_status(self, race_id: str) -> CardStatus:
        card = await self._keiba.cards.cached(race_id)
        complete = card is not None and card.progress.finished
        return CardStatus(race_id, complete, card, self._keiba.background.progress(race_id))
