"""`grandstand doctor` says what works, what does not, and what to do about it."""

import json
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from grandstand.host.cli import app

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("GRANDSTAND_HOME", str(tmp_path))
    monkeypatch.setenv("GRANDSTAND_SERVER_PORT", "0")
    monkeypatch.setenv("GRANDSTAND_DEMO_PLAY", "off")
    monkeypatch.setenv("COLUMNS", "200")
    return lambda *arguments: CliRunner().invoke(app, ["doctor", *arguments])


def found(result: Result, subject: str) -> tuple[bool, str]:
    findings = {each["subject"]: each for each in json.loads(result.stdout)}
    return findings[subject]["good"], findings[subject]["detail"]


def test_a_fresh_machine_needs_nothing_and_is_left_as_it_was(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRANDSTAND_DEMO_PLAY", "auto")

    result = run()

    assert result.exit_code == 0, result.stdout
    assert "fail" not in result.stdout
    assert list(tmp_path.iterdir()) == []


def test_tables_that_are_still_to_be_made_are_counted(run: Run) -> None:
    CliRunner().invoke(app, ["tables", "create", "keiba"])

    good, told = found(run("--json"), "declared tables")

    assert good
    assert told.endswith("missing: grandstand tables create")


def test_a_port_that_is_taken_is_told(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        monkeypatch.setenv("GRANDSTAND_SERVER_PORT", str(port))
        result = run("--json")

    good, told = found(result, "port")
    assert (result.exit_code, good) == (1, False)
    assert f"Port {port} of 127.0.0.1 is in use" in told


def test_a_model_without_a_name_is_told(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRANDSTAND_LLM_PROVIDER", "openai")

    assert found(run("--json"), "language model") == (False, "openai: no model; set [llm] model")


def test_a_settings_file_others_can_read_is_told(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.touch(0o644)

    good, told = found(run("--json"), "settings file")

    assert not good
    assert "chmod 600" in told


def test_series_that_cannot_be_opened_are_told(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRANDSTAND_SERIES", "floppy")

    good, told = found(run("--json"), "series")

    assert not good
    assert "postgresql://" in told


def test_an_issuer_without_clients_is_told(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRANDSTAND_AUTH_ISSUER", "https://id.example.org")

    assert found(run("--json"), "tokens") == (
        False,
        "https://id.example.org; set [auth] client_ids",
    )
