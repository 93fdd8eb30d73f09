"""A process killed while appending, compressing or merging loses and doubles no row."""

import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from grandstand.core.clock import SystemClock
from grandstand.storage.series.engines.chunks.engine import ChunkEngine
from grandstand.storage.series.query import Upkeep
from tests.storage.series.engines.chunks import worker
from tests.storage.series.engines.chunks.builders import EVERY, Tick, tick

ROOT = Path(__file__).parents[5]
WINDOW = replace(EVERY, series=worker.FOREVER)


def killed_after(folder: Path, works: tuple[str, ...], seconds: float) -> dict[str, list[str]]:
    """Let processes work for a while, kill them, and answer the lines they finished."""
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"}
    command = [sys.executable, "-m", worker.__name__, str(folder)]
    processes = {
        work: subprocess.Popen(
            [*command, work], stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment
        )
        for work in works
    }
    first = {}
    for work, process in processes.items():
        assert process.stdout is not None
        first[work] = process.stdout.readline().strip()
    time.sleep(seconds)
    for process in processes.values():
        process.send_signal(signal.SIGKILL)
    events = {work: process.communicate()[0] for work, process in processes.items()}
    assert {process.returncode for process in processes.values()} == {-signal.SIGKILL}
    # The last line may have been cut short by the kill.
    return {work: [first[work], *text.split("\n")[:-1]] for work, text in events.items()}


def acknowledged(events: dict[str, list[str]], writers: tuple[str, ...]) -> set[Tick]:
    return {
        tick(worker.row_at(number), name)
        for name in writers
        for number in range(int(events[name][-1]) + worker.BATCH)
    }


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_nothing_acknowledged_is_lost_or_doubled(tmp_path: Path, seed: int) -> None:
    seconds = random.Random(seed).uniform(0.3, 1.2)
    writers = ("ada", "bob")

    events = killed_after(tmp_path, (*writers, "upkeep", "read"), seconds)
    engine = ChunkEngine.open(tmp_path, clock=SystemClock())
    before = [*engine.read(WINDOW)]
    engine.upkeep(worker.FOREVER)
    after = [*engine.read(WINDOW)]

    assert events["read"] == ["ready"]
    assert len(before) == len(set(before))
    assert acknowledged(events, writers) <= set(before)
    assert after == before
    assert engine.upkeep(worker.FOREVER) == Upkeep()
    assert {chunk.state for chunk in engine.status(worker.FOREVER).chunks} == {"compressed"}
    engine.close()


def test_killed_again_and_again_while_merging_late_rows(tmp_path: Path) -> None:
    chance = random.Random(9)
    engine = ChunkEngine.open(tmp_path, clock=SystemClock())
    engine.prepare(worker.FOREVER)
    stored = {tick(worker.row_at(number), "first") for number in range(20_000)}
    engine.append(worker.FOREVER, sorted(stored))
    engine.upkeep(worker.FOREVER)

    for _ in range(4):
        events = killed_after(tmp_path, ("ada", "upkeep"), chance.uniform(0.1, 0.5))
        stored |= acknowledged(events, ("ada",))
    found = [*engine.read(WINDOW)]
    engine.upkeep(worker.FOREVER)

    assert len(found) == len(set(found))
    assert stored <= set(found)
    assert [*engine.read(WINDOW)] == found
    assert engine.append(worker.FOREVER, found) == 0
    engine.close()
