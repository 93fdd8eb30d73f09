"""Kept here: making a new application in a tree; all is looked at before a line is written."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Final

from grandstand.base.errors import Conflict, InvalidInput
from grandstand.host.scaffold.entering import ENTRIES, ForeignLayout
from grandstand.host.scaffold.naming import NewApp

_SHEETS: Final = Path(__file__).parent / "sheets"
_SUFFIX: Final = ".txt"


class TreeNotClean(Conflict):
    """Files that are to be changed hold changes that were not committed."""


@dataclass(frozen=True, slots=True)
class Made:
    """What was written: new files, and files in which the application was entered."""

    written: tuple[Path, ...]
    entered: tuple[Path, ...]


def make(tree: Path, new: NewApp, *, even_if_changed: bool = False) -> Made:
    """Make an application in a tree of Grandstand.

    Raises InvalidInput when it is no such tree, ForeignLayout when a file to enter it in looks
    otherwise, TreeNotClean when one has changes, and Conflict when the application is there.
    Nothing is written then.
    """
    missing = [name for name in ENTRIES if not (tree / name).is_file()]
    if missing:
        raise InvalidInput(f"{tree.resolve()} is not a tree of Grandstand: no {missing[0]}")
    if not even_if_changed:
        _refuse_changes(tree)
    written = _new_files(new)
    there = [name for name in written if (tree / name).exists()]
    if there:
        raise Conflict(f"{there[0]} is there already; nothing was written")
    entered = {name: _entered(tree / name, name, new) for name in ENTRIES}
    for name, text in (written | entered).items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text, encoding="utf-8")
    return Made(tuple(map(Path, written)), tuple(map(Path, entered)))


def _entered(path: Path, name: str, new: NewApp) -> str:
    try:
        return ENTRIES[name](path.read_text(encoding="utf-8"), new)
    except ForeignLayout as fault:
        raise ForeignLayout(f"{name}: {fault}; nothing was written") from fault


def _new_files(new: NewApp) -> dict[str, str]:
    places = {
        "rooms": f"src/grandstand/apps/{new.name}",
        "tests": f"tests/apps/{new.name}",
    }
    made = {
        f"{place}/{path.relative_to(_SHEETS / kind).as_posix().removesuffix(_SUFFIX)}": path
        for kind, place in places.items()
        for path in sorted((_SHEETS / kind).rglob(f"*{_SUFFIX}"))
    }
    made[f"docs/apps/{new.name}.md"] = _SHEETS / "docs" / f"page.md{_SUFFIX}"
    return {
        name: Template(path.read_text(encoding="utf-8")).substitute(new.words)
        for name, path in made.items()
    }


def _refuse_changes(tree: Path) -> None:
    git = shutil.which("git")
    if git is None or not (tree / ".git").exists():
        return
    told = subprocess.run(  # noqa: S603 - a fixed command line
        [git, "-C", str(tree), "status", "--porcelain", "--", *ENTRIES],
        capture_output=True,
        text=True,
        check=False,
    )
    changed = [line[3:] for line in told.stdout.splitlines()]
    if changed:
        raise TreeNotClean(
            f"{', '.join(changed)} has changes that are not committed: commit them first, "
            "or say --even-if-changed"
        )
