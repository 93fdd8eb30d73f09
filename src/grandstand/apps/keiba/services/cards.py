"""Race cards: assembled from cached and fetched pages, in the background or for a whole day."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import date, datetime
from itertools import chain, islice
from typing import Any, Final, Literal, TypeAlias

from grandstand.apps.keiba.domain import ids
from grandstand.apps.keiba.domain.errors import SiteCoolingDown
from grandstand.apps.keiba.domain.form import Entry, Figures
from grandstand.apps.keiba.domain.horses import Form, JockeyRecord, Parents
from grandstand.apps.keiba.domain.ids import Circuit
from grandstand.apps.keiba.domain.races import Odds, RaceCard, Runner
from grandstand.apps.keiba.services.analysis import (
    Insight,
    RankedRunner,
    RatingCache,
    RunnerAnalysis,
    compare_with_odds,
)
from grandstand.apps.keiba.services.page_cache import (
    PageCache,
    Sourced,
    start_time,
    today_in_japan,
)
from grandstand.apps.keiba.services.race_days import RaceDays
from grandstand.apps.keiba.settings import KeibaSettings
from grandstand.apps.keiba.sources import netkeiba
from grandstand.apps.keiba.sources.netkeiba import Netkeiba, SitePage
from grandstand.core.clock import Clock
from grandstand.core.errors import GrandstandError
from grandstand.core.logging import get_logger
from grandstand.kit.live import Publisher
from grandstand.storage.tables.cache import CacheKey

_PartKind: TypeAlias = Literal["form", "parents", "jockey", "odds"]
_PartKey: TypeAlias = tuple[_PartKind, str]

# The most pages one part needs: parents are a pedigree and two profiles.
_PAGES: Final[dict[_PartKind, int]] = {"form": 1, "parents": 3, "jockey": 1, "odds": 1}
_MISSING: Final[dict[_PartKind, str]] = {
    "form": "Past races missing",
    "parents": "Parents missing",
    "jockey": "Jockey statistics missing",
    "odds": "Odds missing",
}
_UNDATED: Final = "The date of this race is unknown; figures are as of today."
_MAX_REMEMBERED: Final = 256


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of assembling a card; `done` of `total` parts are cached, fetched or failed.

    `seconds_left` is estimated from the allowed request rate, None before it is known. `error` is
    set if the card itself is unavailable.
    """

    done: int = 0
    cached: int = 0
    fetched: int = 0
    failed: int = 0
    total: int = 0
    seconds_left: float | None = None
    finished: bool = False
    error: str | None = None


ProgressCallback: TypeAlias = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class CardRunner:
    """A runner with its pages; a missing page is None and named in `warnings`.

    A scratched runner has no rank.
    """

    runner: Runner
    form: Sourced[Form] | None
    parents: Sourced[Parents] | None
    jockey: Sourced[JockeyRecord] | None
    figures: Figures | None
    insights: tuple[Insight, ...]
    ranked: RankedRunner | None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Card:
    """A race with every runner's form, parents and jockey, the odds if any, and the ranking.

    Runners are in card order. `race_date` is None only if no page has it; figures are then as of
    today. `warnings` are those of the card itself and of the odds.
    """

    race: Sourced[RaceCard]
    race_date: date | None
    off_at: datetime | None
    circuit: Circuit
    track_english: str | None
    runners: tuple[CardRunner, ...]
    odds: Sourced[Odds] | None
    progress: Progress
    warnings: tuple[str, ...] = ()

    @property
    def ranking(self) -> tuple[CardRunner, ...]:
        """The ranked runners, best first."""
        ranked = [(each.ranked.rank, each) for each in self.runners if each.ranked is not None]
        return tuple(runner for _, runner in sorted(ranked, key=lambda pair: pair[0]))

    @property
    def complete(self) -> bool:
        """Whether every part was found; missing odds do not count."""
        return not self.progress.failed and self.progress.done == self.progress.total


@dataclass(frozen=True, slots=True)
class PrefetchReport:
    """Result of prefetching a day; `failed` lists races and why they are incomplete."""

    race_date: date
    races: int
    progress: Progress
    failed: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class _Part:
    """One part of a card: its kind, the horse, jockey or race, and how to get it."""

    kind: _PartKind
    id: str
    cache_key: CacheKey[Any]
    page: SitePage[Any]
    fetch: Callable[[], Awaitable[Sourced[Any] | None]]

    @property
    def key(self) -> _PartKey:
        return self.kind, self.id


@dataclass(frozen=True, slots=True)
class _Parts:
    """The parts that were found, the errors of the others, and the counts."""

    found: dict[_PartKey, Sourced[Any]]
    errors: dict[_PartKey, str]
    progress: Progress


class CardAssembler:
    """Assembles cards; few pages are awaited at a time, however many cards are in progress."""

    def __init__(self, *, pages: PageCache, clock: Clock, settings: KeibaSettings) -> None:
        self._pages = pages
        self._clock = clock
        self._seconds_per_page = settings.gap_seconds + settings.jitter_seconds / 2
        self._ratings = RatingCache()
        self._slots = asyncio.Semaphore(settings.concurrent_pages)

    async def assemble(
        self, race_id: str, on_progress: ProgressCallback | None = None, *, refresh: bool = False
    ) -> Card:
        """Return a race's card, fetching the missing pages once each.

        A part that fails leaves its runner incomplete, with a warning. `refresh` fetches the card
        itself and the odds again. Raises only if the card itself is unavailable.
        """
        race = await self._pages.race(race_id, refresh=refresh)
        parts = self._parts(race.value)
        found = await self._cached_parts(
            [part for part in parts if not (refresh and part.kind == "odds")]
        )
        tracker = _ProgressTracker(race, parts, found, self._seconds_per_page, on_progress)
        async with asyncio.TaskGroup() as group:
            for part in parts:
                if part.key not in found:
                    group.create_task(self._fetch(part, tracker))
        return await self._build(race, tracker.parts())

    async def cached(self, race_id: str) -> Card | None:
        """Return the card as far as it is cached, without fetching; None if the race is not."""
        key = self._pages.kinds.race.key(race_id=ids.race_id(race_id))
        [race] = await self._pages.cached([(key, netkeiba.card_page(race_id))])
        if race is None:
            return None
        parts = self._parts(race.value)
        found = await self._cached_parts(parts)
        total = 1 + sum(part.kind != "odds" or part.key in found for part in parts)
        done = 1 + len(found)
        progress = Progress(done=done, cached=done, total=total, finished=done == total)
        return await self._build(race, _Parts(found, {}, progress))

    async def _cached_parts(self, parts: Sequence[_Part]) -> dict[_PartKey, Sourced[Any]]:
        cached = await self._pages.cached([(part.cache_key, part.page) for part in parts])
        return {
            part.key: page for part, page in zip(parts, cached, strict=True) if page is not None
        }

    async def _fetch(self, part: _Part, tracker: _ProgressTracker) -> None:
        async with self._slots:
            try:
                page = await part.fetch()
            except GrandstandError as error:
                tracker.failed(part, error)
            else:
                tracker.succeeded(part, page)

    def _parts(self, card: RaceCard) -> list[_Part]:
        """Return every part of a card once, without those of scratched runners."""
        pages, race_id = self._pages, card.race_id
        odds = _Part(
            "odds",
            race_id,
            pages.kinds.odds.key(race_id=race_id),
            netkeiba.odds_page(race_id),
            lambda: pages.odds(race_id),
        )
        runner_parts = (_runner_parts(pages, runner) for runner in _starters(card))
        return list({part.key: part for part in (odds, *chain(*runner_parts))}.values())

    async def _build(self, race: Sourced[RaceCard], parts: _Parts) -> Card:
        card, found = race.value, parts.found
        race_date = await self._pages.race_date(card)
        odds: Sourced[Odds] | None = found.get(("odds", card.race_id))
        entries = [_entry(runner, found) for runner in _starters(card)]
        on = race_date or today_in_japan(self._clock)
        field = self._ratings.rate(_fingerprint(race, parts, on), card, entries, on=on)
        analysis = compare_with_odds(field, entries, None if odds is None else odds.value)
        odds_error = parts.errors.get(("odds", card.race_id))
        warnings = (
            *race.warnings,
            *(() if race_date is not None else (_UNDATED,)),
            *(() if odds_error is None else (f"{_MISSING['odds']}: {odds_error}",)),
        )
        track = ids.track_of(card.race_id)
        return Card(
            race=race,
            race_date=race_date,
            off_at=start_time(race_date, card.post_time),
            circuit=ids.circuit_of(card.race_id),
            track_english=None if track is None else track.english,
            runners=tuple(_card_runner(runner, parts, analysis) for runner in card.horses),
            odds=odds,
            progress=parts.progress,
            warnings=warnings,
        )


class _ProgressTracker:
    """Counts the parts of one card as they finish, and reports each step."""

    def __init__(
        self,
        race: Sourced[RaceCard],
        parts: Sequence[_Part],
        found: Mapping[_PartKey, Sourced[Any]],
        seconds_per_page: float,
        on_progress: ProgressCallback | None,
    ) -> None:
        self._found = dict(found)
        self._errors: dict[_PartKey, str] = {}
        self._pages_left = {part.key: _PAGES[part.kind] for part in parts if part.key not in found}
        self._seconds_per_page = seconds_per_page
        self._on_progress = on_progress
        fetched = int(race.state == "fetched")
        done = 1 + len(found)
        self._progress = Progress(
            done=done, cached=done - fetched, fetched=fetched, total=1 + len(parts)
        )
        self._report()

    def succeeded(self, part: _Part, page: Sourced[Any] | None) -> None:
        """Count a part; `page` is None if nothing is published yet."""
        if page is not None:
            self._found[part.key] = page
        fetched = page is not None and page.state == "fetched"
        progress = self._progress
        self._finish(
            part,
            replace(
                progress, cached=progress.cached + (not fetched), fetched=progress.fetched + fetched
            ),
        )

    def failed(self, part: _Part, error: GrandstandError) -> None:
        """Count a part that is unavailable."""
        self._errors[part.key] = str(error)
        self._finish(part, replace(self._progress, failed=self._progress.failed + 1))

    def parts(self) -> _Parts:
        return _Parts(self._found, self._errors, self._progress)

    def _finish(self, part: _Part, progress: Progress) -> None:
        del self._pages_left[part.key]
        self._progress = replace(progress, done=progress.done + 1)
        self._report()

    def _report(self) -> None:
        seconds_left = sum(self._pages_left.values()) * self._seconds_per_page
        self._progress = replace(
            self._progress, seconds_left=seconds_left, finished=not self._pages_left
        )
        if self._on_progress is not None:
            self._on_progress(self._progress)


def _fingerprint(race: Sourced[RaceCard], parts: _Parts, on: date) -> Hashable:
    """Identify everything a rating is computed from by page and time of fetching."""
    found = frozenset(
        (key, page.fetched_at) for key, page in parts.found.items() if key[0] != "odds"
    )
    return race.value.race_id, race.fetched_at, on, found


def _starters(card: RaceCard) -> list[Runner]:
    return [runner for runner in card.horses if not runner.scratched]


def _runner_parts(pages: PageCache, runner: Runner) -> list[_Part]:
    kinds, horse_id, jockey_id = pages.kinds, runner.horse_id, runner.jockey_id
    parts = [
        _Part(
            "form",
            horse_id,
            kinds.form.key(horse_id=horse_id),
            netkeiba.horse_results_page(horse_id),
            lambda: pages.form(horse_id, runner.horse_name),
        ),
        _Part(
            "parents",
            horse_id,
            kinds.parents.key(horse_id=horse_id),
            netkeiba.pedigree_page(horse_id),
            lambda: pages.parents(horse_id),
        ),
    ]
    if jockey_id is not None:
        key, address = kinds.jockey.key(jockey_id=jockey_id), netkeiba.jockey_page(jockey_id)
        parts.append(_Part("jockey", jockey_id, key, address, lambda: pages.jockey(jockey_id)))
    return parts


def _entry(runner: Runner, found: Mapping[_PartKey, Sourced[Any]]) -> Entry:
    form = found.get(("form", runner.horse_id))
    parents = found.get(("parents", runner.horse_id))
    jockey = found.get(("jockey", runner.jockey_id or ""))
    return Entry(
        runner,
        None if form is None else form.value,
        None if jockey is None else jockey.value,
        None if parents is None else parents.value,
    )


def _card_runner(
    runner: Runner, parts: _Parts, analysis: Mapping[str, RunnerAnalysis]
) -> CardRunner:
    keys: list[_PartKey] = [
        ("form", runner.horse_id),
        ("parents", runner.horse_id),
        ("jockey", runner.jockey_id or ""),
    ]
    form, parents, jockey = (parts.found.get(key) for key in keys)
    warnings = [
        *(f"{_MISSING[key[0]]}: {parts.errors[key]}" for key in keys if key in parts.errors),
        *(
            warning
            for page in (form, parents, jockey)
            if page is not None
            for warning in page.warnings
        ),
    ]
    analyzed = analysis.get(runner.horse_id)
    return CardRunner(
        runner=runner,
        form=form,
        parents=parents,
        jockey=jockey,
        figures=None if analyzed is None else analyzed.figures,
        insights=() if analyzed is None else analyzed.insights,
        ranked=None if analyzed is None else analyzed.ranked,
        warnings=tuple(warnings),
    )


@dataclass
class _CardTask:
    """A card that is being assembled, or was: its progress and when it finished."""

    progress: Progress
    task: asyncio.Task[None] | None = None
    finished_at: float | None = None


@dataclass(kw_only=True)
class BackgroundCards:
    """Assembles cards in the background, once per race, and publishes their progress.

    A finished card is not started again within `refresh_seconds`, so that a page that is never
    published is not requested endlessly.
    """

    cards: CardAssembler
    publisher: Publisher
    clock: Clock
    settings: KeibaSettings
    _tasks: dict[str, _CardTask] = field(default_factory=dict, init=False)

    def start(self, race_id: str) -> Progress:
        """Start assembling a card unless that is in progress or finished recently.

        Progress is published under `keiba/card/{race_id}`. Raises InvalidId.
        """
        known = self._tasks.get(ids.race_id(race_id))
        if known is not None and (
            known.finished_at is None
            or self.clock.monotonic() - known.finished_at < self.settings.refresh_seconds
        ):
            return known.progress
        card_task = _CardTask(Progress())
        self._tasks.pop(race_id, None)
        self._tasks[race_id] = card_task
        card_task.task = asyncio.get_running_loop().create_task(self._run(race_id, card_task))
        self._forget_oldest()
        return card_task.progress

    def progress(self, race_id: str) -> Progress | None:
        """Return the progress of a card; None if it was never started, or long ago."""
        card_task = self._tasks.get(race_id)
        return None if card_task is None else card_task.progress

    async def wait(self) -> None:
        """Wait until no card is being assembled."""
        while running := [each.task for each in self._tasks.values() if each.finished_at is None]:
            await asyncio.gather(*(task for task in running if task is not None))

    async def _run(self, race_id: str, card_task: _CardTask) -> None:
        def report(progress: Progress) -> None:
            card_task.progress = replace(progress, finished=False)
            self._publish(race_id, card_task.progress)

        try:
            card = await self.cards.assemble(race_id, report)
        except GrandstandError as error:
            get_logger("keiba").warning("card_failed", race_id=race_id, error=str(error))
            card_task.progress = replace(card_task.progress, finished=True, error=str(error))
        else:
            card_task.progress = replace(card.progress, finished=True)
        finally:
            card_task.finished_at = self.clock.monotonic()
            self._publish(race_id, card_task.progress)

    def _publish(self, race_id: str, progress: Progress) -> None:
        self.publisher.publish(f"keiba/card/{race_id}", asdict(progress))

    def _forget_oldest(self) -> None:
        finished = [name for name, each in self._tasks.items() if each.finished_at is not None]
        for name in finished[: max(0, len(self._tasks) - _MAX_REMEMBERED)]:
            del self._tasks[name]


@dataclass(kw_only=True)
class CardPrefetcher:
    """Assembles all cards of a day, one after another."""

    days: RaceDays
    cards: CardAssembler
    site: Netkeiba
    clock: Clock

    async def prefetch(
        self,
        race_date: date,
        on_progress: ProgressCallback | None = None,
        circuit: Circuit | None = None,
    ) -> PrefetchReport:
        """Assemble every card of a day, of both circuits by default.

        A race that fails is reported and the others continue; a site that has to be left alone
        ends the run. In the reported progress `done` and `total` count races, the rest pages.
        """
        day = await self.days.day(race_date, circuit)
        race_ids = [race.entry.race_id for meeting in day.meetings for race in meeting.races]
        progress, failed = Progress(total=len(race_ids)), list[tuple[str, str]]()
        started_at = self.clock.monotonic()
        for race_id in race_ids:
            stop = False
            try:
                card = await self.cards.assemble(race_id)
            except GrandstandError as error:
                failed.append((race_id, str(error)))
                progress = replace(progress, failed=progress.failed + 1)
                stop = isinstance(error, SiteCoolingDown)
            else:
                pages = card.progress
                progress = replace(
                    progress,
                    cached=progress.cached + pages.cached,
                    fetched=progress.fetched + pages.fetched,
                    failed=progress.failed + pages.failed,
                )
                if pages.failed:
                    warnings = (warning for each in card.runners for warning in each.warnings)
                    failed += [(race_id, warning) for warning in islice(warnings, 1)]
                    stop = any(site.paused_until for site in await self.site.status())
            done = progress.done + 1
            seconds_per_race = (self.clock.monotonic() - started_at) / done
            seconds_left = seconds_per_race * (progress.total - done)
            progress = replace(progress, done=done, seconds_left=seconds_left)
            if on_progress is not None:
                on_progress(progress)
            if stop:
                break
        progress = replace(progress, finished=True)
        return PrefetchReport(race_date, len(race_ids), progress, tuple(failed))
