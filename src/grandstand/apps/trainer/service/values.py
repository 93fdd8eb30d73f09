"""Kept here: what the service is given, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Literal, TypeAlias

from grandstand.apps.trainer.model.forecasts import CalibrationBin
from grandstand.apps.trainer.store import Attempt, Profile, Scenario

ProgressState: TypeAlias = Literal["new", "draft", "waiting", "done"]


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """What a person writes to one question."""

    question_id: str
    answer: str
    probability_percent: int | None = None


@dataclass(frozen=True, slots=True)
class Given:
    """What a person hands over at once: answers, and the seconds spent on them so far."""

    answers: tuple[GivenAnswer, ...] = ()
    duration_seconds: int = 0


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a person has come with one scenario; `draft_id` leads back to what was begun."""

    state: ProgressState = "new"
    completed: int = 0
    best_score: int | None = None
    draft_id: str | None = None
    last_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Offered:
    """A scenario as somebody sees who has not answered it, and how far they have come with it."""

    scenario: Scenario
    progress: Progress


@dataclass(frozen=True, slots=True)
class Loaded:
    """Which scenarios were written, and which were there already, word for word."""

    written: tuple[str, ...]
    unchanged: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Suggestion:
    """The scenario to try next, and why."""

    scenario: Scenario
    reason: str


@dataclass(frozen=True, slots=True)
class AttemptView:
    """An attempt with its scenario.

    Author's notes, model answers and outcomes are in the scenario once the attempt is submitted.
    `scenario` is None when it is not kept any more.
    """

    attempt: Attempt
    scenario: Scenario | None


@dataclass(frozen=True, slots=True)
class HandedIn:
    """A submitted attempt; `fresh` when that was done just now, and it is not judged yet."""

    attempt: Attempt
    fresh: bool


@dataclass(frozen=True, slots=True)
class AttemptPage:
    """Attempts, newest first, and the position after them, None at the end."""

    attempts: tuple[Attempt, ...]
    position: str | None


@dataclass(frozen=True, slots=True)
class ProfilePage:
    """Snapshots of a profile, newest first, and the position after them, None at the end."""

    profiles: tuple[Profile, ...]
    position: str | None


@dataclass(frozen=True, slots=True)
class DimensionChange:
    """The score of one dimension before and after a revision."""

    name: str
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """A revision beside the attempt it revises, both judged."""

    before: Attempt
    after: Attempt
    overall_change: int
    dimensions: tuple[DimensionChange, ...]


@dataclass(frozen=True, slots=True)
class ForecastPoint:
    """One forecast: what was asked, what was said, what came, and the mean Brier score so far.

    `happened` and `brier_so_far` are None while the outcome is open.
    """

    attempt_id: str
    scenario_id: str
    question_id: str
    event: str
    said_at: datetime
    probability_percent: int
    happened: bool | None
    brier_so_far: Fraction | None


@dataclass(frozen=True, slots=True)
class ForecastRecord:
    """A person's forecasts, oldest first, with their Brier score and calibration."""

    points: tuple[ForecastPoint, ...]
    resolved: int
    brier: Fraction | None
    calibration: tuple[CalibrationBin, ...]


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What recounting a person's attempts found; `differences` is empty when all agreed."""

    user_id: str
    attempt_count: int
    differences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """Everything a printed report of one person says; attempts stand newest first."""

    name: str
    made_at: datetime
    profile: Profile | None
    attempts: tuple[Attempt, ...]
    titles: dict[str, str]
    forecasts: ForecastRecord


@dataclass(frozen=True, slots=True)
class Distribution:
    """How often each score from 0 to 4 was given in one dimension, and their mean."""

    dimension: str
    counts: tuple[int, int, int, int, int]
    mean: Fraction | None


@dataclass(frozen=True, slots=True)
class HardQuestion:
    """A question, and the mean score of what it exercises over all who answered it."""

    scenario_id: str
    question_id: str
    text: str
    answered: int
    mean: Fraction


@dataclass(frozen=True, slots=True)
class Flagged:
    """An attempt somebody should look at, and why."""

    attempt_id: str
    user_id: str
    scenario_id: str
    submitted_at: datetime
    overall_score: int | None
    reasons: tuple[str, ...]
    overridden: bool


@dataclass(frozen=True, slots=True)
class Group:
    """Everybody's attempts, seen together."""

    taken_at: datetime
    people: int
    completed: int
    waiting: int
    distributions: tuple[Distribution, ...]
    hardest: tuple[HardQuestion, ...]
    flagged: tuple[Flagged, ...]
