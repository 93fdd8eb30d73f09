"""The simulated race site, asked through the wire, is read without a word of doubt."""

from collections.abc import AsyncIterator
from datetime import UTC, date, datetime, timedelta
from random import Random

import pytest

from grandstand.apps.keiba.domain.errors import PageUnreadable, SiteCoolingDown
from grandstand.apps.keiba.domain.ids import Circuit
from grandstand.apps.keiba.settings import KeibaSettings
from grandstand.apps.keiba.sources.netkeiba import (
    Netkeiba,
    card_page,
    day_list_page,
    horse_profile_page,
    horse_results_page,
    jockey_page,
    odds_page,
    pedigree_page,
    result_page,
)
from grandstand.core.clock import ManualClock, SystemClock
from grandstand.core.metrics import Metrics
from grandstand.net.client import SourceRegistry
from grandstand.simulators.malformed import MalformedReply
from grandstand.simulators.racing.site import Malformation, Site, SiteFormat
from grandstand.simulators.racing.world import World
from grandstand.simulators.serving import serve
from tests.apps.keiba.sources.scripted_site import memory_store

pytestmark = pytest.mark.anyio

SUNDAY = date(2026, 11, 15)
NOON = datetime(2026, 11, 15, 3, tzinfo=UTC)


@pytest.fixture(params=[SiteFormat(), SiteFormat.of_2025()], ids=["2026", "2025"])
def simulated(request: pytest.FixtureRequest, racing_world: World) -> Site:
    return Site(racing_world, clock=ManualClock(NOON), wall=SystemClock(), form=request.param)


@pytest.fixture
async def site(simulated: Site) -> AsyncIterator[Netkeiba]:
    clock = SystemClock()
    async with memory_store(clock) as store, serve(simulated.application) as address:
        settings = KeibaSettings(
            race_url=f"http://{address}/race",
            nar_url=f"http://{address}/nar",
            db_url=f"http://{address}/db",
            gap_seconds=0,
            jitter_seconds=0,
        )
        async with SourceRegistry(clock=clock, random=Random(1), metrics=Metrics()) as web:
            yield Netkeiba(web, settings, store=store, clock=clock)


@pytest.mark.parametrize("circuit", ["jra", "nar"])
async def test_every_kind_of_page_is_read_without_a_warning(
    site: Netkeiba, circuit: Circuit
) -> None:
    day = await site.fetch(day_list_page(SUNDAY, circuit))
    race = day.value[0]

    card = await site.fetch(card_page(race.race_id))
    runner = card.value.horses[0]
    result = await site.fetch(result_page(race.race_id))
    odds = await site.fetch(odds_page(race.race_id))
    profile = await site.fetch(horse_profile_page(runner.horse_id))
    form = await site.fetch(horse_results_page(runner.horse_id, runner.horse_name))
    pedigree = await site.fetch(pedigree_page(runner.horse_id))
    jockey = await site.fetch(jockey_page(runner.jockey_id or ""))

    read = (day, card, result, odds, profile, form, pedigree, jockey)
    assert [one.warnings for one in read] == [()] * len(read)
    assert (card.value.distance, card.value.post_time) == (race.distance, race.post_time)
    assert profile.value.horse_name == runner.horse_name
    assert profile.value.starts == len(form.value.recent_results)
    assert {one.horse_number for one in odds.value.win} <= {
        one.horse_number for one in card.value.horses
    }


async def test_a_result_is_confirmed_after_the_off(
    site: Netkeiba, simulated: Site, racing_world: World
) -> None:
    race_id = racing_world.race_ids("jra", SUNDAY)[-1]

    before = await site.fetch(result_page(race_id))
    simulated.clock = ManualClock(NOON + timedelta(days=1))
    after = await site.fetch(result_page(race_id))

    assert (before.value.confirmed, after.value.confirmed) == (False, True)
    assert {one.bet for one in after.value.payouts} >= {"win", "place", "trifecta"}


OUTCOMES: dict[Malformation, type[Exception]] = {
    "truncated": PageUnreadable,
    "empty": PageUnreadable,
    "no table": PageUnreadable,
    "huge": PageUnreadable,
    "captcha": SiteCoolingDown,
    "denied": SiteCoolingDown,
    "bad request": SiteCoolingDown,
}


@pytest.mark.parametrize("wrong", OUTCOMES)
async def test_a_page_that_comes_out_wrong_is_a_clear_error(
    site: Netkeiba, simulated: Site, racing_world: World, wrong: Malformation
) -> None:
    simulated.malformed.ask_for(MalformedReply(wrong, "/race/race/"))

    with pytest.raises(OUTCOMES[wrong]):
        await site.fetch(card_page(racing_world.race_ids("jra", SUNDAY)[0]))


async def test_a_page_in_other_letters_than_it_says_is_read_with_a_warning(
    site: Netkeiba, simulated: Site, racing_world: World
) -> None:
    race_id = racing_world.race_ids("jra", SUNDAY)[0]
    meant = await site.fetch(card_page(race_id))
    simulated.malformed.ask_for(MalformedReply("wrong letters", "/race/race/"))

    found = await site.fetch(card_page(race_id))

    assert found.value == meant.value
    assert len(found.warnings) == 1
