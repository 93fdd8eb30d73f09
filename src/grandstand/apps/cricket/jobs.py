"""Scheduled jobs: polling, orchestration and syncs."""

from __future__ import annotations

import asyncio
from typing import Final

from grandstand.apps.cricket.services import Cricket
from grandstand.kit.jobs.job import Continuous, Every, Job, JobContext

_NO_TOKEN: Final = "Nothing to do: GRANDSTAND_CRICKET_FEED_TOKEN is not set."  # noqa: S105 - a text


def jobs(cricket: Cricket) -> tuple[Job, ...]:
    """Return the jobs; without a feed token they do nothing."""
    runs, settings = _Runs(cricket), cricket.settings
    return (
        Job(
            "cricket.poll",
            "Poll the livescores and push what happened.",
            Continuous(),
            runs.poll,
            timeout_seconds=None,
        ),
        Job(
            "cricket.orchestrate",
            "Register, announce, start and close matches.",
            Every(settings.orchestrate_seconds),
            runs.orchestrate,
        ),
        Job(
            "cricket.fixtures",
            "Sync the fixtures.",
            Every(settings.fixture_sync_seconds),
            runs.sync_fixtures,
        ),
        Job(
            "cricket.reference",
            "Sync leagues, teams and season tables.",
            Every(24 * 3600.0, jitter=0.0),
            runs.sync_reference,
        ),
    )


class _Runs:
    def __init__(self, cricket: Cricket) -> None:
        self._cricket = cricket

    @property
    def _has_token(self) -> bool:
        return self._cricket.settings.feed_token is not None

    async def poll(self, run: JobContext) -> str | None:
        if not self._has_token:
            run.tell(_NO_TOKEN)
            await asyncio.sleep(600)
            return _NO_TOKEN
        try:
            while True:
                result = await self._cricket.poller.poll()
                changed = sum(tick.outcome == "changed" for tick in result.ticks)
                run.tell(f"{len(result.ticks)} matches polled, {changed} changed")
                await asyncio.sleep(result.next_seconds)
        finally:
            await self._cricket.coordinator.stop()

    async def orchestrate(self, _: JobContext) -> str | None:
        return (await self._cricket.orchestrator.run()).text if self._has_token else _NO_TOKEN

    async def sync_fixtures(self, _: JobContext) -> str | None:
        if not self._has_token:
            return _NO_TOKEN
        result = await self._cricket.fixture_sync.run()
        return f"{result.found} fixtures, {result.written} new or changed"

    async def sync_reference(self, _: JobContext) -> str | None:
        if not self._has_token:
            return _NO_TOKEN
        result = await self._cricket.league_sync.run() + await self._cricket.team_sync.run()
        return f"{result.found} leagues, teams and table rows, {result.written} new or changed"
