"""A process that is killed at a given point: crashing.py PATH WHERE."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from datetime import datetime
from pathlib import Path

from grandstand.apps.trainer.domain.evaluation import EvaluationRequest, Judgment
from grandstand.core.clock import SystemClock
from grandstand.storage.tables import AsyncStore, Naming, Store
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from grandstand.storage.tables.operations.item_ops import Write
from tests.apps.trainer.stage import ADA, ALL_TABLES, ScriptedJudge, saying, staged


def opened(path: Path) -> Store:
    """Open the store in a file, with its tables."""
    clock = SystemClock()
    store = Store(SqliteEngine.open(path, clock=clock), naming=Naming(), clock=clock)
    store.create(ALL_TABLES)
    return store


def die() -> None:
    """Kill this process."""
    os.kill(os.getpid(), signal.SIGKILL)


class DeadlyJudge(ScriptedJudge):
    """Kills the process that calls it."""

    async def judge(self, work: EvaluationRequest, at: datetime) -> Judgment:
        die()
        return await super().judge(work, at)


class DeadlyStore(AsyncStore):
    """Kills the process after the first transaction is committed."""

    async def all(self, *writes: Write, token: str | None = None) -> None:
        await super().all(*writes, token=token)
        die()


async def _between_submit_and_evaluate(store: Store) -> None:
    await staged(store, SystemClock(), judge=DeadlyJudge()).trainer.attempts.submit_new(
        ADA.user_id, "a-poll", saying(3), "t1"
    )


async def _between_evaluate_and_profile(store: Store) -> None:
    await staged(store, SystemClock()).trainer.attempts.submit_new(
        ADA.user_id, "a-poll", saying(3), "t1"
    )
    die()


async def _within_profile(store: Store) -> None:
    stage = staged(store, SystemClock())
    await stage.trainer.attempts.submit_new(ADA.user_id, "a-poll", saying(3), "t1")
    feed = stage.trainer.profiles.follow()
    deadly = staged(DeadlyStore(store), SystemClock())
    await deadly.trainer.profiles.catch_up(feed)


PLACES = {
    "between submit and evaluate": _between_submit_and_evaluate,
    "between evaluate and profile": _between_evaluate_and_profile,
    "within the profile": _within_profile,
}

if __name__ == "__main__":
    asyncio.run(PLACES[sys.argv[2]](opened(Path(sys.argv[1]))))
