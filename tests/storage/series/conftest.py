"""The engines every test of the series' contract runs on, each real."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing
from pathlib import Path

import pytest

from grandstand.base.clock import SystemClock
from grandstand.storage.series.engines.chunks import ChunkEngine
from grandstand.storage.series.engines.protocol import SeriesEngine
from tests.storage.series.engines.postgres.opening import on_apache_stub, on_plain

Opened = AbstractContextManager[SeriesEngine]


def _chunks(_request: pytest.FixtureRequest, folder: Path) -> Opened:
    return closing(ChunkEngine.open(folder / "series", clock=SystemClock()))


def _postgres(request: pytest.FixtureRequest, _folder: Path) -> Opened:
    return on_plain(request.getfixturevalue("postgres_dsn"), SystemClock())


def _apache_stub(request: pytest.FixtureRequest, _folder: Path) -> Opened:
    return on_apache_stub(request.getfixturevalue("postgres_dsn"), SystemClock())


Opener = Callable[[pytest.FixtureRequest, Path], Opened]
ENGINES: dict[str, Opener] = {
    "chunks": _chunks,
    "postgres": _postgres,
    "timescale-apache-stub": _apache_stub,
}


@pytest.fixture(params=list(ENGINES))
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SeriesEngine]:
    """Each engine in turn, without rows."""
    with ENGINES[request.param](request, tmp_path) as opened:
        yield opened
