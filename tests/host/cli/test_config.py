"""`grandstand config` shows the settings and writes a file to change them in."""

import json
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from grandstand.host.cli.config import SettingsFileExists, config, template
from grandstand.host.settings import read_settings, setting_names


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GRANDSTAND_HOME", str(tmp_path))
    return tmp_path


def test_every_setting_is_shown() -> None:
    said = CliRunner().invoke(config, ["show", "--json"])

    assert set(json.loads(said.stdout)) == set(setting_names())


def test_no_secret_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRANDSTAND_SERIES", "postgresql://me:hushhush@db/x")
    monkeypatch.setenv("GRANDSTAND_LLM_KEY", "hushhush")
    monkeypatch.setenv("GRANDSTAND_NOTIFY_WEBHOOKS", '["https://example.org/hushhush"]')
    monkeypatch.setenv("GRANDSTAND_TABLES_ACCESS_KEYS", '{"ME": "hushhush"}')

    plain, as_json = (CliRunner().invoke(config, ["show", *more]) for more in ([], ["--json"]))

    assert "hushhush" not in plain.output + as_json.output
    assert json.loads(as_json.stdout)["llm.key"] == "(set)"


def test_the_file_that_is_written_changes_nothing(home: Path) -> None:
    before = read_settings()

    said = CliRunner().invoke(config, ["init"])

    assert said.exit_code == 0
    assert (home / "settings.toml").stat().st_mode & 0o777 == 0o600
    assert read_settings() == before


def test_what_the_file_comments_out_can_be_used_as_it_stands(home: Path) -> None:
    lines = [line.removeprefix("# ") for line in template().splitlines()]
    given = "\n".join(line for line in lines if " = " in line or line.startswith("["))

    (home / "settings.toml").write_text(given)

    assert set(tomllib.loads(given)) >= {"tables", "server", "llm"}
    assert read_settings().server.port == 8700


def test_a_file_that_is_there_is_kept(home: Path) -> None:
    (home / "settings.toml").write_text("tables = 'sqlite:mine.db'\n")

    said = CliRunner().invoke(config, ["init"])

    assert isinstance(said.exception, SettingsFileExists)
    assert read_settings().tables == "sqlite:mine.db"
