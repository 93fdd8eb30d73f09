"""Two scripted servers, and a registry with the system clock."""

from collections.abc import AsyncIterator
from random import Random

import pytest

from grandstand.core.clock import SystemClock
from grandstand.core.metrics import Metrics
from grandstand.net.client import SourceRegistry
from tests.net.outsider import Outsider, answers, listening


@pytest.fixture
async def outsider() -> AsyncIterator[Outsider]:
    async with listening(Outsider(answers())) as made:
        yield made


@pytest.fixture
async def other() -> AsyncIterator[Outsider]:
    async with listening(Outsider(answers(body=b'"other"'))) as made:
        yield made


@pytest.fixture
def metrics() -> Metrics:
    return Metrics()


@pytest.fixture
async def web(metrics: Metrics) -> AsyncIterator[SourceRegistry]:
    async with SourceRegistry(clock=SystemClock(), random=Random(1), metrics=metrics) as made:
        yield made
