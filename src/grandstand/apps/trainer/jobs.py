"""Kept here: the trainer's work that is done by itself: profiles that follow, and the library."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

from grandstand.apps.trainer.model.scenarios import ScenarioDraft
from grandstand.apps.trainer.service import Trainer
from grandstand.kit.jobs.job import Always, Every, Job, Run

_REST_SECONDS: Final = 1.0
_DAY: Final = 24 * 3600.0
_LONGEST_LOAD_SECONDS: Final = 3600.0


def jobs(trainer: Trainer, library: Callable[[], Sequence[ScenarioDraft]]) -> tuple[Job, ...]:
    """Answer the trainer's jobs; `library` reads our own scenarios."""

    async def follow(run: Run) -> str | None:
        feed = trainer.follow()
        followed = 0
        while True:
            changes = await trainer.catch_up(feed)
            if changes:
                followed += changes
                run.tell(f"{followed} changes of attempts followed")
            await asyncio.sleep(_REST_SECONDS)

    async def load(_: Run) -> str | None:
        drafts = await asyncio.to_thread(library)
        loaded = await trainer.load_scenarios(drafts)
        return f"{len(loaded.written)} scenarios written, {len(loaded.unchanged)} unchanged"

    return (
        Job(
            "trainer.profiles",
            "Let profiles follow the attempts.",
            Always(),
            follow,
            timeout_seconds=None,
        ),
        Job(
            "trainer.scenarios",
            "Put our own scenarios on offer.",
            Every(_DAY, jitter=0.0),
            load,
            timeout_seconds=_LONGEST_LOAD_SECONDS,
        ),
    )
