"""The import contracts hold now, and would be broken by what they are there to stop."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.tree import ROOT

_ROOMS = ("app", "api", "pages", "cli", "jobs", "service", "store", "sources", "model", "settings")
_LINT = "from importlinter.cli import lint_imports_command; lint_imports_command()"


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A house with every storey and two applications, all of them empty."""
    source = tmp_path / "src" / "grandstand"
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for storey in ("host", "apps", "simulators", "kit", "storage", "wire", "base"):
        (source / storey).mkdir(parents=True)
        (source / storey / "__init__.py").touch()
    for name in ("__init__.py", "__main__.py", "base/clock.py", "kit/routes.py"):
        (source / name).touch()
    for application in ("bets", "keiba"):
        (source / "apps" / application).mkdir()
        for room in ("__init__", *_ROOMS):
            (source / "apps" / application / f"{room}.py").touch()
    return source


def _lint(house: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", _LINT, "--no-cache"],
        cwd=house.parents[1],
        env={"PYTHONPATH": str(house.parent), "PATH": "", "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_an_empty_house_keeps_every_contract(house: Path) -> None:
    done = _lint(house)

    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 broken" in done.stdout


@pytest.mark.parametrize(
    ("module", "line", "contract"),
    [
        ("base/clock.py", "import grandstand.kit.routes", "Each storey stands only"),
        ("wire/__init__.py", "import grandstand.storage", "Each storey stands only"),
        ("apps/bets/service.py", "import grandstand.apps.bets.api", "The rooms of an application"),
        ("apps/bets/service.py", "import grandstand.apps.keiba.model", "Applications do not see"),
        ("apps/bets/api.py", "import grandstand.apps.bets.store", "Only service and app open"),
        ("apps/bets/model.py", "import grandstand.base.clock", "A model has no clock"),
        ("apps/bets/model.py", "import sqlite3", "SQL is spoken only"),
        ("host/__init__.py", "import boto3", "Amazon's clients"),
        ("kit/routes.py", "import websockets", "Outgoing HTTP"),
        ("apps/bets/service.py", "import uvicorn", "Listening is for"),
        ("host/__init__.py", "import prometheus_client", "Metrics are counted"),
    ],
)
def test_a_forbidden_import_breaks_its_contract(
    house: Path, module: str, line: str, contract: str
) -> None:
    (house / module).write_text(f"{line}\n", encoding="utf-8")

    done = _lint(house)

    broken = [row for row in done.stdout.splitlines() if row.endswith("BROKEN")]
    assert done.returncode == 1, done.stdout + done.stderr
    assert [row for row in broken if row.startswith(contract)]


@pytest.mark.parametrize("place", ["cellar.py", "apps/bets/cellar.py"])
def test_a_module_that_has_no_place_breaks_a_contract(house: Path, place: str) -> None:
    (house / place).touch()

    done = _lint(house)

    assert done.returncode == 1
    assert "cellar" in done.stdout
