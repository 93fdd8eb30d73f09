"""The engines every storage test runs on, each real: two embedded, our endpoint, Amazon's own."""

import itertools
import random
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from pathlib import Path

import pytest

from grandstand.core.clock import SystemClock
from grandstand.storage.tables import Naming, Store
from grandstand.storage.tables.engines.dynamodb.client import Credentials
from grandstand.storage.tables.engines.dynamodb.engine import DynamoEngine
from grandstand.storage.tables.engines.protocol import Engine
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from tests.storage.tables.endpoint import running_endpoint

_numbers = itertools.count(1)


def remote_engine(endpoint: str) -> DynamoEngine:
    """Open the cloud engine on an endpoint of this machine."""
    return DynamoEngine.open(
        region="eu-west-1",
        endpoint=endpoint,
        credentials=Credentials("testing", "testing"),
        clock=SystemClock(),
        random=random.Random(1),
    )


@pytest.fixture(scope="session")
def our_endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of our own endpoint, on a file of its own."""
    with running_endpoint(tmp_path_factory.mktemp("endpoint") / "tables.db") as address:
        yield address


@pytest.fixture(scope="session")
def endpoint_engine(our_endpoint: str) -> Iterator[Engine]:
    """The cloud engine on our own endpoint, one for all: a new one first asks what is offered."""
    engine = remote_engine(our_endpoint)
    yield engine
    engine.close()


@pytest.fixture(scope="session")
def local_engine(dynamodb_local: str) -> Iterator[Engine]:
    """The cloud engine on DynamoDB Local, one for all likewise."""
    engine = remote_engine(dynamodb_local)
    yield engine
    engine.close()


@contextmanager
def _file(_request: pytest.FixtureRequest, folder: Path) -> Iterator[Engine]:
    with closing(SqliteEngine.open(folder / "tables.db", clock=SystemClock())) as engine:
        yield engine


@contextmanager
def _memory(_request: pytest.FixtureRequest, _folder: Path) -> Iterator[Engine]:
    with closing(SqliteEngine.open(None, clock=SystemClock())) as engine:
        yield engine


def _endpoint(request: pytest.FixtureRequest, _folder: Path) -> AbstractContextManager[Engine]:
    return nullcontext(request.getfixturevalue("endpoint_engine"))


def _local(request: pytest.FixtureRequest, _folder: Path) -> AbstractContextManager[Engine]:
    return nullcontext(request.getfixturevalue("local_engine"))


Opener = Callable[[pytest.FixtureRequest, Path], AbstractContextManager[Engine]]
ENGINES: dict[str, Opener] = {
    "sqlite": _file,
    "sqlite-memory": _memory,
    "our-endpoint": _endpoint,
    "dynamodb-local": _local,
}


@pytest.fixture(params=list(ENGINES))
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    """Each engine in turn."""
    with ENGINES[request.param](request, tmp_path) as opened:
        yield opened


@pytest.fixture
def naming() -> Naming:
    """Names no other test uses, so that tests can share a server."""
    return Naming(prefix=f"t{next(_numbers)}-")


@pytest.fixture
def store(engine: Engine, naming: Naming) -> Store:
    """A store on each engine in turn, without tables."""
    return Store(engine, naming=naming, clock=SystemClock())
