"""A keiba before the simulated site: on each kind of store, and on a Sunday at noon."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from grandstand.core.clock import ManualClock, SystemClock
from grandstand.simulators.racing.site import Site
from grandstand.simulators.racing.world import World
from grandstand.storage.tables import Naming, Store
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from tests.apps.keiba.stage import ALL_TABLES, NOON, SMALL, Stage, staged


@pytest.fixture(scope="session")
def racing_world() -> World:
    """One world for all: what was asked of it once comes quickly."""
    return World.at(7, NOON, seasons_before=0)


@pytest.fixture
def race_site(racing_world: World) -> Site:
    """The site on that Sunday at noon."""
    return Site(racing_world, clock=ManualClock(NOON), wall=SystemClock())


@pytest.fixture
async def stage(store: Store, clock: ManualClock, race_site: Site) -> AsyncIterator[Stage]:
    """A keiba on each kind of store, whose clock is of today."""
    store.create(ALL_TABLES)
    async with staged(store, race_site, clock) as made:
        yield made


@pytest.fixture(scope="session")
def gathered_file(racing_world: World, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store in which one card is gathered, for whoever does not care how."""
    file, clock = tmp_path_factory.mktemp("keiba") / "gathered.db", ManualClock(NOON)
    site = Site(racing_world, clock=ManualClock(NOON), wall=SystemClock())

    async def gather(store: Store) -> None:
        async with staged(store, site, clock) as made:
            await made.keiba.cards.assemble(SMALL)

    with Store(SqliteEngine.open(file, clock=clock), naming=Naming(), clock=clock) as store:
        store.create(ALL_TABLES)
        asyncio.run(gather(store))
    return file


@pytest.fixture
async def gathered(gathered_file: Path, race_site: Site, tmp_path: Path) -> AsyncIterator[Stage]:
    """A keiba on that Sunday with one card gathered just now."""
    clock = ManualClock(NOON)
    file = Path(shutil.copy(gathered_file, tmp_path))
    with Store(SqliteEngine.open(file, clock=clock), naming=Naming(), clock=clock) as store:
        async with staged(store, race_site, clock) as made:
            yield made


@pytest.fixture
async def sunday(race_site: Site) -> AsyncIterator[Stage]:
    """A keiba on an embedded store whose clock agrees with the site's."""
    clock = ManualClock(NOON)
    with Store(SqliteEngine.open(None, clock=clock), naming=Naming(), clock=clock) as store:
        store.create(ALL_TABLES)
        async with staged(store, race_site, clock) as made:
            yield made
