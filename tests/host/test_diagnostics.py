"""Every application is opened and looked at, its sources simulated or reached."""

from pathlib import Path

import pytest
from pydantic import SecretStr

from grandstand.apps.bets.settings import BetsSettings
from grandstand.host.diagnostics import check_apps, is_reachable
from grandstand.host.runtime import Platform
from grandstand.host.settings import DemoSettings, Settings

pytestmark = pytest.mark.anyio


def _names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


async def test_with_nothing_connected_every_application_is_healthy(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, demo=DemoSettings(play="on"))
    async with Platform.open(settings, apps=()):
        pass
    before = _names(tmp_path)

    found = await check_apps(settings)

    assert _names(tmp_path) == before, "looking makes no simulated data"
    assert {one.subject: one.good for one in found} == dict.fromkeys(
        ("bets", "gatherer", "cricket", "keiba", "trainer"), True
    )
    assert {one.detail for one in found if one.subject == "bets"} == {"reachable; odds simulated"}


async def test_a_connected_source_that_is_away_is_told(tmp_path: Path) -> None:
    bets = BetsSettings(odds_url="http://127.0.0.1:9", odds_key=SecretStr("k"))
    settings = Settings(home=tmp_path, demo=DemoSettings(play="off"), bets=bets)

    found = {one.subject: one for one in await check_apps(settings)}

    assert not found["bets"].good
    assert "is unreachable" in found["bets"].detail


def test_nobody_answers_where_nobody_listens() -> None:
    assert not is_reachable("http://127.0.0.1:9")
