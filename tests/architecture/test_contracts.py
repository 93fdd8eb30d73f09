"""The import contracts hold, and each is broken by an import it forbids."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.tree import ROOT

_LAYERS = ("host", "apps", "simulators", "kit", "storage", "net", "core")
_APP_MODULES = (
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
)
_LINT = "from importlinter.cli import lint_imports_command; lint_imports_command()"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a project with every layer and two apps, all modules empty."""
    source = tmp_path / "src" / "grandstand"
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for layer in _LAYERS:
        (source / layer).mkdir(parents=True)
        (source / layer / "__init__.py").touch()
    for name in ("__init__.py", "__main__.py", "core/clock.py", "kit/routes.py"):
        (source / name).touch()
    for app in ("bets", "keiba"):
        (source / "apps" / app).mkdir()
        for module in ("__init__", *_APP_MODULES):
            (source / "apps" / app / f"{module}.py").touch()
    return source


def _lint(project: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", _LINT, "--no-cache"],
        cwd=project.parents[1],
        env={"PYTHONPATH": str(project.parent), "PATH": "", "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_empty_project_keeps_every_contract(project: Path) -> None:
    done = _lint(project)

    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 broken" in done.stdout


@pytest.mark.parametrize(
    ("module", "line", "contract"),
    [
        ("core/clock.py", "import grandstand.kit.routes", "Imports go down"),
        ("net/__init__.py", "import grandstand.storage", "Imports go down"),
        ("apps/bets/services.py", "import grandstand.apps.bets.api", "The layers of an app"),
        ("apps/bets/services.py", "import grandstand.apps.keiba.domain", "Apps do not import"),
        ("apps/bets/api.py", "import grandstand.apps.bets.store", "Only services and app"),
        ("apps/bets/domain.py", "import grandstand.core.clock", "Domain code has no clock"),
        ("apps/bets/domain.py", "import sqlite3", "SQL drivers are imported only"),
        ("host/__init__.py", "import boto3", "AWS clients are imported only"),
        ("kit/routes.py", "import websockets", "Outgoing HTTP"),
        ("apps/bets/services.py", "import uvicorn", "Server libraries are for"),
        ("host/__init__.py", "import prometheus_client", "Metrics go through"),
    ],
)
def test_forbidden_import_breaks_its_contract(
    project: Path, module: str, line: str, contract: str
) -> None:
    (project / module).write_text(f"{line}\n", encoding="utf-8")

    done = _lint(project)

    broken = [row for row in done.stdout.splitlines() if row.endswith("BROKEN")]
    assert done.returncode == 1, done.stdout + done.stderr
    assert [row for row in broken if row.startswith(contract)]


@pytest.mark.parametrize("place", ["extra.py", "apps/bets/extra.py"])
def test_module_outside_the_layers_breaks_a_contract(project: Path, place: str) -> None:
    (project / place).touch()

    done = _lint(project)

    assert done.returncode == 1
    assert "extra" in done.stdout
