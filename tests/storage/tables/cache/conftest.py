"""The tables of the cache's tests on every engine, by a clock the test moves."""

import pytest

from grandstand.base.clock import ManualClock, SystemClock
from grandstand.storage.tables import Naming, Store
from grandstand.storage.tables.engines.protocol import Engine
from grandstand.storage.tables.house import HOUSE_TABLES
from tests.storage.tables.cache.races import keiba, pages


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(SystemClock().now())


@pytest.fixture
def store(engine: Engine, naming: Naming, clock: ManualClock) -> Store:
    made = Store(engine, naming=naming, clock=clock)
    made.create((*HOUSE_TABLES, keiba, pages))
    return made
