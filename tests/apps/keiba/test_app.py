"""What keiba's card on the door tells the host."""

from datetime import timedelta

import pytest

from grandstand.apps.keiba.app import CARD
from grandstand.apps.keiba.service import ENTERED
from tests.apps.keiba.stage import ADA, SUNDAY, Stage

pytestmark = pytest.mark.anyio


async def test_the_home_page_names_the_next_race_without_asking_the_site(sunday: Stage) -> None:
    assert CARD.now is not None
    before = await CARD.now(sunday.keiba, ADA)
    await sunday.keiba.day(SUNDAY, "jra")
    asked = len(sunday.asked())

    after = await CARD.now(sunday.keiba, ADA)

    assert (before.headline, before.live) == ("Races of Japan", False)
    assert (after.headline, after.live) == (f"{len(sunday.race_ids())} races today", True)
    assert "JST" in after.detail
    assert after.href.startswith("/keiba/races/2026")
    assert len(sunday.asked()) == asked


async def test_a_watched_horse_that_is_entered_is_delivered_from_the_outbox(
    sunday: Stage,
) -> None:
    assert CARD.deliveries is not None
    race = sunday.world.race(sunday.small)
    assert race is not None
    await sunday.keiba.day(SUNDAY, "jra")
    await sunday.keiba.race(sunday.small)
    await sunday.keiba.watch(ADA, race.horses[0].id)
    await sunday.keiba.look_for_watched()
    [consequence] = await sunday.means.outbox.waiting(ENTERED)

    await CARD.deliveries(sunday.keiba)[ENTERED](consequence)

    [event] = await sunday.means.events.recent(5, ADA)
    assert (event.app, event.kind) == ("keiba", "entered")
    assert event.at - sunday.clock.now() < timedelta(seconds=1)
