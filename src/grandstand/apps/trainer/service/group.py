"""Kept here: what an instructor sees of everybody, and may change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from fractions import Fraction
from typing import Final

from grandstand.apps.trainer.model import Evaluation, Override, Question
from grandstand.apps.trainer.model.rubric import MOST, NAMES, overall_score
from grandstand.apps.trainer.service.means import Means
from grandstand.apps.trainer.service.refusals import (
    AnswerRefused,
    AttemptNotFound,
    WrongState,
)
from grandstand.apps.trainer.service.scenarios import Scenarios
from grandstand.apps.trainer.service.values import (
    Distribution,
    Flagged,
    Group,
    HardQuestion,
)
from grandstand.apps.trainer.store import Attempt, Scenario, UserTotals

_KEPT_SECONDS: Final = 30.0
_MOST_FLAGGED: Final = 200
_MOST_QUESTIONS: Final = 20
_LONGEST_REASON: Final = 1000


class GroupView:
    """Sees everybody's attempts together; looking takes a while, so a look is kept a little."""

    def __init__(self, means: Means, scenarios: Scenarios) -> None:
        self._means = means
        self._scenarios = scenarios
        self._seen: Group | None = None
        self._good_until = float("-inf")

    async def look(self) -> Group:
        """Answer everybody's attempts, seen together within the last half minute."""
        now = self._means.clock.monotonic()
        if self._seen is None or now >= self._good_until:
            tally = _Tally()
            async for attempt in self._means.each(Attempt.all_there_are()):
                tally.add(attempt, await self._scenarios.find(attempt.scenario_id))
            self._seen = tally.group(self._means.now())
            self._good_until = now + _KEPT_SECONDS
        return self._seen

    async def read(self, attempt_id: str) -> Attempt:
        """Answer anybody's submitted attempt; raise AttemptNotFound."""
        found = await self._means.store(Attempt.by_id(attempt_id))
        if found is None or found.withdrawn_at is not None or found.submitted_at is None:
            message = f"There is no submitted attempt {attempt_id}"
            raise AttemptNotFound(message)
        return found

    async def override(
        self, by: str, attempt_id: str, scores: Mapping[str, int], reason: str
    ) -> Attempt:
        """Put an instructor's scores in place of the judge's, and keep who, when, why and both.

        Scores left out stay. Raises AttemptNotFound, WrongState and AnswerRefused.
        """
        before = await self.read(attempt_id)
        if before.evaluation is None:
            raise WrongState(f"Attempt {attempt_id} is not judged yet")
        evaluation = _rescored(before.evaluation, scores)
        if not reason.strip() or len(reason) > _LONGEST_REASON:
            message = f"A reason has 1 to {_LONGEST_REASON:,} characters"
            raise AnswerRefused("reason", message)
        made = Override(
            by=by,
            at=self._means.now(),
            reason=reason.strip(),
            before=tuple(each.score for each in before.evaluation.dimensions),
            after=tuple(each.score for each in evaluation.dimensions),
        )
        difference = evaluation.overall_score - before.evaluation.overall_score
        rescore = UserTotals.rescore(before.user_id, difference)
        if not await self._means.wrote(Attempt.override(before, evaluation, made), rescore):
            raise WrongState(f"Attempt {attempt_id} changed meanwhile: look at it again")
        self._good_until = float("-inf")
        await self._tell(before, evaluation)
        return before.replace(evaluation=evaluation, overrides=(*(before.overrides or ()), made))

    async def _tell(self, attempt: Attempt, evaluation: Evaluation) -> None:
        text = f"An instructor looked at your attempt: {evaluation.overall_score} of 100 now"
        href = f"/trainer/attempts/{attempt.attempt_id}"
        await self._means.events.record(
            "trainer", "overridden", text, href, user_id=attempt.user_id
        )
        news = {"attempt_id": attempt.attempt_id, "state": "overridden"}
        self._means.teller.tell(f"trainer/attempts/user/{attempt.user_id}", news)


def _rescored(evaluation: Evaluation, scores: Mapping[str, int]) -> Evaluation:
    for name, score in scores.items():
        if name not in NAMES:
            raise AnswerRefused(f"scores.{name}", f"The dimensions are {', '.join(NAMES)}")
        if not 0 <= score <= MOST:
            raise AnswerRefused(f"scores.{name}", f"A score is from 0 to {MOST}")
    changed = tuple(
        replace(each, score=scores.get(each.name, each.score)) for each in evaluation.dimensions
    )
    if changed == evaluation.dimensions:
        raise AnswerRefused("scores", "These are the scores there are already")
    overall = overall_score({each.name: each.score for each in changed})
    return replace(evaluation, dimensions=changed, overall_score=overall)


@dataclass
class _Asked:
    """What was made of one question."""

    text: str
    answered: int = 0
    points: int = 0
    scores: int = 0


@dataclass
class _Tally:
    """What is counted of attempts, one after another."""

    people: set[str] = field(default_factory=set)
    completed: int = 0
    waiting: int = 0
    scores: Counter[tuple[str, int]] = field(default_factory=Counter)
    questions: dict[tuple[str, str], _Asked] = field(default_factory=dict)
    flagged: list[Flagged] = field(default_factory=list)

    def add(self, attempt: Attempt, scenario: Scenario | None) -> None:
        """Count one attempt."""
        if attempt.withdrawn_at is not None or attempt.submitted_at is None:
            return
        self.people.add(attempt.user_id)
        reasons = _reasons(attempt)
        if reasons:
            self.flagged.append(_flagged(attempt, attempt.submitted_at, reasons))
        if attempt.evaluation is None:
            self.waiting += 1
            return
        self.completed += 1
        scores = {each.name: each.score for each in attempt.evaluation.dimensions}
        self.scores.update(scores.items())
        asked = () if scenario is None else scenario.questions
        answered = {each.question_id for each in attempt.answers}
        for question in asked:
            if question.question_id in answered:
                self._ask(attempt.scenario_id, question, scores)

    def _ask(self, scenario_id: str, question: Question, scores: Mapping[str, int]) -> None:
        place = (scenario_id, question.question_id)
        asked = self.questions.setdefault(place, _Asked(question.text))
        asked.answered += 1
        exercised = [scores[area] for area in question.focus_areas if area in scores]
        asked.points += sum(exercised)
        asked.scores += len(exercised)

    def group(self, taken_at: datetime) -> Group:
        """Answer what was counted."""
        hard = [
            HardQuestion(*place, each.text, each.answered, Fraction(each.points, each.scores))
            for place, each in self.questions.items()
            if each.scores
        ]
        hard.sort(key=lambda each: (each.mean, each.scenario_id, each.question_id))
        self.flagged.sort(key=lambda each: (each.submitted_at, each.attempt_id), reverse=True)
        return Group(
            taken_at=taken_at,
            people=len(self.people),
            completed=self.completed,
            waiting=self.waiting,
            distributions=tuple(self._distribution(name) for name in NAMES),
            hardest=tuple(hard[:_MOST_QUESTIONS]),
            flagged=tuple(self.flagged[:_MOST_FLAGGED]),
        )

    def _distribution(self, name: str) -> Distribution:
        zero, one, two, three, four = (self.scores[name, score] for score in range(MOST + 1))
        count = zero + one + two + three + four
        mean = Fraction(one + 2 * two + 3 * three + 4 * four, count) if count else None
        return Distribution(name, (zero, one, two, three, four), mean)


def _reasons(attempt: Attempt) -> tuple[str, ...]:
    details = attempt.evaluation_details
    told = () if details is None else (*details.flags, *details.review)
    failed = () if attempt.evaluation_fault is None else (attempt.evaluation_fault,)
    return (*told, *failed)


def _flagged(attempt: Attempt, submitted_at: datetime, reasons: tuple[str, ...]) -> Flagged:
    evaluation = attempt.evaluation
    return Flagged(
        attempt_id=attempt.attempt_id,
        user_id=attempt.user_id,
        scenario_id=attempt.scenario_id,
        submitted_at=submitted_at,
        overall_score=None if evaluation is None else evaluation.overall_score,
        reasons=reasons,
        overridden=attempt.overrides is not None,
    )
