"""Kept here: everything keiba can do, one method each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime

from grandstand.apps.keiba.model import (
    Circuit,
    JockeyRecord,
    Odds,
    RaceCard,
    RaceResult,
)
from grandstand.apps.keiba.model.previews import Language
from grandstand.apps.keiba.service.backtesting import Backtest
from grandstand.apps.keiba.service.belongings import KeibaBelongings
from grandstand.apps.keiba.service.cache.library import Library
from grandstand.apps.keiba.service.cache.shelf import Shelf
from grandstand.apps.keiba.service.cache.values import (
    CachePage,
    CacheReport,
    Inspected,
    Purged,
    PurgeWish,
)
from grandstand.apps.keiba.service.cards.errands import Errands
from grandstand.apps.keiba.service.cards.gathering import Gathering
from grandstand.apps.keiba.service.cards.warming import Warming
from grandstand.apps.keiba.service.days import Days
from grandstand.apps.keiba.service.horses import read_horse
from grandstand.apps.keiba.service.means import Means
from grandstand.apps.keiba.service.previews.previewing import Previews
from grandstand.apps.keiba.service.resulting import Resulting
from grandstand.apps.keiba.service.searching import Searching
from grandstand.apps.keiba.service.values import (
    Backtested,
    Card,
    Day,
    DayRace,
    Horse,
    Preview,
    Progress,
    Sourced,
    Warmed,
    Watched,
)
from grandstand.apps.keiba.service.watching import Watches
from grandstand.kit.app import Found
from grandstand.kit.outbox import Consequence
from grandstand.kit.who.caller import Caller


class Keiba:
    """Racing data, fetched politely and kept; what is derived from it; and a person's horses.

    Whatever has to be fetched may raise SitePaused (the site turned us away), PageUnreadable
    (garbage came), NotPublished (there is no such page yet), IdInvalid, and what `wire` raises of
    a host that cannot be asked: SourceFailed, Unavailable or LimitReached. With `anew` what is
    kept is fetched again, unless it is younger than `refresh_seconds` of the settings.
    """

    def __init__(self, means: Means) -> None:
        library = Library(means)
        self.settings = means.settings
        self.cursors = means.cursors
        self.belongings = KeibaBelongings(means)
        self._means = means
        self._library = library
        self._days = Days(means, library)
        self._gathering = Gathering(means, library)
        self._errands = Errands(means, self._gathering)
        self._previews = Previews(means, library)
        self._backtest = Backtest(means, library)
        self._warming = Warming(means, self._days, self._gathering)
        self._shelf = Shelf(means, library)
        self._watches = Watches(means, library)
        self._searching = Searching(means, library)
        self._resulting = Resulting(means, library)

    def now(self) -> datetime:
        """Answer the present moment."""
        return self._means.now()

    def today(self) -> date:
        """Answer the date in Japan."""
        return self._means.today()

    async def search(self, caller: Caller, sought: str) -> tuple[Found, ...]:
        """Answer the horses, races and jockeys some words are about, fetching nothing."""
        return await self._searching.run(sought, caller.user_id)

    async def next_meeting(self, circuit: Circuit | None = None) -> date | None:
        """Answer the next day of racing, today included until its last race is off.

        That of either circuit unless told; None when the site knows none.
        """
        return await self._days.next_meeting(circuit)

    async def races_today(self) -> int:
        """Answer how many races there are today by the lists kept, fetching nothing."""
        return await self._days.races_today()

    async def next_off(self) -> DayRace | None:
        """Answer the next race of any circuit by the lists kept, fetching nothing."""
        return await self._days.next_off()

    async def meeting_days(
        self, around: date, circuit: Circuit = "jra"
    ) -> Sourced[tuple[date, ...]]:
        """Answer the days of racing around a day, oldest first."""
        return await self._days.meeting_days(around, circuit)

    async def day(
        self, race_date: date, circuit: Circuit | None = None, *, anew: bool = False
    ) -> Day:
        """Answer a day's meetings and races, of both circuits unless told.

        When one of the two lists cannot be had the day has a warning instead; raises what went
        wrong when none can.
        """
        return await self._days.day(race_date, circuit, anew=anew)

    async def race(self, race_id: str, *, anew: bool = False) -> Sourced[RaceCard]:
        """Answer a race with its runners as the card has them; its date is filled in if known."""
        found = await self._library.race(race_id, anew=anew)
        race_date = await self._library.date_of(found.value)
        return Sourced(replace(found.value, race_date=race_date), found.origin)

    async def result(self, race_id: str, *, anew: bool = False) -> Sourced[RaceResult]:
        """Answer a result; one that is not confirmed yet has no finishers."""
        return await self._library.result(race_id, anew=anew)

    async def odds(self, race_id: str, *, anew: bool = False) -> Sourced[Odds] | None:
        """Answer the odds of a race; None before there are any."""
        return await self._library.odds(race_id, anew=anew)

    async def card(
        self,
        race_id: str,
        told: Callable[[Progress], None] | None = None,
        *,
        anew: bool = False,
    ) -> Card:
        """Gather a race, its runners' results, parents and jockeys, and the odds; and rank.

        Only what is missing is fetched, each page once; `told` hears how far it has come. What
        cannot be had leaves its runner partial, with a warning. `anew` asks again for the card
        itself and the odds. Raises only when the card itself cannot be had.
        """
        return await self._gathering.card(race_id, told, anew=anew)

    async def kept_card(self, race_id: str) -> Card | None:
        """Answer the card as far as it is kept, fetching nothing; None when the race is not."""
        return await self._gathering.kept(race_id)

    def begin_card(self, race_id: str) -> Progress:
        """Have a card gathered in the background, once however many ask; raise IdInvalid.

        Open pages hear its progress under `keiba/card/{race_id}`.
        """
        return self._errands.begin(race_id)

    def card_progress(self, race_id: str) -> Progress | None:
        """Answer how far the gathering of a card has come here; None when none was begun."""
        return self._errands.progress(race_id)

    async def settle(self) -> None:
        """Return when nothing is gathered or fetched in the background any more."""
        await self._errands.settle()
        await self._library.cache.settle()

    async def horse(self, horse_id: str, *, anew: bool = False) -> Horse:
        """Answer a horse; raises when its profile cannot be had, the rest may be missing."""
        return await read_horse(self._library, horse_id, anew=anew)

    async def jockey(self, jockey_id: str, *, anew: bool = False) -> Sourced[JockeyRecord]:
        """Answer a jockey's career and all years."""
        return await self._library.jockey(jockey_id, anew=anew)

    async def preview(self, race_id: str, words: str = "", language: Language = "en") -> Preview:
        """Write a preview of a race, or answer the one written for the same data before.

        `words` are the reader's own wish. Raises PreviewRefused for a wish that is too long, and
        what `Llm.ask` raises, beside what `card` does.
        """
        card = await self._gathering.card(race_id, None)
        return await self._previews.preview(card, words, language)

    async def backtest(self, first: date, last: date) -> Backtested:
        """Measure the ranking on kept results of some days, fetching nothing."""
        return await self._backtest.run(first, last)

    async def warm(
        self,
        race_date: date,
        told: Callable[[Progress], None] | None = None,
        circuit: Circuit | None = None,
    ) -> Warmed:
        """Gather every card of a day, of both circuits unless told.

        A race that fails is noted, and the others go on; a site that pauses us ends it. In what
        `told` hears, `done` and `total` are races, the rest pages.
        """
        return await self._warming.day(race_date, told, circuit)

    async def cache_report(self) -> CacheReport:
        """Answer hit rate, counts, ages and sizes by kind, and how the sites stand."""
        return await self._shelf.report()

    async def cache_entries(
        self, prefix: str = "", position: str | None = None, limit: int = 50
    ) -> CachePage:
        """Answer entries whose partition begins so."""
        return await self._shelf.page(prefix, position, limit)

    async def cache_inspect(self, partition: str, sort: str) -> Inspected:
        """Answer one entry with its payload; raise EntryNotFound."""
        return await self._shelf.inspect(partition, sort)

    async def purge(self, wish: PurgeWish, *, dry: bool = True) -> Purged:
        """Count the entries a wish is about, and remove them unless it is a dry run.

        Nothing that belongs to a person is ever among them. Raises PurgeRefused for a wish
        without conditions.
        """
        return await self._shelf.purge(wish, dry=dry)

    async def watch(self, caller: Caller, horse_id: str, note: str = "") -> Watched:
        """Watch a horse, or change the note of one watched.

        Raises WatchRefused for a note that is too long or too many horses, and what fetching the
        horse's profile for its name does.
        """
        return await self._watches.watch(caller.user_id, horse_id, note)

    async def unwatch(self, caller: Caller, horse_id: str) -> bool:
        """Watch a horse no longer; False when it was not watched."""
        return await self._watches.unwatch(caller.user_id, horse_id)

    async def watched(self, caller: Caller) -> tuple[Watched, ...]:
        """Answer the horses a caller watches, by name, with the coming races they are in."""
        return await self._watches.watched(caller.user_id)

    async def look_for_watched(self) -> int:
        """Note every watched horse that is entered in a coming race, once each; answer how many.

        The coming days' lists and cards are fetched if the settings say so and anybody watches.
        """
        return await self._watches.look()

    async def tell_entered(self, consequence: Consequence) -> None:
        """Tell the person that a horse they watch is entered; for the outbox."""
        await self._watches.tell(consequence)

    async def look_for_results(self) -> int:
        """Note every race of today that has a result by now, once each; answer how many.

        Only races whose cards are kept are looked for, and fetched if the settings say so.
        """
        return await self._resulting.look()

    async def tell_resulted(self, consequence: Consequence) -> None:
        """Tell the house that a race has a result; for the outbox."""
        await self._resulting.tell(consequence)
