"""A front on a real engine in memory, with a clock that moves when told."""

from collections.abc import Iterator

import pytest

from grandstand.base.clock import ManualClock
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from grandstand.storage.tables.front import Front
from tests.storage.tables.endpoint import running_endpoint
from tests.storage.tables.front.asking import Asker


@pytest.fixture
def clock() -> ManualClock:
    """The time of these tests."""
    return ManualClock()


@pytest.fixture
def embedded(clock: ManualClock) -> Iterator[SqliteEngine]:
    """An engine of its own for each test."""
    engine = SqliteEngine.open(None, clock=clock, metered=True)
    yield engine
    engine.close()


@pytest.fixture
def front(embedded: SqliteEngine, clock: ManualClock) -> Front:
    """The front under test."""
    return Front(embedded, clock=clock)


@pytest.fixture
def ask(front: Front) -> Asker:
    """Asks the front under test."""
    return Asker(front)


@pytest.fixture(scope="session")
def endpoint() -> Iterator[str]:
    """The address of an endpoint of our own, in memory."""
    with running_endpoint(None) as address:
        yield address
