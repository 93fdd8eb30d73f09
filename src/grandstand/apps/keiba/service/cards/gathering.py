"""Kept here: a race in one call: what is kept is read at once, what is missing is fetched."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Final, Literal, TypeAlias

from grandstand.apps.keiba.model import Odds, RaceCard, Runner, ids
from grandstand.apps.keiba.model.form import Entry
from grandstand.apps.keiba.service.cache.library import Library
from grandstand.apps.keiba.service.cards.insight import Derived, Ratings, beside_odds
from grandstand.apps.keiba.service.means import Means
from grandstand.apps.keiba.service.values import Card, CardRunner, Progress, Sourced, off_at
from grandstand.apps.keiba.sources import addresses
from grandstand.apps.keiba.sources.addresses import Place
from grandstand.base.errors import GrandstandError
from grandstand.storage.tables.cache import CacheKey

What: TypeAlias = Literal["results", "parents", "jockey", "odds"]
Told: TypeAlias = Callable[[Progress], None]

# How many pages each look-up needs at most: parents are a pedigree and two profiles.
_PAGES: Final[dict[What, int]] = {"results": 1, "parents": 3, "jockey": 1, "odds": 1}
_NAMES: Final[dict[What, str]] = {
    "results": "Its earlier races are missing",
    "parents": "Its parents are missing",
    "jockey": "Its jockey's figures are missing",
    "odds": "The odds are missing",
}
_UNDATED: Final = "No page says when the race is run: figures are as of today."


@dataclass(frozen=True, slots=True)
class Wanted:
    """One look-up of a card: what, of which horse, jockey or race, and how it is fetched."""

    what: What
    of: str
    key: CacheKey[Any]
    place: Place
    fetch: Callable[[], Awaitable[Sourced[Any] | None]]


@dataclass(frozen=True, slots=True)
class Gathered:
    """What became of the look-ups: what was found, why some failed, and the counts."""

    found: dict[tuple[What, str], Sourced[Any]]
    faults: dict[tuple[What, str], str]
    counts: Progress


class Gathering:
    """Gathers cards; however many are gathered here at once, few pages are waited for at a time."""

    def __init__(self, means: Means, library: Library) -> None:
        self._means = means
        self._library = library
        self._ratings = Ratings()
        self._turns = asyncio.Semaphore(means.settings.gather_at_once)

    async def card(self, race_id: str, told: Told | None, *, anew: bool = False) -> Card:
        """Gather a card: one get and one batch read, then a fetch of each page that is missing."""
        race = await self._library.race(race_id, anew=anew)
        wanted = self._wanted(race.value)
        looked = [each for each in wanted if not (anew and each.what == "odds")]
        kept = await self._library.look([(each.key, each.place) for each in looked])
        found = {
            (each.what, each.of): one
            for each, one in zip(looked, kept, strict=True)
            if one is not None
        }
        tally = _Tally(race, wanted, found, self._pace(), told)
        missing = [each for each in wanted if (each.what, each.of) not in found]
        async with asyncio.TaskGroup() as group:
            for each in missing:
                group.create_task(self._fetch(each, tally))
        return await self._made(race, tally.gathered())

    async def kept(self, race_id: str) -> Card | None:
        """Make a card of what is kept."""
        key = self._library.forms.race.key(race_id=ids.race_id(race_id))
        [race] = await self._library.look([(key, addresses.card(race_id))])
        if race is None:
            return None
        wanted = self._wanted(race.value)
        kept = await self._library.look([(each.key, each.place) for each in wanted])
        found = {
            (each.what, each.of): one
            for each, one in zip(wanted, kept, strict=True)
            if one is not None
        }
        total = 1 + sum(each.what != "odds" or ("odds", each.of) in found for each in wanted)
        done = 1 + len(found)
        counts = Progress(done=done, cached=done, total=total, finished=done == total)
        return await self._made(race, Gathered(found, {}, counts))

    async def _fetch(self, each: Wanted, tally: _Tally) -> None:
        async with self._turns:
            try:
                one = await each.fetch()
            except GrandstandError as fault:
                tally.failed(each, fault)
            else:
                tally.took(each, one)

    def _pace(self) -> float:
        settings = self._means.settings
        return settings.gap_seconds + settings.jitter_seconds / 2

    def _wanted(self, card: RaceCard) -> list[Wanted]:
        """Name every page of a card once; a scratched runner's are not wanted."""
        library, race_id = self._library, card.race_id
        odds = Wanted(
            "odds",
            race_id,
            library.forms.odds.key(race_id=race_id),
            addresses.odds(race_id),
            lambda: library.odds(race_id),
        )
        each = [odds, *(one for runner in _starters(card) for one in _of_runner(library, runner))]
        return list({(one.what, one.of): one for one in each}.values())

    async def _made(self, race: Sourced[RaceCard], gathered: Gathered) -> Card:
        card, found = race.value, gathered.found
        race_date = await self._library.date_of(card)
        odds: Sourced[Odds] | None = found.get(("odds", card.race_id))
        entries = [_entry(runner, found) for runner in _starters(card)]
        on = race_date or self._means.today()
        field = self._ratings.of(_made_of(race, gathered, on), card, entries, on=on)
        derived = beside_odds(field, entries, None if odds is None else odds.value)
        fault = gathered.faults.get(("odds", card.race_id))
        notes = (
            *race.warnings,
            *(() if race_date is not None else (_UNDATED,)),
            *(() if fault is None else (f"{_NAMES['odds']}: {fault}",)),
        )
        track = ids.track_of(card.race_id)
        return Card(
            race=race,
            race_date=race_date,
            off_at=off_at(race_date, card.post_time),
            circuit=ids.circuit_of(card.race_id),
            track_english=None if track is None else track.english,
            runners=tuple(_runner(runner, gathered, derived) for runner in card.horses),
            odds=odds,
            counts=gathered.counts,
            warnings=notes,
        )


class _Tally:
    """Counts the look-ups of one card as they end, and tells each step."""

    def __init__(
        self,
        race: Sourced[RaceCard],
        wanted: Sequence[Wanted],
        found: dict[tuple[What, str], Sourced[Any]],
        pace_seconds: float,
        told: Told | None,
    ) -> None:
        self._found = dict(found)
        self._faults: dict[tuple[What, str], str] = {}
        self._left = {
            (one.what, one.of): _PAGES[one.what]
            for one in wanted
            if (one.what, one.of) not in found
        }
        self._pace_seconds = pace_seconds
        self._told = told
        fetched = int(race.state == "fetched")
        done = 1 + len(found)
        self._counts = Progress(
            done=done, cached=done - fetched, fetched=fetched, total=1 + len(wanted)
        )
        self._tell()

    def took(self, each: Wanted, one: Sourced[Any] | None) -> None:
        """Note what was found; None when there is nothing to be had yet."""
        if one is not None:
            self._found[each.what, each.of] = one
        fetched = one is not None and one.state == "fetched"
        counts = self._counts
        self._end(
            each,
            replace(counts, cached=counts.cached + (not fetched), fetched=counts.fetched + fetched),
        )

    def failed(self, each: Wanted, fault: GrandstandError) -> None:
        """Note what could not be had, and why."""
        self._faults[each.what, each.of] = str(fault)
        self._end(each, replace(self._counts, failed=self._counts.failed + 1))

    def gathered(self) -> Gathered:
        """Answer it all."""
        return Gathered(self._found, self._faults, self._counts)

    def _end(self, each: Wanted, counts: Progress) -> None:
        del self._left[each.what, each.of]
        self._counts = replace(counts, done=counts.done + 1)
        self._tell()

    def _tell(self) -> None:
        left = sum(self._left.values()) * self._pace_seconds
        self._counts = replace(self._counts, seconds_left=left, finished=not self._left)
        if self._told is not None:
            self._told(self._counts)


def _made_of(race: Sourced[RaceCard], gathered: Gathered, on: date) -> Hashable:
    """Name all a rating is made of by where it is from and when it was fetched."""
    found = frozenset(
        (place, one.fetched_at) for place, one in gathered.found.items() if place[0] != "odds"
    )
    return race.value.race_id, race.fetched_at, on, found


def _starters(card: RaceCard) -> list[Runner]:
    return [runner for runner in card.horses if not runner.scratched]


def _of_runner(library: Library, runner: Runner) -> list[Wanted]:
    horse, name, jockey, forms = (
        runner.horse_id,
        runner.horse_name,
        runner.jockey_id,
        library.forms,
    )
    wanted = [
        Wanted(
            "results",
            horse,
            forms.results.key(horse_id=horse),
            addresses.horse_results(horse),
            lambda: library.results(horse, name),
        ),
        Wanted(
            "parents",
            horse,
            forms.parents.key(horse_id=horse),
            addresses.pedigree(horse),
            lambda: library.parents(horse),
        ),
    ]
    if jockey is not None:
        key, place = forms.jockey.key(jockey_id=jockey), addresses.jockey_years(jockey)
        wanted.append(Wanted("jockey", jockey, key, place, lambda: library.jockey(jockey)))
    return wanted


def _entry(runner: Runner, found: Mapping[tuple[What, str], Sourced[Any]]) -> Entry:
    form = found.get(("results", runner.horse_id))
    parents = found.get(("parents", runner.horse_id))
    jockey = found.get(("jockey", runner.jockey_id or ""))
    return Entry(
        runner,
        None if form is None else form.value,
        None if jockey is None else jockey.value,
        None if parents is None else parents.value,
    )


def _runner(runner: Runner, gathered: Gathered, derived: Mapping[str, Derived]) -> CardRunner:
    places: list[tuple[What, str]] = [
        ("results", runner.horse_id),
        ("parents", runner.horse_id),
        ("jockey", runner.jockey_id or ""),
    ]
    form, parents, jockey = (gathered.found.get(place) for place in places)
    warnings = [
        *(
            f"{_NAMES[place[0]]}: {gathered.faults[place]}"
            for place in places
            if place in gathered.faults
        ),
        *(note for one in (form, parents, jockey) if one is not None for note in one.warnings),
    ]
    follows = derived.get(runner.horse_id)
    return CardRunner(
        runner=runner,
        form=form,
        parents=parents,
        jockey=jockey,
        figures=None if follows is None else follows.figures,
        insights=() if follows is None else follows.insights,
        ranked=None if follows is None else follows.ranked,
        warnings=tuple(warnings),
    )
