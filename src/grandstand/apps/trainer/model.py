"""Kept here: the trainer's values: questions, answers, scores, and the parts of a profile."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Final, Literal, TypeAlias

Difficulty: TypeAlias = Literal["beginner", "intermediate", "advanced"]
AttemptStatus: TypeAlias = Literal["in-progress", "completed", "abandoned"]
EvaluationState: TypeAlias = Literal["pending", "failed"]
QuestionType: TypeAlias = Literal["short", "long"]
Trend: TypeAlias = Literal["improving", "stable", "declining"]

DIFFICULTIES: Final[tuple[Difficulty, ...]] = ("beginner", "intermediate", "advanced")


@dataclass(frozen=True, slots=True)
class Question:
    """One question of a scenario, with the length hoped for and the dimensions it exercises."""

    question_id: str
    text: str
    type: QuestionType
    target_word_count: int
    focus_areas: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a person wrote to one question, with the question as it read then."""

    question_id: str
    question_text: str
    answer: str
    word_count: int


@dataclass(frozen=True, slots=True)
class DimensionScore:
    """The score of one dimension, 0 to 4, and the reasons for it."""

    name: str
    score: int
    rationale: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What a judge made of an attempt; the overall score is out of 100."""

    overall_score: int
    dimensions: tuple[DimensionScore, ...]
    feedback: str
    model_id: str
    evaluated_at: datetime


@dataclass(frozen=True, slots=True)
class DimensionStatistics:
    """How a person does in one dimension lately; recent scores stand oldest first."""

    name: str
    moving_average: Decimal
    standard_deviation: Decimal
    trend: Trend
    recent_scores: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Weakness:
    """A dimension below the person's own mean; the gap is negative."""

    dimension: str
    score: Decimal
    gap: Decimal


@dataclass(frozen=True, slots=True)
class Improvement:
    """A dimension that rose, from an earlier average to the present one."""

    dimension: str
    improvement: Decimal
    before: Decimal = field(metadata={"attribute": "from"})
    now: Decimal = field(metadata={"attribute": "to"})
