"""Cricket's jobs do their work, and say that there is none without the feed's key."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from grandstand.apps.cricket.jobs import jobs
from grandstand.apps.cricket.store.matches import ActiveMatch
from grandstand.core.clock import ManualClock
from grandstand.kit.jobs.job import Job, JobContext
from grandstand.storage.tables import Naming, Store
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from tests.apps.cricket.services.stage import ALL_TABLES, MATCH, Stage, staged, started

pytestmark = pytest.mark.anyio


@pytest.fixture
def store(clock: ManualClock) -> Iterator[Store]:
    with Store(SqliteEngine.open(None, clock=clock), naming=Naming(), clock=clock) as opened:
        yield opened


@pytest.fixture
def stage(store: Store, clock: ManualClock) -> Stage:
    store.create(ALL_TABLES)
    return staged(store, clock)


def named(stage: Stage) -> dict[str, Job]:
    return {job.name: job for job in jobs(stage.cricket)}


def run(told: list[str]) -> JobContext:
    return JobContext("a job", 1, 1, datetime(2026, 11, 16, tzinfo=UTC), told.append)


async def test_the_syncs_and_the_orchestrator_say_what_they_did(stage: Stage) -> None:
    scorer = started()
    stage.feed.says(scorer.fixture(starting_at=stage.clock.now()), live=False)
    work = named(stage)

    said = [
        await work[f"cricket.{name}"].work(run([]))
        for name in ("reference", "fixtures", "orchestrate")
    ]

    assert said == [
        "4 leagues, teams and table rows, 4 new or changed",
        "1 fixtures, 1 new or changed",
        None,
    ]


async def test_polling_goes_on_until_it_is_stopped(stage: Stage) -> None:
    scorer = started()
    scorer.bowl(1)
    stage.feed.says(scorer.fixture())
    told: list[str] = []

    polling = asyncio.ensure_future(named(stage)["cricket.poll"].work(run(told)))
    await asyncio.wait([polling], timeout=0.5)
    polling.cancel()
    await asyncio.gather(polling, return_exceptions=True)

    assert told[0] == "1 matches polled, 0 changed"
    match = await stage.store.read(ActiveMatch.by_id(MATCH))
    assert match.instance_id == "one"


@pytest.mark.parametrize("name", ["reference", "fixtures", "orchestrate"])
async def test_without_the_feeds_key_nothing_is_asked(
    store: Store, clock: ManualClock, name: str
) -> None:
    store.create(ALL_TABLES)
    keyless = staged(store, clock, feed_token=None)

    said = await named(keyless)[f"cricket.{name}"].work(run([]))

    assert said is not None
    assert "not set" in said
    assert keyless.feed.asked == []
