"""Settings come from a file and the environment, and what cannot be followed is refused."""

from pathlib import Path

import pytest

from grandstand.host.settings import SettingsInvalid, read_settings, settings_file


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GRANDSTAND_HOME", str(tmp_path))
    return tmp_path


def test_home_moves_the_data_and_the_settings_file(home: Path) -> None:
    settings = read_settings()

    assert (settings.home, settings_file()) == (home, home / "settings.toml")


def test_a_section_of_the_file_is_read(home: Path) -> None:
    (home / "settings.toml").write_text("[server]\nport = 9000\n")

    settings = read_settings()

    assert settings.server.port == 9000


def test_the_environment_wins_over_the_file_name_by_name(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "settings.toml").write_text("[server]\nport = 9000\nbody_bytes = 5\n")
    monkeypatch.setenv("GRANDSTAND_SERVER_PORT", "9001")

    server = read_settings().server

    assert (server.port, server.body_bytes) == (9001, 5)


def test_a_name_with_underscores_in_a_section_is_understood(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GRANDSTAND_SERVER_REQUESTS_PER_MINUTE", "7")
    monkeypatch.setenv("GRANDSTAND_AUTH_CLIENT_IDS", '["one", "two"]')

    settings = read_settings()

    assert settings.server.requests_per_minute == 7
    assert settings.auth.client_ids == ("one", "two")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[server]\nprot = 1\n", "Unknown setting server.prot; did you mean server.port?"),
        ("tabels = 'sqlite'\n", "Unknown setting tabels; did you mean tables?"),
        ("[server]\nport = 'many'\n", "Invalid setting server.port: "),
        ("[server\n", "is not TOML"),
    ],
)
def test_a_file_that_cannot_be_followed_is_refused_with_what_was_meant(
    home: Path, text: str, told: str
) -> None:
    (home / "settings.toml").write_text(text)

    with pytest.raises(SettingsInvalid) as refused:
        read_settings()

    assert told in str(refused.value)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("GRANDSTAND_SERVER_PROT", "GRANDSTAND_SERVER_PORT"),
        ("GRANDSTAND_TABELS", "GRANDSTAND_TABLES"),
    ],
)
def test_a_misspelt_variable_is_refused_with_what_was_meant(
    monkeypatch: pytest.MonkeyPatch, name: str, meant: str
) -> None:
    monkeypatch.setenv(name, "1")

    with pytest.raises(SettingsInvalid) as refused:
        read_settings()

    assert str(refused.value) == f"Unknown setting {name}; did you mean {meant}?"
