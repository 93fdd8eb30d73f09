"""Scenarios and their questions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from grandstand.core.errors import InvalidInput

Difficulty: TypeAlias = Literal["beginner", "intermediate", "advanced"]
QuestionType: TypeAlias = Literal["short", "long"]

DIFFICULTIES: Final[tuple[Difficulty, ...]] = ("beginner", "intermediate", "advanced")


@dataclass(frozen=True, slots=True)
class Forecast:
    """An event to put a probability on; `happened` is None while the outcome is open."""

    event: str
    happened: bool | None = None


@dataclass(frozen=True, slots=True)
class AuthorNotes:
    """What the author of a question hopes to read; never shown before submission."""

    assumptions: tuple[str, ...] = ()
    traps: tuple[str, ...] = ()
    key_numbers: tuple[str, ...] = ()
    alternatives: tuple[str, ...] = ()
    model_answer: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """One question of a scenario; `focus_areas` are the dimensions it exercises."""

    question_id: str
    text: str
    type: QuestionType
    target_word_count: int
    focus_areas: tuple[str, ...]
    notes: AuthorNotes | None = None
    forecast: Forecast | None = None


@dataclass(frozen=True, slots=True)
class ScenarioDraft:
    """A valid scenario as its author wrote it, before it is loaded."""

    scenario_id: str
    title: str
    description: str
    difficulty: Difficulty
    tags: tuple[str, ...]
    estimated_minutes: int
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class ScenarioIssue:
    """One problem in a scenario file; lines and list positions count from 1."""

    line: int
    field: str
    problem: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.field}: {self.problem}"


class InvalidScenarioFile(InvalidInput):
    """A scenario file has problems; all of them are listed by line."""

    code = "invalid-scenario-file"

    def __init__(self, file_name: str, issues: tuple[ScenarioIssue, ...]) -> None:
        self.file_name = file_name
        self.issues = issues
        super().__init__("\n".join(f"{file_name}, {issue}" for issue in issues))
