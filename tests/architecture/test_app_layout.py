"""The layers are the expected ones, and apps contain only the expected modules."""

from pathlib import Path

import pytest

from tests.architecture.tree import SOURCE

_LAYERS = {"host", "apps", "simulators", "kit", "storage", "net", "core"}
_APP_MODULES = {
    "app",
    "api",
    "pages",
    "cli",
    "jobs",
    "services",
    "store",
    "sources",
    "domain",
    "settings",
}
_REQUIRED = {"app", "services"}
_DATA_FOLDERS = {"templates", "static"}


def _names(folder: Path) -> set[str]:
    """Return the modules and packages in a folder, without dunder names."""
    return {
        path.stem
        for path in folder.iterdir()
        if not path.name.startswith(("__", ".")) and (path.suffix == ".py" or path.is_dir())
    }


def _find_layout_errors(apps: Path) -> list[str]:
    return [
        f"{folder.name}: {name}"
        for folder in sorted(apps.iterdir())
        if folder.is_dir() and not folder.name.startswith("__")
        for name in sorted(
            (_names(folder) - _DATA_FOLDERS - _APP_MODULES) | (_REQUIRED - _names(folder))
        )
    ]


def test_layers_are_the_expected_ones() -> None:
    assert _names(SOURCE) == _LAYERS


def test_app_modules_are_the_expected_ones() -> None:
    assert _find_layout_errors(SOURCE / "apps") == []


@pytest.mark.parametrize("name", ["services", "extra"])
def test_missing_or_unexpected_app_module_is_found(tmp_path: Path, name: str) -> None:
    for module in _APP_MODULES ^ {name}:
        path = tmp_path / "bets" / f"{module}.py"
        path.parent.mkdir(exist_ok=True)
        path.touch()

    assert _find_layout_errors(tmp_path) == [f"bets: {name}"]
