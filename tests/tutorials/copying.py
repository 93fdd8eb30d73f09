"""A copy of the tree in which something may be made, and commands that are run in it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.parts.environment import state_folder

ROOT = Path(__file__).resolve().parents[2]
_LEFT = shutil.ignore_patterns(".*", "node_modules")
_NOT_NEEDED = {"build", "dist", "data"}


def copied_tree(place: Path) -> Path:
    """Copy the repository into a folder, without what tools and commands left in it."""
    for path in ROOT.iterdir():
        if path.name.startswith(".") or path.name in _NOT_NEEDED:
            continue
        if path.is_dir():
            shutil.copytree(path, place / path.name, ignore=_LEFT)
        else:
            shutil.copy(path, place)
    shutil.copy(ROOT / ".gitignore", place)
    shutil.copytree(ROOT / ".ci", place / ".ci")
    return place


def run_in(tree: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a Python module of this environment, or a command, with the tree's own source."""
    given = {
        "PYTHONPATH": f"{tree / 'src'}{os.pathsep}{tree}",
        "GRANDSTAND_HOME": str(tree / ".home"),
        "COLUMNS": "200",
    }
    return subprocess.run(
        [sys.executable, *words],
        cwd=tree,
        env=os.environ | given | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def known_types(tree: Path) -> Path:
    """What mypy has found out about this tree already, copied: so it need not begin anew."""
    place, known = tree / ".mypy", state_folder() / "mypy"
    if known.is_dir() and not place.exists():
        shutil.copytree(known, place)
    return place
