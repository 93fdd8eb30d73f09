"""Every application has the same rooms, and the storeys are the ones of the house."""

from pathlib import Path

import pytest

from tests.architecture.tree import SOURCE

_STOREYS = {"host", "apps", "simulators", "kit", "storage", "wire", "base"}
_ROOMS = {
    "app",
    "api",
    "pages",
    "cli",
    "jobs",
    "service",
    "store",
    "sources",
    "model",
    "settings",
}
_FURNITURE = {"templates", "static"}


def _names(folder: Path) -> set[str]:
    """The modules and packages in a folder, without what belongs to Python itself."""
    return {
        path.stem
        for path in folder.iterdir()
        if not path.name.startswith(("__", ".")) and (path.suffix == ".py" or path.is_dir())
    }


def _strange_rooms(applications: Path) -> list[str]:
    return [
        f"{folder.name}: {name}"
        for folder in sorted(applications.iterdir())
        if folder.is_dir() and not folder.name.startswith("__")
        for name in sorted((_names(folder) - _FURNITURE) ^ _ROOMS)
    ]


def test_the_storeys_are_the_ones_of_the_house() -> None:
    assert _names(SOURCE) == _STOREYS


def test_every_application_has_exactly_the_rooms_of_the_house() -> None:
    assert _strange_rooms(SOURCE / "apps") == []


@pytest.mark.parametrize("room", ["service", "cellar"])
def test_a_room_too_few_or_too_many_is_seen(tmp_path: Path, room: str) -> None:
    for name in _ROOMS ^ {room}:
        path = tmp_path / "bets" / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.touch()

    assert _strange_rooms(tmp_path) == [f"bets: {room}"]
