"""Where consequences are kept in these tests, and deliverers on it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest

from grandstand.core.clock import SystemClock
from grandstand.core.metrics import Metrics
from grandstand.kit.outbox import OUTBOX_TABLES, Deliverer, DeliveryHandler, DeliveryPolicy, Outbox
from grandstand.storage.tables import AsyncStore
from tests.kit.outbox.causing import CAUSE_TABLES
from tests.kit.stores import fresh_prefix, open_at, place_of

QUICK = DeliveryPolicy(
    try_seconds=20, tries=3, first_seconds=0.1, look_seconds=0.1, stop_seconds=20
)


@dataclass
class Desk:
    """A place outboxes and deliverers of one store are made for."""

    place: str
    prefix: str
    metrics: Metrics = field(default_factory=Metrics)
    opened: list[AsyncStore] = field(default_factory=list)

    def store(self) -> AsyncStore:
        """Open the store once more."""
        self.opened.append(open_at(self.place, self.prefix))
        return self.opened[-1]

    def outbox(self) -> Outbox:
        """Make an outbox with a store of its own."""
        return Outbox(self.store(), SystemClock())

    @asynccontextmanager
    async def delivering(
        self, ways: dict[str, DeliveryHandler], persistence: DeliveryPolicy = QUICK
    ) -> AsyncIterator[Deliverer]:
        """Let a deliverer deliver for the length of a block."""
        deliverer = Deliverer(
            self.store(),
            ways,
            clock=SystemClock(),
            random=Random(1),
            metrics=self.metrics,
            policy=persistence,
        )
        task = asyncio.create_task(deliverer.run())
        try:
            yield deliverer
        finally:
            await deliverer.stop()
            await task


@pytest.fixture(params=["sqlite", "dynamodb-local"])
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Desk]:
    """Tables for consequences on each kind of store in turn."""
    made = Desk(place_of(request, tmp_path), fresh_prefix())
    made.store().store.create((*OUTBOX_TABLES, *CAUSE_TABLES))
    yield made
    for store in made.opened:
        store.store.close()
