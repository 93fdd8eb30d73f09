"""A trainer with three scenarios, on each kind of store."""

import pytest

from grandstand.core.clock import ManualClock
from grandstand.storage.tables import AsyncStore, Store
from tests.apps.trainer.stage import ALL_TABLES, SCENARIOS, Stage, staged


@pytest.fixture
async def stage(store: Store, clock: ManualClock) -> Stage:
    """A trainer with its tables and scenarios."""
    store.create(ALL_TABLES)
    made = staged(AsyncStore(store), clock)
    await made.trainer.scenarios.load(SCENARIOS)
    made.slept.clear()
    return made
