"""People to test with, embedded and on Amazon's emulator, with hashes that cost little."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from grandstand.core.clock import ManualClock, SystemClock
from grandstand.kit.auth.accounts import AccountService
from grandstand.kit.auth.passwords import Cost, Passwords
from grandstand.kit.auth.tables import AUTH_TABLES
from grandstand.storage.tables import AsyncStore, Naming, Store
from grandstand.storage.tables.engines.dynamodb.client import Credentials
from grandstand.storage.tables.engines.dynamodb.engine import DynamoEngine
from grandstand.storage.tables.engines.protocol import Engine
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from tests.kit.auth.issuer import Issuer

NAMING = Naming(prefix="who-")
CHEAP = Cost(passes=1, memory_kib=64)


@pytest.fixture(scope="session")
def amazons(dynamodb_local: str) -> Iterator[Engine]:
    """Amazon's emulator, on which the tables are made once."""
    engine = DynamoEngine.open(
        region="eu-west-1",
        endpoint=dynamodb_local,
        credentials=Credentials("testing", "testing"),
        clock=SystemClock(),
        random=Random(1),
    )
    with Store(engine, naming=NAMING, clock=SystemClock()) as opened:
        opened.create(AUTH_TABLES)
        yield engine


@pytest.fixture
def sqlite_engine() -> Iterator[Engine]:
    """An engine in memory."""
    engine = SqliteEngine.open(None, clock=SystemClock())
    yield engine
    engine.close()


def _empty(store: Store) -> None:
    """Delete everything: making tables anew takes the emulator half a second."""
    for table in AUTH_TABLES:
        for entity in table.entities:
            left = store(entity.scan().consistent().with_expired())
            store.write_many(entity.delete(**each.identity()) for each in left)


@pytest.fixture
def clock() -> ManualClock:
    """A clock at a whole second of now: the emulator removes what expired by the real one."""
    return ManualClock(SystemClock().now().replace(microsecond=0))


@pytest.fixture(params=["sqlite", "dynamodb-local"])
def store(request: pytest.FixtureRequest, clock: ManualClock) -> Iterator[AsyncStore]:
    """A store with empty tables of people."""
    fixture = {"sqlite": "sqlite_engine", "dynamodb-local": "amazons"}[request.param]
    plain = Store(request.getfixturevalue(fixture), naming=NAMING, clock=clock)
    plain.create(AUTH_TABLES)
    yield AsyncStore(plain)
    _empty(plain)


@pytest.fixture
def embedded(sqlite_engine: Engine, clock: ManualClock) -> AccountService:
    """Nobody yet, embedded only: for what is decided before a store is asked."""
    plain = Store(sqlite_engine, naming=NAMING, clock=clock)
    plain.create(AUTH_TABLES)
    store = AsyncStore(plain)
    return AccountService(store, clock=clock, random=Random(1), passwords=Passwords(CHEAP))


@pytest.fixture
def people(store: AsyncStore, clock: ManualClock) -> AccountService:
    """Nobody yet."""
    return AccountService(store, clock=clock, random=Random(1), passwords=Passwords(CHEAP))


@pytest.fixture(scope="session")
def issuer() -> Iterator[Issuer]:
    """An issuer of tokens that answers on loopback."""
    with Issuer.serving() as serving:
        yield serving
