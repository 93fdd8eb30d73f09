"""The platform is told that gaps were healed, once and not too often."""

from random import Random

import pytest

from grandstand.apps.gatherer.services.recording.service import GapEvents
from grandstand.apps.gatherer.services.recording.status import RecorderStatus
from grandstand.core.clock import ManualClock
from grandstand.core.metrics import Metrics
from grandstand.kit.auth.caller import LOCAL_OWNER
from grandstand.kit.events import EVENT_TABLES, Events
from grandstand.kit.live import LiveHub
from grandstand.storage.tables import AsyncStore, Naming, Store
from grandstand.storage.tables.engines.sqlite import SqliteEngine

pytestmark = pytest.mark.anyio


def _closed(closed: int, still_open: int = 0) -> RecorderStatus:
    return RecorderStatus("recording", "home", gaps_closed=closed, gaps_open=still_open)


async def test_each_gap_is_told_of_once_and_not_more_often_than_every_minute() -> None:
    clock = ManualClock()
    store = Store(SqliteEngine.open(None, clock=clock), naming=Naming(), clock=clock)
    store.create(EVENT_TABLES)
    hub = LiveHub(clock, Metrics())
    events = Events(AsyncStore(store), clock=clock, random=Random(1), publisher=hub)
    gap_events = GapEvents(events, clock)

    await gap_events.record(_closed(0))
    await gap_events.record(_closed(1))
    await gap_events.record(_closed(3))
    clock.advance(61)
    await gap_events.record(_closed(4, 2))
    await gap_events.record(_closed(4))

    told = await events.recent(10, LOCAL_OWNER)
    assert [(one.kind, one.href, one.text) for one in told] == [
        (
            "gaps-closed",
            "/gatherer/coverage",
            "home closed 3 gaps, 2 still open",
        ),
        (
            "gaps-closed",
            "/gatherer/coverage",
            "home closed 1 gap, none open",
        ),
    ]
