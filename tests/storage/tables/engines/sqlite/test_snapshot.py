"""A snapshot is the state of one moment, whoever writes meanwhile, and disturbs nobody."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from grandstand.core.clock import SystemClock
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from grandstand.storage.tables.engines.sqlite.connections import count_items, in_use, snapshot
from grandstand.storage.tables.errors import StoreDamaged, StoreUnavailable
from grandstand.storage.tables.requests import GetItem, PutItem, ScanRequest
from tests.storage.tables.engines.sqlite import pair_writer
from tests.storage.tables.engines.sqlite.plays import PLAYS

ROOT = Path(__file__).parents[5]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store with one table, whose changes are recorded, and some items."""
    path = tmp_path / "tables.db"
    with closing(SqliteEngine.open(path, clock=SystemClock())) as engine:
        engine.create_table(replace(PLAYS, stream="NEW_AND_OLD_IMAGES"))
        for number in range(300):
            engine.put(PutItem("plays", {"game": "g", "play": f"{number:04d}", "text": "x" * 500}))
    return path


@pytest.fixture
def writer(path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that writes two items in each transaction, and says how often it has."""
    process = subprocess.Popen(
        [sys.executable, "-m", pair_writer.__name__, str(path)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"},
    )
    yield process
    process.kill()
    process.communicate()


def test_a_snapshot_has_all_that_was_acknowledged_and_of_each_transaction_all_or_nothing(
    path: Path, writer: subprocess.Popen[str], tmp_path: Path
) -> None:
    assert writer.stdout is not None
    acknowledged, kept = [], []

    for number in range(5):
        acknowledged.append(int(writer.stdout.readline()))
        copy = tmp_path / f"copy-{number}.db"
        snapshot(path, copy)
        with closing(SqliteEngine.open(copy, clock=SystemClock(), create=False)) as engine:
            pair = [engine.get(GetItem("plays", key)).item or {} for key in pair_writer.KEYS]
            last = engine.changes("plays", engine.latest_position("plays"), 1)
        kept.append([each["n"] for each in pair])
        assert last.caught_up

    assert all(left == right for left, right in kept)
    assert all(left >= told for (left, _), told in zip(kept, acknowledged, strict=True))  # type: ignore[operator]


def test_a_snapshot_counts_its_items_and_has_every_change_and_position(
    path: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy.db"
    told: list[tuple[int, int]] = []

    counted = snapshot(path, copy, lambda done, total: told.append((done, total)))

    with (
        closing(SqliteEngine.open(path, clock=SystemClock())) as left,
        closing(SqliteEngine.open(copy, clock=SystemClock())) as right,
    ):
        assert left.scan(ScanRequest("plays")) == right.scan(ScanRequest("plays"))
        assert left.changes("plays", None, 1_000) == right.changes("plays", None, 1_000)
        assert left.describe_table("plays") == right.describe_table("plays")
    assert counted == count_items(copy) == {"plays": 300}
    assert told[-1][0] == told[-1][1] > 0


def test_a_store_is_in_use_while_anybody_has_it_open(
    path: Path, writer: subprocess.Popen[str]
) -> None:
    assert writer.stdout is not None
    writer.stdout.readline()
    by_another = in_use(path)
    writer.kill()
    writer.wait()
    engine = SqliteEngine.open(path, clock=SystemClock())
    by_us = in_use(path)
    engine.close()

    assert (by_another, by_us) == (True, True)
    assert not in_use(path)
    assert not in_use(path.with_name("none.db"))


def test_what_is_no_store_gives_no_snapshot(tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    other.write_bytes(b"something else" * 1_000)

    with pytest.raises(StoreDamaged):
        snapshot(other, tmp_path / "copy.db")
    with pytest.raises(StoreUnavailable, match="There is no store"):
        snapshot(tmp_path / "none.db", tmp_path / "copy.db")
