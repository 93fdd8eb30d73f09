"""That an engine finds out once what the service behind its endpoint can do."""

from __future__ import annotations

import random

import pytest

from grandstand.base.clock import ManualClock
from grandstand.storage.tables.engines.dynamodb.calls import Patience
from grandstand.storage.tables.engines.dynamodb.connection import Credentials
from grandstand.storage.tables.engines.dynamodb.engine import DynamoEngine
from grandstand.storage.tables.engines.protocol import Capabilities
from grandstand.storage.tables.errors import StoreUnavailable
from tests.storage.tables.engines.dynamodb.services import Call, Reply, ServiceOf, ok, refusal


def opened(endpoint: str) -> DynamoEngine:
    return DynamoEngine.open(
        endpoint=endpoint,
        credentials=Credentials("engine", "engine"),
        clock=ManualClock(),
        random=random.Random(1),
        patience=Patience(attempts=1),
    )


def test_dynamodb_local_can_do_everything(dynamodb_local: str) -> None:
    engine = opened(dynamodb_local)

    assert engine.capabilities == Capabilities(transactions=True, streams=True, ttl=True)
    assert engine.remote
    engine.close()


def test_an_operation_the_service_does_not_know_is_a_missing_capability(
    service_of: ServiceOf,
) -> None:
    def without_transactions(call: Call) -> Reply:
        return {
            "TransactGetItems": refusal("UnknownOperationException", "Unsupported operation"),
            "ListStreams": ok(Streams=[]),
            "DescribeTimeToLive": refusal("ResourceNotFoundException"),
        }[call.operation]

    engine = opened(service_of(without_transactions).endpoint)

    assert engine.capabilities == Capabilities(transactions=False)
    engine.close()


def test_the_service_is_asked_once(service_of: ServiceOf) -> None:
    service = service_of(lambda _call: refusal("UnknownOperationException"))
    engine = opened(service.endpoint)

    first, second = engine.capabilities, engine.capabilities

    assert first == second == Capabilities(transactions=False, streams=False, ttl=False)
    assert len(service.calls) == 3
    engine.close()


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
