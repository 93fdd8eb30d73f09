"""A full card: how many requests it takes cold, how long it takes kept, and among how much."""

from __future__ import annotations

import asyncio
import gc
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from benchmarks.harness.rows import Limit, Row, Times
from benchmarks.keiba.pages import FULL, MORNING, RacePages
from grandstand.apps.keiba.services import Keiba
from grandstand.apps.keiba.sources.profile_parser import parse_pedigree
from grandstand.apps.keiba.sources.race_parser import parse_card
from grandstand.apps.keiba.store import WEEK
from grandstand.apps.keiba.store import keiba as keiba_table
from grandstand.core.clock import ManualClock, SystemClock
from grandstand.simulators.racing.site import Site
from grandstand.simulators.racing.world import World
from grandstand.storage.tables import Naming, Store
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from grandstand.storage.tables.requests import PutItem
from tests.apps.keiba.stage import ALL_TABLES, Resources, Stage, staged

Work = Callable[[], Awaitable[object]]

SIZES = (1_000, 1_000_000)

_CARD_MILLISECONDS = 50.0
# The tree gets a level or two deeper: as among the tables, half again as much is allowed.
_FLAT = 0.67
_ROUNDS = 25
_BATCH = 25
# Odds that are not final are kept for a minute only; here everything is to be kept.
_HOUR_SECONDS = 3600
# The simulated world works out a season when it is first asked of it.
_PATIENCE_SECONDS = 120


def rows(world: World, pages: RacePages, folder: Path, sizes: tuple[int, int] = SIZES) -> list[Row]:
    """Measure the rows of a card, among few and among many other items."""
    return asyncio.run(_rows(world, pages, folder, sizes))


async def _rows(world: World, pages: RacePages, folder: Path, sizes: tuple[int, int]) -> list[Row]:
    """Ask two stores of two sizes in turns for the same card, so that only their sizes differ."""
    few, many = sizes
    async with (
        _open(world, folder / "few.db") as (stage, store),
        _open(world, folder / "many.db") as (other, large),
    ):
        cold = await _cold(stage, pages)
        await other.keiba.cards.assemble(pages.race_id)
        _fill(store, few)
        _fill(large, many)
        # What the simulated site made of its world meanwhile is not to be swept either.
        gc.collect()
        gc.freeze()
        card = await stage.keiba.cards.assemble(pages.race_id)
        jockeys = [each.runner.jockey_id for each in card.runners if each.runner.jockey_id]
        runs = sum(len(each.form.value.recent_results) for each in card.runners if each.form)
        both = (stage, other)
        cards = await _medians([_unremembered(each.resources, pages.race_id) for each in both])
        hits = await _medians([partial(_hits, each.keiba, jockeys) for each in both])
        [again] = await _medians([partial(stage.keiba.cards.assemble, pages.race_id)])
    return [
        *cold,
        Row(
            measure=f"a card of {FULL} runners and {runs} earlier runs, everything kept",
            unit="ms",
            ours=1e3 * cards[0],
            aim=Limit(_CARD_MILLISECONDS),
            higher_is_better=False,
        ),
        Row(
            measure="the same card again, in the same process",
            unit="ms",
            ours=1e3 * again,
            aim=Limit(_CARD_MILLISECONDS),
            higher_is_better=False,
        ),
        _growth(f"a card of {FULL} runners", "ms", sizes, [1e3 * each for each in cards]),
        _growth(f"{FULL} hits, one by one", "ms", sizes, [1e3 * each for each in hits]),
    ]


@asynccontextmanager
async def _open(world: World, file: Path) -> AsyncIterator[tuple[Stage, Store]]:
    clock = ManualClock(MORNING)
    site = Site(world, clock=clock, wall=SystemClock())
    engine = SqliteEngine.open(file, clock=clock)
    with Store(engine, naming=Naming(), clock=clock) as store:
        store.create(ALL_TABLES)
        async with staged(
            store,
            site,
            clock,
            odds_seconds=_HOUR_SECONDS,
            timeout_seconds=_PATIENCE_SECONDS,
        ) as stage:
            yield stage, store


async def _cold(stage: Stage, pages: RacePages) -> list[Row]:
    """Gather a card that nothing is kept of; the site counts what it was asked for."""
    start = time.perf_counter()
    card = await stage.keiba.cards.assemble(pages.race_id)
    seconds = time.perf_counter() - start
    if not card.complete or len(card.ranking) != FULL:
        message = f"the card was not gathered: {card.progress}"
        raise RuntimeError(message)
    asked = stage.requested()
    await stage.keiba.cards.assemble(pages.race_id)
    again = len(stage.requested()) - len(asked)
    necessary = "necessary"
    return [
        Row(
            measure=f"requests for a cold card of {FULL} runners",
            unit="requests",
            ours=len(asked),
            peers={necessary: len(necessary_pages(pages))},
            aim=Times(1.0, necessary),
            higher_is_better=False,
        ),
        Row(
            measure="requests for the same card again",
            unit="requests",
            ours=again,
            aim=Limit(0),
            higher_is_better=False,
        ),
        Row(
            measure="our part of a cold card, the site's answers included, without pauses",
            unit="s",
            ours=seconds,
            higher_is_better=False,
        ),
    ]


def necessary_pages(pages: RacePages) -> set[str]:
    """Name what a card cannot be made without, from the pages themselves: each once.

    The card and its odds; of every runner the races and ancestors; every parent; every jockey.
    """
    card = parse_card(pages.card, pages.race_id).value
    starters = [runner for runner in card.horses if not runner.scratched]
    pedigrees = [
        parse_pedigree(pages.pedigrees[runner.horse_id], runner.horse_id).value
        for runner in starters
    ]
    parents = {
        parent.id
        for pedigree in pedigrees
        for parent in (pedigree.sire, pedigree.dam)
        if parent is not None
    }
    return {
        "card",
        "odds",
        *(f"results {runner.horse_id}" for runner in starters),
        *(f"pedigree {runner.horse_id}" for runner in starters),
        *(f"profile {parent}" for parent in parents),
        *(f"jockey {runner.jockey_id}" for runner in starters if runner.jockey_id),
    }


def _unremembered(resources: Resources, race_id: str) -> Work:
    """Ask as a process does that has no card in its memory, each time another one."""
    fresh = [resources.create() for _ in range(_ROUNDS)]
    return lambda: fresh.pop().cards.assemble(race_id)


async def _hits(keiba: Keiba, jockeys: Sequence[str]) -> None:
    """Ask for one kept page after the other."""
    for jockey in jockeys:
        await keiba.pages.jockey(jockey)


async def _medians(works: Sequence[Work]) -> list[float]:
    """The median seconds of each work; they are done in turns."""
    taken: list[list[float]] = [[] for _ in works]
    for _ in range(_ROUNDS):
        for work, times in zip(works, taken, strict=True):
            start = time.perf_counter()
            await work()
            times.append(time.perf_counter() - start)
    return [statistics.median(times) for times in taken]


def _growth(what: str, unit: str, sizes: tuple[int, int], taken: Sequence[float]) -> Row:
    beside = f"among {sizes[0]:,}"
    return Row(
        measure=f"{what}, among {sizes[1]:,} items",
        unit=unit,
        ours=taken[1],
        peers={beside: taken[0]},
        aim=Times(_FLAT, beside),
        higher_is_better=False,
    )


def _fill(store: Store, size: int) -> None:
    """Put so many other items around those of the card, all within their time."""
    table, engine = store.session.name(keiba_table), store.session.engine
    expires = int((MORNING + WEEK).timestamp())
    for first in range(0, size, _BATCH):
        engine.batch_write(
            [
                PutItem(table, {"PK": f"JOCKEY#{number:07x}", "SK": "STATS", "ttl": expires})
                for number in range(first, min(size, first + _BATCH))
            ]
        )
