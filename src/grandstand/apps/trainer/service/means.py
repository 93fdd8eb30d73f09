"""Kept here: what every part of the service works with."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
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
from grandstand.kit.writing import Sleep, each_in_turns, to_the_millisecond, wrote
from grandstand.storage.tables import AsyncStore, Entity
from grandstand.storage.tables.operations.batches import Write
from grandstand.storage.tables.operations.queries import Reading

E = TypeVar("E", bound=Entity)

_NAMESPACE: Final = uuid5(NAMESPACE_URL, "urn:grandstand:trainer:attempts")
EVALUATE: Final = "trainer.evaluate"


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
    sleep: Sleep = asyncio.sleep

    def now(self) -> datetime:
        """Answer the present moment as the tables keep it: to the millisecond."""
        return to_the_millisecond(self.clock.now())

    def each(self, reading: Reading[E]) -> AsyncIterator[E]:
        """Answer items one by one, and let others have their turn meanwhile."""
        return each_in_turns(self.store, reading, self.sleep)

    async def wrote(self, *writes: Write) -> bool:
        """Write all or nothing; False when something was not in the state that was demanded.

        Raises TransactionCancelled when other transactions do not cease to be in the way.
        """
        return await wrote(self.store, *writes, random=self.random, sleep=self.sleep)

    def attempt_id(self, user_id: str, client_token: str | None) -> str:
        """Answer an attempt's id: the same for the same token of one person, else by chance."""
        if client_token is None:
            return str(UUID(int=self.random.getrandbits(128), version=4))
        return str(uuid5(_NAMESPACE, f"{user_id}:{client_token}"))
