"""Kept here: cricket's work that is done by itself: polling, syncing and the orchestrator."""

from __future__ import annotations

import asyncio
from typing import Final

from grandstand.apps.cricket.service import Cricket
from grandstand.kit.jobs.job import Always, Every, Job, Run

_DAY_SECONDS: Final = 24 * 3600.0
_NO_KEY: Final = "nothing to do: the feed's key (cricket.feed_token) is not set"
_NO_KEY_SECONDS: Final = 600.0


def jobs(cricket: Cricket) -> tuple[Job, ...]:
    """Answer cricket's jobs; without the feed's key they have nothing to do, and say so."""
    work, settings = _Work(cricket), cricket.settings
    return (
        Job(
            "cricket.poll",
            "Look at the live matches and tell what happened.",
            Always(),
            work.poll,
            timeout_seconds=None,
        ),
        Job(
            "cricket.orchestrate",
            "See to what begins, goes on and ends.",
            Every(settings.orchestrate_seconds),
            work.orchestrate,
        ),
        Job(
            "cricket.fixtures",
            "Bring the fixtures of these days over.",
            Every(settings.fixture_sync_seconds),
            work.fixtures,
        ),
        Job(
            "cricket.reference",
            "Bring leagues, teams and standings over.",
            Every(_DAY_SECONDS, jitter=0.0),
            work.reference,
        ),
    )


class _Work:
    """What each job does."""

    def __init__(self, cricket: Cricket) -> None:
        self._cricket = cricket

    @property
    def _keyless(self) -> bool:
        return self._cricket.settings.feed_token is None

    async def poll(self, run: Run) -> str | None:
        if self._keyless:
            run.tell(_NO_KEY)
            await asyncio.sleep(_NO_KEY_SECONDS)
            return _NO_KEY
        try:
            while True:
                polled = await self._cricket.poll()
                changed = sum(each.outcome == "changed" for each in polled.ticks)
                run.tell(f"{len(polled.ticks)} matches looked at, {changed} changed")
                await asyncio.sleep(polled.next_seconds)
        finally:
            await self._cricket.rest()

    async def orchestrate(self, _: Run) -> str | None:
        return _NO_KEY if self._keyless else (await self._cricket.orchestrate()).text

    async def fixtures(self, _: Run) -> str | None:
        if self._keyless:
            return _NO_KEY
        synced = await self._cricket.sync_fixtures()
        return f"{synced.found} fixtures, {synced.written} new or changed"

    async def reference(self, _: Run) -> str | None:
        if self._keyless:
            return _NO_KEY
        synced = await self._cricket.sync_reference()
        return f"{synced.found} leagues, teams and standings, {synced.written} new or changed"
