"""The commands at the root set themselves up anywhere, once, and say what they do on stderr."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import grandstand
from tests.architecture.tree import ROOT

_NEEDED = ("pyproject.toml", "README.md", "LICENSE", "run", "scripts", "requirements", "src")
_READY = 'root=$1; . "$root/scripts/setup.sh"; ready run .venv; printf %s "$venv"'


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository, in a folder with spaces in its name, with nothing set up."""
    place = tmp_path_factory.mktemp("check out") / "of grandstand"
    place.mkdir()
    for name in _NEEDED:
        source = ROOT / name
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, place / name)
    return place


def _call(*words: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    # To compile a thousand modules beforehand would take most of the time.
    environment = {"UV_COMPILE_BYTECODE": "0"} | environment
    path = f"{Path(sys.prefix) / 'bin'}:{os.environ['PATH']}"
    return subprocess.run(
        words,
        cwd="/",
        env=os.environ | {"PATH": path} | environment,
        capture_output=True,
        text=True,
        check=True,
    )


def test_the_first_run_sets_up_and_only_the_product_speaks_on_stdout(checkout: Path) -> None:
    first = _call(checkout / "run", "--version", PYTHONPATH="/nowhere", CDPATH="/", PIP_TARGET="/")

    assert first.stdout == f"grandstand {grandstand.__version__}\n"
    assert f"ready: {checkout}/.venv" in first.stderr


def test_the_next_run_has_nothing_to_do(checkout: Path) -> None:
    _call("bash", "-c", _READY, "bash", checkout)
    before = _written(checkout)

    again = _call("bash", "-c", _READY, "bash", checkout)

    assert again.stdout == f"{checkout}/.venv"
    assert again.stderr == ""
    assert _written(checkout) == before


def _written(checkout: Path) -> dict[Path, int]:
    """When each file of the environment was last written."""
    found = (checkout / ".venv").rglob("*")
    return {path: path.lstat().st_mtime_ns for path in found if path.is_file()}


def test_a_moved_checkout_with_changed_pins_is_set_up_again(checkout: Path) -> None:
    _call("bash", "-c", _READY, "bash", checkout)
    with (checkout / "pyproject.toml").open("a", encoding="utf-8") as project:
        project.write("\n# changed\n")
    moved = checkout.rename(checkout.with_name("another place"))

    mended = _call(moved / "run", "--version")

    moved.rename(checkout)
    assert mended.stdout.startswith("grandstand ")
    assert f"creating {moved}/.venv" in mended.stderr
    assert "ready" in mended.stderr
