"""All applications are asked at once, and one that fails keeps nobody from the others' answers."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from grandstand.core.errors import Broken, Unavailable
from grandstand.host.cross_app import collect_calibration, search_apps
from grandstand.host.runtime import Platform
from grandstand.host.settings import Settings
from grandstand.kit.app import App, AppServices, CalibrationSeries, SearchHit
from grandstand.kit.auth.caller import LOCAL_OWNER, Caller
from grandstand.kit.calibration import ResolvedForecast

pytestmark = pytest.mark.anyio

SAID = (ResolvedForecast(0.6, happened=True),)


async def _finds(sought: str, caller: Caller) -> tuple[SearchHit, ...]:
    return (SearchHit("thing", sought, f"for {caller.name}", "/finds"),)


async def _is_away(_sought: str, _caller: Caller) -> tuple[SearchHit, ...]:
    raise Unavailable("The store is away")


async def _is_broken(_sought: str, _caller: Caller) -> tuple[SearchHit, ...]:
    raise KeyError("a mistake of ours")


async def _has_lost_a_table(_sought: str, _caller: Caller) -> tuple[SearchHit, ...]:
    raise Broken("The store /home/ada/tables.db failed")


async def _never_ends(_sought: str, _caller: Caller) -> tuple[SearchHit, ...]:
    await asyncio.Event().wait()
    return ()


async def _chances(_caller: Caller) -> tuple[CalibrationSeries, ...]:
    return (CalibrationSeries("yours", "You", "all", "/finds", SAID),)


def _card(name: str, **hooks: Any) -> App[Any]:
    return App(
        name=name,
        title=name.capitalize(),
        purpose="For a test.",
        build=lambda _: AppServices(services=None, **hooks),
    )


APPS = (
    _card("finds", search=_finds, calibration=_chances),
    _card("away", search=_is_away),
    _card("broken", search=_is_broken),
    _card("lost", search=_has_lost_a_table),
    _card("slow", search=_never_ends),
    _card("silent"),
)


@pytest.fixture
async def platform(tmp_path: Path) -> AsyncIterator[Platform]:
    async with Platform.open(Settings(home=tmp_path), apps=APPS) as opened:
        yield opened


async def test_whoever_can_be_asked_answers_and_the_others_say_why_not(platform: Platform) -> None:
    answers = await search_apps(platform, "  a   thing ", LOCAL_OWNER, timeout_seconds=0.05)

    assert answers[0].items == (SearchHit("thing", "a thing", "for Owner", "/finds"),)
    assert {one.app.name: one.error for one in answers} == {
        "finds": "",
        "away": "The store is away",
        "broken": "It failed. The log has details.",
        "lost": "It failed. The log has details.",
        "slow": "It did not respond in time",
    }


async def test_nothing_is_asked_without_words(platform: Platform) -> None:
    assert await search_apps(platform, "  ", LOCAL_OWNER) == ()


async def test_only_applications_that_give_chances_are_on_the_scoreboard(
    platform: Platform,
) -> None:
    answers = await collect_calibration(platform, LOCAL_OWNER)

    assert [(one.app.name, one.items[0].said) for one in answers] == [("finds", SAID)]
