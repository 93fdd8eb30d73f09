"""The trainer's own work: profiles that follow by themselves, and the library on offer."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest

from grandstand.apps.trainer.app import CARD
from grandstand.apps.trainer.jobs import jobs
from grandstand.kit.jobs.job import Job, Run
from tests.apps.trainer.stage import ADA, SCENARIOS, Stage, saying

pytestmark = pytest.mark.anyio


def _named(stage: Stage, name: str) -> Job:
    return {job.name: job for job in jobs(stage.trainer, lambda: SCENARIOS)}[name]


def _run(said: list[str]) -> Run:
    return Run("trainer", 1, 1, datetime(2026, 1, 1, tzinfo=UTC), said.append)


@asynccontextmanager
async def _running(job: Job, said: list[str]) -> AsyncIterator[None]:
    task = asyncio.ensure_future(job.work(_run(said)))
    yield
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_profiles_follow_by_themselves(stage: Stage) -> None:
    said: list[str] = []
    done = await stage.trainer.post(ADA, "a-poll", saying(3))

    async with _running(_named(stage, "trainer.profiles"), said), asyncio.timeout(10):
        while not said:  # noqa: ASYNC110 - what is said is a plain list
            await asyncio.sleep(0.05)

    latest = await stage.trainer.profile(ADA)
    assert latest is not None
    assert latest.source_attempt_id == done.attempt_id


async def test_our_own_scenarios_are_put_on_offer(stage: Stage) -> None:
    told = await _named(stage, "trainer.scenarios").work(_run([]))

    assert told == "0 scenarios written, 3 unchanged"


async def test_the_card_says_what_to_try_next(stage: Stage) -> None:
    assert CARD.now is not None
    before = await CARD.now(stage.trainer, ADA)
    await stage.trainer.post(ADA, "two-hospitals", saying(3))
    await stage.follow()

    after = await CARD.now(stage.trainer, ADA)

    assert (before.headline, before.href) == ("Not begun yet", "/trainer/scenarios/two-hospitals")
    assert after.headline == "75 of 100 over 1 attempt"
    assert after.href != before.href
