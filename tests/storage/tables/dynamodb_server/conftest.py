"""A server on an in-memory engine with a manual clock."""

from collections.abc import Iterator

import pytest

from grandstand.core.clock import ManualClock
from grandstand.storage.tables.dynamodb_server.server import DynamoDbServer
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from tests.storage.tables.dynamodb_server.sdk_client import ApiCaller
from tests.storage.tables.endpoint import running_endpoint


@pytest.fixture
def clock() -> ManualClock:
    """The time of these tests."""
    return ManualClock()


@pytest.fixture
def embedded(clock: ManualClock) -> Iterator[SqliteEngine]:
    """A new engine for each test."""
    engine = SqliteEngine.open(None, clock=clock, metered=True)
    yield engine
    engine.close()


@pytest.fixture
def server(embedded: SqliteEngine, clock: ManualClock) -> DynamoDbServer:
    """The server under test."""
    return DynamoDbServer(embedded, clock=clock)


@pytest.fixture
def call(server: DynamoDbServer) -> ApiCaller:
    """Calls operations of the server under test."""
    return ApiCaller(server)


@pytest.fixture(scope="session")
def endpoint() -> Iterator[str]:
    """URL of a running server in memory."""
    with running_endpoint(None) as address:
        yield address
