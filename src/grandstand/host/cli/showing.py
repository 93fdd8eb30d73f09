"""Kept here: how commands show what they found: as JSON, and a moment in words."""

from __future__ import annotations

import dataclasses
import json
from datetime import datetime
from typing import Any


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
