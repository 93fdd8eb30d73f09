"""Kept here: the shapes in which instructors see everybody's attempts."""

from __future__ import annotations

from datetime import datetime

from grandstand.apps.trainer.api.models import Number, Told


class DistributionModel(Told):
    """How often each score from 0 to 4 was given in one dimension."""

    dimension: str
    counts: tuple[int, int, int, int, int]
    mean: Number | None


class HardQuestionModel(Told):
    """A question, and the mean score of what it exercises."""

    scenario_id: str
    question_id: str
    text: str
    answered: int
    mean: Number


class FlaggedModel(Told):
    """An attempt somebody should look at, and why."""

    attempt_id: str
    user_id: str
    scenario_id: str
    submitted_at: datetime
    overall_score: int | None
    reasons: tuple[str, ...]
    overridden: bool


class DimensionsSeen(Told):
    """The distribution of scores per dimension."""

    taken_at: datetime
    people: int
    completed: int
    waiting: int
    distributions: tuple[DistributionModel, ...]


class QuestionsSeen(Told):
    """The questions people do worst in, hardest first."""

    taken_at: datetime
    hardest: tuple[HardQuestionModel, ...]


class FlaggedSeen(Told):
    """Attempts somebody should look at, newest first."""

    taken_at: datetime
    flagged: tuple[FlaggedModel, ...]
