"""The tables of the cache's tests, by a clock the test moves."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from grandstand.core.clock import ManualClock, SystemClock
from grandstand.storage.tables import Naming, Store
from grandstand.storage.tables.engines.protocol import Engine
from grandstand.storage.tables.platform_tables import leases
from tests.storage.tables.cache.races import keiba
from tests.storage.tables.conftest import ENGINES


@pytest.fixture(params=["sqlite", "sqlite-memory", "dynamodb-local"])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    """Each engine in turn; our endpoint is the embedded one behind another's protocol."""
    with ENGINES[request.param](request, tmp_path) as opened:
        yield opened


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(SystemClock().now())


@pytest.fixture
def store(engine: Engine, naming: Naming, clock: ManualClock) -> Store:
    made = Store(engine, naming=naming, clock=clock)
    made.create((leases, keiba))
    return made
