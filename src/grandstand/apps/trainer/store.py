"""The trainer's tables and their access patterns."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, fields
from datetime import datetime
from decimal import Decimal
from random import Random
from typing import TYPE_CHECKING, Final, Self, TypeVar

from grandstand.apps.trainer.domain.evaluation import (
    Answer,
    AttemptStatus,
    Evaluation,
    EvaluationDetails,
    EvaluationState,
    Judgment,
    Override,
)
from grandstand.apps.trainer.domain.profiles import DimensionStatistics, Improvement, Weakness
from grandstand.apps.trainer.domain.scenarios import Difficulty, Question
from grandstand.core.clock import Clock
from grandstand.kit.transactions import Sleep, iterate_yielding, truncate_to_ms, try_transaction
from grandstand.storage.tables import (
    AsyncStore,
    Capacity,
    ConditionExpr,
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
    field,
    key,
    present,
    require,
)
from grandstand.storage.tables.operations.item_ops import ConditionCheck, Write
from grandstand.storage.tables.operations.queries import ReadQuery

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

E = TypeVar("E", bound=Entity)
R = TypeVar("R", bound="DataclassInstance")

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
    purpose="The number of completed attempts of each person, and the sum of their scores.",
)

TABLES: Final = (attempts, profiles, scenarios, totals)


class Attempt(
    Entity, table=attempts, names="camel", times="milliseconds", schema_version=SCHEMA_VERSION
):
    """One person's attempt at a scenario: a draft, then submitted, then evaluated.

    A withdrawn attempt has no answers and scores; it is erased when the profile is updated.
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
    evaluation_error: str | None = None
    second_opinion: Judgment | None = None
    overrides: tuple[Override, ...] | None = None
    revision_of: str | None = None
    withdrawn_at: datetime | None = None

    row = key("{attempt_id}")
    by_user = key("{user_id}", "{timestamp}", index="UserAttempts")

    @classmethod
    def by_id(cls, attempt_id: str) -> Get[Self]:
        """Get an attempt."""
        return cls.get(attempt_id=attempt_id).consistent()

    @classmethod
    def of_user(cls, user_id: str) -> Query[Self]:
        """Query a person's attempts, newest first."""
        return cls.by_user(user_id=user_id).newest()

    @classmethod
    def recent(cls, user_id: str, n: int = 10) -> Query[Self]:
        """Query a person's last attempts in any state."""
        return cls.by_user(user_id=user_id).newest(n)

    @classmethod
    def all_attempts(cls) -> Scan[Self]:
        """Scan the attempts of everybody."""
        return cls.scan()

    def begin(self) -> Put[Self]:
        """Put a new attempt."""
        return self.put().if_absent()

    @classmethod
    def save_draft(
        cls, attempt_id: str, user_id: str, answers: tuple[Answer, ...], duration_seconds: int
    ) -> Update[Self]:
        """Save the owner's draft."""
        update = cls.update(attempt_id=attempt_id)
        update = update.set(answers=answers, duration_seconds=duration_seconds)
        return update.when(cls._draft_of(user_id))

    @classmethod
    def submit(
        cls, attempt_id: str, user_id: str, answers: tuple[Answer, ...], at: datetime
    ) -> Update[Self]:
        """Submit the owner's draft for evaluation."""
        update = cls.update(attempt_id=attempt_id).set(
            user_id=user_id,
            timestamp=at,
            answers=answers,
            submitted_at=at,
            evaluation_state="pending",
        )
        return update.when(cls._draft_of(user_id))

    def submit_as_read(self, submitted: Attempt) -> Update[Self]:
        """Submit a draft, if it is still as it was read."""
        at = submitted.submitted_at or submitted.timestamp
        update = type(self).submit(self.attempt_id, self.user_id, submitted.answers, at)
        update = update.set(duration_seconds=submitted.duration_seconds)
        return update.when(field(Attempt.answers) == self.answers)

    @classmethod
    def complete(
        cls, attempt_id: str, evaluation: Evaluation, details: EvaluationDetails | None = None
    ) -> Update[Self]:
        """Complete a submitted attempt with its evaluation, once."""
        update = cls.update(attempt_id=attempt_id)
        update = update.set(status="completed", evaluation=evaluation, evaluation_state=None)
        update = update.set(evaluation_details=details, evaluation_error=None)
        return update.when(cls._waiting())

    @classmethod
    def evaluation_failed(cls, attempt_id: str, error: str) -> Update[Self]:
        """Store why a submitted attempt could not be evaluated yet."""
        update = cls.update(attempt_id=attempt_id)
        update = update.set(evaluation_state="failed", evaluation_error=error)
        return update.when(cls._waiting())

    @classmethod
    def override(cls, before: Attempt, evaluation: Evaluation, override: Override) -> Update[Self]:
        """Replace the scores by an instructor's, if they are still as read."""
        update = cls.update(attempt_id=before.attempt_id)
        update = update.set(evaluation=evaluation, overrides=(*(before.overrides or ()), override))
        return update.when(before.still_scored())

    @classmethod
    def add_opinion(cls, attempt_id: str, opinion: Judgment) -> Update[Self]:
        """Store a second judge's opinion of a completed attempt, once."""
        update = cls.update(attempt_id=attempt_id).set(second_opinion=opinion)
        return update.when((Attempt.status == "completed") & absent(Attempt.second_opinion))

    @classmethod
    def abandon(cls, attempt_id: str, user_id: str) -> Update[Self]:
        """Abandon the owner's draft."""
        update = cls.update(attempt_id=attempt_id).set(status="abandoned")
        return update.when(cls._draft_of(user_id))

    @classmethod
    def withdraw(cls, before: Attempt, at: datetime) -> Update[Self]:
        """Remove the answers and scores of an attempt, if it is still as it was read."""
        update = cls.update(attempt_id=before.attempt_id)
        update = update.set(status="abandoned", answers=(), withdrawn_at=at, evaluation_state=None)
        update = update.set(evaluation=None, evaluation_details=None, second_opinion=None)
        update = update.set(evaluation_error=None, overrides=None)
        unchanged = (Attempt.user_id == before.user_id) & (Attempt.status == before.status)
        return update.when(unchanged & absent(Attempt.withdrawn_at) & before.still_scored())

    def still_scored(self) -> ConditionExpr:
        """Return the condition that the scores are still those that were read."""
        stored = field(Attempt.evaluation)
        return absent(stored) if self.evaluation is None else (stored == self.evaluation)

    @classmethod
    def erase(cls, attempt_id: str, user_id: str) -> Delete[Self]:
        """Delete the owner's attempt."""
        return cls.delete(attempt_id=attempt_id).when(Attempt.user_id == user_id)

    @staticmethod
    def _draft_of(user_id: str) -> ConditionExpr:
        is_draft = absent(Attempt.submitted_at) & (Attempt.status == "in-progress")
        return is_draft & (Attempt.user_id == user_id)

    @staticmethod
    def _waiting() -> ConditionExpr:
        return (Attempt.status == "in-progress") & present(Attempt.submitted_at)


class Profile(
    Entity, table=profiles, names="camel", times="milliseconds", schema_version=SCHEMA_VERSION
):
    """A snapshot of a person's strengths and weaknesses."""

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
        """Query a person's latest profile."""
        return cls.row(user_id=user_id).newest(1)

    @classmethod
    def history(cls, user_id: str) -> Query[Self]:
        """Query a person's profiles, newest first."""
        return cls.row(user_id=user_id).newest()

    @classmethod
    def at(cls, user_id: str, moment: datetime) -> Get[Self]:
        """Get a person's profile of one moment."""
        return cls.get(user_id=user_id, timestamp=moment).consistent()

    @classmethod
    def after(cls, user_id: str, moment: datetime) -> Query[Self]:
        """Query a person's profiles after a moment."""
        return cls.row(user_id=user_id).after(timestamp=moment)

    def record(self) -> Put[Self]:
        """Put a snapshot, unless there is a newer revision for the same moment."""
        older = field(Profile.revision) < self.revision
        return self.put().when(absent(Profile.revision) | older)

    @classmethod
    def erase(cls, user_id: str, timestamps: tuple[datetime, ...]) -> WriteMany:
        """Delete a person's snapshots."""
        return WriteMany(tuple(cls.delete(user_id=user_id, timestamp=at) for at in timestamps))


class Scenario(
    Entity, table=scenarios, names="camel", times="milliseconds", schema_version=SCHEMA_VERSION
):
    """A case with questions about it."""

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
        """Get a scenario."""
        return cls.get(scenario_id=scenario_id)

    @classmethod
    def all_active(cls) -> Query[Self]:
        """Query the active scenarios."""
        return cls.listed()

    @classmethod
    def of_difficulty(cls, difficulty: Difficulty) -> Query[Self]:
        """Query the active scenarios of one difficulty."""
        return cls.listed(difficulty=difficulty)

    def load(self) -> Put[Self]:
        """Put a scenario, replacing an existing one."""
        return self.put()


class UserTotals(Entity, table=totals, names="camel", schema_version=SCHEMA_VERSION):
    """Count and sum over all completed attempts of a person.

    `revision` counts the changes, so that a profile can be checked against them.
    """

    user_id: str
    attempt_count: int
    score_sum: int
    revision: int = 0

    row = key("{user_id}")

    @classmethod
    def of_user(cls, user_id: str) -> Get[Self]:
        """Get a person's totals."""
        return cls.get(user_id=user_id).consistent()

    @classmethod
    def all_totals(cls) -> Scan[Self]:
        """Scan everybody's totals."""
        return cls.scan()

    @classmethod
    def count(cls, user_id: str, overall_score: int) -> Update[Self]:
        """Add an attempt, in the transaction that completes it."""
        update = cls.update(user_id=user_id).upsert()
        return update.add(attempt_count=1, score_sum=overall_score, revision=1)

    @classmethod
    def rescore(cls, user_id: str, difference: int) -> Update[Self]:
        """Change the sum, in the transaction of an override."""
        return cls.update(user_id=user_id).add(score_sum=difference, revision=1)

    @classmethod
    def uncount(cls, user_id: str, overall_score: int) -> Update[Self]:
        """Subtract an attempt, in the transaction that withdraws it."""
        update = cls.update(user_id=user_id)
        return update.add(attempt_count=-1, score_sum=-overall_score, revision=1)

    def unchanged(self) -> ConditionCheck[Self]:
        """Return the condition check that the totals are still those that were read."""
        return require(type(self).of_user(self.user_id), UserTotals.revision == self.revision)

    def recount(self, revision: int) -> Put[Self]:
        """Put recounted totals, if the stored ones are still of this revision."""
        return self.put().when(absent(UserTotals.user_id) | (UserTotals.revision == revision))

    @classmethod
    def erase(cls, user_id: str) -> Delete[Self]:
        """Delete a person's totals."""
        return cls.delete(user_id=user_id)


@dataclass(frozen=True, slots=True)
class TrainerStore:
    """The trainer's tables, and the clock, random source and sleep its operations use."""

    tables: AsyncStore
    clock: Clock
    random: Random
    sleep: Sleep = asyncio.sleep

    @property
    def is_remote(self) -> bool:
        """Whether the tables are behind a network, with lagging indexes and limited capacity."""
        return self.tables.store.session.engine.remote

    def now(self) -> datetime:
        """Return the time at the precision of the tables, a millisecond."""
        return truncate_to_ms(self.clock.now())

    def iterate(self, query: ReadQuery[E]) -> AsyncIterator[E]:
        """Yield the items of a query, letting other tasks run in between."""
        return iterate_yielding(self.tables, query, self.sleep)

    async def try_transaction(self, *writes: Write) -> bool:
        """Write all or nothing; False if a condition failed.

        Raises TransactionCancelled if conflicts with other transactions persist.
        """
        return await try_transaction(self.tables, *writes, random=self.random, sleep=self.sleep)


def to_record(kind: type[R], stored: Entity) -> R:
    """Return the record whose fields an entity has under the same names."""
    return kind(**{field.name: getattr(stored, field.name) for field in fields(kind)})
