"""Kept here: how commands show what they found: as a table, as JSON, a moment in words."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from rich.table import Table as Grid


def grid_of(*headings: str, numbers: Iterable[str] = (), folds: Iterable[str] = ()) -> Grid:
    """Answer an empty table for a terminal; columns of numbers come last and to the right.

    A cell is never broken in two, except in the columns named by `folds`.
    """
    grid = Grid(box=None, header_style="bold", pad_edge=False)
    broken = {*folds}
    for heading in headings:
        grid.add_column(heading, no_wrap=heading not in broken, overflow="fold")
    for heading in numbers:
        grid.add_column(heading, justify="right")
    return grid


def as_json(value: Any) -> str:  # noqa: ANN401 - whatever is told
    """Write dataclasses, moments and sets as JSON."""
    return json.dumps(value, indent=2, ensure_ascii=False, default=_plain)


def shown(moment: datetime | None) -> str:
    """Write a moment for a table on a terminal."""
    return "–" if moment is None else f"{moment:%Y-%m-%d %H:%M}"


def _plain(value: object) -> object:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, set | frozenset):
        return sorted(value)
    if isinstance(value, tuple):
        return list(value)
    return str(value)
