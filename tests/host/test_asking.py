"""All applications are asked at once, and one that fails keeps nobody from the others' answers."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from grandstand.base.errors import Broken, Unavailable
from grandstand.host.asking import calibration, search
from grandstand.host.house import House
from grandstand.host.settings import Settings
from grandstand.kit.app import App, Calibrated, Found
from grandstand.kit.calibration import Said
from grandstand.kit.who.caller import LOCAL_OWNER, Caller

pytestmark = pytest.mark.anyio

SAID = (Said(0.6, happened=True),)


async def _finds(_service: object, sought: str, caller: Caller) -> tuple[Found, ...]:
    return (Found("thing", sought, f"for {caller.name}", "/finds"),)


async def _is_away(_service: object, _sought: str, _caller: Caller) -> tuple[Found, ...]:
    raise Unavailable("The store is away")


async def _is_broken(_service: object, _sought: str, _caller: Caller) -> tuple[Found, ...]:
    raise KeyError("a mistake of ours")


async def _has_lost_a_table(_service: object, _sought: str, _caller: Caller) -> tuple[Found, ...]:
    raise Broken("The store /home/ada/tables.db failed")


async def _never_ends(_service: object, _sought: str, _caller: Caller) -> tuple[Found, ...]:
    await asyncio.Event().wait()
    return ()


async def _chances(_service: object, _caller: Caller) -> tuple[Calibrated, ...]:
    return (Calibrated("yours", "You", "all", "/finds", SAID),)


def _card(name: str, **more: Any) -> App[Any]:
    return App(name=name, title=name.capitalize(), purpose="For a test.", **more)


APPS = (
    _card("finds", search=_finds, calibration=_chances),
    _card("away", search=_is_away),
    _card("broken", search=_is_broken),
    _card("lost", search=_has_lost_a_table),
    _card("slow", search=_never_ends),
    _card("silent"),
)


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with House.open(Settings(home=tmp_path), apps=APPS) as opened:
        yield opened


async def test_whoever_can_be_asked_answers_and_the_others_say_why_not(house: House) -> None:
    answers = await search(house, "  a   thing ", LOCAL_OWNER, seconds=0.05)

    assert answers[0].answer == (Found("thing", "a thing", "for Owner", "/finds"),)
    assert {one.app.name: one.silent for one in answers} == {
        "finds": "",
        "away": "The store is away",
        "broken": "It failed; the log says why",
        "lost": "It failed; the log says why",
        "slow": "It did not answer in time",
    }


async def test_nothing_is_asked_without_words(house: House) -> None:
    assert await search(house, "  ", LOCAL_OWNER) == ()


async def test_only_applications_that_give_chances_are_on_the_scoreboard(house: House) -> None:
    answers = await calibration(house, LOCAL_OWNER)

    assert [(one.app.name, one.answer[0].said) for one in answers] == [("finds", SAID)]
