"""Kept here: attempts from the first word to handing in, and what their owner may do with them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Final

from grandstand.apps.trainer.model.rubric import NAMES
from grandstand.apps.trainer.service.answers import checked_duration, drafted, final
from grandstand.apps.trainer.service.means import EVALUATE, Means
from grandstand.apps.trainer.service.refusals import (
    AttemptNotFound,
    ClientTokenReused,
    WrongState,
)
from grandstand.apps.trainer.service.scenarios import Scenarios
from grandstand.apps.trainer.service.values import (
    AttemptPage,
    Comparison,
    DimensionChange,
    Given,
    HandedIn,
)
from grandstand.apps.trainer.store import Attempt, Scenario, UserTotals
from grandstand.storage.tables.errors import ConditionFailed
from grandstand.storage.tables.operations.batches import Write

_DUE_AFTER: Final = timedelta(seconds=10)
_TRIES: Final = 5


class Attempts:
    """One person's attempts; another person's are as good as not there."""

    def __init__(self, means: Means, scenarios: Scenarios) -> None:
        self._means = means
        self._scenarios = scenarios

    async def read(self, user_id: str, attempt_id: str) -> Attempt:
        """Answer an attempt of this person; raise AttemptNotFound."""
        found = await self._means.store(Attempt.by_id(attempt_id))
        if found is None or found.user_id != user_id or found.withdrawn_at is not None:
            message = f"You have no attempt {attempt_id}"
            raise AttemptNotFound(message)
        return found

    async def page(self, user_id: str, limit: int, position: str | None) -> AttemptPage:
        """Answer this person's attempts, newest first, from a position on."""
        page = await self._means.store.page(Attempt.of_user(user_id), limit, after=position)
        kept = tuple(each for each in page.items if each.withdrawn_at is None)
        return AttemptPage(kept, page.cursor)

    async def each(self, user_id: str) -> AsyncIterator[Attempt]:
        """Answer all of this person's attempts, newest first, a page in memory at a time."""
        async for each in self._means.each(Attempt.of_user(user_id)):
            if each.withdrawn_at is None:
                yield each

    async def begin(
        self, user_id: str, scenario_id: str, given: Given, client_token: str | None
    ) -> Attempt:
        """Begin a draft; the same token begins it once.

        Raises ScenarioNotFound, AnswerRefused, ClientTokenReused.
        """
        scenario = await self._scenarios.offered(scenario_id)
        return await self._begin(self._draft(user_id, scenario, given, client_token))

    async def save(self, user_id: str, attempt_id: str, given: Given) -> Attempt:
        """Keep what is written so far; raise AttemptNotFound, WrongState and AnswerRefused."""
        attempt = await self.read(user_id, attempt_id)
        scenario = await self._asked(attempt)
        answers = drafted(scenario, given.answers, self._means.settings.answer_chars)
        seconds = checked_duration(given.duration_seconds)
        saving = Attempt.save_draft(attempt_id, user_id, answers, seconds)
        try:
            return await self._means.store(saving)
        except ConditionFailed as refused:
            raise _not_a_draft(attempt_id) from refused

    async def post(
        self, user_id: str, scenario_id: str, given: Given, client_token: str | None
    ) -> HandedIn:
        """Hand in a whole attempt at once; the same token hands it in once.

        Raises ScenarioNotFound, AnswerRefused, ClientTokenReused.
        """
        scenario = await self._scenarios.offered(scenario_id)
        draft = self._draft(user_id, scenario, given, client_token)
        attempt = self._handed_in(draft, scenario, given)
        if await self._written(attempt.begin(), attempt.attempt_id):
            return HandedIn(attempt, fresh=True)
        known = await self._known(attempt)
        same = known.submitted_at is not None and known.answers == attempt.answers
        if not same or known.scenario_id != scenario_id:
            raise _token_reused(known)
        return HandedIn(known, fresh=False)

    async def submit(self, user_id: str, attempt_id: str, given: Given | None) -> HandedIn:
        """Hand in a draft, as it was saved or with these answers; once is enough.

        Raises AttemptNotFound, AnswerRefused, and WrongState when it was given up.
        """
        for _ in range(_TRIES):
            draft = await self.read(user_id, attempt_id)
            if draft.submitted_at is not None:
                return HandedIn(draft, fresh=False)
            if draft.status != "in-progress":
                raise _not_a_draft(attempt_id)
            scenario = await self._asked(draft)
            attempt = self._handed_in(draft, scenario, given)
            if await self._written(draft.submit_as_read(attempt), attempt_id):
                return HandedIn(attempt, fresh=True)
        message = f"Attempt {attempt_id} changes while it is handed in: try again"
        raise WrongState(message)

    async def abandon(self, user_id: str, attempt_id: str) -> Attempt:
        """Give a draft up; raise AttemptNotFound and WrongState."""
        attempt = await self.read(user_id, attempt_id)
        if attempt.status == "abandoned":
            return attempt
        try:
            return await self._means.store(Attempt.abandon(attempt_id, user_id))
        except ConditionFailed as refused:
            raise _not_a_draft(attempt_id) from refused

    async def delete(self, user_id: str, attempt_id: str) -> None:
        """Take an attempt away for good; the profile follows. Raise AttemptNotFound."""
        for _ in range(_TRIES):
            attempt = await self.read(user_id, attempt_id)
            writes: list[Write] = [Attempt.withdraw(attempt, self._means.now())]
            if attempt.evaluation is not None:
                score = attempt.evaluation.overall_score
                writes.append(UserTotals.uncount(user_id, score))
            if await self._means.wrote(*writes):
                return
        message = f"Attempt {attempt_id} changes while it is deleted: try again"
        raise WrongState(message)

    async def revise(self, user_id: str, attempt_id: str, client_token: str | None) -> Attempt:
        """Begin a draft that revises a judged attempt, with its answers to start from.

        Raises AttemptNotFound, ScenarioNotFound, WrongState and ClientTokenReused.
        """
        before = await self.read(user_id, attempt_id)
        if before.status != "completed":
            message = f"Attempt {attempt_id} is not judged yet, so there is nothing to revise"
            raise WrongState(message)
        scenario = await self._scenarios.offered(before.scenario_id)
        token = None if client_token is None else f"revise:{attempt_id}:{client_token}"
        draft = self._draft(user_id, scenario, Given(), token)
        asked = {question.question_id for question in scenario.questions}
        kept = tuple(each for each in before.answers if each.question_id in asked)
        return await self._begin(draft.replace(answers=kept, revision_of=attempt_id))

    async def comparison(self, user_id: str, attempt_id: str) -> Comparison:
        """Answer a judged revision beside what it revises; raise AttemptNotFound, WrongState."""
        after = await self.read(user_id, attempt_id)
        if after.revision_of is None:
            raise WrongState(f"Attempt {attempt_id} revises no other")
        before = await self.read(user_id, after.revision_of)
        if before.evaluation is None or after.evaluation is None:
            raise WrongState(f"Attempt {attempt_id} and what it revises are not both judged")
        was = {each.name: each.score for each in before.evaluation.dimensions}
        now = {each.name: each.score for each in after.evaluation.dimensions}
        return Comparison(
            before=before,
            after=after,
            overall_change=after.evaluation.overall_score - before.evaluation.overall_score,
            dimensions=tuple(
                DimensionChange(name, was[name], now[name])
                for name in NAMES
                if name in was and name in now
            ),
        )

    async def _asked(self, attempt: Attempt) -> Scenario:
        found = await self._scenarios.find(attempt.scenario_id)
        if found is None:
            message = f"The scenario of attempt {attempt.attempt_id} is not kept any more"
            raise WrongState(message)
        return found

    def _draft(
        self, user_id: str, scenario: Scenario, given: Given, client_token: str | None
    ) -> Attempt:
        settings = self._means.settings
        return Attempt(
            attempt_id=self._means.attempt_id(user_id, client_token),
            user_id=user_id,
            scenario_id=scenario.scenario_id,
            timestamp=self._means.now(),
            answers=drafted(scenario, given.answers, settings.answer_chars),
            duration_seconds=checked_duration(given.duration_seconds),
        )

    def _handed_in(self, draft: Attempt, scenario: Scenario, given: Given | None) -> Attempt:
        answers, seconds, places = draft.answers, draft.duration_seconds, None
        if given is not None:
            answers = drafted(scenario, given.answers, self._means.settings.answer_chars)
            seconds, places = checked_duration(given.duration_seconds), given.answers
        now = self._means.now()
        return draft.replace(
            answers=final(scenario, answers, places),
            duration_seconds=seconds,
            timestamp=now,
            submitted_at=now,
            evaluation_state="pending",
        )

    async def _begin(self, draft: Attempt) -> Attempt:
        try:
            return await self._means.store(draft.begin())
        except ConditionFailed as refused:
            known = await self._known(draft)
            if (known.scenario_id, known.revision_of) != (draft.scenario_id, draft.revision_of):
                raise _token_reused(known) from refused
            return known

    async def _known(self, attempt: Attempt) -> Attempt:
        """Answer what is there under the token of a new attempt; raise for remains."""
        try:
            return await self.read(attempt.user_id, attempt.attempt_id)
        except AttemptNotFound as gone:
            message = f"Attempt {attempt.attempt_id} of this token was deleted: use a new token"
            raise ClientTokenReused(message) from gone

    async def _written(self, write: Write, attempt_id: str) -> bool:
        """Hand in and note in one step that it is to be judged; False when that was not to be."""
        due_at = self._means.now() + _DUE_AFTER
        note = self._means.outbox.write(EVALUATE, attempt_id, {}, due_at=due_at)
        return await self._means.wrote(write, note)


def _not_a_draft(attempt_id: str) -> WrongState:
    return WrongState(f"Attempt {attempt_id} is not a draft any more: it was handed in or given up")


def _token_reused(known: Attempt) -> ClientTokenReused:
    message = (
        f"This token is that of attempt {known.attempt_id}, which says something else: "
        "use a new token"
    )
    return ClientTokenReused(message)
