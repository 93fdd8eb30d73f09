"""Kept here: the trainer's tables, their keys, and every question and change put to them."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Final, Self

from grandstand.apps.trainer.model import (
    Answer,
    AttemptStatus,
    Difficulty,
    DimensionStatistics,
    Evaluation,
    EvaluationDetails,
    EvaluationState,
    Improvement,
    Judgement,
    Override,
    Question,
    Weakness,
)
from grandstand.storage.tables import (
    Capacity,
    Check,
    Delete,
    Entity,
    Get,
    Index,
    Put,
    Query,
    Scan,
    Table,
    Update,
    WriteMany,
    absent,
    demand,
    field,
    key,
    present,
)
from grandstand.storage.tables.operations.single import Demand

SCHEMA_VERSION: Final = "1.0"

attempts = Table(
    "Attempts",
    partition="attemptId",
    indexes=(Index("UserAttempts", "userId", "timestamp"),),
    stream="NEW_IMAGE",
    purpose="Attempts with their evaluations.",
)
profiles = Table(
    "Profiles",
    partition="userId",
    sort="timestamp",
    purpose="Snapshots of each person's profile over time.",
)
scenarios = Table(
    "Scenarios",
    partition="scenarioId",
    indexes=(Index("ActiveScenarios", "activeKey", "difficulty"),),
    capacity=Capacity(read_units=5, write_units=1),
    purpose="Scenarios with their questions.",
)
totals = Table(
    "Totals",
    partition="userId",
    purpose="How many attempts each person completed, and the sum of their scores.",
)

TABLES: Final = (attempts, profiles, scenarios, totals)


class Attempt(
    Entity, table=attempts, names="camel", times="milliseconds", schema_version=SCHEMA_VERSION
):
    """One person's try at a scenario: a draft, then submitted, then evaluated.

    What stands behind the evaluation is kept beside it. A withdrawn attempt has lost its answers
    and scores and is as good as gone; it stays until the profile has followed.
    """

    attempt_id: str
    user_id: str
    scenario_id: str
    timestamp: datetime
    answers: tuple[Answer, ...] = ()
    evaluation: Evaluation | None = None
    duration_seconds: int = 0
    status: AttemptStatus = "in-progress"
    submitted_at: datetime | None = None
    evaluation_state: EvaluationState | None = None
    evaluation_details: EvaluationDetails | None = None
    evaluation_fault: str | None = None
    second_opinion: Judgement | None = None
    overrides: tuple[Override, ...] | None = None
    revision_of: str | None = None
    withdrawn_at: datetime | None = None

    row = key("{attempt_id}")
    by_user = key("{user_id}", "{timestamp}", index="UserAttempts")

    @classmethod
    def by_id(cls, attempt_id: str) -> Get[Self]:
        """One attempt."""
        return cls.get(attempt_id=attempt_id).consistent()

    @classmethod
    def of_user(cls, user_id: str) -> Query[Self]:
        """A person's attempts, newest first."""
        return cls.by_user(user_id=user_id).newest()

    @classmethod
    def recent(cls, user_id: str, n: int = 10) -> Query[Self]:
        """A person's last attempts, finished or not, for the profile."""
        return cls.by_user(user_id=user_id).newest(n)

    @classmethod
    def all_there_are(cls) -> Scan[Self]:
        """Every attempt of everybody, for an instructor's view."""
        return cls.scan()

    def begin(self) -> Put[Self]:
        """Start an attempt that is not there yet."""
        return self.put().if_absent()

    @classmethod
    def save_draft(
        cls, attempt_id: str, user_id: str, answers: tuple[Answer, ...], duration_seconds: int
    ) -> Update[Self]:
        """Keep what the owner has written so far."""
        draft = cls.update(attempt_id=attempt_id)
        draft = draft.set(answers=answers, duration_seconds=duration_seconds)
        return draft.when(cls._draft_of(user_id))

    @classmethod
    def submit(
        cls, attempt_id: str, user_id: str, answers: tuple[Answer, ...], at: datetime
    ) -> Update[Self]:
        """Hand the owner's draft in; from then on it waits for its evaluation."""
        handed_in = cls.update(attempt_id=attempt_id).set(
            user_id=user_id,
            timestamp=at,
            answers=answers,
            submitted_at=at,
            evaluation_state="pending",
        )
        return handed_in.when(cls._draft_of(user_id))

    def submit_as_read(self, after: Attempt) -> Update[Self]:
        """Hand in what was made of a draft, if the draft is still the one that was read."""
        moment = after.submitted_at or after.timestamp
        handed_in = type(self).submit(self.attempt_id, self.user_id, after.answers, moment)
        handed_in = handed_in.set(duration_seconds=after.duration_seconds)
        return handed_in.when(field(Attempt.answers) == self.answers)

    @classmethod
    def complete(
        cls, attempt_id: str, evaluation: Evaluation, details: EvaluationDetails | None = None
    ) -> Update[Self]:
        """Finish a submitted attempt with its evaluation, once."""
        finished = cls.update(attempt_id=attempt_id)
        finished = finished.set(status="completed", evaluation=evaluation, evaluation_state=None)
        finished = finished.set(evaluation_details=details, evaluation_fault=None)
        return finished.when(cls._waiting())

    @classmethod
    def evaluation_failed(cls, attempt_id: str, fault: str) -> Update[Self]:
        """Note that a submitted attempt could not be evaluated yet, and why."""
        noted = cls.update(attempt_id=attempt_id)
        noted = noted.set(evaluation_state="failed", evaluation_fault=fault)
        return noted.when(cls._waiting())

    @classmethod
    def override(cls, before: Attempt, evaluation: Evaluation, made: Override) -> Update[Self]:
        """Put an instructor's scores in place of those read, and keep both."""
        changed = cls.update(attempt_id=before.attempt_id)
        changed = changed.set(evaluation=evaluation, overrides=(*(before.overrides or ()), made))
        return changed.when(before.still_scored())

    @classmethod
    def add_opinion(cls, attempt_id: str, opinion: Judgement) -> Update[Self]:
        """Keep what another judge says of a completed attempt, once; it changes no score."""
        heard = cls.update(attempt_id=attempt_id).set(second_opinion=opinion)
        return heard.when((Attempt.status == "completed") & absent(Attempt.second_opinion))

    @classmethod
    def abandon(cls, attempt_id: str, user_id: str) -> Update[Self]:
        """Give up the owner's draft."""
        given_up = cls.update(attempt_id=attempt_id).set(status="abandoned")
        return given_up.when(cls._draft_of(user_id))

    @classmethod
    def withdraw(cls, before: Attempt, at: datetime) -> Update[Self]:
        """Take what the owner wrote, and its scores, out of an attempt, as it was read."""
        gone = cls.update(attempt_id=before.attempt_id)
        gone = gone.set(status="abandoned", answers=(), withdrawn_at=at, evaluation_state=None)
        gone = gone.set(evaluation=None, evaluation_details=None, second_opinion=None)
        gone = gone.set(evaluation_fault=None, overrides=None)
        mine = (Attempt.user_id == before.user_id) & (Attempt.status == before.status)
        return gone.when(mine & absent(Attempt.withdrawn_at) & before.still_scored())

    def still_scored(self) -> Check:
        """Demand that the scores are still those that were read."""
        asked = field(Attempt.evaluation)
        return absent(asked) if self.evaluation is None else (asked == self.evaluation)

    @classmethod
    def erase(cls, attempt_id: str, user_id: str) -> Delete[Self]:
        """Remove the owner's attempt."""
        return cls.delete(attempt_id=attempt_id).when(Attempt.user_id == user_id)

    @staticmethod
    def _draft_of(user_id: str) -> Check:
        unfinished = absent(Attempt.submitted_at) & (Attempt.status == "in-progress")
        return unfinished & (Attempt.user_id == user_id)

    @staticmethod
    def _waiting() -> Check:
        return (Attempt.status == "in-progress") & present(Attempt.submitted_at)


class Profile(
    Entity, table=profiles, names="camel", times="milliseconds", schema_version=SCHEMA_VERSION
):
    """A person's strengths and weaknesses as the attempts up to a moment show them."""

    user_id: str
    timestamp: datetime
    attempt_count: int
    dimensions: tuple[DimensionStatistics, ...]
    weaknesses: tuple[Weakness, ...]
    improvements: tuple[Improvement, ...]
    recommendations: tuple[str, ...]
    overall_average: Decimal
    source_attempt_id: str | None = None
    digest: str | None = None
    revision: int | None = None

    row = key("{user_id}", "{timestamp}")

    @classmethod
    def latest(cls, user_id: str) -> Query[Self]:
        """A person's newest profile."""
        return cls.row(user_id=user_id).newest(1)

    @classmethod
    def history(cls, user_id: str) -> Query[Self]:
        """A person's profiles, newest first."""
        return cls.row(user_id=user_id).newest()

    @classmethod
    def at(cls, user_id: str, moment: datetime) -> Get[Self]:
        """A person's profile of one moment."""
        return cls.get(user_id=user_id, timestamp=moment).consistent()

    @classmethod
    def after(cls, user_id: str, moment: datetime) -> Query[Self]:
        """A person's profiles of later than a moment."""
        return cls.row(user_id=user_id).after(timestamp=moment)

    def record(self) -> Put[Self]:
        """Keep a snapshot unless a newer one is there for the same moment."""
        older = field(Profile.revision) < self.revision
        return self.put().when(absent(Profile.revision) | older)

    @classmethod
    def erase(cls, user_id: str, timestamps: tuple[datetime, ...]) -> WriteMany:
        """Remove a person's snapshots."""
        return WriteMany(tuple(cls.delete(user_id=user_id, timestamp=at) for at in timestamps))


class Scenario(
    Entity, table=scenarios, names="camel", times="milliseconds", schema_version=SCHEMA_VERSION
):
    """A situation to think about, with its questions."""

    scenario_id: str
    title: str
    description: str
    difficulty: Difficulty
    tags: frozenset[str] = frozenset()
    questions: tuple[Question, ...]
    active: bool
    created_at: datetime
    estimated_minutes: int

    row = key("{scenario_id}")
    listed = key("true", "{difficulty}", index="ActiveScenarios", when="active")

    @classmethod
    def by_id(cls, scenario_id: str) -> Get[Self]:
        """One scenario."""
        return cls.get(scenario_id=scenario_id)

    @classmethod
    def all_active(cls) -> Query[Self]:
        """The scenarios on offer."""
        return cls.listed()

    @classmethod
    def of_difficulty(cls, difficulty: Difficulty) -> Query[Self]:
        """The scenarios on offer of one difficulty."""
        return cls.listed(difficulty=difficulty)

    def load(self) -> Put[Self]:
        """Write a scenario over what may be there."""
        return self.put()

    @classmethod
    def offer(cls, scenario_id: str, difficulty: Difficulty) -> Update[Self]:
        """Put a scenario on offer."""
        return cls.update(scenario_id=scenario_id).set(active=True, difficulty=difficulty)

    @classmethod
    def withdraw(cls, scenario_id: str) -> Update[Self]:
        """Take a scenario off the list; attempts at it stay."""
        return cls.update(scenario_id=scenario_id).set(active=False)


class UserTotals(Entity, table=totals, names="camel", schema_version=SCHEMA_VERSION):
    """What a profile counts over all of a person's completed attempts.

    `revision` counts every change to them, so that a profile is only kept while it is true.
    """

    user_id: str
    attempt_count: int
    score_sum: int
    revision: int = 0

    row = key("{user_id}")

    @classmethod
    def of_user(cls, user_id: str) -> Get[Self]:
        """A person's totals."""
        return cls.get(user_id=user_id).consistent()

    @classmethod
    def of_everybody(cls) -> Scan[Self]:
        """Everybody's totals."""
        return cls.scan()

    @classmethod
    def count(cls, user_id: str, overall_score: int) -> Update[Self]:
        """Add a completed attempt, in the transaction that completes it."""
        totals_now = cls.update(user_id=user_id).upsert()
        return totals_now.add(attempt_count=1, score_sum=overall_score, revision=1)

    @classmethod
    def rescore(cls, user_id: str, difference: int) -> Update[Self]:
        """Change the sum by what an instructor changed, in the transaction that does it."""
        return cls.update(user_id=user_id).add(score_sum=difference, revision=1)

    @classmethod
    def uncount(cls, user_id: str, overall_score: int) -> Update[Self]:
        """Take a completed attempt out, in the transaction that withdraws it."""
        less = cls.update(user_id=user_id)
        return less.add(attempt_count=-1, score_sum=-overall_score, revision=1)

    def unchanged(self) -> Demand[Self]:
        """Demand, in a transaction, that the totals are still those that were read."""
        return demand(type(self).of_user(self.user_id), UserTotals.revision == self.revision)

    def recount(self, before: int) -> Put[Self]:
        """Write totals counted anew, if nothing has changed since."""
        return self.put().when(absent(UserTotals.user_id) | (UserTotals.revision == before))

    @classmethod
    def forget(cls, user_id: str) -> Delete[Self]:
        """Remove a person's totals."""
        return cls.delete(user_id=user_id)
