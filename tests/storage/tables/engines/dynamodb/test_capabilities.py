"""Detection of capabilities, and refusal of services without transactions."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from grandstand.core.clock import ManualClock
from grandstand.storage.tables.attribute_values import Key
from grandstand.storage.tables.engines.dynamodb.client import Credentials, RetryPolicy
from grandstand.storage.tables.engines.dynamodb.engine import DynamoEngine
from grandstand.storage.tables.engines.dynamodb.errors import OperationNotSupported
from grandstand.storage.tables.engines.protocol import Capabilities
from grandstand.storage.tables.errors import StoreUnavailable
from grandstand.storage.tables.expressions.nodes import UpdateNode
from grandstand.storage.tables.requests import (
    DeleteItem,
    GetItem,
    PutItem,
    ScanRequest,
    Transaction,
    UpdateItem,
)
from grandstand.storage.tables.schema import TableSchema
from tests.storage.tables.engines.dynamodb.services import (
    Call,
    EngineOn,
    Reply,
    ServiceOf,
    ok,
    refusal,
)


def opened(endpoint: str) -> DynamoEngine:
    return DynamoEngine.open(
        endpoint=endpoint,
        credentials=Credentials("engine", "engine"),
        clock=ManualClock(),
        random=random.Random(1),
        retry_policy=RetryPolicy(attempts=1),
    )


def test_dynamodb_local_can_do_everything(dynamodb_local: str) -> None:
    engine = opened(dynamodb_local)

    assert engine.capabilities == Capabilities(transactions=True, streams=True, ttl=True)
    assert engine.remote
    engine.close()


def without(*operations: str) -> Callable[[Call], Reply]:
    """Answer like a service that lacks some operations."""
    replies = {
        "TransactGetItems": refusal("ValidationException"),
        "ListStreams": ok(Streams=[]),
        "DescribeTimeToLive": refusal("ResourceNotFoundException"),
    }
    unknown = refusal("UnknownOperationException", "Unsupported operation")
    return lambda call: unknown if call.operation in operations else replies[call.operation]


@pytest.mark.parametrize(
    ("operation", "expected"),
    [("ListStreams", Capabilities(streams=False)), ("DescribeTimeToLive", Capabilities(ttl=False))],
)
def test_an_unknown_operation_is_a_missing_capability(
    service_of: ServiceOf, operation: str, expected: Capabilities
) -> None:
    engine = opened(service_of(without(operation)).endpoint)

    assert engine.capabilities == expected
    engine.close()


def test_capabilities_are_detected_once(service_of: ServiceOf) -> None:
    service = service_of(without("ListStreams", "DescribeTimeToLive"))
    engine = opened(service.endpoint)

    first, second = engine.capabilities, engine.capabilities

    assert first == second == Capabilities(streams=False, ttl=False)
    assert len(service.calls) == 3
    engine.close()


KEY: Key = {"pk": "a"}
SCHEMA = TableSchema("some", "pk", types={"pk": "S"}, stream="KEYS_ONLY")
CALLS: dict[str, Callable[[DynamoEngine], object]] = {
    "capabilities": lambda engine: engine.capabilities,
    "create_table": lambda engine: engine.create_table(SCHEMA),
    "describe_table": lambda engine: engine.describe_table("some"),
    "schema_of": lambda engine: engine.schema_of("some"),
    "alter_table": lambda engine: engine.alter_table(SCHEMA),
    "delete_table": lambda engine: engine.delete_table("some"),
    "list_tables": lambda engine: engine.list_tables(),
    "get": lambda engine: engine.get(GetItem("some", KEY)),
    "put": lambda engine: engine.put(PutItem("some", {"pk": "a"})),
    "update": lambda engine: engine.update(UpdateItem("some", KEY, UpdateNode())),
    "delete": lambda engine: engine.delete(DeleteItem("some", KEY)),
    "scan": lambda engine: engine.scan(ScanRequest("some")),
    "batch_get": lambda engine: engine.batch_get([GetItem("some", KEY)]),
    "batch_write": lambda engine: engine.batch_write([PutItem("some", {"pk": "a"})]),
    "transact_write": lambda engine: engine.transact_write(Transaction((DeleteItem("some", KEY),))),
    "transact_get": lambda engine: engine.transact_get([GetItem("some", KEY)]),
    "changes": lambda engine: engine.changes("some", None, 10),
    "latest_position": lambda engine: engine.latest_position("some"),
    "put_settings": lambda engine: engine.put_settings("some", {"a": "b"}),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_service_without_transactions_is_refused_at_the_first_call(
    service_of: ServiceOf, call: str
) -> None:
    service = service_of(without("TransactGetItems"))
    engine = opened(service.endpoint)

    with pytest.raises(OperationNotSupported) as refused:
        CALLS[call](engine)

    assert f"The table store at {service.endpoint} does not support TransactWriteItems" in str(
        refused.value
    )
    assert "Use Amazon DynamoDB, DynamoDB Local" in str(refused.value)
    assert not refused.value.retry
    assert service.operations == ["TransactGetItems", "ListStreams", "DescribeTimeToLive"]
    engine.close()


def test_a_refused_service_is_not_asked_again(service_of: ServiceOf) -> None:
    service = service_of(without("TransactGetItems"))
    engine = opened(service.endpoint)

    for _ in range(2):
        with pytest.raises(OperationNotSupported):
            engine.get(GetItem("some", KEY))

    assert len(service.calls) == 3
    engine.close()


def test_declared_capabilities_without_transactions_are_refused(
    service_of: ServiceOf, engine_on: EngineOn
) -> None:
    service = service_of(without())
    engine = engine_on(service.endpoint, capabilities=Capabilities(transactions=False))

    with pytest.raises(OperationNotSupported):
        engine.put(PutItem("some", {"pk": "a"}))

    assert service.calls == []


def test_a_service_that_does_not_answer_leaves_the_question_open(service_of: ServiceOf) -> None:
    engine = opened(service_of(lambda _call: refusal("InternalFailure", status=500)).endpoint)

    with pytest.raises(StoreUnavailable):
        _ = engine.capabilities

    engine.close()


def test_amazons_own_service_is_not_asked() -> None:
    engine = DynamoEngine.open(
        region="eu-west-1",
        credentials=Credentials("engine", "engine"),
        clock=ManualClock(),
        random=random.Random(1),
    )

    assert engine.capabilities == Capabilities()
    engine.close()
