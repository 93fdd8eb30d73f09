"""The house put together, and one application moved in."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from grandstand.base.errors import Unavailable
from grandstand.host.house import House
from grandstand.host.settings import ServerSettings, Settings
from grandstand.kit.app import App, Now, Resources
from grandstand.kit.jobs.job import Every, Job, Run
from grandstand.kit.outbox import Consequence
from grandstand.kit.who.caller import LOCAL_OWNER, Caller

pytestmark = pytest.mark.anyio


@dataclass
class Clocks:
    """The service of a small application."""

    resources: Resources
    delivered: int = 0

    async def deliver(self, _consequence: Consequence) -> None:
        self.delivered += 1


async def _wind(_run: Run) -> str:
    return "wound"


async def _now(_service: Clocks, caller: Caller) -> Now:
    return Now("Ticking", f"for {caller.name}", "/clocks", live=True)


async def _fails(_service: Clocks, _caller: Caller) -> Now:
    raise Unavailable("The clocks do not answer")


def _card(**more: Any) -> App[Any]:
    return App(
        name="clocks",
        title="Clocks",
        purpose="Tell the time.",
        service=Clocks,
        jobs=lambda _service: (Job("clocks.wind", "Wind them.", Every(60), _wind),),
        deliveries=lambda service: {"clocks.chime": service.deliver},
        **more,
    )


async def test_an_application_is_opened_with_what_it_needs_and_its_jobs_are_known(
    tmp_path: Path,
) -> None:
    async with House.open(Settings(home=tmp_path), apps=(_card(now=_now),)) as house:
        async with house.background.running():
            names = [job.name for job in await _until_enrolled(house)]
        cards = await house.cards(LOCAL_OWNER)

    assert "clocks.wind" in names
    assert house.services["clocks"].resources.store is house.store
    assert cards[0][1].headline == "Ticking"


async def test_what_an_application_opened_is_closed_while_the_store_is_still_there(
    tmp_path: Path,
) -> None:
    seen: list[str] = []

    async def close(service: Clocks) -> None:
        await service.resources.outbox.waiting("clocks.chime")
        seen.append("closed")

    async with House.open(Settings(home=tmp_path), apps=(_card(close=close),)):
        seen.append("open")

    assert seen == ["open", "closed"]


async def _until_enrolled(house: House) -> tuple[Any, ...]:

    for _ in range(100):
        found = await house.jobs.list()
        if found:
            return found
        await asyncio.sleep(0.02)
    raise TimeoutError


async def test_a_card_that_cannot_be_filled_does_not_take_the_others_along(tmp_path: Path) -> None:
    async with House.open(Settings(home=tmp_path), apps=(_card(now=_fails),)) as house:
        ((_, now),) = await house.cards(LOCAL_OWNER)

    assert now == Now("Not known", "The clocks do not answer", "/clocks")


async def test_cursors_are_good_after_a_restart_and_with_the_secret_of_the_settings(
    tmp_path: Path,
) -> None:
    given = Settings(home=tmp_path, server=ServerSettings(secret=SecretStr("for all")))

    async with House.open(Settings(home=tmp_path)) as house:
        cursor = house.cursors.write(LOCAL_OWNER, "games", "row 20")
    async with House.open(Settings(home=tmp_path)) as house:
        again = house.cursors.read(LOCAL_OWNER, "games", cursor)
    async with House.open(given) as house:
        shared = house.cursors.write(LOCAL_OWNER, "games", "row 20")

    assert again == "row 20"
    assert shared != cursor


async def test_readiness_tells_what_keeps_the_jobs_from_running(tmp_path: Path) -> None:
    async with House.open(Settings(home=tmp_path)) as house:
        checks = house.checks()
        told = await checks["store"](), await checks["jobs"]()

    assert told[0].endswith(" tables")
    assert told[1] == "not run here"
