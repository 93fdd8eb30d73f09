"""Kept here: one thing found wrong with a series, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """Where, what, and what to do; one that is not `grave` is put right by the next upkeep."""

    series: str
    place: str
    problem: str
    remedy: str
    grave: bool = True

    def __str__(self) -> str:
        return f"{self.series}: {self.place}: {self.problem}; {self.remedy}"
