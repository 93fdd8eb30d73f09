"""The repository as a set of files, without what commands and tools leave in it."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "grandstand"

_LEFT_BY_TOOLS = {"__pycache__", "build", "data", "dist", "node_modules"}


def _is_ours(path: Path) -> bool:
    hidden = path.name.startswith(".") and path.name not in {".ci", ".editorconfig", ".gitignore"}
    return not hidden and path.name not in _LEFT_BY_TOOLS


def _walk(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if _is_ours(path):
            if path.is_dir():
                yield from _walk(path)
            else:
                yield path


@cache
def kept_files() -> tuple[Path, ...]:
    """Every file that belongs to the repository."""
    return tuple(_walk(ROOT))


def python_files(*folders: Path) -> list[Path]:
    """The Python files below the folders."""
    return [
        path
        for path in kept_files()
        if path.suffix == ".py" and any(path.is_relative_to(folder) for folder in folders)
    ]


@cache
def parsed(path: Path) -> ast.Module:
    """The syntax tree of a Python file."""
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def shown(path: Path) -> str:
    """A path as messages write it, from the root."""
    return path.relative_to(ROOT).as_posix()
