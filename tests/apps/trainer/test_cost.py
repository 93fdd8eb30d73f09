"""What the declared tables cost on DynamoDB for a thousand people with ten attempts a month each.

Prices are those of us-east-1: on demand as `Rates` has them, provisioned units by the hour, and
storage by the gigabyte and month.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

from grandstand.apps.trainer.domain.evaluation import (
    DIMENSION_NAMES,
    Answer,
    DimensionDetail,
    DimensionScore,
    Evaluation,
    EvaluationDetails,
)
from grandstand.apps.trainer.domain.profiles import DimensionStatistics
from grandstand.apps.trainer.store import TABLES, Attempt, Profile, UserTotals
from grandstand.core.clock import ManualClock
from grandstand.kit.outbox import Outbox, OutboxMessage
from grandstand.storage.tables import AsyncStore, Naming, Store, TransactWrite
from grandstand.storage.tables.attribute_values import item_size
from grandstand.storage.tables.capacity import SECONDS_A_MONTH
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from grandstand.storage.tables.operations.explain import cost
from tests.apps.trainer.records import DRAFT, JUDGED, MORNING, PROFILE

PEOPLE, ATTEMPTS_EACH = 1000, 10
ATTEMPTS = PEOPLE * ATTEMPTS_EACH
DRAFTS_SAVED, LISTS_SEEN, WINDOW = 12, 3, 10

READ_UNIT_HOUR, WRITE_UNIT_HOUR = Decimal("0.00013"), Decimal("0.00065")
HOURS = 730
GIGABYTE_MONTH = Decimal("0.25")
STREAM_READ_MILLION = Decimal("0.20")

# Three answers of 180 words each.
ANSWERS = tuple(
    Answer(f"q{number}", "What are the key assumptions here? " * 3, "reason " * 180, 180)
    for number in (1, 2, 3)
)
EVALUATION = Evaluation(
    75,
    tuple(
        DimensionScore(name, 3, ("A reason of some sixty letters, as a judge gives them",) * 3)
        for name in DIMENSION_NAMES
    ),
    "Feedback. " * 40,
    "offline-heuristic/1",
    JUDGED,
)
DETAILS = EvaluationDetails(
    "1",
    "1",
    1,
    tuple(
        DimensionDetail(
            name,
            ("a passage of the answer, word for word",) * 2,
            "low",
            True,
            0,
            "What a four would have needed, in a sentence or two",
        )
        for name in DIMENSION_NAMES
    ),
)
SUBMITTED = DRAFT.replace(answers=ANSWERS, submitted_at=MORNING, evaluation_state="pending")
COMPLETED = SUBMITTED.replace(
    evaluation=EVALUATION, evaluation_details=DETAILS, status="completed", evaluation_state=None
)
TOTALS = UserTotals(user_id="ada", attempt_count=10, score_sum=750, revision=10)
SNAPSHOT = PROFILE.replace(
    dimensions=tuple(
        DimensionStatistics(name, Decimal("3.2"), Decimal("0.4"), "stable", (3,) * 10)
        for name in DIMENSION_NAMES
    ),
    recommendations=("Look for hidden assumptions in what you read this week",) * 4,
    digest="d" * 64,
    revision=10,
)


def _size(entity: Attempt | Profile | UserTotals | OutboxMessage) -> int:
    return item_size(type(entity).__plan__.encode(entity))


@dataclass(frozen=True)
class Done:
    """An operation, how large its items are, and how often an attempt takes it."""

    what: object
    item_bytes: int
    times: int = 1
    found: int = 1


def _operations() -> Iterator[Done]:
    """All that one attempt costs, from its first word to the profile that follows it."""
    clock = ManualClock()
    store = Store(SqliteEngine.open(None, clock=clock), naming=Naming(), clock=clock)
    note = Outbox(AsyncStore(store), clock).write("trainer.evaluate", DRAFT.attempt_id, {})
    waiting = OutboxMessage(
        topic="trainer.evaluate",
        idempotency_key=DRAFT.attempt_id,
        body="{}",
        created_at=MORNING,
        due_at=MORNING,
        queue="waiting/trainer.evaluate",
    )
    written, judged = _size(SUBMITTED), _size(COMPLETED)
    small, profile = _size(TOTALS), _size(SNAPSHOT)
    mine = Attempt.of_user("ada")
    yield Done(DRAFT.begin(), _size(DRAFT))
    yield Done(Attempt.save_draft("a1", "ada", ANSWERS, 60), written, DRAFTS_SAVED)
    yield Done(Attempt.by_id("a1"), judged, DRAFTS_SAVED + 4)
    yield Done(mine, judged, LISTS_SEEN, found=ATTEMPTS_EACH * 2)
    yield Done(TransactWrite((Attempt.submit("a1", "ada", ANSWERS, MORNING),)), written, 2)
    yield Done(TransactWrite((note,)), _size(waiting))
    yield Done(waiting.claim(MORNING + timedelta(minutes=1)), _size(waiting))
    yield Done(waiting.delivered(MORNING), _size(waiting))
    yield Done(TransactWrite((Attempt.complete("a1", EVALUATION, DETAILS),)), judged)
    yield Done(TransactWrite((UserTotals.count("ada", 75),)), small)
    yield Done(UserTotals.of_user("ada"), small)
    yield Done(Profile.latest("ada"), profile, 1 + LISTS_SEEN)
    yield Done(mine, judged, found=2 * WINDOW)
    yield Done(Attempt.by_id("a1"), judged, 2 * WINDOW)
    yield Done(TransactWrite((SNAPSHOT.record(), TOTALS.unchanged())), profile)
    store.close()


def _on_demand() -> Decimal:
    often = Decimal(ATTEMPTS) / SECONDS_A_MONTH
    priced = [
        cost(done.what, item_bytes=done.item_bytes, found=done.found, per_second=often * done.times)
        for done in _operations()
    ]
    return sum((each.dollars or Decimal(0) for each in priced), Decimal(0))


def _provisioned() -> Decimal:
    hourly = Decimal(0)
    for table in TABLES:
        copies = 1 + len(table.indexes)
        if table.capacity is not None:
            reads = table.capacity.read_units * READ_UNIT_HOUR
            hourly += copies * (reads + table.capacity.write_units * WRITE_UNIT_HOUR)
    return hourly * HOURS


def _storage_of_a_year() -> Decimal:
    kept = 12 * ATTEMPTS * (2 * _size(COMPLETED) + _size(SNAPSHOT)) + PEOPLE * _size(TOTALS)
    return Decimal(kept) / 10**9 * GIGABYTE_MONTH


def test_an_attempt_in_the_estimate_is_as_large_as_a_real_one() -> None:
    assert 5_000 < _size(COMPLETED) < 20_000
    assert 1_000 < _size(SNAPSHOT) < 5_000


def test_a_thousand_people_with_ten_attempts_cost_less_than_ten_dollars_a_month() -> None:
    # A stream is asked four times a second a shard at most; one shard is enough here.
    stream = Decimal(4 * SECONDS_A_MONTH) / 10**6 * STREAM_READ_MILLION

    demanded, provisioned, stored = _on_demand(), _provisioned(), _storage_of_a_year()

    assert demanded > Decimal("0.5")
    assert provisioned > 1
    assert demanded + provisioned + stored + stream < 10


def test_the_tables_are_billed_as_specified() -> None:
    billed = {table.name: table.capacity for table in TABLES}

    scenarios = billed.pop("Scenarios")
    assert scenarios is not None
    assert (scenarios.read_units, scenarios.write_units) == (5, 1)
    assert set(billed.values()) == {None}
