"""A person's attempts: drafts, submissions, revisions and deletion."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import ClassVar, Final
from uuid import NAMESPACE_URL, UUID, uuid5

from grandstand.apps.trainer.domain.evaluation import DIMENSION_NAMES
from grandstand.apps.trainer.services.evaluation import (
    EVALUATE_TOPIC,
    AttemptNotFound,
    AttemptRecord,
    EvaluationService,
    InvalidAttemptState,
    get_attempt,
)
from grandstand.apps.trainer.services.scenarios import ScenarioRecord, ScenarioService
from grandstand.apps.trainer.services.validation import (
    AttemptInput,
    validate_draft,
    validate_duration,
    validate_submission,
)
from grandstand.apps.trainer.settings import TrainerSettings
from grandstand.apps.trainer.store import Attempt, TrainerStore, UserTotals, to_record
from grandstand.core.errors import Conflict
from grandstand.kit.outbox import Outbox
from grandstand.storage.tables.errors import ConditionFailed
from grandstand.storage.tables.operations.item_ops import Write

_ID_NAMESPACE: Final = uuid5(NAMESPACE_URL, "urn:grandstand:trainer:attempts")
_EVALUATE_AFTER: Final = timedelta(seconds=10)
_MAX_CONFLICTS: Final = 5


class ClientTokenReused(Conflict):
    """The client token belongs to another attempt of the same person."""

    code: ClassVar[str] = "client-token-reused"


@dataclass(frozen=True, slots=True)
class AttemptWithScenario:
    """An attempt and its scenario, which is None if it was deleted.

    Notes, model answers and outcomes are included once the attempt is submitted.
    """

    attempt: AttemptRecord
    scenario: ScenarioRecord | None

    @property
    def title(self) -> str:
        """The scenario's title, or its id if it was deleted."""
        return self.attempt.scenario_id if self.scenario is None else self.scenario.title


@dataclass(frozen=True, slots=True)
class AttemptPage:
    """Attempts, newest first; `cursor` is None on the last page."""

    attempts: tuple[AttemptRecord, ...]
    cursor: str | None


@dataclass(frozen=True, slots=True)
class DimensionChange:
    """The score of one dimension before and after a revision."""

    name: str
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """An evaluated revision and the attempt it revises."""

    before: AttemptRecord
    after: AttemptRecord
    overall_change: int
    dimensions: tuple[DimensionChange, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptService:
    """Manages the attempts of one person; those of others do not exist for them."""

    store: TrainerStore
    scenarios: ScenarioService
    evaluations: EvaluationService
    outbox: Outbox
    settings: TrainerSettings

    async def get(self, user_id: str, attempt_id: str) -> AttemptWithScenario:
        """Return an attempt with its scenario.

        Raises AttemptNotFound.
        """
        attempt = await get_attempt(self.store, user_id, attempt_id)
        scenario = await self.scenarios.find(attempt.scenario_id)
        if scenario is not None and attempt.submitted_at is None:
            scenario = scenario.without_solutions()
        return AttemptWithScenario(to_record(AttemptRecord, attempt), scenario)

    async def page(self, user_id: str, limit: int = 20, cursor: str | None = None) -> AttemptPage:
        """Return a page of attempts, newest first."""
        page = await self.store.tables.page(Attempt.of_user(user_id), limit, after=cursor)
        attempts = tuple(
            to_record(AttemptRecord, each) for each in page.items if each.withdrawn_at is None
        )
        return AttemptPage(attempts, page.cursor)

    async def start(
        self,
        user_id: str,
        scenario_id: str,
        attempt: AttemptInput | None = None,
        client_token: str | None = None,
    ) -> AttemptRecord:
        """Start a draft; the same client token starts it once.

        Raises ScenarioNotFound, InvalidAnswer or ClientTokenReused.
        """
        scenario = await self.scenarios.get_active(scenario_id)
        draft = self._draft(user_id, scenario, attempt or AttemptInput(), client_token)
        return await self._create(draft)

    async def save(self, user_id: str, attempt_id: str, attempt: AttemptInput) -> AttemptRecord:
        """Save a draft.

        Raises AttemptNotFound, InvalidAttemptState or InvalidAnswer.
        """
        stored = await get_attempt(self.store, user_id, attempt_id)
        scenario = await self._scenario(stored)
        answers = validate_draft(scenario.questions, attempt.answers, self.settings.answer_chars)
        seconds = validate_duration(attempt.duration_seconds)
        update = Attempt.save_draft(attempt_id, user_id, answers, seconds)
        try:
            return to_record(AttemptRecord, await self.store.tables(update))
        except ConditionFailed as refused:
            raise _not_a_draft(attempt_id) from refused

    async def submit_new(
        self,
        user_id: str,
        scenario_id: str,
        attempt: AttemptInput,
        client_token: str | None = None,
    ) -> AttemptRecord:
        """Submit a whole attempt, and return it evaluated, or pending if that takes longer.

        The same client token submits it once. Raises ScenarioNotFound, InvalidAnswer or
        ClientTokenReused.
        """
        scenario = await self.scenarios.get_active(scenario_id)
        draft = self._draft(user_id, scenario, attempt, client_token)
        submitted = self._submitted(draft, scenario, attempt)
        if await self._write_submission(submitted.begin(), submitted.attempt_id):
            return await self.evaluations.evaluate_soon(submitted, is_new=True)
        existing = await self._existing(submitted)
        is_same = existing.submitted_at is not None and existing.answers == submitted.answers
        if not is_same or existing.scenario_id != scenario_id:
            raise _token_reused(existing)
        return await self.evaluations.evaluate_soon(existing, is_new=False)

    async def submit(
        self, user_id: str, attempt_id: str, attempt: AttemptInput | None = None
    ) -> AttemptRecord:
        """Submit a draft as saved or with these answers, and return it evaluated or pending.

        Raises AttemptNotFound, InvalidAnswer, or InvalidAttemptState if it was abandoned.
        """
        for _ in range(_MAX_CONFLICTS):
            draft = await get_attempt(self.store, user_id, attempt_id)
            if draft.submitted_at is not None:
                return await self.evaluations.evaluate_soon(draft, is_new=False)
            if draft.status != "in-progress":
                raise _not_a_draft(attempt_id)
            submitted = self._submitted(draft, await self._scenario(draft), attempt)
            if await self._write_submission(draft.submit_as_read(submitted), attempt_id):
                return await self.evaluations.evaluate_soon(submitted, is_new=True)
        raise InvalidAttemptState(f"Attempt {attempt_id} is being changed. Try again.")

    async def abandon(self, user_id: str, attempt_id: str) -> AttemptRecord:
        """Abandon a draft.

        Raises AttemptNotFound or InvalidAttemptState.
        """
        attempt = await get_attempt(self.store, user_id, attempt_id)
        if attempt.status != "abandoned":
            try:
                attempt = await self.store.tables(Attempt.abandon(attempt_id, user_id))
            except ConditionFailed as refused:
                raise _not_a_draft(attempt_id) from refused
        return to_record(AttemptRecord, attempt)

    async def delete(self, user_id: str, attempt_id: str) -> None:
        """Delete an attempt permanently; the profile is updated later.

        Raises AttemptNotFound.
        """
        for _ in range(_MAX_CONFLICTS):
            attempt = await get_attempt(self.store, user_id, attempt_id)
            writes: list[Write] = [Attempt.withdraw(attempt, self.store.now())]
            if attempt.evaluation is not None:
                score = attempt.evaluation.overall_score
                writes.append(UserTotals.uncount(user_id, score))
            if await self.store.try_transaction(*writes):
                return
        raise InvalidAttemptState(f"Attempt {attempt_id} is being changed. Try again.")

    async def revise(
        self, user_id: str, attempt_id: str, client_token: str | None = None
    ) -> AttemptRecord:
        """Start a draft with the answers of an evaluated attempt.

        Raises AttemptNotFound, ScenarioNotFound, InvalidAttemptState or ClientTokenReused.
        """
        before = await get_attempt(self.store, user_id, attempt_id)
        if before.status != "completed":
            message = f"Attempt {attempt_id} is not evaluated yet, so it cannot be revised."
            raise InvalidAttemptState(message)
        scenario = await self.scenarios.get_active(before.scenario_id)
        token = None if client_token is None else f"revise:{attempt_id}:{client_token}"
        draft = self._draft(user_id, scenario, AttemptInput(), token)
        question_ids = {question.question_id for question in scenario.questions}
        answers = tuple(each for each in before.answers if each.question_id in question_ids)
        return await self._create(draft.replace(answers=answers, revision_of=attempt_id))

    async def compare(self, user_id: str, attempt_id: str) -> Comparison:
        """Compare an evaluated revision with the attempt it revises.

        Raises AttemptNotFound or InvalidAttemptState.
        """
        after = await get_attempt(self.store, user_id, attempt_id)
        if after.revision_of is None:
            raise InvalidAttemptState(f"Attempt {attempt_id} is not a revision.")
        before = await get_attempt(self.store, user_id, after.revision_of)
        if before.evaluation is None or after.evaluation is None:
            message = f"Attempt {attempt_id} and the one it revises are not both evaluated yet."
            raise InvalidAttemptState(message)
        old = {each.name: each.score for each in before.evaluation.dimensions}
        new = {each.name: each.score for each in after.evaluation.dimensions}
        return Comparison(
            before=to_record(AttemptRecord, before),
            after=to_record(AttemptRecord, after),
            overall_change=after.evaluation.overall_score - before.evaluation.overall_score,
            dimensions=tuple(
                DimensionChange(name, old[name], new[name])
                for name in DIMENSION_NAMES
                if name in old and name in new
            ),
        )

    async def _scenario(self, attempt: Attempt) -> ScenarioRecord:
        scenario = await self.scenarios.find(attempt.scenario_id)
        if scenario is None:
            message = f"The scenario of attempt {attempt.attempt_id} no longer exists."
            raise InvalidAttemptState(message)
        return scenario

    def _draft(
        self,
        user_id: str,
        scenario: ScenarioRecord,
        attempt: AttemptInput,
        client_token: str | None,
    ) -> Attempt:
        if client_token is None:
            attempt_id = UUID(int=self.store.random.getrandbits(128), version=4)
        else:
            attempt_id = uuid5(_ID_NAMESPACE, f"{user_id}:{client_token}")
        return Attempt(
            attempt_id=str(attempt_id),
            user_id=user_id,
            scenario_id=scenario.scenario_id,
            timestamp=self.store.now(),
            answers=validate_draft(scenario.questions, attempt.answers, self.settings.answer_chars),
            duration_seconds=validate_duration(attempt.duration_seconds),
        )

    def _submitted(
        self, draft: Attempt, scenario: ScenarioRecord, attempt: AttemptInput | None
    ) -> Attempt:
        answers, seconds, inputs = draft.answers, draft.duration_seconds, None
        if attempt is not None:
            inputs = attempt.answers
            answers = validate_draft(scenario.questions, inputs, self.settings.answer_chars)
            seconds = validate_duration(attempt.duration_seconds)
        now = self.store.now()
        return draft.replace(
            answers=validate_submission(scenario.questions, answers, inputs),
            duration_seconds=seconds,
            timestamp=now,
            submitted_at=now,
            evaluation_state="pending",
        )

    async def _create(self, draft: Attempt) -> AttemptRecord:
        try:
            return to_record(AttemptRecord, await self.store.tables(draft.begin()))
        except ConditionFailed as refused:
            existing = await self._existing(draft)
            same = (draft.scenario_id, draft.revision_of)
            if (existing.scenario_id, existing.revision_of) != same:
                raise _token_reused(existing) from refused
            return to_record(AttemptRecord, existing)

    async def _existing(self, attempt: Attempt) -> Attempt:
        """Return the attempt that already has this one's client token.

        Raises ClientTokenReused if it was deleted.
        """
        try:
            return await get_attempt(self.store, attempt.user_id, attempt.attempt_id)
        except AttemptNotFound as error:
            raise ClientTokenReused(
                f"Attempt {attempt.attempt_id} of this client token was deleted. Use a new token."
            ) from error

    async def _write_submission(self, write: Write, attempt_id: str) -> bool:
        """Submit, and queue the evaluation, in one transaction; False if a condition failed."""
        due_at = self.store.now() + _EVALUATE_AFTER
        message = self.outbox.write(EVALUATE_TOPIC, attempt_id, {}, due_at=due_at)
        return await self.store.try_transaction(write, message)


def _not_a_draft(attempt_id: str) -> InvalidAttemptState:
    message = f"Attempt {attempt_id} is not a draft: it was submitted or abandoned."
    return InvalidAttemptState(message)


def _token_reused(existing: Attempt) -> ClientTokenReused:
    return ClientTokenReused(
        f"This client token belongs to attempt {existing.attempt_id}, which differs. "
        "Use a new token."
    )
