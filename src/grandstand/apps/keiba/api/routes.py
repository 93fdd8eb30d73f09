"""Kept here: keiba's routes: who asks, what is asked, and the form of the answer."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Final

from fastapi import Path, Query
from starlette.responses import Response

from grandstand.apps.keiba.api.models import (
    CardSeen,
    EntryList,
    NextMeeting,
    OddsSeen,
    PreviewAsked,
    PurgeAsked,
    WatchAsked,
    WatchedList,
)
from grandstand.apps.keiba.model import JockeyRecord, RaceCard, RaceResult
from grandstand.apps.keiba.model.errors import IdInvalid, NotPublished
from grandstand.apps.keiba.model.words import Circuit
from grandstand.apps.keiba.service import (
    Backtested,
    CacheReport,
    Day,
    EntryNotFound,
    Horse,
    Inspected,
    Keiba,
    Preview,
    PreviewRefused,
    Purged,
    PurgeRefused,
    PurgeWish,
    Sourced,
    Watched,
    WatchRefused,
)
from grandstand.base.errors import GrandstandError, LimitReached, SourceFailed, Unavailable
from grandstand.kit.routes import WRITTEN, Admin, Who, delete, get, post, put

RaceId = Annotated[str, Path(pattern=r"^[0-9]{4}[0-9A-Za-z]{8}$", examples=["202605040611"])]
HorseId = Annotated[str, Path(pattern=r"^[0-9a-z]{10}$", examples=["2022104567"])]
JockeyId = Annotated[str, Path(pattern=r"^[0-9a-z]{5}$", examples=["01157"])]
RaceDate = Annotated[date, Path(examples=["2026-11-15"]), WRITTEN]
OnDay = Annotated[date, WRITTEN]
Anew = Annotated[bool, Query(description="Ask the site again, unless what is kept is young.")]
Limit = Annotated[int, Query(ge=1, le=200, examples=[50])]
Cursor = Annotated[str | None, Query(max_length=4000)]
Key = Annotated[str, Query(min_length=1, max_length=200)]
Prefix = Annotated[str, Query(max_length=80, examples=["HORSE#"])]

_ACCEPTED: Final = 202
FETCHED: Final[tuple[type[GrandstandError], ...]] = (
    IdInvalid,
    NotPublished,
    SourceFailed,
    Unavailable,
    LimitReached,
)
"""What may go wrong wherever the race site may have to be asked."""

_LATER: Final = {202: "Being gathered; what is kept so far, and how far it has come."}


class KeibaApi:
    """Racing data for programs."""

    def __init__(self, keiba: Keiba) -> None:
        self._keiba = keiba
        self._cursors = keiba.cursors

    @get("/next", summary="The next day of racing", problems=FETCHED)
    async def next_meeting(self, circuit: Circuit = "jra") -> NextMeeting:
        """The next day of racing in Japan, today included until its last race is off."""
        found = await self._keiba.next_meeting(circuit)
        return NextMeeting(race_date=found, today=self._keiba.today(), now=self._keiba.now())

    @get("/days/{race_date}", summary="A day's races by track", problems=FETCHED)
    async def day(
        self, race_date: RaceDate, circuit: Circuit | None = None, *, anew: Anew = False
    ) -> Day:
        """The meetings and races of a day, of both circuits unless told."""
        return await self._keiba.day(race_date, circuit, anew=anew)

    @get("/races/{race_id}", summary="A race with its runners", problems=FETCHED)
    async def race(self, race_id: RaceId, *, anew: Anew = False) -> Sourced[RaceCard]:
        """A race as its card has it."""
        return await self._keiba.race(race_id, anew=anew)

    @get("/races/{race_id}/result", summary="A race's result and payouts", problems=FETCHED)
    async def result(self, race_id: RaceId, *, anew: Anew = False) -> Sourced[RaceResult]:
        """How a race ended; before it is confirmed there are no finishers."""
        return await self._keiba.result(race_id, anew=anew)

    @get("/races/{race_id}/odds", summary="A race's odds", problems=FETCHED)
    async def odds(self, race_id: RaceId, *, anew: Anew = False) -> OddsSeen:
        """The odds of a race, with when the course said so."""
        return OddsSeen(race_id=race_id, odds=await self._keiba.odds(race_id, anew=anew))

    @get("/races/{race_id}/card", summary="The whole card, as far as kept", problems=(IdInvalid,))
    async def card(self, race_id: RaceId) -> CardSeen:
        """The race, its runners' form, parents and jockeys, and the ranking; asks no site."""
        return await self._seen(race_id)

    @post(
        "/races/{race_id}/card",
        summary="Have the whole card gathered",
        problems=(IdInvalid,),
        also=_LATER,
    )
    async def gather(self, race_id: RaceId, response: Response) -> CardSeen:
        """The card when nothing is missing; 202 while it is gathered, once for all who ask."""
        seen = await self._seen(race_id)
        if seen.whole:
            return seen
        progress = self._keiba.begin_card(race_id)
        response.status_code = _ACCEPTED
        response.headers["location"] = f"/api/keiba/races/{race_id}/card"
        return CardSeen(race_id=race_id, whole=False, card=seen.card, progress=progress)

    @post(
        "/races/{race_id}/preview",
        summary="Write a preview",
        problems=(*FETCHED, PreviewRefused),
    )
    async def preview(self, race_id: RaceId, asked: PreviewAsked) -> Preview:
        """A preview, or the one written for the same data before."""
        return await self._keiba.preview(race_id, asked.words, asked.language)

    @get("/horses/{horse_id}", summary="A horse", problems=FETCHED)
    async def horse(self, horse_id: HorseId, *, anew: Anew = False) -> Horse:
        """A horse's profile, races, parents and five generations."""
        return await self._keiba.horse(horse_id, anew=anew)

    @get("/jockeys/{jockey_id}", summary="A jockey", problems=FETCHED)
    async def jockey(self, jockey_id: JockeyId, *, anew: Anew = False) -> Sourced[JockeyRecord]:
        """A jockey's career and years."""
        return await self._keiba.jockey(jockey_id, anew=anew)

    @get("/watched", summary="The horses the caller watches")
    async def watched(self, who: Who) -> WatchedList:
        """The horses the caller watches, with the coming races they are entered in."""
        return WatchedList(horses=await self._keiba.watched(who))

    @put("/watched/{horse_id}", summary="Watch a horse", problems=(*FETCHED, WatchRefused))
    async def watch(self, who: Who, horse_id: HorseId, asked: WatchAsked) -> Watched:
        """The horse as it is watched now, with the caller's note."""
        return await self._keiba.watch(who, horse_id, asked.note)

    @delete("/watched/{horse_id}", summary="Watch a horse no longer", problems=(IdInvalid,))
    async def unwatch(self, who: Who, horse_id: HorseId) -> None:
        """Nothing: the horse is not watched, whether or not it was."""
        await self._keiba.unwatch(who, horse_id)

    @get("/backtest", summary="How good the ranking is on kept results")
    async def backtest(self, first: OnDay, last: OnDay) -> Backtested:
        """Losses, calibration and what bets would have brought; asks no site."""
        return await self._keiba.backtest(first, last)

    @get("/cache", summary="What is kept, and how the sites stand")
    async def cache(self) -> CacheReport:
        """Hit rate, counts, ages, sizes, requests of today and pauses."""
        return await self._keiba.cache_report()

    @get("/cache/entries", summary="What is kept, one by one", access="admin")
    async def entries(
        self, who: Admin, prefix: Prefix = "", limit: Limit = 50, cursor: Cursor = None
    ) -> EntryList:
        """Entries whose key begins so, in no particular order."""
        question = f"keiba.cache/{prefix}"
        position = self._cursors.read(who, question, cursor)
        found = await self._keiba.cache_entries(prefix, position, limit)
        later = self._cursors.write(who, question, found.position)
        return EntryList(entries=found.entries, cursor=later)

    @get("/cache/entry", summary="One entry", problems=(EntryNotFound,), access="admin")
    async def entry(self, partition: Key, sort: Key) -> Inspected:
        """An entry of the cache with its payload."""
        return await self._keiba.cache_inspect(partition, sort)

    @post("/cache/purge", summary="Remove entries", problems=(PurgeRefused,), access="admin")
    async def purge(self, asked: PurgeAsked) -> Purged:
        """How many entries match; they are removed unless it is a dry run."""
        wish = PurgeWish(asked.prefix, asked.kind, asked.older_than_seconds, asked.expired_only)
        return await self._keiba.purge(wish, dry=asked.dry)

    async def _seen(self, race_id: str) -> CardSeen:
        kept, progress = await self._keiba.kept_card(race_id), self._keiba.card_progress(race_id)
        whole = kept is not None and kept.counts.finished
        return CardSeen(race_id=race_id, whole=whole, card=kept, progress=progress)
