"""What is not connected is played, kept apart, and says so; the rest is left alone."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest

from grandstand.apps.cricket.app import APP as CRICKET
from grandstand.apps.keiba.app import APP as KEIBA
from grandstand.apps.keiba.settings import KeibaSettings
from grandstand.apps.trainer.app import APP as TRAINER
from grandstand.host.demo.world import open_demo
from grandstand.host.runtime import Platform
from grandstand.host.server.application import build_application
from grandstand.host.settings import DemoSettings, Settings
from grandstand.kit.auth.caller import LOCAL_OWNER
from grandstand.kit.events import Events

pytestmark = pytest.mark.anyio
ON = DemoSettings(play="on")
NOBODY = "http://127.0.0.1:9"


@asynccontextmanager
async def _opened(home: Path) -> AsyncIterator[Platform]:
    """A platform whose cricket is simulated; its keiba is connected, its trainer needs nobody."""
    keiba = KeibaSettings(race_url=NOBODY, nar_url=NOBODY, db_url=NOBODY)
    settings = Settings(home=home, demo=ON, keiba=keiba)
    cards = (CRICKET, KEIBA, TRAINER)
    async with (
        open_demo(settings, apps=[card.name for card in cards]) as demo,
        Platform.open(settings, apps=cards, demo=demo) as platform,
    ):
        yield platform


@asynccontextmanager
async def _asked(platform: Platform) -> AsyncIterator[httpx2.AsyncClient]:
    stack, _ = build_application(platform)
    door = httpx2.ASGITransport(app=stack, client=("127.0.0.1", 50_000))
    async with httpx2.AsyncClient(transport=door, base_url="http://127.0.0.1:8700") as client:
        yield client


async def test_nothing_is_played_when_it_is_off(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, demo=DemoSettings(play="off"))

    async with open_demo(settings) as demo:
        assert demo is None

    assert not (tmp_path / "simulated").exists()


async def test_only_what_is_not_connected_is_simulated(tmp_path: Path) -> None:
    async with _opened(tmp_path) as platform:
        assert platform.simulated == {"cricket"}
        assert platform.services["keiba"].settings.race_url == NOBODY


async def test_what_a_stand_in_tells_is_kept_apart(tmp_path: Path) -> None:
    async with _opened(tmp_path) as platform:
        await platform.services["cricket"].fixture_sync.run()

        kept = [part for part in await platform.storage() if part.name == "cricket-fixtures"]

    assert {part.simulated: bool(part.rows) for part in kept} == {False: False, True: True}
    assert (tmp_path / "simulated" / "tables.db").exists()


async def test_events_of_both_sides_are_one_log(tmp_path: Path) -> None:
    async with _opened(tmp_path) as platform:
        await platform.events.record("trainer", "scored", "An attempt was scored.")
        assert platform.apart is not None
        apart = Events(
            platform.apart.store,
            clock=platform.clock,
            random=platform.random,
            publisher=platform.hub,
        )
        await apart.record("cricket", "wicket", "Wicket!", user_id=LOCAL_OWNER.user_id)

        told = [event.text for event in await platform.events.recent(10, LOCAL_OWNER)]
        exported = [one async for one in platform.personal_data.export(LOCAL_OWNER.user_id)]
        erased = await platform.personal_data.erase(LOCAL_OWNER.user_id)

    assert told == ["Wicket!", "An attempt was scored."]
    assert [one for one in exported if "Wicket!" in str(one)]
    assert erased.records["events"] == 1


async def test_answers_of_a_simulated_application_say_so_and_others_do_not(tmp_path: Path) -> None:
    async with _opened(tmp_path) as platform, _asked(platform) as client:
        simulated = await client.get("/api/cricket/matches")
        real = await client.get("/api/trainer/scenarios")

    assert simulated.status_code == real.status_code == 200
    assert simulated.headers.get("grandstand-simulated") == "yes"
    assert "grandstand-simulated" not in real.headers


async def test_pages_of_a_simulated_application_say_so_and_how_to_connect_it(
    tmp_path: Path,
) -> None:
    async with _opened(tmp_path) as platform, _asked(platform) as client:
        cricket = (await client.get("/cricket")).text
        trainer = (await client.get("/trainer")).text
        home = (await client.get("/")).text

    assert "GRANDSTAND_CRICKET_FEED_TOKEN" in cricket
    assert "Simulated data" not in trainer
    assert "Apps with simulated sources: Cricket." in home


async def test_a_page_lists_the_sources_and_draws_the_phone(tmp_path: Path) -> None:
    async with _opened(tmp_path) as platform, _asked(platform) as client:
        shown = (await client.get("/demo")).text

    assert "Cricket scores (SportMonks)" in shown
    assert "A phone following the match" in shown


async def test_how_to_connect_is_said_of_what_is_not_connected(tmp_path: Path) -> None:
    async with _opened(tmp_path) as platform, _asked(platform) as client:
        shown = (await client.get("/demo")).text

    assert "GRANDSTAND_CRICKET_FEED_TOKEN" in shown
    assert "Races in Japan (netkeiba)" in shown
    assert "GRANDSTAND_KEIBA_ASK_SITE" not in shown


async def test_without_a_demo_the_page_says_that_nothing_is_simulated(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, demo=DemoSettings(play="off"))
    async with Platform.open(settings, apps=(TRAINER,)) as platform, _asked(platform) as client:
        shown = (await client.get("/demo")).text

    assert "Nothing is simulated: GRANDSTAND_DEMO_PLAY is off" in shown
    assert "A phone following the match" not in shown
