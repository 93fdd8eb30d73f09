"""The engines every test of the series' contract runs on, each real.

TimescaleDB is the server's own where it has it, under both licences, and else the stub of it.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from pathlib import Path

import pytest

from grandstand.core.clock import SystemClock
from grandstand.storage.series.engines.chunks.engine import ChunkEngine
from grandstand.storage.series.engines.postgres.schema import Edition
from grandstand.storage.series.engines.protocol import SeriesEngine
from tests.storage.series.engines.postgres import opening
from tests.storage.series.engines.postgres.stub import stub_database

Opener = Callable[[], SeriesEngine]
Place = AbstractContextManager[Opener]


@contextmanager
def _chunks(_request: pytest.FixtureRequest, folder: Path) -> Iterator[Opener]:
    with ExitStack() as opened:

        def open_one() -> SeriesEngine:
            engine = ChunkEngine.open(folder / "series", clock=SystemClock())
            return opened.enter_context(closing(engine))

        yield open_one


def _postgres(request: pytest.FixtureRequest, _folder: Path) -> Place:
    return opening.plain(request.getfixturevalue("postgres_dsn"), SystemClock())


def _timescale(request: pytest.FixtureRequest, _folder: Path) -> Place:
    return _on_timescale(request, "timescale")


def _apache(request: pytest.FixtureRequest, _folder: Path) -> Place:
    return _on_timescale(request, "timescale-apache")


def _on_timescale(request: pytest.FixtureRequest, edition: Edition) -> Place:
    dsn = request.getfixturevalue("postgres_dsn")
    if opening.offers_timescale(dsn):
        return opening.timescale(dsn, SystemClock(), edition)
    return opening.stub(request.getfixturevalue("stub_home"), SystemClock(), edition)


PLACES: dict[str, Callable[[pytest.FixtureRequest, Path], Place]] = {
    "chunks": _chunks,
    "postgres": _postgres,
    "timescale": _timescale,
    "timescale-apache": _apache,
}


@pytest.fixture(scope="session")
def stub_home(postgres_dsn: str) -> Iterator[str]:
    """The connection string of a database in which TimescaleDB seems to be."""
    with stub_database(postgres_dsn) as own:
        yield own


@pytest.fixture(params=list(PLACES))
def another(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opener]:
    """Opens an engine on one place, as often as asked, as a restart or another program would."""
    with PLACES[request.param](request, tmp_path) as open_one:
        yield open_one


@pytest.fixture
def engine(another: Opener) -> SeriesEngine:
    """Each engine in turn, without rows."""
    return another()
