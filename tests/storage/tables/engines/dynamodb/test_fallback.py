"""That transactions over a service without them do what the decision record says they do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from grandstand.storage.tables.engines.dynamodb.engine import DynamoEngine
from grandstand.storage.tables.engines.dynamodb.fallback import TransactionHalfDone
from grandstand.storage.tables.engines.protocol import Capabilities
from grandstand.storage.tables.errors import (
    CancellationReason,
    InvalidRequest,
    StoreUnavailable,
    TransactionCancelled,
    TransactionConflict,
)
from grandstand.storage.tables.expressions.nodes import (
    Compare,
    Exists,
    Literal,
    Missing,
    Path,
    Sum,
    Update,
)
from grandstand.storage.tables.requests import (
    CheckItem,
    DeleteItem,
    GetItem,
    PutItem,
    Transaction,
    UpdateItem,
)
from grandstand.storage.tables.values import Item, Key
from tests.storage.tables.engines.dynamodb.services import (
    Answer,
    Call,
    EngineOn,
    Lossy,
    Lost,
    Reply,
    ServiceOf,
    forwarded,
    refusal,
)

BANK: Key = {"pk": "owner", "sk": 0}
BET_KEY: Key = {"pk": "owner", "sk": 1}
BET: Item = {**BET_KEY, "stake": 5, "legs": ["x"]}
OLD: Key = {"pk": "owner", "sk": 2}
AMOUNT = Path(("amount",))
PAY = Update(sets=((AMOUNT, Sum(AMOUNT, Literal(5), subtract=True)),))
ENOUGH = Compare(">=", AMOUNT, Literal(5))
PRESENT = Exists(Path(("pk",)))
ABSENT = Missing(Path(("pk",)))
WITHOUT = Capabilities(transactions=False)


def item(engine: DynamoEngine, table: str, key: Key) -> Item | None:
    return engine.get(GetItem(table, key, consistent=True)).item


@pytest.fixture
def without(engine_on: EngineOn, dynamodb_local: str) -> DynamoEngine:
    """The engine on DynamoDB Local, told that it has no transactions."""
    return engine_on(dynamodb_local, capabilities=WITHOUT)


@pytest.fixture
def behind(service_of: ServiceOf, engine_on: EngineOn) -> Callable[[Answer], DynamoEngine]:
    """Open the engine, without transactions, on a service that answers as told."""
    return lambda answer: engine_on(service_of(answer).endpoint, capabilities=WITHOUT)


Behind = Callable[[Answer], DynamoEngine]


@dataclass
class Meddling:
    """Passes calls on to a real service; before the n-th write something else happens."""

    endpoint: str
    deeds: dict[int, Callable[[], Reply | Lost | None]]
    writes: int = field(default=0)

    def __call__(self, call: Call) -> Reply | Lost:
        self.writes += call.operation in ("PutItem", "UpdateItem", "DeleteItem")
        deed = self.deeds.pop(self.writes, None)
        answer = deed() if deed is not None else None
        return forwarded(self.endpoint, call) if answer is None else answer


def test_every_action_is_carried_out(
    without: DynamoEngine, cloud: DynamoEngine, table: str
) -> None:
    cloud.put(PutItem(table, {**BANK, "amount": 20}))
    cloud.put(PutItem(table, OLD))

    written = without.transact_write(
        Transaction(
            (
                UpdateItem(table, BANK, PAY, ENOUGH),
                PutItem(table, BET, ABSENT),
                DeleteItem(table, OLD),
                CheckItem(table, {"pk": "owner", "sk": 9}, ABSENT),
            )
        )
    )

    assert len(written) == 4
    assert item(cloud, table, BANK) == {**BANK, "amount": 15}
    assert item(cloud, table, BET_KEY) == BET
    assert item(cloud, table, OLD) is None


def test_conditions_that_do_not_hold_cancel_before_anything_is_written(
    service_of: ServiceOf,
    engine_on: EngineOn,
    cloud: DynamoEngine,
    table: str,
    dynamodb_local: str,
) -> None:
    cloud.put(PutItem(table, {**BANK, "amount": 4}))
    service = service_of(Lossy(dynamodb_local, {}))
    engine = engine_on(service.endpoint, capabilities=WITHOUT)
    actions = (
        PutItem(table, BET),
        UpdateItem(table, BANK, PAY, ENOUGH, show_conflict=True),
        CheckItem(table, OLD, PRESENT),
    )

    with pytest.raises(TransactionCancelled) as cancelled:
        engine.transact_write(Transaction(actions))

    failed = ("ConditionalCheckFailed", "The conditional request failed")
    assert cancelled.value.reasons == (
        CancellationReason(),
        CancellationReason(*failed, {**BANK, "amount": 4}),
        CancellationReason(*failed),
    )
    assert set(service.operations) == {"DescribeTable", "GetItem"}


def test_what_was_written_is_taken_back_when_a_later_condition_fails(
    behind: Behind,
    cloud: DynamoEngine,
    table: str,
    dynamodb_local: str,
) -> None:
    cloud.put(PutItem(table, {**BANK, "amount": 20, "tags": frozenset({"a"})}))
    cloud.put(PutItem(table, OLD))
    last: Key = {"pk": "owner", "sk": 7}
    meddling = Meddling(dynamodb_local, {4: lambda: _done(cloud.put(PutItem(table, last)))})
    engine = behind(meddling)
    actions = (
        UpdateItem(table, BANK, PAY, ENOUGH),
        PutItem(table, BET),
        DeleteItem(table, OLD),
        PutItem(table, last, ABSENT),
    )

    with pytest.raises(TransactionCancelled) as cancelled:
        engine.transact_write(Transaction(actions))

    assert [reason.code for reason in cancelled.value.reasons] == [
        "None",
        "None",
        "None",
        "ConditionalCheckFailed",
    ]
    assert item(cloud, table, BANK) == {**BANK, "amount": 20, "tags": frozenset({"a"})}
    assert item(cloud, table, BET_KEY) is None
    assert item(cloud, table, OLD) == OLD


def test_what_was_written_is_taken_back_when_a_later_write_is_invalid(
    without: DynamoEngine, cloud: DynamoEngine, table: str
) -> None:
    text = Update(sets=((AMOUNT, Literal("text")),), adds=((Path(("n",)), Literal(1)),))
    cloud.put(PutItem(table, {**BANK, "n": "text"}))

    with pytest.raises(TransactionCancelled) as cancelled:
        without.transact_write(Transaction((PutItem(table, BET), UpdateItem(table, BANK, text))))

    assert [reason.code for reason in cancelled.value.reasons] == ["None", "ValidationError"]
    assert item(cloud, table, BET_KEY) is None


def test_a_write_that_another_has_built_upon_stands_and_is_named(
    behind: Behind,
    cloud: DynamoEngine,
    table: str,
    dynamodb_local: str,
) -> None:
    cloud.put(PutItem(table, {**BANK, "amount": 20}))
    spend = UpdateItem(table, BANK, Update(sets=((AMOUNT, Literal(1)),)))

    def meddle() -> None:
        cloud.update(spend)
        cloud.put(PutItem(table, BET))

    meddling = Meddling(dynamodb_local, {2: meddle})
    engine = behind(meddling)
    pay = UpdateItem(table, BANK, PAY, ENOUGH)

    with pytest.raises(TransactionHalfDone) as half:
        engine.transact_write(Transaction((pay, PutItem(table, BET, ABSENT))))

    assert half.value.standing == (pay,)
    assert item(cloud, table, BANK) == {**BANK, "amount": 1}


def test_a_write_whose_answer_was_lost_is_found_to_be_done(
    service_of: ServiceOf,
    engine_on: EngineOn,
    cloud: DynamoEngine,
    table: str,
    dynamodb_local: str,
) -> None:
    cloud.put(PutItem(table, {**BANK, "amount": 20}))
    service = service_of(Lossy(dynamodb_local, {"UpdateItem": 1}))
    engine = engine_on(service.endpoint, capabilities=WITHOUT)

    engine.transact_write(
        Transaction((UpdateItem(table, BANK, PAY, ENOUGH), PutItem(table, BET, ABSENT)))
    )

    assert item(cloud, table, BANK) == {**BANK, "amount": 15}
    assert item(cloud, table, BET_KEY) == BET
    assert service.operations.count("UpdateItem") == 1


def test_a_write_lost_before_it_was_done_takes_the_others_back(
    behind: Behind,
    cloud: DynamoEngine,
    table: str,
    dynamodb_local: str,
) -> None:
    cloud.put(PutItem(table, {**BANK, "amount": 20}))
    engine = behind(Meddling(dynamodb_local, {2: Lost}))

    with pytest.raises(StoreUnavailable, match="not known"):
        engine.transact_write(
            Transaction((UpdateItem(table, BANK, PAY, ENOUGH), PutItem(table, BET, ABSENT)))
        )

    assert item(cloud, table, BANK) == {**BANK, "amount": 20}
    assert item(cloud, table, BET_KEY) is None


def test_a_throttled_write_is_tried_again(
    behind: Behind,
    cloud: DynamoEngine,
    table: str,
    dynamodb_local: str,
) -> None:
    meddling = Meddling(dynamodb_local, {1: lambda: refusal("ThrottlingException")})
    engine = behind(meddling)

    engine.transact_write(Transaction((PutItem(table, BET, ABSENT),)))

    assert item(cloud, table, BET_KEY) == BET


def test_two_actions_on_one_item_are_refused_here_too(without: DynamoEngine, table: str) -> None:
    actions = (PutItem(table, BET), DeleteItem(table, BET_KEY))

    with pytest.raises(InvalidRequest, match="cannot include multiple operations on one item"):
        without.transact_write(Transaction(actions))


@pytest.mark.parametrize("count", [0, 101])
def test_a_transaction_has_one_to_a_hundred_actions(
    without: DynamoEngine, table: str, count: int
) -> None:
    actions = tuple(PutItem(table, {"pk": "owner", "sk": number}) for number in range(count))

    with pytest.raises(InvalidRequest, match="Member must have length"):
        without.transact_write(Transaction(actions))


def test_several_items_are_read_together(
    without: DynamoEngine, cloud: DynamoEngine, table: str
) -> None:
    cloud.put(PutItem(table, BET))

    found = without.transact_get([GetItem(table, BET_KEY), GetItem(table, BANK)])

    assert [one.item for one in found] == [BET, None]


@dataclass
class Restless:
    """Passes calls on to a real service; every read is followed by a change of the item."""

    endpoint: str
    change: Callable[[], object]
    times: int

    def __call__(self, call: Call) -> Reply:
        reply = forwarded(self.endpoint, call)
        self.times -= 1
        (self.change if self.times >= 0 else bool)()
        return reply


@pytest.mark.parametrize("times", [1, 3])
def test_items_read_together_are_read_until_they_hold_still(
    behind: Behind,
    cloud: DynamoEngine,
    table: str,
    dynamodb_local: str,
    times: int,
) -> None:
    count = UpdateItem(table, BANK, Update(adds=((AMOUNT, Literal(1)),)))
    restless = Restless(dynamodb_local, lambda: cloud.update(count), times)
    engine = behind(restless)

    found = engine.transact_get([GetItem(table, BANK)])

    assert [one.item for one in found] == [{**BANK, "amount": times}]


def test_items_that_never_hold_still_are_a_conflict(
    behind: Behind,
    cloud: DynamoEngine,
    table: str,
    dynamodb_local: str,
) -> None:
    count = UpdateItem(table, BANK, Update(adds=((AMOUNT, Literal(1)),)))
    restless = Restless(dynamodb_local, lambda: cloud.update(count), 100)
    engine = behind(restless)

    with pytest.raises(TransactionConflict):
        engine.transact_get([GetItem(table, BANK)])


def _done(_written: object) -> None:
    """Let the call go on after a deed."""
