"""Kept here: taking some paths out of an item."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final, TypeAlias

from grandstand.storage.tables.expressions.nodes import Path
from grandstand.storage.tables.values import Item, Value

# A branch is what is wanted below a step; None is everything.
_Branch: TypeAlias = "Mapping[str | int, _Branch] | None"

_KEPT: Final = 1024


def project(paths: tuple[Path, ...], item: Item) -> Item:
    """Answer a new item with only what the paths point at.

    A path within a map or list keeps the maps and lists it goes through; the elements taken from
    one list come together in their order.
    """
    found: Item = {}
    for name, branch in _names(paths):
        if name in item:
            if branch is None:
                found[name] = item[name]
            else:
                _take(found, name, item[name], branch)
    return found


@lru_cache(maxsize=_KEPT)
def _names(paths: tuple[Path, ...]) -> tuple[tuple[str, _Branch], ...]:
    root: dict[str | int, _Branch] = {}
    for path in paths:
        _grow(root, path)
    return tuple((str(name), branch) for name, branch in root.items())


def _grow(root: dict[str | int, _Branch], path: Path) -> None:
    branch = root
    for step in path.steps[:-1]:
        below = branch.setdefault(step, {})
        if not isinstance(below, dict):
            return
        branch = below
    branch[path.steps[-1]] = None


def _take(found: dict[str, Value], name: str, value: Value, branch: _Branch) -> None:
    part = _part(value, branch)
    if part is not None:
        found[name] = part[0]


def _part(value: Value, branch: _Branch) -> tuple[Value] | None:
    """Cut a value down to a branch, in a tuple because None is a value."""
    if branch is None:
        return (value,)
    if isinstance(value, dict):
        fields: dict[str, Value] = {}
        for step, below in branch.items():
            if isinstance(step, str) and step in value:
                _take(fields, step, value[step], below)
        return (fields,) if fields else None
    if isinstance(value, list):
        parts = [
            _part(value[step], below)
            for step, below in sorted((s, b) for s, b in branch.items() if isinstance(s, int))
            if step < len(value)
        ]
        elements = [part[0] for part in parts if part is not None]
        return (elements,) if elements else None
    return None
