"""The platform put together, and one application moved in."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from grandstand.core.errors import Unavailable
from grandstand.host.runtime import Platform
from grandstand.host.settings import ServerSettings, Settings
from grandstand.kit.app import App, AppResources, AppServices, HomeCard
from grandstand.kit.auth.caller import LOCAL_OWNER, Caller
from grandstand.kit.jobs.job import Every, Job, JobContext
from grandstand.kit.outbox import OutboxMessage

pytestmark = pytest.mark.anyio


@dataclass
class Clocks:
    """The service of a small application."""

    resources: AppResources
    delivered: int = 0

    async def deliver(self, _consequence: OutboxMessage) -> None:
        self.delivered += 1


async def _wind(_run: JobContext) -> str:
    return "wound"


async def _now(caller: Caller) -> HomeCard:
    return HomeCard("Ticking", f"for {caller.name}", "/clocks", live=True)


async def _fails(_caller: Caller) -> HomeCard:
    raise Unavailable("The clocks do not answer")


HomeCardFunction = Callable[[Caller], Awaitable[HomeCard]]


def _built(
    home_card: HomeCardFunction | None,
    close: Callable[[], Awaitable[None]] | None,
    resources: AppResources,
) -> AppServices[Clocks]:
    clocks = Clocks(resources)
    return AppServices(
        services=clocks,
        home_card=home_card,
        close=close,
        outbox_handlers={"clocks.chime": clocks.deliver},
    )


def _card(
    home_card: HomeCardFunction | None = None, close: Callable[[], Awaitable[None]] | None = None
) -> App[Any]:
    return App(
        name="clocks",
        title="Clocks",
        purpose="Tell the time.",
        build=partial(_built, home_card, close),
        jobs=lambda _service: (Job("clocks.wind", "Wind them.", Every(60), _wind),),
    )


async def test_an_application_is_opened_with_what_it_needs_and_its_jobs_are_known(
    tmp_path: Path,
) -> None:
    async with Platform.open(Settings(home=tmp_path), apps=(_card(_now),)) as platform:
        async with platform.background.running():
            names = [job.name for job in await _until_enrolled(platform)]
        cards = await platform.cards(LOCAL_OWNER)

    assert "clocks.wind" in names
    assert platform.services["clocks"].resources.store is platform.store
    assert cards[0][1].headline == "Ticking"


async def test_what_an_application_opened_is_closed_while_the_store_is_still_there(
    tmp_path: Path,
) -> None:
    seen: list[str] = []

    async def close() -> None:
        await platform.services["clocks"].resources.outbox.waiting("clocks.chime")
        seen.append("closed")

    async with Platform.open(Settings(home=tmp_path), apps=(_card(close=close),)) as platform:
        seen.append("open")

    assert seen == ["open", "closed"]


async def _until_enrolled(platform: Platform) -> tuple[Any, ...]:

    for _ in range(100):
        found = await platform.jobs.list()
        if found:
            return found
        await asyncio.sleep(0.02)
    raise TimeoutError


async def test_a_card_that_cannot_be_filled_does_not_take_the_others_along(tmp_path: Path) -> None:
    async with Platform.open(Settings(home=tmp_path), apps=(_card(_fails),)) as platform:
        ((_, now),) = await platform.cards(LOCAL_OWNER)

    assert now == HomeCard("Not available", "The clocks do not answer", "/clocks")


async def test_cursors_are_good_after_a_restart_and_with_the_secret_of_the_settings(
    tmp_path: Path,
) -> None:
    given = Settings(home=tmp_path, server=ServerSettings(secret=SecretStr("for all")))

    async with Platform.open(Settings(home=tmp_path)) as platform:
        cursor = platform.cursors.write(LOCAL_OWNER, "games", "row 20")
    async with Platform.open(Settings(home=tmp_path)) as platform:
        again = platform.cursors.read(LOCAL_OWNER, "games", cursor)
    async with Platform.open(given) as platform:
        shared = platform.cursors.write(LOCAL_OWNER, "games", "row 20")

    assert again == "row 20"
    assert shared != cursor


async def test_readiness_tells_what_keeps_the_jobs_from_running(tmp_path: Path) -> None:
    async with Platform.open(Settings(home=tmp_path)) as platform:
        checks = platform.checks()
        told = await checks["store"](), await checks["jobs"]()

    assert told[0].endswith(" tables")
    assert told[1] == "not run here"
