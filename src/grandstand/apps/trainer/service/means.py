"""Kept here: what every part of the service works with."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from random import Random
from typing import Final, TypeVar
from uuid import NAMESPACE_URL, UUID, uuid5

from grandstand.apps.trainer.model.judging import Evaluator
from grandstand.apps.trainer.settings import TrainerSettings
from grandstand.base.clock import Clock
from grandstand.kit.cursors import Cursors
from grandstand.kit.events import Events
from grandstand.kit.live import Teller
from grandstand.kit.outbox import Outbox
from grandstand.storage.tables import AsyncStore, Entity
from grandstand.storage.tables.batches import Write
from grandstand.storage.tables.errors import TransactionCancelled
from grandstand.storage.tables.queries import Reading

E = TypeVar("E", bound=Entity)

_NAMESPACE: Final = uuid5(NAMESPACE_URL, "urn:grandstand:trainer:attempts")
EVALUATE: Final = "trainer.evaluate"
_REFUSED: Final = "ConditionalCheckFailed"
_TRIES: Final = 8
_TURN: Final = 50
_REST_SECONDS: Final = (0.01, 0.1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """Where things are kept, who judges, whom to tell, the time and chance."""

    store: AsyncStore
    outbox: Outbox
    clock: Clock
    random: Random
    teller: Teller
    events: Events
    cursors: Cursors
    judge: Evaluator
    second: Evaluator | None = None
    settings: TrainerSettings = field(default_factory=TrainerSettings)
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep

    def now(self) -> datetime:
        """Answer the present moment as the tables keep it: to the millisecond."""
        moment = self.clock.now()
        return moment.replace(microsecond=moment.microsecond // 1000 * 1000)

    async def each(self, reading: Reading[E]) -> AsyncIterator[E]:
        """Answer items one by one, and let others have their turn meanwhile."""
        count = 0
        async for item in self.store.each(reading):
            yield item
            count += 1
            if count % _TURN == 0:
                await self.sleep(0)

    async def wrote(self, *writes: Write) -> bool:
        """Write all or nothing; False when something was not in the state that was demanded.

        Whoever merely meets another transaction tries again; raises TransactionCancelled when
        that does not end.
        """
        for tries_left in reversed(range(_TRIES)):
            try:
                await self.store.all(*writes)
            except TransactionCancelled as cancelled:
                if any(reason.code == _REFUSED for reason in cancelled.reasons):
                    return False
                if not tries_left:
                    raise
                await self.sleep(self.random.uniform(*_REST_SECONDS))
            else:
                break
        return True

    def attempt_id(self, user_id: str, client_token: str | None) -> str:
        """Answer an attempt's id: the same for the same token of one person, else by chance."""
        if client_token is None:
            return str(UUID(int=self.random.getrandbits(128), version=4))
        return str(uuid5(_NAMESPACE, f"{user_id}:{client_token}"))
