"""The trainer's jobs: profile updates and the scenario library."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest

from grandstand.apps.trainer.jobs import jobs
from grandstand.apps.trainer.store import Profile
from grandstand.kit.jobs.job import Job, JobContext
from tests.apps.trainer.stage import ADA, Stage, saying

pytestmark = pytest.mark.anyio


def _named(stage: Stage, name: str) -> Job:
    return {job.name: job for job in jobs(stage.trainer)}[name]


def _run(said: list[str]) -> JobContext:
    return JobContext("trainer", 1, 1, datetime(2026, 1, 1, tzinfo=UTC), said.append)


@asynccontextmanager
async def _running(job: Job, said: list[str]) -> AsyncIterator[None]:
    task = asyncio.ensure_future(job.work(_run(said)))
    yield
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_profiles_follow_by_themselves(stage: Stage) -> None:
    said: list[str] = []
    done = await stage.trainer.attempts.submit_new(ADA.user_id, "a-poll", saying(3))

    async with _running(_named(stage, "trainer.profiles"), said), asyncio.timeout(10):
        while not said:  # noqa: ASYNC110 - what is said is a plain list
            await asyncio.sleep(0.05)

    [latest] = await stage.store(Profile.latest(ADA.user_id))
    assert latest.source_attempt_id == done.attempt_id


async def test_our_own_scenarios_are_put_on_offer(stage: Stage) -> None:
    told = await _named(stage, "trainer.scenarios").work(_run([]))

    assert told == "0 scenarios written, 3 unchanged"


async def test_the_card_says_what_to_try_next(stage: Stage) -> None:
    before = await stage.trainer.scenarios.home_card(ADA)
    await stage.trainer.attempts.submit_new(ADA.user_id, "two-hospitals", saying(3))
    await stage.follow()

    after = await stage.trainer.scenarios.home_card(ADA)

    assert (before.headline, before.href) == ("Not started yet", "/trainer/scenarios/two-hospitals")
    assert after.headline == "75 of 100 over 1 attempt"
    assert after.href != before.href
