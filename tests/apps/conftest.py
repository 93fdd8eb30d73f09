"""A store for the applications' own tables, embedded and on Amazon's emulator."""

import itertools
import random
from collections.abc import Iterator

import pytest

from grandstand.base.clock import ManualClock, SystemClock
from grandstand.storage.tables import Naming, Store
from grandstand.storage.tables.engines.dynamodb.connection import Credentials
from grandstand.storage.tables.engines.dynamodb.engine import DynamoEngine
from grandstand.storage.tables.engines.protocol import Engine
from grandstand.storage.tables.engines.sqlite import SqliteEngine

_numbers = itertools.count(1)


def _embedded(_request: pytest.FixtureRequest) -> Engine:
    return SqliteEngine.open(None, clock=SystemClock())


def _amazons(request: pytest.FixtureRequest) -> Engine:
    return DynamoEngine.open(
        region="eu-west-1",
        endpoint=request.getfixturevalue("dynamodb_local"),
        credentials=Credentials("testing", "testing"),
        clock=SystemClock(),
        random=random.Random(1),
    )


@pytest.fixture
def clock() -> ManualClock:
    """A clock at a whole second of now: the emulator removes what expired by the real one."""
    return ManualClock(SystemClock().now().replace(microsecond=0))


@pytest.fixture(params=[_embedded, _amazons], ids=["sqlite", "dynamodb-local"])
def store(request: pytest.FixtureRequest, clock: ManualClock) -> Iterator[Store]:
    """A store without tables, under names no other test uses."""
    naming = Naming(prefix=f"app{next(_numbers)}-", environment="test")
    with Store(request.param(request), naming=naming, clock=clock) as opened:
        yield opened
