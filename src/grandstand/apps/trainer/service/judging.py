"""Kept here: getting submitted attempts judged: at once, later, again, and by another judge."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Final

from grandstand.apps.trainer.model import Answer, Judgement, Question
from grandstand.apps.trainer.model.judging import Evaluator, Work
from grandstand.apps.trainer.model.rubric import MOST, NAMES, overall_score
from grandstand.apps.trainer.service.means import EVALUATE, Means
from grandstand.apps.trainer.service.refusals import NoSecondJudge, WrongState
from grandstand.apps.trainer.service.scenarios import Scenarios
from grandstand.apps.trainer.service.values import HandedIn
from grandstand.apps.trainer.store import Attempt, Scenario, UserTotals
from grandstand.base.errors import GrandstandError, SourceFailed, Unavailable
from grandstand.base.log import redact
from grandstand.kit.events import Event
from grandstand.kit.outbox import Consequence
from grandstand.storage.tables import present
from grandstand.storage.tables.errors import ConditionFailed
from grandstand.storage.tables.operations.batches import Write

_LONGEST_FAULT: Final = 500


class JudgeTooSlow(Unavailable):
    """The judge did not answer within the time a judging may take."""


class JudgementUnusable(SourceFailed):
    """What a judge handed over is no judgement of all eight dimensions."""


class Judging:
    """Has attempts judged; whatever goes wrong, an attempt is never given a score for it."""

    def __init__(self, means: Means, scenarios: Scenarios) -> None:
        self._means = means
        self._scenarios = scenarios

    async def evaluate(self, attempt_id: str) -> Attempt | None:
        """Have a submitted attempt judged and counted, once; answer it as it is then.

        None when there is nothing to judge: no such attempt, a draft, or one taken back. When the
        judge cannot, that is noted on the attempt, and Unavailable, SourceFailed or LimitReached
        is raised.
        """
        attempt = await self._means.store(Attempt.by_id(attempt_id))
        if attempt is None or attempt.withdrawn_at is not None or attempt.submitted_at is None:
            return None
        return attempt if attempt.status == "completed" else await self._evaluate(attempt)

    async def evaluate_soon(self, work: HandedIn) -> Attempt:
        """Try to have an attempt judged while its owner waits; answer it judged or still waiting.

        What does not come in time, or at all, is left to whoever carries out what was noted.
        """
        attempt, seconds = work.attempt, self._means.settings.wait_seconds
        if attempt.status == "completed" or seconds <= 0:
            return attempt
        try:
            async with asyncio.timeout(seconds):
                if work.fresh:
                    judged = await self._evaluate(attempt, self._carried_out(attempt))
                else:
                    judged = await self.evaluate(attempt.attempt_id)
        except (GrandstandError, TimeoutError):
            judged = await self._means.store(Attempt.by_id(attempt.attempt_id))
        return judged or attempt

    async def waiting(self) -> AsyncIterator[Attempt]:
        """Answer every submitted attempt that is not judged yet, whoever's it is."""
        unfinished = Attempt.all_there_are().where(present(Attempt.evaluation_state))
        async for attempt in self._means.each(unfinished):
            yield attempt

    async def second_opinion(self, attempt: Attempt) -> Attempt:
        """Ask the other judge about a completed attempt, once; it changes no score.

        Raises NoSecondJudge, WrongState, and Unavailable, SourceFailed or LimitReached when the
        judge cannot.
        """
        if attempt.status != "completed":
            raise WrongState(f"Attempt {attempt.attempt_id} is not judged yet")
        if attempt.second_opinion is not None:
            return attempt
        if self._means.second is None:
            message = "No second judge is set up: choose one with GRANDSTAND_TRAINER_SECOND_JUDGE"
            raise NoSecondJudge(message)
        judgement = await self._judged(self._means.second, await self._work(attempt))
        try:
            return await self._means.store(Attempt.add_opinion(attempt.attempt_id, judgement))
        except ConditionFailed as refused:
            found = await self._means.store(Attempt.by_id(attempt.attempt_id))
            if found is not None and found.second_opinion is not None:
                return found
            raise WrongState(f"Attempt {attempt.attempt_id} was taken back meanwhile") from refused

    async def judge(self, scenario: Scenario, answers: tuple[Answer, ...]) -> Judgement:
        """Judge answers that are not kept; raise as `evaluate` does."""
        work = Work(scenario.title, scenario.description, scenario.questions, answers)
        return await self._judged(self._means.judge, work)

    async def _evaluate(self, attempt: Attempt, *also: Write) -> Attempt | None:
        try:
            judgement = await self._judged(self._means.judge, await self._work(attempt))
        except GrandstandError as fault:
            await self._note(attempt, fault)
            raise
        return await self._complete(attempt, judgement, *also)

    def _carried_out(self, attempt: Attempt) -> Write:
        """Say that what was noted with the submission just now needs nobody else any more."""
        now = self._means.now()
        noted = Consequence(
            topic=EVALUATE,
            idempotency_key=attempt.attempt_id,
            body="{}",
            created_at=now,
            due_at=now,
            shelf=None,
        )
        return noted.delivered(now)

    async def _work(self, attempt: Attempt) -> Work:
        scenario = await self._scenarios.find(attempt.scenario_id)
        if scenario is None:
            questions = tuple(_remembered(each) for each in attempt.answers)
            return Work(attempt.scenario_id, "", questions, attempt.answers)
        return Work(scenario.title, scenario.description, scenario.questions, attempt.answers)

    async def _judged(self, judge: Evaluator, work: Work) -> Judgement:
        seconds = self._means.settings.judging_seconds
        try:
            async with asyncio.timeout(seconds):
                judgement = await judge.judge(work, self._means.now())
        except TimeoutError as late:
            message = f"{judge.model_id} did not answer within {seconds:g} s; it is tried again"
            raise JudgeTooSlow(message) from late
        return _usable(judgement)

    async def _note(self, attempt: Attempt, fault: GrandstandError) -> None:
        told = redact(f"{type(fault).__name__}: {fault}")[:_LONGEST_FAULT]
        try:
            await self._means.store(Attempt.evaluation_failed(attempt.attempt_id, told))
        except ConditionFailed:
            return
        self._tell(attempt, "failed")

    async def _complete(
        self, attempt: Attempt, judgement: Judgement, *also: Write
    ) -> Attempt | None:
        score = judgement.evaluation.overall_score
        complete = Attempt.complete(attempt.attempt_id, judgement.evaluation, judgement.details)
        counted = UserTotals.count(attempt.user_id, score)
        event = await self._scored(attempt, score)
        if await self._means.wrote(complete, counted, event.keep(), *also):
            self._tell(attempt, "completed")
            self._means.events.tell(event)
            return attempt.replace(
                status="completed",
                evaluation=judgement.evaluation,
                evaluation_details=judgement.details,
                evaluation_state=None,
                evaluation_fault=None,
            )
        found = await self._means.store(Attempt.by_id(attempt.attempt_id))
        return None if found is None or found.withdrawn_at is not None else found

    def _tell(self, attempt: Attempt, state: str) -> None:
        news = {"attempt_id": attempt.attempt_id, "state": state}
        self._means.teller.tell(f"trainer/attempts/user/{attempt.user_id}", news)

    async def _scored(self, attempt: Attempt, score: int) -> Event:
        scenario = await self._scenarios.find(attempt.scenario_id)
        named = attempt.scenario_id if scenario is None else scenario.title
        text = f"Your attempt at {named} was judged: {score} of 100"
        href = f"/trainer/attempts/{attempt.attempt_id}"
        return self._means.events.made("trainer", "judged", text, href, user_id=attempt.user_id)


def _remembered(answer: Answer) -> Question:
    """The question as it read when it was answered, of a scenario that is gone."""
    return Question(answer.question_id, answer.question_text, "long", 100, ())


def _usable(judgement: Judgement) -> Judgement:
    """Answer a judgement whose overall score is ours; raise JudgementUnusable."""
    evaluation = judgement.evaluation
    scores = {each.name: each.score for each in evaluation.dimensions}
    named = tuple(each.name for each in evaluation.dimensions)
    if sorted(named) != sorted(NAMES):
        message = f"{evaluation.model_id} scored {', '.join(named)}, not each dimension once"
        raise JudgementUnusable(message)
    if not all(0 <= score <= MOST for score in scores.values()):
        message = f"{evaluation.model_id} gave scores outside 0 to {MOST}"
        raise JudgementUnusable(message)
    ordered = tuple(sorted(evaluation.dimensions, key=lambda each: NAMES.index(each.name)))
    ours = replace(evaluation, dimensions=ordered, overall_score=overall_score(scores))
    return replace(judgement, evaluation=ours)
