"""`grandstand demo` says what is simulated, and removes it."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from grandstand.core.clock import SystemClock
from grandstand.host.cli import app
from grandstand.host.demo.world_state import DemoInUse, open_world
from grandstand.host.settings import read_settings

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("GRANDSTAND_HOME", str(tmp_path))
    monkeypatch.setenv("GRANDSTAND_DEMO_PLAY", "auto")
    monkeypatch.setenv("COLUMNS", "200")
    return lambda *words: CliRunner().invoke(app, ["demo", *words])


def test_every_source_is_told_with_how_to_connect_it(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRANDSTAND_BETS_ODDS_KEY", "k")

    told = json.loads(run("status", "--json").stdout)

    standing = {one["source"]: one["state"] for one in told["sources"]}
    assert told["enabled"] is True
    assert (standing["odds"], standing["exchange"]) == ("connected", "simulated")
    assert "GRANDSTAND_BETS_ODDS_KEY" in told["sources"][0]["how"]


def test_the_status_has_whole_names_on_a_narrow_terminal(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")

    result = run("status")

    assert result.exit_code == 0
    assert "set GRANDSTAND_KEIBA_ASK_SITE=true" in result.stdout
    assert "GRANDSTAND_GATHERER_PRIVATE_KEY_FILE" in result.stdout


def test_wiping_asks_first_and_then_leaves_nothing(run: Run, tmp_path: Path) -> None:
    with open_world(read_settings(), SystemClock().now()):
        pass

    unasked = run("wipe")
    asked = run("wipe", "--yes")

    assert unasked.exit_code != 0
    assert asked.stdout.strip() == f"removed {tmp_path / 'simulated'}"
    assert not (tmp_path / "simulated").exists()
    assert run("wipe").stdout.strip() == "No simulated data."


def test_wiping_is_refused_while_the_data_is_in_use(run: Run, tmp_path: Path) -> None:
    with open_world(read_settings(), SystemClock().now()):
        result = run("wipe", "--yes")

    assert isinstance(result.exception, DemoInUse)
    assert (tmp_path / "simulated").exists()
