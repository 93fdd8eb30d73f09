"""Two writers killed in the middle of their work lose nothing they had acknowledged."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from grandstand.core.clock import SystemClock
from grandstand.storage.tables.attribute_values import Item
from grandstand.storage.tables.encoding import unpack
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from grandstand.storage.tables.expressions.nodes import KeyCondition
from grandstand.storage.tables.requests import Change, GetItem, QueryRequest
from tests.storage.tables.engines.sqlite import writer
from tests.storage.tables.engines.sqlite.plays import PLAYS

NAMES = ("ada", "bob")
ROOT = Path(__file__).parents[5]


def killed_after(path: Path, seconds: float) -> dict[str, list[str]]:
    """Let both writers write for a while, kill them, and answer what they acknowledged."""
    command = [sys.executable, "-m", writer.__name__, str(path)]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"}
    writers = {
        name: subprocess.Popen(
            [*command, name], stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment
        )
        for name in NAMES
    }
    for process in writers.values():
        assert process.stdout is not None
        assert process.stdout.readline() == "put 0\n"
    time.sleep(seconds)
    for process in writers.values():
        process.send_signal(signal.SIGKILL)
    told = {name: process.communicate()[0] for name, process in writers.items()}
    # The last line may have been cut short by the kill.
    return {name: ["put 0", *text.split("\n")[:-1]] for name, text in told.items()}


def all_of(engine: SqliteEngine, where: KeyCondition, index: str | None = None) -> list[Item]:
    page = engine.query(QueryRequest("plays", where, index))
    items = list(page.items)
    while page.last_key is not None:
        page = engine.query(QueryRequest("plays", where, index, start=page.last_key))
        items += page.items
    return items


def all_changes(engine: SqliteEngine) -> list[Change]:
    batch = engine.changes("plays", None, 1000)
    found = list(batch.changes)
    while not batch.caught_up:
        batch = engine.changes("plays", batch.position, 1000)
        found += batch.changes
    return found


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_nothing_acknowledged_is_lost_and_nothing_disagrees(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "tables.db"
    engine = SqliteEngine.open(path, clock=SystemClock())
    engine.create_table(replace(PLAYS, stream="NEW_AND_OLD_IMAGES"))
    engine.close()

    told = killed_after(path, random.Random(seed).uniform(0.3, 0.9))

    engine = SqliteEngine.open(path, clock=SystemClock(), create=False)
    state: dict[tuple[object, object], Item] = {}
    for change in all_changes(engine):
        place = (change.keys["game"], change.keys["play"])
        assert change.old == state.get(place)
        assert change.new is not None
        state[place] = change.new
    for name in NAMES:
        assert len(told[name]) > 20
        check_writer(engine, name, told[name], state)
    engine.close()
    check_file(path)


def check_writer(
    engine: SqliteEngine, name: str, told: list[str], state: dict[tuple[object, object], Item]
) -> None:
    """What one writer acknowledged is there; at most the one write under way may be, too."""
    numbers = [int(line.split()[1]) for line in told if not line.startswith("count")]
    counted = sum(not line.startswith("put") for line in told)
    items = all_of(engine, KeyCondition((("game", name),)))
    counter = engine.get(GetItem("plays", {"game": f"count-{name}", "play": "all"})).item or {}

    assert items[: len(numbers)] == [writer.item(name, number) for number in numbers]
    assert len(items) - len(numbers) in (0, 1)
    assert counter.get("n", 0) in (counted, counted + 1)
    assert all(state[name, item["play"]] == item for item in items)
    assert state.get((f"count-{name}", "all"), {}) == counter
    in_index = all_of(engine, KeyCondition((("team", name),)), "by-team")
    assert in_index == [item for item in items if "team" in item]


def check_file(path: Path) -> None:
    """SQLite finds no fault, and every index column says what its item says."""
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    rows = connection.execute("SELECT k0, k1 IS NULL, item FROM t1_1").fetchall()
    connection.close()
    assert rows
    for team, without_points, blob in rows:
        item = unpack(blob)
        assert team == (str(item["team"]).encode() if "team" in item else None)
        assert bool(without_points) == ("points" not in item)
