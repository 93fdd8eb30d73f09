"""Evaluation of submitted attempts: at once, later, again, and by a second judge."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import ClassVar, Final

from grandstand.apps.trainer.domain.evaluation import (
    DIMENSION_NAMES,
    MAX_SCORE,
    Answer,
    AttemptStatus,
    Evaluation,
    EvaluationDetails,
    EvaluationRequest,
    EvaluationState,
    Evaluator,
    Judgment,
    Override,
    overall_score,
)
from grandstand.apps.trainer.domain.scenarios import Question
from grandstand.apps.trainer.services.scenarios import ScenarioService
from grandstand.apps.trainer.services.validation import (
    AttemptInput,
    validate_draft,
    validate_submission,
)
from grandstand.apps.trainer.settings import TrainerSettings
from grandstand.apps.trainer.store import Attempt, TrainerStore, UserTotals, to_record
from grandstand.core.errors import Conflict, GrandstandError, NotFound, SourceFailed, Unavailable
from grandstand.core.logging import redact
from grandstand.kit.events import Event, Events
from grandstand.kit.live import Publisher
from grandstand.kit.outbox import OutboxMessage
from grandstand.storage.tables import present
from grandstand.storage.tables.errors import ConditionFailed
from grandstand.storage.tables.operations.item_ops import Write

EVALUATE_TOPIC: Final = "trainer.evaluate"
_MAX_ERROR_CHARS: Final = 500


class AttemptNotFound(NotFound):
    """The caller has no such attempt."""

    code: ClassVar[str] = "attempt-not-found"


class InvalidAttemptState(Conflict):
    """The attempt is not in the state that an operation needs."""

    code: ClassVar[str] = "invalid-attempt-state"


@dataclass(frozen=True, slots=True)
class AttemptRecord:
    """One person's attempt at a scenario: a draft, then submitted, then evaluated."""

    attempt_id: str
    user_id: str
    scenario_id: str
    timestamp: datetime
    answers: tuple[Answer, ...]
    evaluation: Evaluation | None
    duration_seconds: int
    status: AttemptStatus
    submitted_at: datetime | None
    evaluation_state: EvaluationState | None
    evaluation_details: EvaluationDetails | None
    evaluation_error: str | None
    second_opinion: Judgment | None
    overrides: tuple[Override, ...] | None
    revision_of: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationService:
    """Has attempts evaluated; if the judge fails, an attempt stays pending without a score."""

    store: TrainerStore
    scenarios: ScenarioService
    judge: Evaluator
    second_judge: Evaluator | None
    publisher: Publisher
    events: Events
    settings: TrainerSettings

    async def evaluate(self, attempt_id: str) -> AttemptRecord | None:
        """Evaluate a submitted attempt once and return it.

        Returns None if there is nothing to evaluate: no such attempt, a draft, or a deleted one.
        If the judge fails, the error is stored with the attempt, and Unavailable, SourceFailed or
        LimitReached is raised.
        """
        attempt = await self.store.tables(Attempt.by_id(attempt_id))
        if attempt is None or attempt.withdrawn_at is not None or attempt.submitted_at is None:
            return None
        if attempt.status != "completed":
            attempt = await self._evaluate(attempt)
        return None if attempt is None else to_record(AttemptRecord, attempt)

    async def deliver(self, message: OutboxMessage) -> None:
        """Handle an outbox message: evaluate the attempt whose id is its key."""
        await self.evaluate(message.idempotency_key)

    async def evaluate_soon(self, attempt: Attempt, *, is_new: bool) -> AttemptRecord:
        """Try to evaluate an attempt within `settings.wait_seconds`; return it in any state.

        What does not finish in time is left to the outbox.
        """
        seconds = self.settings.wait_seconds
        evaluated: Attempt | AttemptRecord | None = None
        if attempt.status != "completed" and seconds > 0:
            try:
                async with asyncio.timeout(seconds):
                    if is_new:
                        delivered = self._delivered_message(attempt)
                        evaluated = await self._evaluate(attempt, delivered)
                    else:
                        evaluated = await self.evaluate(attempt.attempt_id)
            except (GrandstandError, TimeoutError):
                evaluated = await self.store.tables(Attempt.by_id(attempt.attempt_id))
        found = evaluated or attempt
        return found if isinstance(found, AttemptRecord) else to_record(AttemptRecord, found)

    async def pending(self) -> AsyncIterator[AttemptRecord]:
        """Yield every submitted attempt that is not evaluated yet, of all users."""
        query = Attempt.all_attempts().where(present(Attempt.evaluation_state))
        async for attempt in self.store.iterate(query):
            yield to_record(AttemptRecord, attempt)

    async def request_second_opinion(self, user_id: str, attempt_id: str) -> AttemptRecord:
        """Ask the second judge about a completed attempt, once; no score changes.

        Raises AttemptNotFound, InvalidAttemptState, Conflict, or Unavailable, SourceFailed
        or LimitReached if the judge fails.
        """
        attempt = await get_attempt(self.store, user_id, attempt_id)
        if attempt.status != "completed":
            raise InvalidAttemptState(f"Attempt {attempt_id} is not evaluated yet.")
        if attempt.second_opinion is not None:
            return to_record(AttemptRecord, attempt)
        if self.second_judge is None:
            raise Conflict("No second judge is configured. Set GRANDSTAND_TRAINER_SECOND_JUDGE.")
        judgment = await self._run(self.second_judge, await self._request(attempt))
        try:
            stored = await self.store.tables(Attempt.add_opinion(attempt_id, judgment))
        except ConditionFailed as refused:
            current = await self.store.tables(Attempt.by_id(attempt_id))
            if current is None or current.second_opinion is None:
                message = f"Attempt {attempt_id} was deleted in the meantime."
                raise InvalidAttemptState(message) from refused
            stored = current
        return to_record(AttemptRecord, stored)

    async def evaluate_answers(self, scenario_id: str, attempt: AttemptInput) -> Judgment:
        """Judge answers without storing them.

        Raises ScenarioNotFound, InvalidAnswer, or the errors of `evaluate`.
        """
        scenario = await self.scenarios.get_active(scenario_id)
        questions, max_chars = scenario.questions, self.settings.answer_chars
        answers = validate_draft(questions, attempt.answers, max_chars)
        answers = validate_submission(questions, answers, attempt.answers)
        request = EvaluationRequest(scenario.title, scenario.description, questions, answers)
        return await self._run(self.judge, request)

    async def _evaluate(self, attempt: Attempt, *also: Write) -> Attempt | None:
        try:
            judgment = await self._run(self.judge, await self._request(attempt))
        except GrandstandError as error:
            await self._store_error(attempt, error)
            raise
        return await self._complete(attempt, judgment, *also)

    def _delivered_message(self, attempt: Attempt) -> Write:
        """Return the write that marks the outbox message of a new submission as delivered."""
        now = self.store.now()
        message = OutboxMessage(
            topic=EVALUATE_TOPIC,
            idempotency_key=attempt.attempt_id,
            body="{}",
            created_at=now,
            due_at=now,
            queue=None,
        )
        return message.delivered(now)

    async def _request(self, attempt: Attempt) -> EvaluationRequest:
        scenario = await self.scenarios.find(attempt.scenario_id)
        if scenario is None:
            questions = tuple(
                Question(each.question_id, each.question_text, "long", 100, ())
                for each in attempt.answers
            )
            return EvaluationRequest(attempt.scenario_id, "", questions, attempt.answers)
        return EvaluationRequest(
            scenario.title, scenario.description, scenario.questions, attempt.answers
        )

    async def _run(self, judge: Evaluator, request: EvaluationRequest) -> Judgment:
        seconds = self.settings.judge_timeout_seconds
        try:
            async with asyncio.timeout(seconds):
                judgment = await judge.judge(request, self.store.now())
        except TimeoutError as error:
            message = f"{judge.model_id} did not answer within {seconds:g} s. It will be retried."
            raise Unavailable(message) from error
        return _checked(judgment)

    async def _store_error(self, attempt: Attempt, error: GrandstandError) -> None:
        text = redact(f"{type(error).__name__}: {error}")[:_MAX_ERROR_CHARS]
        try:
            await self.store.tables(Attempt.evaluation_failed(attempt.attempt_id, text))
        except ConditionFailed:
            return
        self._publish(attempt, "failed")

    async def _complete(self, attempt: Attempt, judgment: Judgment, *also: Write) -> Attempt | None:
        score = judgment.evaluation.overall_score
        complete = Attempt.complete(attempt.attempt_id, judgment.evaluation, judgment.details)
        count = UserTotals.count(attempt.user_id, score)
        event = await self._event(attempt, score)
        if await self.store.try_transaction(complete, count, event.put(), *also):
            self._publish(attempt, "completed")
            self.events.publish(event)
            return attempt.replace(
                status="completed",
                evaluation=judgment.evaluation,
                evaluation_details=judgment.details,
                evaluation_state=None,
                evaluation_error=None,
            )
        current = await self.store.tables(Attempt.by_id(attempt.attempt_id))
        return None if current is None or current.withdrawn_at is not None else current

    def _publish(self, attempt: Attempt, state: str) -> None:
        message = {"attempt_id": attempt.attempt_id, "state": state}
        self.publisher.publish(f"trainer/attempts/user/{attempt.user_id}", message)

    async def _event(self, attempt: Attempt, score: int) -> Event:
        scenario = await self.scenarios.find(attempt.scenario_id)
        title = attempt.scenario_id if scenario is None else scenario.title
        text = f"Your attempt at {title} was scored: {score} of 100"
        href = f"/trainer/attempts/{attempt.attempt_id}"
        return self.events.create("trainer", "scored", text, href, user_id=attempt.user_id)


async def get_attempt(store: TrainerStore, user_id: str, attempt_id: str) -> Attempt:
    """Return a user's own attempt; one of another user does not exist for them.

    Raises AttemptNotFound.
    """
    attempt = await store.tables(Attempt.by_id(attempt_id))
    if attempt is None or attempt.user_id != user_id or attempt.withdrawn_at is not None:
        raise AttemptNotFound(f"You have no attempt {attempt_id}.")
    return attempt


def _checked(judgment: Judgment) -> Judgment:
    """Return a judgment with ordered dimensions and our own overall score.

    Raises SourceFailed unless each dimension is scored once, from 0 to 4.
    """
    evaluation = judgment.evaluation
    names = [dimension.name for dimension in evaluation.dimensions]
    if sorted(names) != sorted(DIMENSION_NAMES):
        message = f"{evaluation.model_id} scored {', '.join(names)}, not each dimension once."
        raise SourceFailed(message)
    scores = {dimension.name: dimension.score for dimension in evaluation.dimensions}
    if not all(0 <= score <= MAX_SCORE for score in scores.values()):
        raise SourceFailed(f"{evaluation.model_id} returned scores outside 0 to {MAX_SCORE}.")
    ordered = sorted(evaluation.dimensions, key=lambda each: DIMENSION_NAMES.index(each.name))
    checked = replace(evaluation, dimensions=tuple(ordered), overall_score=overall_score(scores))
    return replace(judgment, evaluation=checked)
