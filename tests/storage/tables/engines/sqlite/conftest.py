"""The embedded engine on a file and in memory, by a clock the test moves."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from grandstand.core.clock import ManualClock
from grandstand.storage.tables.engines.sqlite import SqliteEngine


@pytest.fixture
def clock() -> ManualClock:
    """A clock that only the test moves."""
    return ManualClock()


@pytest.fixture(params=["file", "memory"])
def engine(
    request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock
) -> Iterator[SqliteEngine]:
    """The engine on a file, then in memory."""
    path = tmp_path / "tables.db" if request.param == "file" else None
    opened = SqliteEngine.open(path, clock=clock)
    yield opened
    opened.close()


@pytest.fixture
def on_file(tmp_path: Path, clock: ManualClock) -> Iterator[SqliteEngine]:
    """The engine on the file `tables.db`."""
    opened = SqliteEngine.open(tmp_path / "tables.db", clock=clock)
    yield opened
    opened.close()
