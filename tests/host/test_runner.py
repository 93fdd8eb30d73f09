"""Jobs and the outbox run side by side, stop together, and neither breaks in silence."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from grandstand.core.clock import SystemClock
from grandstand.core.metrics import Metrics
from grandstand.host.runtime import BackgroundWork
from grandstand.kit.jobs.job import Every, Job, JobContext
from grandstand.kit.jobs.runner import JobRunner
from grandstand.kit.jobs.tables import JOB_TABLES
from grandstand.kit.outbox import OUTBOX_TABLES, Deliverer, Outbox, OutboxMessage
from grandstand.storage.tables import AsyncStore
from grandstand.storage.tables.platform_tables import PLATFORM_TABLES
from tests.kit.jobs.conftest import until
from tests.kit.stores import Listener, open_at

pytestmark = pytest.mark.anyio


class BrokenRunner(JobRunner):
    """A runner with a fault of its own."""

    async def run(self) -> None:
        await asyncio.sleep(0.1)
        message = "a fault of ours"
        raise RuntimeError(message)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[AsyncStore]:
    opened = open_at(str(tmp_path / "tables.db"), "")
    opened.store.create((*PLATFORM_TABLES, *JOB_TABLES, *OUTBOX_TABLES))
    yield opened
    opened.store.close()


def background(
    store: AsyncStore, taken: list[str], kind: type[JobRunner] = JobRunner
) -> BackgroundWork:
    outbox = Outbox(store, SystemClock())

    async def write(run: JobContext) -> str | None:
        await outbox.put("notes", f"run {run.token}", None)
        return None

    async def take(consequence: OutboxMessage) -> None:
        taken.append(consequence.idempotency_key)

    clock, random, metrics = SystemClock(), Random(1), Metrics()
    runner = kind(
        store,
        [Job("tests.write", "Writes.", Every(3600, jitter=0.0), write)],
        clock=clock,
        random=random,
        metrics=metrics,
        publisher=Listener(),
        instance="one",
    )
    deliverer = Deliverer(store, {"notes": take}, clock=clock, random=random, metrics=metrics)
    return BackgroundWork(runner, (deliverer,))


async def test_what_a_job_writes_to_the_outbox_is_delivered(store: AsyncStore) -> None:
    taken: list[str] = []

    async with background(store, taken).running() as task:
        await until(lambda: taken == ["run 1"])
        running = not task.done()

    assert running
    assert task.done()


async def test_stopping_before_anything_has_begun_ends_both(store: AsyncStore) -> None:
    taken: list[str] = []

    async with asyncio.timeout(5), background(store, taken).running():
        pass

    assert taken == []


async def test_when_one_breaks_the_other_is_stopped_and_the_fault_is_raised(
    store: AsyncStore,
) -> None:
    both = background(store, [], BrokenRunner)

    async with asyncio.timeout(10):
        with pytest.raises(RuntimeError, match="a fault of ours"):
            await both.run()
