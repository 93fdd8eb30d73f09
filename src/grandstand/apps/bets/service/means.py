"""Kept here: what every part of the service works with."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import datetime
from random import Random
from typing import Final, TypeVar

from grandstand.apps.bets.service.ports import ExchangePrices, OddsFeed, StatsFeed
from grandstand.apps.bets.service.refusals import SportUnknown
from grandstand.apps.bets.settings import BetsSettings
from grandstand.base.clock import Clock
from grandstand.kit.cursors import Cursors
from grandstand.kit.events import Events
from grandstand.kit.live import Teller
from grandstand.kit.llm.port import Llm
from grandstand.kit.notify import Notifier
from grandstand.kit.outbox import Outbox
from grandstand.kit.writing import Sleep, each_in_turns, wrote
from grandstand.storage.tables import AsyncStore, Entity
from grandstand.storage.tables.operations.batches import Write
from grandstand.storage.tables.operations.queries import Reading

E = TypeVar("E", bound=Entity)

ALERT: Final = "bets.alert"


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """Where things are kept, who is asked, whom to tell, the time and chance.

    Without `odds` nothing is fetched; all else goes on. `owner` tells this process from others on
    the same store.
    """

    store: AsyncStore
    llm: Llm
    outbox: Outbox
    notifier: Notifier
    events: Events
    teller: Teller
    cursors: Cursors
    clock: Clock
    random: Random
    owner: str
    odds: OddsFeed | None = None
    stats: tuple[StatsFeed, ...] = ()
    exchange: ExchangePrices | None = None
    settings: BetsSettings = field(default_factory=BetsSettings)
    sleep: Sleep = asyncio.sleep

    def now(self) -> datetime:
        """Answer the present moment as the table keeps it: to the second."""
        return self.clock.now().replace(microsecond=0)

    def sport(self, sport: str) -> str:
        """Answer a sport that is followed; raise SportUnknown."""
        if sport not in self.settings.sports:
            message = f"{sport} is not followed; there are {', '.join(self.settings.sports)}"
            raise SportUnknown(message)
        return sport

    def each(self, reading: Reading[E]) -> AsyncIterator[E]:
        """Answer items one by one, and let others have their turn meanwhile."""
        return each_in_turns(self.store, reading, self.sleep)

    async def wrote(self, *writes: Write) -> bool:
        """Write all or nothing; False when something was not in the state that was demanded.

        Raises TransactionCancelled when other transactions do not cease to be in the way.
        """
        return await wrote(self.store, *writes, random=self.random, sleep=self.sleep)
