"""A store for the applications' own tables, embedded and on Amazon's emulator."""

import random
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from grandstand.core.clock import ManualClock, SystemClock
from grandstand.storage.tables import Naming, Store
from grandstand.storage.tables.engines.dynamodb.client import Credentials
from grandstand.storage.tables.engines.dynamodb.engine import DynamoEngine
from grandstand.storage.tables.engines.protocol import Engine
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from grandstand.storage.tables.requests import DeleteItem, ScanRequest
from grandstand.storage.tables.schema import TableSchema

_BATCH = 25


class Amazons:
    """The cloud engine on Amazon's emulator, one for all tests; making tables is what takes long.

    So tables stay, emptied after each test; only those with a stream, which would tell the next
    test of this one's changes, are made anew.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._schemas: dict[str, TableSchema] = {}

    def renew(self, prefix: str) -> None:
        """Leave nothing of a test in the tables whose names begin so."""
        for name in self.engine.list_tables():
            if name.startswith(prefix):
                self._renew_table(name)

    def _renew_table(self, name: str) -> None:
        if name not in self._schemas:
            self._schemas[name] = self.engine.schema_of(name)
        if self._schemas[name].stream is None:
            self._empty(self._schemas[name])
        else:
            self.engine.delete_table(name)

    def _empty(self, schema: TableSchema) -> None:
        while items := self.engine.scan(ScanRequest(schema.name, consistent=True)).items:
            keys = [{part: item[part] for part in schema.key_names} for item in items]
            deletes = [DeleteItem(schema.name, key) for key in keys]
            for start in range(0, len(deletes), _BATCH):
                self.engine.batch_write(deletes[start : start + _BATCH])


@pytest.fixture(scope="session")
def amazons(dynamodb_local: str) -> Iterator[Amazons]:
    """Amazon's emulator with tables that outlive a test."""
    engine = DynamoEngine.open(
        region="eu-west-1",
        endpoint=dynamodb_local,
        credentials=Credentials("testing", "testing"),
        clock=SystemClock(),
        random=random.Random(1),
    )
    with closing(engine):
        yield Amazons(engine)


@contextmanager
def _embedded(_request: pytest.FixtureRequest, _prefix: str) -> Iterator[Engine]:
    with closing(SqliteEngine.open(None, clock=SystemClock())) as engine:
        yield engine


@contextmanager
def _amazons(request: pytest.FixtureRequest, prefix: str) -> Iterator[Engine]:
    amazons: Amazons = request.getfixturevalue("amazons")
    yield amazons.engine
    amazons.renew(prefix)


@pytest.fixture
def clock() -> ManualClock:
    """A clock at a whole second of now: the emulator removes what expired by the real one."""
    return ManualClock(SystemClock().now().replace(microsecond=0))


@pytest.fixture(params=[_embedded, _amazons], ids=["sqlite", "dynamodb-local"])
def store(request: pytest.FixtureRequest, clock: ManualClock) -> Iterator[Store]:
    """A store under names that only tests of the same module use; nothing is in its tables."""
    prefix = f"{request.path.parent.name}-{request.path.stem}-"
    with request.param(request, prefix) as engine:
        yield Store(engine, naming=Naming(prefix=prefix, environment="test"), clock=clock)
