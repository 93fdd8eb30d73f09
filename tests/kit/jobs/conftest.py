"""Where jobs are kept in these tests, and runners on it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TypeVar

import pytest

from grandstand.core.clock import Clock, SystemClock
from grandstand.core.metrics import Metrics
from grandstand.kit.jobs.admin import JobAdmin
from grandstand.kit.jobs.job import Job
from grandstand.kit.jobs.runner import JobRunner, RunnerConfig
from grandstand.kit.jobs.tables import JOB_TABLES
from grandstand.storage.tables import AsyncStore
from grandstand.storage.tables.platform_tables import PLATFORM_TABLES
from tests.kit.stores import Listener, fresh_prefix, open_at, place_of

T = TypeVar("T")

QUICK = RunnerConfig(lease_seconds=10.0, grace_seconds=0.2, look_seconds=0.1, stop_seconds=1.0)


@dataclass
class Floor:
    """A place runners and views of one store are made for."""

    place: str
    prefix: str
    clock: Clock = field(default_factory=SystemClock)
    metrics: Metrics = field(default_factory=Metrics)
    listener: Listener = field(default_factory=Listener)
    opened: list[AsyncStore] = field(default_factory=list)

    def store(self) -> AsyncStore:
        """Open the store once more."""
        self.opened.append(open_at(self.place, self.prefix, self.clock))
        return self.opened[-1]

    def view(self) -> JobAdmin:
        """Look at the jobs from outside."""
        return JobAdmin(self.store(), self.clock)

    def runner(self, *jobs: Job, instance: str = "one", config: RunnerConfig = QUICK) -> JobRunner:
        """Make a runner with a store of its own."""
        return JobRunner(
            self.store(),
            jobs,
            clock=self.clock,
            random=Random(1),
            metrics=self.metrics,
            publisher=self.listener,
            instance=instance,
            config=config,
        )

    @asynccontextmanager
    async def running(
        self, *jobs: Job, instance: str = "one", config: RunnerConfig = QUICK
    ) -> AsyncIterator[JobRunner]:
        """Let a runner run for the length of a block."""
        runner = self.runner(*jobs, instance=instance, config=config)
        task = asyncio.create_task(runner.run())
        try:
            yield runner
        finally:
            await runner.stop()
            await task


async def until(holds: Callable[[], bool], seconds: float = 60.0) -> None:
    """Wait until something holds; raise TimeoutError when it does not in time."""
    async with asyncio.timeout(seconds):
        while not holds():  # noqa: ASYNC110 - what is waited for has no event of its own
            await asyncio.sleep(0.01)


async def once(ask: Callable[[], Awaitable[T]], holds: Callable[[T], bool] = bool) -> T:
    """Ask until the answer holds, and answer it; raise TimeoutError when it never does."""
    async with asyncio.timeout(60.0):
        while not holds(answer := await ask()):  # noqa: ASYNC110 - as above
            await asyncio.sleep(0.05)
    return answer


@pytest.fixture(params=["sqlite", "dynamodb-local"])
def floor(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Floor]:
    """Tables for jobs on each kind of store in turn."""
    made = Floor(place_of(request, tmp_path), fresh_prefix())
    made.store().store.create((*PLATFORM_TABLES, *JOB_TABLES))
    yield made
    for store in made.opened:
        store.store.close()
