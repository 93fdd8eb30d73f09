"""The house is told that gaps were healed, once and not too often."""

from random import Random

import pytest

from grandstand.apps.gatherer.service.recording.healing import Healing
from grandstand.apps.gatherer.service.values import Ingest
from grandstand.base.clock import ManualClock
from grandstand.base.metrics import Metrics
from grandstand.kit.events import EVENT_TABLES, Events
from grandstand.kit.live import Hub
from grandstand.kit.who.caller import LOCAL_OWNER
from grandstand.storage.tables import AsyncStore, Naming, Store
from grandstand.storage.tables.engines.sqlite import SqliteEngine

pytestmark = pytest.mark.anyio


def _closed(closed: int, still_open: int = 0) -> Ingest:
    return Ingest("recording", "home", gaps_closed=closed, gaps_open=still_open)


async def test_each_gap_is_told_of_once_and_not_more_often_than_every_minute() -> None:
    clock = ManualClock()
    store = Store(SqliteEngine.open(None, clock=clock), naming=Naming(), clock=clock)
    store.create(EVENT_TABLES)
    hub = Hub(clock, Metrics())
    events = Events(AsyncStore(store), clock=clock, random=Random(1), teller=hub)
    healing = Healing(events, clock)

    await healing.tell(_closed(0))
    await healing.tell(_closed(1))
    await healing.tell(_closed(3))
    clock.advance(61)
    await healing.tell(_closed(4, 2))
    await healing.tell(_closed(4))

    told = await events.recent(10, LOCAL_OWNER)
    assert [(one.kind, one.href, one.text) for one in told] == [
        (
            "healed",
            "/gatherer/coverage",
            "3 gaps were healed: the books home follows are right again, 2 are open",
        ),
        (
            "healed",
            "/gatherer/coverage",
            "A gap was healed: the books home follows are right again, none is open",
        ),
    ]
