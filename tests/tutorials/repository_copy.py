"""A copy of the repository, and commands run in it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.parts.environment import state_folder

ROOT = Path(__file__).resolve().parents[2]
_IGNORED = shutil.ignore_patterns(".*", "node_modules")
_SKIPPED = {"build", "dist", "data"}


def copy_repository(target: Path) -> Path:
    """Copy the repository into a folder, without caches and build results."""
    for path in ROOT.iterdir():
        if path.name.startswith(".") or path.name in _SKIPPED:
            continue
        if path.is_dir():
            shutil.copytree(path, target / path.name, ignore=_IGNORED)
        else:
            shutil.copy(path, target)
    shutil.copy(ROOT / ".gitignore", target)
    shutil.copytree(ROOT / ".ci", target / ".ci")
    return target


def run_in(tree: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run this Python with arguments on the source of the copy."""
    variables = {
        "PYTHONPATH": f"{tree / 'src'}{os.pathsep}{tree}",
        "GRANDSTAND_HOME": str(tree / ".home"),
        "COLUMNS": "200",
    }
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=tree,
        env=os.environ | variables | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def copy_mypy_cache(tree: Path) -> Path:
    """Copy the mypy cache of this repository, so that mypy runs incrementally."""
    target, cache = tree / ".mypy", state_folder() / "mypy"
    if cache.is_dir() and not target.exists():
        shutil.copytree(cache, target)
    return target
