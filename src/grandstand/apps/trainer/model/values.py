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
Confidence: TypeAlias = Literal["low", "medium", "high"]

DIFFICULTIES: Final[tuple[Difficulty, ...]] = ("beginner", "intermediate", "advanced")


@dataclass(frozen=True, slots=True)
class Forecast:
    """Asks for a probability of `event`; `happened` is told after submission, None while open."""

    event: str
    happened: bool | None = None


@dataclass(frozen=True, slots=True)
class AuthorNotes:
    """What the author of a question hopes to see; never shown before submission."""

    assumptions: tuple[str, ...] = ()
    traps: tuple[str, ...] = ()
    key_numbers: tuple[str, ...] = ()
    alternatives: tuple[str, ...] = ()
    model_answer: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """One question of a scenario, with the length hoped for and the dimensions it exercises."""

    question_id: str
    text: str
    type: QuestionType
    target_word_count: int
    focus_areas: tuple[str, ...]
    notes: AuthorNotes | None = None
    forecast: Forecast | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What a person wrote to one question, with the question as it read then."""

    question_id: str
    question_text: str
    answer: str
    word_count: int
    probability_percent: int | None = None


@dataclass(frozen=True, slots=True)
class DimensionScore:
    """The score of one dimension, 0 to 4, and the reasons for it."""

    name: str
    score: int
    rationale: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What a judge made of an attempt; the overall score, out of 100, is worked out by us."""

    overall_score: int
    dimensions: tuple[DimensionScore, ...]
    feedback: str
    model_id: str
    evaluated_at: datetime


@dataclass(frozen=True, slots=True)
class DimensionDetail:
    """What stands behind the score of one dimension.

    `quotes` are passages of the answers, word for word. `spread` is the difference between the
    highest and the lowest of several judgings. `needed` says what a 4 would have needed.
    `assessed` is False where nothing asked for this dimension.
    """

    name: str
    quotes: tuple[str, ...]
    confidence: Confidence
    assessed: bool
    spread: int
    needed: str


@dataclass(frozen=True, slots=True)
class EvaluationDetails:
    """How an evaluation came about, kept beside it.

    `flags` tell of text aimed at the judge, and `review` why a person should look at it.
    """

    rubric_version: str
    prompt_version: str
    judgings: int
    dimensions: tuple[DimensionDetail, ...]
    flags: tuple[str, ...] = ()
    review: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Judgement:
    """An evaluation with what stands behind it: what a judge hands over."""

    evaluation: Evaluation
    details: EvaluationDetails


@dataclass(frozen=True, slots=True)
class Override:
    """Scores an instructor put in place of a judge's, with the reason; kept for good."""

    by: str
    at: datetime
    reason: str
    before: tuple[int, ...]
    after: tuple[int, ...]


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
