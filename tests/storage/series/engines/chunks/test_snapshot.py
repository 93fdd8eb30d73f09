"""The files of a series are held as of one moment, while others append."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import count, takewhile
from pathlib import Path

import pytest

from grandstand.core.clock import SystemClock
from grandstand.storage.series.engines.chunks.directory import (
    SeriesDirectory,
    SnapshotFile,
    open_snapshot,
)
from grandstand.storage.series.engines.chunks.engine import ChunkEngine
from grandstand.storage.series.errors import SeriesUnavailable
from tests.storage.series.engines.chunks import worker
from tests.storage.series.engines.chunks.builders import DAY, EVERY, HOUR, TICKS, opened, tick

ROOT = Path(__file__).parents[5]
EVER = replace(EVERY, series=worker.FOREVER)


@pytest.fixture
def appending(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that appends batches, each to four chunks, and says which it has."""
    process = subprocess.Popen(
        [sys.executable, "-m", worker.__name__, str(tmp_path / "series"), "a"],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"},
    )
    yield process
    process.kill()
    process.communicate()


def copied(files: tuple[SnapshotFile, ...], to: Path) -> int:
    """Copy all files of a series, and answer how many rows they hold."""
    to.mkdir(parents=True)
    return sum(file.copy(to / file.name) for file in files)


def test_a_snapshot_has_every_append_up_to_a_moment_and_none_after(
    tmp_path: Path, appending: subprocess.Popen[str]
) -> None:
    assert appending.stdout is not None
    acknowledged = [int(appending.stdout.readline()) for _ in range(5)][-1]

    with open_snapshot(tmp_path / "series" / "ticks", SystemClock()) as files:
        later = int(appending.stdout.readline())
        rows = copied(files, tmp_path / "copy" / "ticks")

    engine = ChunkEngine.open(tmp_path / "copy", clock=SystemClock())
    engine.prepare(worker.FOREVER)
    stored = {row.at for row in engine.read(EVER)}
    engine.close()
    unbroken = [*takewhile(lambda at: at in stored, map(worker.row_at, count()))]
    assert later > acknowledged
    assert len(stored) == len(unbroken) == rows
    assert len(stored) >= acknowledged + worker.BATCH
    assert len(stored) % worker.BATCH == 0


def test_chunks_in_every_state_are_copied_row_for_row(tmp_path: Path) -> None:
    with opened(tmp_path / "series", DAY) as engine:
        engine.append(TICKS, [tick(at * HOUR // 2) for at in range(47)])
        engine.upkeep(TICKS)
        engine.append(TICKS, [tick(5), tick(7), tick(23 * HOUR + 5)])
        before = [*engine.read(EVERY)]

        with open_snapshot(tmp_path / "series" / "ticks", SystemClock()) as files:
            rows = copied(files, tmp_path / "copy" / "ticks")

    kinds = {name.partition(".")[2] for name in (file.name for file in files)}
    with opened(tmp_path / "copy", DAY) as engine:
        after = [*engine.read(EVERY)]
    assert after == before
    assert len(after) == rows
    assert kinds == {"json", "db", "late.db", "parquet"}


def test_a_compressed_file_that_is_half_done_is_left_out(tmp_path: Path) -> None:
    with opened(tmp_path / "series", DAY) as engine:
        engine.append(TICKS, [tick(5)])
        (tmp_path / "series" / "ticks" / "0.parquet").write_bytes(b"half")

        with open_snapshot(tmp_path / "series" / "ticks", SystemClock()) as files:
            names = {file.name for file in files}

    assert names == {"schema.json", "0.db"}


def test_upkeep_waits_while_files_are_held_and_holding_waits_for_upkeep(tmp_path: Path) -> None:
    folder = tmp_path / "series" / "ticks"
    with opened(tmp_path / "series", DAY) as engine:
        engine.append(TICKS, [tick(5)])

        with open_snapshot(folder, SystemClock()):
            meanwhile = engine.upkeep(TICKS)
        with SeriesDirectory(folder, engine._clock).try_maintenance_lock():  # noqa: SLF001 - as another process would
            refused = pytest.raises(SeriesUnavailable, match="Try again later")
            with refused, open_snapshot(folder, engine._clock):  # noqa: SLF001 - a clock that need not wait
                pass
        afterwards = engine.upkeep(TICKS)

    assert (meanwhile.compressed, afterwards.compressed) == (0, 1)
