"""The files of the repository, without caches and build results."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "grandstand"

_IGNORED_FOLDERS = {"__pycache__", "build", "data", "dist", "node_modules"}


def _belongs_to_repository(path: Path) -> bool:
    hidden = path.name.startswith(".") and path.name not in {".ci", ".editorconfig", ".gitignore"}
    return not hidden and path.name not in _IGNORED_FOLDERS


def _walk(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if _belongs_to_repository(path):
            if path.is_dir():
                yield from _walk(path)
            else:
                yield path


@cache
def repository_files() -> tuple[Path, ...]:
    """Return every file of the repository."""
    return tuple(_walk(ROOT))


def python_files(*folders: Path) -> list[Path]:
    """Return the Python files in some folders."""
    return [
        path
        for path in repository_files()
        if path.suffix == ".py" and any(path.is_relative_to(folder) for folder in folders)
    ]


@cache
def parsed(path: Path) -> ast.Module:
    """Return the syntax tree of a Python file."""
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def shown(path: Path) -> str:
    """Return a path relative to the root."""
    return path.relative_to(ROOT).as_posix()
