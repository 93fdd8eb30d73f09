"""Kept here: what every part of the service works with."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import datetime
from random import Random
from typing import Final, TypeVar

from grandstand.apps.cricket.model import Thresholds
from grandstand.apps.cricket.model.alerts import AlertChoice
from grandstand.apps.cricket.model.sessions import Lifetimes
from grandstand.apps.cricket.service.chosen import lifetimes_from, thresholds_from
from grandstand.apps.cricket.service.ports import Browsers, Cricsheet, Feed, Hooks, Phones, Replays
from grandstand.apps.cricket.settings import CricketSettings
from grandstand.apps.cricket.store import Follower
from grandstand.base.clock import Clock
from grandstand.base.metrics import Metrics
from grandstand.kit.cursors import Cursors
from grandstand.kit.events import Events
from grandstand.kit.live import Teller
from grandstand.kit.outbox import Outbox
from grandstand.kit.writing import Sleep, each_in_turns, to_the_millisecond, wrote
from grandstand.storage.tables import AsyncStore, Entity
from grandstand.storage.tables.operations.batches import Write
from grandstand.storage.tables.operations.queries import Reading

E = TypeVar("E", bound=Entity)

BULLETIN: Final = "cricket.bulletin"
START: Final = "cricket.start"
END: Final = "cricket.end"
ANNOUNCE: Final = "cricket.announce"
CONFIRM: Final = "cricket.confirm"
RESEND: Final = "cricket.resend"
WEBHOOK: Final = "cricket.webhook"
WEBPUSH: Final = "cricket.webpush"
LOG: Final = "cricket.log"
TOPICS: Final = (BULLETIN, RESEND, CONFIRM, START, END, ANNOUNCE, WEBHOOK, WEBPUSH, LOG)
"""What may wait in the outbox."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """Where things are kept, who knows the scores, who pushes, whom to tell, time and chance.

    Without `phones` nothing is pushed; all else goes on.
    """

    store: AsyncStore
    outbox: Outbox
    clock: Clock
    random: Random
    teller: Teller
    events: Events
    cursors: Cursors
    metrics: Metrics
    feed: Feed
    instance: str
    phones: Phones | None = None
    hooks: Hooks | None = None
    browsers: Browsers | None = None
    replays: Replays | None = None
    cricsheet: Cricsheet | None = None
    settings: CricketSettings = field(default_factory=CricketSettings)
    lock_seconds: float = 10.0
    sleep: Sleep = asyncio.sleep

    @property
    def thresholds(self) -> Thresholds:
        """What counts as an event."""
        return thresholds_from(self.settings)

    @property
    def lifetimes(self) -> Lifetimes:
        """How long things last."""
        return lifetimes_from(self.settings)

    def now(self) -> datetime:
        """Answer the present moment as the tables keep it: to the millisecond."""
        return to_the_millisecond(self.clock.now())

    def each(self, reading: Reading[E]) -> AsyncIterator[E]:
        """Answer items one by one, and let others have their turn meanwhile."""
        return each_in_turns(self.store, reading, self.sleep)

    async def choice(self, user_id: str) -> AlertChoice:
        """Answer what a person wants to be alerted of."""
        follower = await self.store(Follower.by_id(user_id))
        return AlertChoice() if follower is None else follower.choice

    async def wrote(self, *writes: Write) -> bool:
        """Write all or nothing; False when something was not in the state that was demanded.

        Raises TransactionCancelled when other transactions do not cease to be in the way.
        """
        return await wrote(self.store, *writes, random=self.random, sleep=self.sleep)
