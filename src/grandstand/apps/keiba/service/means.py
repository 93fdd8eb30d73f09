"""Kept here: what every part of the service works with."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime
from random import Random
from typing import Final

from grandstand.apps.keiba.service.values import JST
from grandstand.apps.keiba.settings import KeibaSettings
from grandstand.apps.keiba.sources.netkeiba import Netkeiba
from grandstand.base.clock import Clock
from grandstand.kit.cursors import Cursors
from grandstand.kit.events import Events
from grandstand.kit.live import Teller
from grandstand.kit.llm.port import Llm
from grandstand.kit.notify import Notifier
from grandstand.kit.outbox import Outbox
from grandstand.storage.tables import AsyncStore

ENTERED: Final = "keiba.entered"
RESULTED: Final = "keiba.resulted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """Where things are kept, who is asked, whom to tell, the time and chance.

    `owner` tells this process from others on the same store.
    """

    store: AsyncStore
    site: Netkeiba
    llm: Llm
    outbox: Outbox
    notifier: Notifier
    events: Events
    teller: Teller
    cursors: Cursors
    clock: Clock
    random: Random
    owner: str
    settings: KeibaSettings = field(default_factory=KeibaSettings)

    def now(self) -> datetime:
        """Answer the present moment as the table keeps it: to the second."""
        return self.clock.now().replace(microsecond=0)

    def today(self) -> date:
        """Answer the date in Japan."""
        return self.clock.now().astimezone(JST).date()
