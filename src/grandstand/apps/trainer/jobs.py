"""Scheduled work of the trainer: profile updates and the scenario library."""

from __future__ import annotations

import asyncio

from grandstand.apps.trainer.services import Trainer
from grandstand.kit.jobs.job import Continuous, Every, Job, JobContext


def jobs(trainer: Trainer) -> tuple[Job, ...]:
    """Return the trainer's jobs."""

    async def update_profiles(context: JobContext) -> str | None:
        feed = trainer.profiles.follow()
        total = 0
        while True:
            changes = await trainer.profiles.catch_up(feed)
            if changes:
                total += changes
                context.tell(f"{total} changes of attempts processed")
            await asyncio.sleep(1.0)

    async def load_library(_: JobContext) -> str | None:
        result = await trainer.scenarios.load_file()
        return f"{len(result.written)} scenarios written, {len(result.unchanged)} unchanged"

    return (
        Job(
            "trainer.profiles",
            "Update profiles when attempts change.",
            Continuous(),
            update_profiles,
            timeout_seconds=None,
        ),
        Job(
            "trainer.scenarios",
            "Load the built-in scenarios.",
            Every(24 * 3600.0, jitter=0.0),
            load_library,
            timeout_seconds=3600.0,
        ),
    )
