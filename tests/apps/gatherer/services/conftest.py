"""The places the gatherer's series are kept in, each real: a folder of chunks, and PostgreSQL."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from grandstand.apps.gatherer.store import TABLES
from grandstand.core.clock import ManualClock
from grandstand.storage.series.engines.chunks.engine import ChunkEngine
from grandstand.storage.series.engines.protocol import SeriesEngine
from grandstand.storage.tables import Naming, Store
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from tests.apps.gatherer.services.recorded_rows import START
from tests.storage.series.engines.postgres import opening

Opener = Callable[[str], SeriesEngine]


@pytest.fixture
def later() -> ManualClock:
    """A clock an hour after the recorded day."""
    return ManualClock(datetime.fromtimestamp(START // 1_000_000, UTC) + timedelta(hours=1))


@pytest.fixture(params=["chunks", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path, later: ManualClock) -> Iterator[Opener]:
    """Opens an empty store of series under a name."""
    with ExitStack() as opened:

        def chunks(name: str) -> SeriesEngine:
            return opened.enter_context(closing(ChunkEngine.open(tmp_path / name, clock=later)))

        def postgres(_name: str) -> SeriesEngine:
            dsn = request.getfixturevalue("postgres_dsn")
            return opened.enter_context(opening.plain(dsn, later))()

        yield {"chunks": chunks, "postgres": postgres}[request.param]


@pytest.fixture
def tables(later: ManualClock) -> Iterator[Store]:
    """The tables of the production store, embedded."""
    engine = SqliteEngine.open(None, clock=later)
    with Store(engine, naming=Naming(environment="test"), clock=later) as store:
        store.create(TABLES)
        yield store
