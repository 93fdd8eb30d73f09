"""The commands that back up and restore say what they did, and what to do next."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from grandstand.host.cli import app
from tests.host.backup.making import fill

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the command line on a small filled home."""
    monkeypatch.setenv("GRANDSTAND_HOME", str(tmp_path / "home"))
    fill(tmp_path / "home", items=5)
    runner = CliRunner()
    return lambda *arguments: runner.invoke(app, arguments)


def test_a_backup_tells_what_it_holds_that_it_is_secret_and_how_to_bring_it_back(
    run: Run, tmp_path: Path
) -> None:
    file = str(tmp_path / "b.zip")

    told = run("backup", file)
    refused = run("backup", file)

    assert told.exit_code == 0
    assert "5 items of 2 tables, 101 rows of 1 series" in told.stdout
    assert "the platform's secret" in told.stdout
    assert "mode 0600" in told.stdout
    assert f"grandstand restore {file}" in told.stdout
    assert "series trades: " in told.stderr
    assert "--force" in str(refused.exception)


def test_a_restore_tells_where_the_old_is_and_how_to_undo(run: Run, tmp_path: Path) -> None:
    file = str(tmp_path / "b.zip")
    run("backup", file)

    restored = run("restore", file, "--force")
    undone = run("restore", "--undo")
    neither = run("restore")

    assert "restored 5 items of 2 tables and 101 rows of 1 series" in restored.stdout
    assert "before-restore-" in restored.stdout
    assert "grandstand restore --undo" in restored.stdout
    assert "put back what was in" in undone.stdout
    assert "or use --undo" in str(neither.exception)


def test_both_tell_the_same_as_json(run: Run, tmp_path: Path) -> None:
    file = str(tmp_path / "b.zip")

    made = json.loads(run("backup", file, "--json").stdout)
    restored = json.loads(run("restore", file, "--force", "--json").stdout)
    undone = json.loads(run("restore", "--undo", "--json").stdout)

    assert made["path"] == file
    assert made["series"] == restored["series"] == {"trades": 101}
    assert made["tables"] == restored["tables"]
    assert undone["put_back"] == restored["aside"]
