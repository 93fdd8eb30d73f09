"""Processes killed while they await concurrent writes lose nothing that was acknowledged."""

import os
import random
import sqlite3
import subprocess
import sys
import time
from collections import defaultdict
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from grandstand.storage.tables import Store
from grandstand.storage.tables.changes import follow
from tests.storage.tables import async_writer
from tests.storage.tables.async_writer import TASKS, Entry, Total, entry, in_transaction

NAMES = ("ada", "bob")
ROOT = Path(__file__).parents[3]


def kill_writers(path: Path, lines: int) -> dict[str, list[int]]:
    """Kill two writers after they printed some lines; return each task's acknowledged numbers."""
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"}
    outputs = [path.with_name(name) for name in NAMES]
    with ExitStack() as stack:
        writers = [
            subprocess.Popen(
                [sys.executable, "-m", async_writer.__name__, str(path), output.name],
                stdout=stack.enter_context(output.open("wb")),
                cwd=ROOT,
                env=environment,
            )
            for output in outputs
        ]
        try:
            while any(output.read_bytes().count(b"\n") < lines for output in outputs):
                assert [writer.poll() for writer in writers] == [None, None]
                time.sleep(0.01)
        finally:
            for writer in writers:
                writer.kill()
            for writer in writers:
                writer.wait()
    acknowledged = defaultdict[str, list[int]](list)
    for output in outputs:
        for line in output.read_text().splitlines():
            task, number = line.split()
            acknowledged[task].append(int(number))
    return acknowledged


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_acknowledged_writes_survive_a_kill(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "tables.db"
    async_writer.open_store(path).close()

    acknowledged = kill_writers(path, random.Random(seed).randint(100, 1_500))

    with async_writer.open_store(path) as store:
        assert len(acknowledged) == len(NAMES) * TASKS
        for task, numbers in acknowledged.items():
            check_task(store, task, numbers)
        check_changes(store)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def check_task(store: Store, task: str, acknowledged: list[int]) -> None:
    """Check that what is stored was acknowledged, but for the write the task waited for."""
    stored = store(Entry.row(task=task))
    total = store(Total.get(task=task)) or Total(task=task)

    assert acknowledged == list(range(len(acknowledged)))
    assert len(stored) - len(acknowledged) in (0, 1)
    assert stored == [entry(task, number) for number in range(len(stored))]
    assert total.written == sum(in_transaction(one.number) for one in stored)


def check_changes(store: Store) -> None:
    """Check that the stream has exactly the stored entries."""
    batches = follow(store, Entry, name="check").batches()
    changes = [change for batch in batches for change in batch.changes]
    tasks = [f"{name}-{number}" for name in NAMES for number in range(TASKS)]
    stored = [one for task in tasks for one in store(Entry.row(task=task))]

    assert all(change.old is None for change in changes)
    assert sorted((one.new.task, one.new.number) for one in changes if one.new is not None) == [
        (one.task, one.number) for one in sorted(stored, key=lambda one: (one.task, one.number))
    ]
