"""Cooldowns are shared by all processes, and kept in memory while the store is unavailable."""

from datetime import timedelta

import pytest

from grandstand.apps.keiba.sources.netkeiba import Cooldowns
from grandstand.core.clock import ManualClock
from grandstand.kit.shared_limits import LIMIT_TABLES, SourcePause
from grandstand.storage.tables import AsyncStore, Naming, Store
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from tests.storage.tables.cache.races import Failing

pytestmark = pytest.mark.anyio


async def test_a_pause_is_known_to_all_on_one_store_until_the_site_answers(
    store: Store, clock: ManualClock
) -> None:
    store.create(LIMIT_TABLES)
    ours, theirs = (Cooldowns(AsyncStore(store), clock) for _ in range(2))
    until = clock.now() + timedelta(hours=1)
    pause = SourcePause(name="db", until=until, why="it returned HTTP 403", times=2)

    await ours.put(pause)
    found, other = await theirs.find("db"), await theirs.find("race")
    await theirs.forget("db")

    assert found is not None
    assert (found.until, found.why, found.times, other) == (until, pause.why, 2, None)
    assert await ours.find("db") is None


async def test_ones_own_pause_holds_while_the_store_is_away_which_is_asked_once() -> None:
    clock = ManualClock()
    engine = Failing(SqliteEngine.open(None, clock=clock), down=False)
    store = Store(engine, naming=Naming(), clock=clock)
    store.create(LIMIT_TABLES)
    pauses = Cooldowns(AsyncStore(store), clock)
    until = clock.now() + timedelta(hours=1)
    pause = SourcePause(name="db", until=until, why="it returned HTTP 403")
    engine.down, engine.asked = True, 0

    await pauses.put(pause)
    found = [await pauses.find("db") for _ in range(20)]
    asked = engine.asked
    await pauses.forget("db")

    assert found == [pause] * 20
    assert asked == 1
    assert await pauses.find("db") is None
