"""Kept here: a scenario as its author wrote it, and what can be wrong with the writing."""

from __future__ import annotations

from dataclasses import dataclass

from grandstand.apps.trainer.model.values import Difficulty, Question
from grandstand.base.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class ScenarioDraft:
    """A scenario that keeps every rule of form, before it is put on offer."""

    scenario_id: str
    title: str
    description: str
    difficulty: Difficulty
    tags: tuple[str, ...]
    estimated_minutes: int
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with a scenario file; lines and the places in lists count from 1."""

    line: int
    field: str
    problem: str

    def __str__(self) -> str:
        """Say where and what, on one line."""
        return f"line {self.line}: {self.field}: {self.problem}"


class MalformedScenarios(InvalidInput):
    """A scenario file breaks the rules of form; every fault found is listed, in line order."""

    def __init__(self, named: str, faults: tuple[Fault, ...]) -> None:
        self.named = named
        self.faults = faults
        super().__init__("\n".join(f"{named}, {fault}" for fault in faults))
