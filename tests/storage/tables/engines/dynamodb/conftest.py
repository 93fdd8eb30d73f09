"""The cloud engine, on Amazon's DynamoDB Local and on services that misbehave."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import ExitStack
from uuid import uuid4

import pytest

from grandstand.core.clock import ManualClock, SystemClock
from grandstand.storage.tables.engines.dynamodb.client import Credentials, RetryPolicy
from grandstand.storage.tables.engines.dynamodb.engine import DynamoEngine
from grandstand.storage.tables.engines.protocol import Capabilities
from grandstand.storage.tables.schema import TableSchema
from tests.storage.tables.engines.dynamodb.services import EngineOn, ServiceOf, serving


@pytest.fixture
def service_of() -> Iterator[ServiceOf]:
    """Start a service that answers as the function given says."""
    with ExitStack() as stack:
        yield lambda answer: stack.enter_context(serving(answer))


@pytest.fixture
def engine_on() -> Iterator[EngineOn]:
    """Open the cloud engine on an endpoint; its waits pass at once."""
    with ExitStack() as stack:

        def opened(
            endpoint: str,
            *,
            clock: ManualClock | None = None,
            retry_policy: RetryPolicy | None = None,
            capabilities: Capabilities | None = None,
        ) -> DynamoEngine:
            engine = DynamoEngine.open(
                region="eu-west-1",
                endpoint=endpoint,
                credentials=Credentials("engine", "engine"),
                clock=clock or ManualClock(),
                random=random.Random(1),
                capabilities=capabilities or Capabilities(),
                retry_policy=retry_policy,
            )
            stack.callback(engine.close)
            return engine

        yield opened


@pytest.fixture(scope="session")
def cloud(dynamodb_local: str) -> Iterator[DynamoEngine]:
    """The cloud engine on DynamoDB Local, with the machine's clock."""
    engine = DynamoEngine.open(
        region="eu-west-1",
        endpoint=dynamodb_local,
        credentials=Credentials("engine", "engine"),
        clock=SystemClock(),
        random=random.Random(1),
    )
    yield engine
    engine.close()


@pytest.fixture
def table_name() -> str:
    """A table's name no other test uses."""
    return f"table-{uuid4().hex}"


@pytest.fixture
def table(cloud: DynamoEngine, table_name: str) -> Iterator[str]:
    """A table with key pk and sk, a numeric sort key, and a stream."""
    cloud.create_table(
        TableSchema(
            table_name,
            "pk",
            "sk",
            types={"pk": "S", "sk": "N"},
            stream="NEW_AND_OLD_IMAGES",
        )
    )
    yield table_name
    cloud.delete_table(table_name)
