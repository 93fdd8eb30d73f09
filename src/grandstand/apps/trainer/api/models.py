"""Kept here: the shapes of the trainer's values over HTTP, named as the tables name them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

from grandstand.apps.trainer.model import (
    AttemptStatus,
    Confidence,
    Difficulty,
    EvaluationState,
    QuestionType,
    Trend,
)
from grandstand.apps.trainer.service import ProgressState
from grandstand.kit.routes import Strict


class Asked(Strict):
    """What a caller sends."""

    model_config = ConfigDict(alias_generator=to_camel)


class Told(Strict):
    """What a caller is answered; made of a value's own fields."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, from_attributes=True)


def _number(value: object) -> object:
    return float(value) if isinstance(value, Decimal | Fraction) else value


def _sorted(value: Any) -> Any:  # noqa: ANN401 - as pydantic hands it over
    return tuple(sorted(value)) if isinstance(value, Iterable) else value


Number = Annotated[float, BeforeValidator(_number)]
Words = Annotated[tuple[str, ...], BeforeValidator(_sorted)]
Token = Annotated[
    str, Field(pattern=r"^[\x21-\x7e]{1,100}$", examples=["0f8b2c1e"], description="Made by you.")
]
Seconds = Annotated[int, Field(ge=0, le=604_800, examples=[1800])]


class GivenAnswerModel(Asked):
    """What a person writes to one question."""

    question_id: Annotated[str, Field(max_length=64, examples=["q1"])]
    answer: Annotated[str, Field(examples=["The claim rests on two assumptions: first …"])]
    probability_percent: Annotated[int, Field(ge=0, le=100)] | None = None


class NewAttempt(Asked):
    """An attempt to hand in, or with `draft`, to begin; the same token makes it once."""

    scenario_id: Annotated[str, Field(min_length=1, max_length=64, examples=["two-hospitals"])]
    answers: Annotated[tuple[GivenAnswerModel, ...], Field(max_length=10)] = ()
    duration_seconds: Seconds = 0
    client_token: Token | None = None
    draft: bool = False


class Writing(Asked):
    """What is written so far."""

    answers: Annotated[tuple[GivenAnswerModel, ...], Field(max_length=10)]
    duration_seconds: Seconds = 0


class Revising(Asked):
    """A revision to begin; the same token begins it once."""

    client_token: Token | None = None


class OverrideAsked(Asked):
    """Scores to put in place of a judge's; those left out stay."""

    scores: Annotated[
        dict[str, Annotated[int, Field(ge=0, le=4)]],
        Field(min_length=1, max_length=8, examples=[{"logic": 3}]),
    ]
    reason: Annotated[str, Field(min_length=1, max_length=1000, examples=["The sum is right."])]


class ForecastModel(Told):
    """What a probability is asked for; `happened` is told after submission."""

    event: str
    happened: bool | None


class NotesModel(Told):
    """What the author of a question hopes to see; told after submission."""

    assumptions: tuple[str, ...]
    traps: tuple[str, ...]
    key_numbers: tuple[str, ...]
    alternatives: tuple[str, ...]
    model_answer: str


class QuestionModel(Told):
    """One question of a scenario."""

    question_id: str
    text: str
    type: QuestionType
    target_word_count: int
    focus_areas: tuple[str, ...]
    notes: NotesModel | None
    forecast: ForecastModel | None


class ScenarioModel(Told):
    """A situation to think about, with its questions."""

    scenario_id: str
    title: str
    description: str
    difficulty: Difficulty
    tags: Words
    questions: tuple[QuestionModel, ...]
    active: bool
    created_at: datetime
    estimated_minutes: int


class ProgressModel(Told):
    """How far the caller has come with a scenario."""

    state: ProgressState
    completed: int
    best_score: int | None
    draft_id: str | None
    last_at: datetime | None


class OfferedModel(Told):
    """A scenario on offer, and the caller's progress."""

    scenario: ScenarioModel
    progress: ProgressModel


class ScenarioList(Told):
    """What is on offer, easiest first."""

    scenarios: tuple[OfferedModel, ...]


class SuggestionModel(Told):
    """The scenario to try next, and why."""

    scenario: ScenarioModel
    reason: str


class Next(Told):
    """What to try next; nothing when no scenario is on offer."""

    suggestion: SuggestionModel | None


class AnswerModel(Told):
    """What a person wrote to one question, with the question as it read then."""

    question_id: str
    question_text: str
    answer: str
    word_count: int
    probability_percent: int | None


class DimensionScoreModel(Told):
    """The score of one dimension, 0 to 4, and the reasons for it."""

    name: str
    score: int
    rationale: tuple[str, ...]


class EvaluationModel(Told):
    """What a judge made of an attempt."""

    overall_score: int
    dimensions: tuple[DimensionScoreModel, ...]
    feedback: str
    model_id: str
    evaluated_at: datetime


class DimensionDetailModel(Told):
    """What stands behind the score of one dimension."""

    name: str
    quotes: tuple[str, ...]
    confidence: Confidence
    assessed: bool
    spread: int
    needed: str


class DetailsModel(Told):
    """How an evaluation came about."""

    rubric_version: str
    prompt_version: str
    judgings: int
    dimensions: tuple[DimensionDetailModel, ...]
    flags: tuple[str, ...]
    review: tuple[str, ...]
    note: str


class JudgementModel(Told):
    """Another judge's view."""

    evaluation: EvaluationModel
    details: DetailsModel


class OverrideModel(Told):
    """Scores an instructor put in place of a judge's, in the order of the dimensions."""

    by: str
    at: datetime
    reason: str
    before: tuple[int, ...]
    after: tuple[int, ...]


class AttemptModel(Told):
    """One person's try at a scenario."""

    attempt_id: str
    user_id: str
    scenario_id: str
    timestamp: datetime
    answers: tuple[AnswerModel, ...]
    evaluation: EvaluationModel | None
    duration_seconds: int
    status: AttemptStatus
    submitted_at: datetime | None
    evaluation_state: EvaluationState | None
    evaluation_details: DetailsModel | None
    evaluation_fault: str | None
    second_opinion: JudgementModel | None
    overrides: tuple[OverrideModel, ...] | None
    revision_of: str | None


class AttemptSeen(Told):
    """An attempt with its scenario; notes and outcomes are told once it is submitted."""

    attempt: AttemptModel
    scenario: ScenarioModel | None


class AttemptList(Told):
    """Attempts, newest first, and the cursor for the next ones."""

    attempts: tuple[AttemptModel, ...]
    cursor: str | None


class DimensionChangeModel(Told):
    """A score before and after a revision."""

    name: str
    before: int
    after: int


class ComparisonModel(Told):
    """A revision beside what it revises."""

    before: AttemptModel
    after: AttemptModel
    overall_change: int
    dimensions: tuple[DimensionChangeModel, ...]


class StatisticsModel(Told):
    """How a person does in one dimension lately; recent scores stand oldest first."""

    name: str
    moving_average: Number
    standard_deviation: Number
    trend: Trend
    recent_scores: tuple[int, ...]


class WeaknessModel(Told):
    """A dimension below the person's own mean."""

    dimension: str
    score: Number
    gap: Number


class ImprovementModel(Told):
    """A dimension that rose."""

    dimension: str
    improvement: Number
    before: Annotated[Number, Field(alias="from")]
    now: Annotated[Number, Field(alias="to")]


class ProfileModel(Told):
    """Strengths and weaknesses as the attempts up to a moment show them."""

    user_id: str
    timestamp: datetime
    attempt_count: int
    overall_average: Number
    dimensions: tuple[StatisticsModel, ...]
    weaknesses: tuple[WeaknessModel, ...]
    improvements: tuple[ImprovementModel, ...]
    recommendations: tuple[str, ...]


class ProfileSeen(Told):
    """The latest profile, none before the first judged attempt, and those before it."""

    latest: ProfileModel | None
    history: tuple[ProfileModel, ...]
    cursor: str | None


class ForecastPointModel(Told):
    """One forecast, and the mean Brier score up to it."""

    attempt_id: str
    scenario_id: str
    question_id: str
    event: str
    said_at: datetime
    probability_percent: int
    happened: bool | None
    brier_so_far: Number | None


class CalibrationModel(Told):
    """Forecasts of about the same probability, and how often they came true."""

    low_percent: int
    high_percent: int
    count: int
    mean_percent: Number
    happened_percent: Number


class ForecastsModel(Told):
    """The caller's forecasts, oldest first, and how good they were."""

    points: tuple[ForecastPointModel, ...]
    resolved: int
    brier: Number | None
    calibration: tuple[CalibrationModel, ...]
