"""Killed at any moment, with an engine that comes and goes, nothing durable is lost or doubled."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.storage.series.buffer import worker
from tests.storage.series.buffer.builders import open_stage, stored_rows, trades

ROOT = Path(__file__).parents[4]


def killed_after(folder: Path, first: int, seconds: float) -> int:
    """Let a process take trades from a number on, kill it, and answer what it said was durable."""
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"}
    command = [sys.executable, "-m", worker.__name__, str(folder), str(first)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment
    )
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    events, _ = process.communicate()
    assert process.returncode == -signal.SIGKILL
    # The last line may have been cut short by the kill.
    return max(map(int, events.split("\n")[:-1]), default=first)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_what_was_durable_is_there_once_after_being_killed_again_and_again(
    tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)
    durable = 0

    for _ in range(3):
        durable = killed_after(tmp_path, durable, chance.uniform(0.2, 0.6))
    with open_stage(tmp_path) as stage:
        flushed = stage.buffer.flush()
    found = stored_rows(tmp_path)

    assert flushed
    assert durable > 100
    assert len(found) == len(set(found))
    assert set(trades(0, durable)) <= set(found)
