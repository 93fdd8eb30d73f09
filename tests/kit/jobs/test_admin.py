"""What is asked for from outside is picked up by a runner within seconds."""

from __future__ import annotations

import asyncio

import pytest

from grandstand.core.errors import NotFound
from grandstand.kit.jobs.admin import JobAdmin
from grandstand.kit.jobs.job import Continuous, Every, Job, JobContext
from tests.kit.jobs.conftest import Floor, once, until
from tests.kit.stores import fresh_prefix, open_at

pytestmark = pytest.mark.anyio


class Work:
    """Work that counts, or goes on for ever."""

    def __init__(self) -> None:
        self.runs = 0
        self.going = 0

    async def count(self, _run: JobContext) -> str | None:
        self.runs += 1
        return None

    async def go_on(self, _run: JobContext) -> str | None:
        self.going += 1
        try:
            await asyncio.Event().wait()
        finally:
            self.going -= 1
        return None


async def test_a_run_asked_for_elsewhere_begins_soon(floor: Floor) -> None:
    work, view = Work(), floor.view()

    async with floor.running(Job("tests.daily", "Counts.", Every(86_400, jitter=0.0), work.count)):
        await until(lambda: any(news["state"] == "ended" for _, news in floor.listener.heard))
        before = work.runs
        await view.run_now("tests.daily")
        await until(lambda: work.runs == before + 1)

    assert work.runs == before + 1


async def test_a_paused_job_is_not_run_but_can_be_asked_for(floor: Floor) -> None:
    work, view = Work(), floor.view()
    often = Job("tests.often", "Counts.", Every(0.05, jitter=0.0), work.count)

    async with floor.running(often):
        await until(lambda: work.runs > 0)
        await view.pause("tests.often")
        await once(lambda: view.one("tests.often"), lambda seen: seen.state == "paused")
        await asyncio.sleep(1.0)
        paused_at = work.runs
        await asyncio.sleep(0.5)
        still = work.runs
        state = (await view.one("tests.often")).state
        await view.run_now("tests.often")
        await until(lambda: work.runs == still + 1)
        await asyncio.sleep(0.3)
        asked = work.runs
        await view.resume("tests.often")
        await until(lambda: work.runs > asked + 1)

    assert (still, state, asked) == (paused_at, "paused", still + 1)


async def test_pausing_a_job_without_end_stops_it_and_resuming_begins_it(floor: Floor) -> None:
    work, view = Work(), floor.view()

    async with floor.running(Job("tests.always", "Goes on.", Continuous(), work.go_on)):
        await until(lambda: work.going == 1)
        running = await view.one("tests.always")
        await view.pause("tests.always")
        await until(lambda: work.going == 0)
        await asyncio.sleep(0.4)
        resting = work.going
        paused = await once(lambda: view.one("tests.always"), lambda seen: not seen.running_on)
        await view.resume("tests.always")
        await until(lambda: work.going == 1)

    assert (running.state, running.running_on) == ("running", "one")
    assert (resting, paused.state, paused.running_on) == (0, "paused", None)


async def test_a_job_nobody_has_declared_is_not_found(floor: Floor) -> None:
    work, view = Work(), floor.view()

    async with floor.running(Job("tests.known", "Counts.", Every(60), work.count)):
        await until(lambda: work.runs == 1)

    for ask in (view.run_now, view.pause, view.resume, view.history, view.one):
        with pytest.raises(NotFound, match=r"No job named tests\.unknown; there are tests\.known"):
            await ask("tests.unknown")


async def test_a_retired_job_is_as_if_nobody_had_declared_it(floor: Floor) -> None:
    work = Work()
    async with floor.running(
        Job("tests.gone", "Counts.", Every(60), work.count),
        Job("tests.here", "Counts.", Every(60), work.count),
    ):
        await until(lambda: work.runs == 2)

    view = JobAdmin(floor.store(), floor.clock, retired=frozenset({"tests.gone"}))

    assert [status.name for status in await view.list()] == ["tests.here"]
    for ask in (view.run_now, view.pause, view.resume, view.history, view.one):
        with pytest.raises(NotFound, match=r"No job named tests\.gone; there are tests\.here"):
            await ask("tests.gone")


async def test_before_any_runner_there_are_no_jobs(floor: Floor) -> None:
    view = JobAdmin(open_at(floor.place, fresh_prefix()), floor.clock)

    assert await view.list() == ()
    with pytest.raises(NotFound, match="a runner declares its jobs when it starts"):
        await view.pause("tests.any")
