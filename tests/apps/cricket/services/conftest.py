"""Cricket on a store: embedded, and where it matters how writes meet also on Amazon's emulator."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from grandstand.core.clock import ManualClock, SystemClock
from grandstand.storage.tables import Naming, Store
from grandstand.storage.tables.engines.protocol import Engine
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from tests.apps.cricket.services.stage import ALL_TABLES, Stage, staged
from tests.kit.stores import fresh_prefix, open_engine


@pytest.fixture
def store(request: pytest.FixtureRequest, clock: ManualClock) -> Iterator[Store]:
    """A store without tables; `on_both` lets a test run on the emulator too."""
    engines = {"sqlite": _embedded, "dynamodb-local": _amazons}
    engine = engines[getattr(request, "param", "sqlite")](request)
    naming = Naming(prefix=f"service-{fresh_prefix()}", environment="test")
    with Store(engine, naming=naming, clock=clock) as opened:
        yield opened


def _embedded(_request: pytest.FixtureRequest) -> Engine:
    return SqliteEngine.open(None, clock=SystemClock())


def _amazons(request: pytest.FixtureRequest) -> Engine:
    return open_engine(str(request.getfixturevalue("dynamodb_local")))


@pytest.fixture
async def stage(store: Store, clock: ManualClock) -> Stage:
    """One instance of cricket with its tables, leagues and teams."""
    store.create(ALL_TABLES)
    made = staged(store, clock)
    await made.cricket.league_sync.run()
    await made.cricket.team_sync.run()
    made.feed.asked.clear()
    return made
