"""The functions the platform calls."""

from datetime import timedelta

import pytest

from grandstand.apps.keiba.services import connect
from grandstand.apps.keiba.services.watchlist import ENTRY_TOPIC
from tests.apps.keiba.stage import ADA, SUNDAY, Stage

pytestmark = pytest.mark.anyio


async def test_the_home_page_names_the_next_race_without_asking_the_site(sunday: Stage) -> None:
    before = await sunday.keiba.days.home_card(ADA)
    await sunday.keiba.days.day(SUNDAY, "jra")
    asked = len(sunday.requested())

    after = await sunday.keiba.days.home_card(ADA)

    assert (before.headline, before.live) == ("Japanese racing", False)
    assert (after.headline, after.live) == (f"{len(sunday.race_ids())} races today", True)
    assert "JST" in after.detail
    assert after.href.startswith("/keiba/races/2026")
    assert len(sunday.requested()) == asked


async def test_a_watched_horse_that_is_entered_is_delivered_from_the_outbox(
    sunday: Stage,
) -> None:
    race = sunday.world.race(sunday.small)
    assert race is not None
    await sunday.keiba.days.day(SUNDAY, "jra")
    await sunday.keiba.pages.dated_race(sunday.small)
    await sunday.keiba.watchlist.watch(ADA, race.horses[0].id)
    await sunday.keiba.watchlist.check_entries()
    [message] = await sunday.resources.outbox.waiting(ENTRY_TOPIC)

    await connect(sunday.keiba).outbox_handlers[ENTRY_TOPIC](message)

    [event] = await sunday.resources.events.recent(5, ADA)
    assert (event.app, event.kind) == ("keiba", "entry")
    assert event.at - sunday.clock.now() < timedelta(seconds=1)
