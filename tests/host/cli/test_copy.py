"""The command that copies tells counts and checksums, and exits with 1 when sides differ."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from grandstand.core.errors import Unavailable
from grandstand.host.cli import app
from grandstand.host.infrastructure import open_store
from grandstand.host.settings import Settings
from grandstand.storage.tables.requests import PutItem
from tests.host.backup.making import fill, lease

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the command line on a small filled home, on a wide terminal."""
    monkeypatch.setenv("GRANDSTAND_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "160")
    fill(tmp_path / "home", items=30)
    runner = CliRunner()
    return lambda *arguments: runner.invoke(app, arguments)


def test_tables_are_copied_counted_and_compared(run: Run, tmp_path: Path) -> None:
    target = f"sqlite:{tmp_path / 'other.db'}"

    told = run("copy", "--to", target, "--create")

    [row] = [line.split() for line in told.stdout.splitlines() if "leases" in line]
    assert told.exit_code == 0
    assert row[:7] == ["grandstand-leases", "30", "30", "0", "0", "30", "30"]
    assert "the same items, by count and checksum" in told.stdout
    assert f"set tables to {target}" in told.stdout
    assert "copy of grandstand-leases: 30 items" in told.stderr


def test_a_difference_is_told_with_what_to_do_and_exits_with_one(run: Run, tmp_path: Path) -> None:
    target = f"sqlite:{tmp_path / 'other.db'}"
    run("copy", "--to", target, "--create")
    with open_store(Settings(tables=target)) as store:
        store.session.engine.put(PutItem("grandstand-leases", {**lease(3), "epoch": 99}))

    told = run("copy", "platform", "--to", target, "--check")
    document = json.loads(run("copy", "--to", target, "--check", "--json").stdout)

    assert told.exit_code == 1
    assert "differs" in told.stdout
    assert "--mirror" in told.stdout
    assert document["equal"] is False
    assert [each["name"] for each in document["tables"] if not each["equal"]] == [
        "grandstand-leases"
    ]


def test_without_a_place_or_with_what_series_cannot_do_it_says_so(run: Run) -> None:
    nowhere = run("copy")
    mirrored = run("copy", "--series", "--to", "host=x", "--mirror")

    assert "--to dynamodb:REGION" in str(nowhere.exception)
    assert "append-only" in str(mirrored.exception)


def test_a_server_that_does_not_answer_is_told_with_how_to_go_on(run: Run) -> None:
    told = run("copy", "--series", "trades", "--to", "host=127.0.0.1 port=1 connect_timeout=2")

    assert told.exit_code == 1
    assert isinstance(told.exception, Unavailable)
    assert "the same command again" in told.stderr


def test_series_are_copied_counted_and_compared(run: Run, own_database: str) -> None:
    told = run("copy", "--series", "trades", "--to", own_database)
    document = json.loads(
        run("copy", "--series", "trades", "--to", own_database, "--check", "--json").stdout
    )

    row = next(line.split() for line in told.stdout.splitlines() if line.startswith("trades"))
    assert told.exit_code == 0
    assert row[:5] == ["trades", "101", "101", "101", "101"]
    assert document["equal"] is True
    assert document["series"][0]["target"]["rows"] == 101
