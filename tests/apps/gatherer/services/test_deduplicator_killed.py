"""A merger that is killed while it writes, again and again, and then left in peace."""

import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from grandstand.apps.gatherer.services.queries.books import BookHistory
from grandstand.apps.gatherer.store import DELTAS
from grandstand.core.clock import ManualClock
from grandstand.storage.series.engines.chunks.engine import ChunkEngine
from grandstand.storage.series.query import Window
from tests.apps.gatherer.services import merge_process
from tests.apps.gatherer.services.recorded_rows import (
    SECOND,
    START,
    TICKERS,
    book_at,
    identities,
    recorded,
    shown,
    truth,
)


def _killed(folder: Path, appends: int) -> int:
    command = [sys.executable, "-m", merge_process.__name__, str(folder), str(appends)]
    return subprocess.run(command, check=False).returncode


def test_a_merger_killed_while_writing_loses_nothing_and_keeps_nothing_twice(
    tmp_path: Path,
) -> None:
    day = truth(21, 200, step_us=40_000)
    recordings = [
        recorded(day, lost=[range(START + 3 * SECOND, START + 4 * SECOND)]),
        recorded(day, "west", lost=[range(START + 6 * SECOND, START + 7 * SECOND)]),
    ]
    for recording in recordings:
        with closing(ChunkEngine.open(tmp_path / recording.gatherer, clock=ManualClock())) as own:
            recording.keep(own)

    ends = [_killed(tmp_path, appends) for appends in (2, 5, 8)]
    merge_process.merge(tmp_path)

    with closing(ChunkEngine.open(tmp_path / "merged", clock=ManualClock())) as merged:
        found = [*identities(merged.read(Window(DELTAS, 0, 2**62)))]
        books = [BookHistory(merged, merged=True).at(ticker, day[-1].at) for ticker in TICKERS]
    union = {each for recording in recordings for each in identities(recording.deltas)}
    assert ends == [-signal.SIGKILL] * 3
    assert sorted(found) == sorted(union)
    assert [(each.yes, each.no) for each in books] == [
        shown(book_at(day, ticker, day[-1].at)) for ticker in TICKERS
    ]
