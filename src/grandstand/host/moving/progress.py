"""Kept here: how far a long piece of work has come, as it is told to whoever waits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Reached:
    """What is being done, how much of it is done, and of how much; None where nobody knows."""

    what: str
    done: int
    total: int | None
    unit: str


Tell: TypeAlias = Callable[[Reached], None]
