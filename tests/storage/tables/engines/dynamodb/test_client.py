"""That failed calls are tried again when that can help and cannot harm, and never otherwise."""

from __future__ import annotations

import itertools
import random

import pytest

from grandstand.core.clock import ManualClock, SystemClock
from grandstand.core.errors import GrandstandError
from grandstand.storage.tables.attribute_values import Item
from grandstand.storage.tables.engines.dynamodb.client import Credentials, RetryPolicy, Timeouts
from grandstand.storage.tables.engines.dynamodb.engine import DynamoEngine
from grandstand.storage.tables.errors import (
    AccessRefused,
    ChangesLost,
    ConditionFailed,
    InvalidRequest,
    ItemCollectionTooLarge,
    StoreUnavailable,
    TableInUse,
    TableNotFound,
    Throttled,
    TokenReused,
    TooMany,
    TransactionCancelled,
    TransactionConflict,
    TransactionInProgress,
)
from grandstand.storage.tables.expressions.nodes import Exists, Literal, Missing, Path, UpdateNode
from grandstand.storage.tables.requests import (
    DeleteItem,
    GetItem,
    PutItem,
    Transaction,
    UpdateItem,
)
from tests.storage.tables.engines.dynamodb.services import (
    Call,
    EngineOn,
    Lossy,
    Lost,
    Reply,
    Script,
    ServiceOf,
    ok,
    refusal,
)

KEY: Item = {"pk": "a", "sk": 1}
GET = GetItem("some", {"pk": "a"})
NEW = Missing(Path(("pk",)))


def always(reply: Reply | Lost) -> Script:
    return Script([reply] * 100)


@pytest.mark.parametrize(
    "passing",
    [
        refusal("ProvisionedThroughputExceededException"),
        refusal("ThrottlingException"),
        refusal("RequestLimitExceeded"),
        refusal("TransactionConflictException"),
        refusal("InternalServerError", status=500),
        refusal("ServiceUnavailable", status=503),
        Reply(502, b"<html>no gateway</html>"),
        Lost(),
    ],
)
def test_what_may_pass_is_tried_again(
    service_of: ServiceOf, engine_on: EngineOn, passing: Reply | Lost
) -> None:
    service = service_of(Script([passing, passing, ok(Item={"pk": {"S": "a"}})]))

    found = engine_on(service.endpoint).get(GET)

    assert found.item == {"pk": "a"}
    assert len(service.calls) == 3


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("ValidationException", InvalidRequest),
        ("SerializationException", InvalidRequest),
        ("ConditionalCheckFailedException", ConditionFailed),
        ("ResourceNotFoundException", TableNotFound),
        ("ResourceInUseException", TableInUse),
        ("ItemCollectionSizeLimitExceededException", ItemCollectionTooLarge),
        ("IdempotentParameterMismatchException", TokenReused),
        ("LimitExceededException", TooMany),
        ("UnrecognizedClientException", AccessRefused),
        ("AccessDeniedException", AccessRefused),
        ("TrimmedDataAccessException", ChangesLost),
        ("NeverHeardOfException", InvalidRequest),
    ],
)
def test_what_cannot_pass_is_raised_at_once_as_ours(
    service_of: ServiceOf, engine_on: EngineOn, name: str, error: type[GrandstandError]
) -> None:
    service = service_of(Script([refusal(name, "because")]))

    with pytest.raises(error, match="because"):
        engine_on(service.endpoint).get(GET)

    assert len(service.calls) == 1


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (refusal("ThrottlingException"), Throttled),
        (refusal("TransactionInProgressException"), TransactionInProgress),
        (refusal("TransactionConflictException"), TransactionConflict),
        (refusal("InternalServerError", status=500), StoreUnavailable),
        (Lost(), StoreUnavailable),
    ],
)
def test_what_does_not_pass_is_given_up_after_the_last_try(
    service_of: ServiceOf, engine_on: EngineOn, reply: Reply | Lost, error: type[GrandstandError]
) -> None:
    service = service_of(always(reply))
    engine = engine_on(service.endpoint, retry_policy=RetryPolicy(attempts=4))

    with pytest.raises(error):
        engine.get(GET)

    assert len(service.calls) == 4


def test_waits_grow_with_every_try_and_are_left_to_chance(
    service_of: ServiceOf, engine_on: EngineOn
) -> None:
    clock = ManualClock()
    waits: list[float] = []

    def throttled(_call: Call) -> Reply:
        waits.append(clock.monotonic())
        return refusal("ThrottlingException")

    retry_policy = RetryPolicy(attempts=6, first_seconds=1, longest_seconds=8, total_seconds=100)
    engine = engine_on(service_of(throttled).endpoint, clock=clock, retry_policy=retry_policy)

    with pytest.raises(Throttled):
        engine.get(GET)

    slept = [after - before for before, after in itertools.pairwise(waits)]
    assert all(wait <= most for wait, most in zip(slept, (1, 2, 4, 8, 8), strict=True))
    assert len(set(slept)) == 5


def test_nothing_is_tried_again_after_the_whole_time_is_used_up(
    service_of: ServiceOf, engine_on: EngineOn
) -> None:
    clock = ManualClock()

    def slow(_call: Call) -> Reply:
        clock.advance(6)
        return refusal("ThrottlingException")

    service = service_of(slow)
    engine = engine_on(service.endpoint, clock=clock, retry_policy=RetryPolicy(total_seconds=10))

    with pytest.raises(Throttled):
        engine.get(GET)

    assert len(service.calls) == 2


def test_a_service_that_is_not_there_is_unavailable(engine_on: EngineOn) -> None:
    engine = engine_on("http://127.0.0.1:9", retry_policy=RetryPolicy(attempts=2))

    with pytest.raises(StoreUnavailable, match=r"127\.0\.0\.1:9"):
        engine.put(PutItem("some", {"pk": "a"}))


def test_a_service_that_does_not_answer_in_time_is_unavailable(service_of: ServiceOf) -> None:
    def sleepy(_call: Call) -> Reply:
        SystemClock().sleep(0.6)
        return ok()

    engine = DynamoEngine.open(
        region="eu-west-1",
        endpoint=service_of(sleepy).endpoint,
        credentials=Credentials("engine", "engine"),
        clock=SystemClock(),
        random=random.Random(1),
        timeouts=Timeouts(connect_seconds=1, read_seconds=0.1),
        retry_policy=RetryPolicy(attempts=1),
    )

    with pytest.raises(StoreUnavailable, match="timeout"):
        engine.get(GET)

    engine.close()


def test_an_update_that_counts_is_not_repeated_when_its_answer_is_lost(
    service_of: ServiceOf, engine_on: EngineOn
) -> None:
    service = service_of(always(Lost()))
    count = UpdateNode(adds=((Path(("n",)), Literal(1)),))

    with pytest.raises(StoreUnavailable, match="may have been executed"):
        engine_on(service.endpoint).update(UpdateItem("some", {"pk": "a"}, count))

    assert len(service.calls) == 1


def test_an_update_that_counts_is_repeated_when_it_was_throttled(
    service_of: ServiceOf, engine_on: EngineOn
) -> None:
    service = service_of(Script([refusal("ThrottlingException"), ok()]))
    count = UpdateNode(adds=((Path(("n",)), Literal(1)),))

    engine_on(service.endpoint).update(UpdateItem("some", {"pk": "a"}, count))

    assert len(service.calls) == 2


def test_a_put_if_absent_whose_answer_was_lost_has_succeeded(
    cloud: DynamoEngine, table: str, service_of: ServiceOf, engine_on: EngineOn, dynamodb_local: str
) -> None:
    service = service_of(Lossy(dynamodb_local, {"PutItem": 1}))
    item: Item = {**KEY, "holder": "me"}

    engine_on(service.endpoint).put(PutItem(table, item, NEW))

    assert service.operations.count("PutItem") == 2
    assert cloud.get(GetItem(table, KEY, consistent=True)).item == item


def test_a_put_if_absent_that_lost_to_another_fails_though_its_answer_was_lost(
    cloud: DynamoEngine, table: str, service_of: ServiceOf, engine_on: EngineOn, dynamodb_local: str
) -> None:
    cloud.put(PutItem(table, {**KEY, "holder": "other"}))
    service = service_of(Lossy(dynamodb_local, {"PutItem": 1}))
    request = PutItem(table, {**KEY, "holder": "me"}, NEW, show_conflict=True)

    with pytest.raises(ConditionFailed) as refused:
        engine_on(service.endpoint).put(request)

    assert refused.value.item == {**KEY, "holder": "other"}


def test_a_conditional_update_whose_answer_was_lost_returns_the_item_it_made(
    cloud: DynamoEngine, table: str, service_of: ServiceOf, engine_on: EngineOn, dynamodb_local: str
) -> None:
    cloud.put(PutItem(table, {**KEY, "old": 1}))
    service = service_of(Lossy(dynamodb_local, {"UpdateItem": 1}))
    holder = Path(("holder",))
    request = UpdateItem(
        table,
        KEY,
        UpdateNode(sets=((holder, Literal("me")),)),
        Missing(holder),
        returning="ALL_NEW",
    )

    written = engine_on(service.endpoint).update(request)

    assert written.attributes == {**KEY, "old": 1, "holder": "me"}


def test_a_conditional_delete_whose_answer_was_lost_has_succeeded(
    cloud: DynamoEngine, table: str, service_of: ServiceOf, engine_on: EngineOn, dynamodb_local: str
) -> None:
    cloud.put(PutItem(table, KEY))
    service = service_of(Lossy(dynamodb_local, {"DeleteItem": 1}))

    engine_on(service.endpoint).delete(DeleteItem(table, KEY, Exists(Path(("pk",)))))

    assert service.operations.count("DeleteItem") == 2


def test_a_transaction_whose_answer_was_lost_is_carried_out_once(
    cloud: DynamoEngine, table: str, service_of: ServiceOf, engine_on: EngineOn, dynamodb_local: str
) -> None:
    service = service_of(Lossy(dynamodb_local, {"TransactWriteItems": 2}))
    count = UpdateNode(adds=((Path(("n",)), Literal(1)),))

    engine_on(service.endpoint).transact_write(Transaction((UpdateItem(table, KEY, count),)))

    assert cloud.get(GetItem(table, KEY, consistent=True)).item == {**KEY, "n": 1}
    assert service.operations == ["TransactWriteItems"] * 3
    assert len({call.body["ClientRequestToken"] for call in service.calls}) == 1


def test_a_transaction_that_met_another_is_tried_again(
    service_of: ServiceOf, engine_on: EngineOn
) -> None:
    met = refusal(
        "TransactionCanceledException",
        CancellationReasons=[{"Code": "None"}, {"Code": "TransactionConflict", "Message": "busy"}],
    )
    service = service_of(Script([met, ok()]))
    actions = (PutItem("some", {"pk": "a"}), PutItem("some", {"pk": "b"}))

    engine_on(service.endpoint).transact_write(Transaction(actions))

    assert len(service.calls) == 2


def test_a_transaction_with_a_failed_condition_is_not_tried_again(
    service_of: ServiceOf, engine_on: EngineOn
) -> None:
    reasons = [{"Code": "TransactionConflict"}, {"Code": "ConditionalCheckFailed"}]
    service = service_of(
        Script([refusal("TransactionCanceledException", CancellationReasons=reasons)])
    )
    actions = (PutItem("some", {"pk": "a"}), PutItem("some", {"pk": "b"}))

    with pytest.raises(TransactionCancelled) as cancelled:
        engine_on(service.endpoint).transact_write(Transaction(actions))

    assert [reason.code for reason in cancelled.value.reasons] == [
        "TransactionConflict",
        "ConditionalCheckFailed",
    ]


class Till:
    """Adds up what calls cost."""

    def __init__(self) -> None:
        self.entries: list[tuple[str, str, float]] = []

    def consumed(self, operation: str, table: str, units: float) -> None:
        self.entries.append((operation, table, units))


def test_a_meter_is_told_what_calls_cost(table: str, dynamodb_local: str) -> None:
    till = Till()
    engine = DynamoEngine.open(
        region="eu-west-1",
        endpoint=dynamodb_local,
        credentials=Credentials("engine", "engine"),
        clock=SystemClock(),
        random=random.Random(1),
        meter=till,
    )

    engine.put(PutItem(table, {**KEY, "text": "x" * 1500}))
    engine.batch_get([GetItem(table, KEY, consistent=True)])

    assert till.entries == [("put_item", table, 2.0), ("batch_get_item", table, 1.0)]
    engine.close()


def test_without_a_meter_capacity_is_not_asked_for(
    service_of: ServiceOf, engine_on: EngineOn
) -> None:
    service = service_of(Script([ok()]))

    engine_on(service.endpoint).get(GET)

    assert "ReturnConsumedCapacity" not in service.calls[0].body
