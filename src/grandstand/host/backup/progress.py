"""Progress of a backup, restore or copy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Progress:
    """The current step, how much is done, and the total if known."""

    what: str
    done: int
    total: int | None
    unit: str


ReportProgress: TypeAlias = Callable[[Progress], None]
