"""What instructors see of everybody's attempts, and overrides of scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from grandstand.apps.trainer.domain.evaluation import (
    DIMENSION_NAMES,
    MAX_SCORE,
    Evaluation,
    Override,
    overall_score,
)
from grandstand.apps.trainer.domain.scenarios import Question
from grandstand.apps.trainer.services.attempts import AttemptWithScenario
from grandstand.apps.trainer.services.evaluation import (
    AttemptNotFound,
    AttemptRecord,
    InvalidAttemptState,
)
from grandstand.apps.trainer.services.scenarios import ScenarioRecord, ScenarioService
from grandstand.apps.trainer.services.validation import InvalidAnswer
from grandstand.apps.trainer.store import Attempt, TrainerStore, UserTotals, to_record
from grandstand.kit.events import Events
from grandstand.kit.live import Publisher

_CACHE_SECONDS: Final = 30.0
_MAX_FLAGGED: Final = 200
_MAX_QUESTIONS: Final = 20
_MAX_REASON_CHARS: Final = 1000


@dataclass(frozen=True, slots=True)
class ScoreDistribution:
    """How often each score from 0 to 4 was given in one dimension, and the mean."""

    dimension: str
    counts: tuple[int, int, int, int, int]
    mean: float | None


@dataclass(frozen=True, slots=True)
class HardQuestion:
    """A question, and the mean score of the dimensions it exercises."""

    scenario_id: str
    question_id: str
    text: str
    answered: int
    mean: float


@dataclass(frozen=True, slots=True)
class FlaggedAttempt:
    """An attempt to review, and why."""

    attempt_id: str
    user_id: str
    scenario_id: str
    submitted_at: datetime
    overall_score: int | None
    reasons: tuple[str, ...]
    overridden: bool


@dataclass(frozen=True, slots=True)
class GroupSummary:
    """Statistics over everybody's attempts; flagged attempts are newest first."""

    taken_at: datetime
    people: int
    completed: int
    waiting: int
    distributions: tuple[ScoreDistribution, ...]
    hardest: tuple[HardQuestion, ...]
    flagged: tuple[FlaggedAttempt, ...]


@dataclass(slots=True, kw_only=True)
class InstructorService:
    """Reads everybody's attempts; callers must check that the user is an administrator."""

    store: TrainerStore
    scenarios: ScenarioService
    publisher: Publisher
    events: Events
    _summary: GroupSummary | None = field(default=None, init=False)
    _cached_until: float = field(default=float("-inf"), init=False)

    async def summary(self) -> GroupSummary:
        """Return statistics over everybody's attempts, at most 30 seconds old."""
        now = self.store.clock.monotonic()
        if self._summary is None or now >= self._cached_until:
            counter = _GroupCounter()
            async for attempt in self.store.iterate(Attempt.all_attempts()):
                counter.add(attempt, await self.scenarios.find(attempt.scenario_id))
            self._summary = counter.summary(self.store.now())
            self._cached_until = now + _CACHE_SECONDS
        return self._summary

    async def get(self, attempt_id: str) -> AttemptWithScenario:
        """Return anybody's submitted attempt.

        Raises AttemptNotFound.
        """
        attempt = await self._submitted(attempt_id)
        scenario = await self.scenarios.find(attempt.scenario_id)
        return AttemptWithScenario(to_record(AttemptRecord, attempt), scenario)

    async def override(
        self, instructor_id: str, attempt_id: str, scores: Mapping[str, int], reason: str
    ) -> AttemptRecord:
        """Replace some of the judge's scores; who, when, why and both scores are stored.

        Raises AttemptNotFound, InvalidAttemptState or InvalidAnswer.
        """
        before = await self._submitted(attempt_id)
        if before.evaluation is None:
            raise InvalidAttemptState(f"Attempt {attempt_id} is not evaluated yet.")
        evaluation = _rescore(before.evaluation, scores)
        if not reason.strip() or len(reason) > _MAX_REASON_CHARS:
            message = f"A reason must have 1 to {_MAX_REASON_CHARS:,} characters"
            raise InvalidAnswer("reason", message)
        override = Override(
            by=instructor_id,
            at=self.store.now(),
            reason=reason.strip(),
            before=tuple(each.score for each in before.evaluation.dimensions),
            after=tuple(each.score for each in evaluation.dimensions),
        )
        difference = evaluation.overall_score - before.evaluation.overall_score
        if not await self.store.try_transaction(
            Attempt.override(before, evaluation, override),
            UserTotals.rescore(before.user_id, difference),
        ):
            raise InvalidAttemptState(f"Attempt {attempt_id} changed in the meantime. Reload it.")
        self._cached_until = float("-inf")
        await self._announce(before, evaluation)
        overrides = (*(before.overrides or ()), override)
        after = before.replace(evaluation=evaluation, overrides=overrides)
        return to_record(AttemptRecord, after)

    async def _submitted(self, attempt_id: str) -> Attempt:
        attempt = await self.store.tables(Attempt.by_id(attempt_id))
        if attempt is None or attempt.withdrawn_at is not None or attempt.submitted_at is None:
            raise AttemptNotFound(f"There is no submitted attempt {attempt_id}.")
        return attempt

    async def _announce(self, attempt: Attempt, evaluation: Evaluation) -> None:
        text = f"An instructor changed your score: now {evaluation.overall_score} of 100"
        href = f"/trainer/attempts/{attempt.attempt_id}"
        await self.events.record("trainer", "overridden", text, href, user_id=attempt.user_id)
        message = {"attempt_id": attempt.attempt_id, "state": "overridden"}
        self.publisher.publish(f"trainer/attempts/user/{attempt.user_id}", message)


def _rescore(evaluation: Evaluation, scores: Mapping[str, int]) -> Evaluation:
    for name, score in scores.items():
        if name not in DIMENSION_NAMES:
            message = f"The dimensions are {', '.join(DIMENSION_NAMES)}"
            raise InvalidAnswer(f"scores.{name}", message)
        if not 0 <= score <= MAX_SCORE:
            raise InvalidAnswer(f"scores.{name}", f"A score must be from 0 to {MAX_SCORE}")
    changed = tuple(
        replace(each, score=scores.get(each.name, each.score)) for each in evaluation.dimensions
    )
    if changed == evaluation.dimensions:
        raise InvalidAnswer("scores", "The scores are unchanged")
    overall = overall_score({each.name: each.score for each in changed})
    return replace(evaluation, dimensions=changed, overall_score=overall)


@dataclass
class _QuestionCounter:
    text: str
    answered: int = 0
    points: int = 0
    scores: int = 0


@dataclass
class _GroupCounter:
    people: set[str] = field(default_factory=set)
    completed: int = 0
    waiting: int = 0
    scores: Counter[tuple[str, int]] = field(default_factory=Counter)
    questions: dict[tuple[str, str], _QuestionCounter] = field(default_factory=dict)
    flagged: list[FlaggedAttempt] = field(default_factory=list)

    def add(self, attempt: Attempt, scenario: ScenarioRecord | None) -> None:
        """Count one attempt."""
        if attempt.withdrawn_at is not None or attempt.submitted_at is None:
            return
        self.people.add(attempt.user_id)
        details, evaluation = attempt.evaluation_details, attempt.evaluation
        reasons = () if details is None else (*details.flags, *details.review)
        if attempt.evaluation_error is not None:
            reasons = (*reasons, attempt.evaluation_error)
        if reasons:
            self.flagged.append(
                FlaggedAttempt(
                    attempt_id=attempt.attempt_id,
                    user_id=attempt.user_id,
                    scenario_id=attempt.scenario_id,
                    submitted_at=attempt.submitted_at,
                    overall_score=None if evaluation is None else evaluation.overall_score,
                    reasons=reasons,
                    overridden=attempt.overrides is not None,
                )
            )
        if evaluation is None:
            self.waiting += 1
            return
        self.completed += 1
        scores = {each.name: each.score for each in evaluation.dimensions}
        self.scores.update(scores.items())
        answered = {each.question_id for each in attempt.answers}
        for question in () if scenario is None else scenario.questions:
            if question.question_id in answered:
                self._add_question(attempt.scenario_id, question, scores)

    def _add_question(
        self, scenario_id: str, question: Question, scores: Mapping[str, int]
    ) -> None:
        key = (scenario_id, question.question_id)
        counter = self.questions.setdefault(key, _QuestionCounter(question.text))
        counter.answered += 1
        exercised = [scores[area] for area in question.focus_areas if area in scores]
        counter.points += sum(exercised)
        counter.scores += len(exercised)

    def summary(self, taken_at: datetime) -> GroupSummary:
        """Return what was counted."""
        hardest = [
            HardQuestion(*key, each.text, each.answered, each.points / each.scores)
            for key, each in self.questions.items()
            if each.scores
        ]
        hardest.sort(key=lambda each: (each.mean, each.scenario_id, each.question_id))
        self.flagged.sort(key=lambda each: (each.submitted_at, each.attempt_id), reverse=True)
        return GroupSummary(
            taken_at=taken_at,
            people=len(self.people),
            completed=self.completed,
            waiting=self.waiting,
            distributions=tuple(self._distribution(name) for name in DIMENSION_NAMES),
            hardest=tuple(hardest[:_MAX_QUESTIONS]),
            flagged=tuple(self.flagged[:_MAX_FLAGGED]),
        )

    def _distribution(self, name: str) -> ScoreDistribution:
        zero, one, two, three, four = (self.scores[name, score] for score in range(5))
        count = zero + one + two + three + four
        mean = (one + 2 * two + 3 * three + 4 * four) / count if count else None
        return ScoreDistribution(name, (zero, one, two, three, four), mean)
