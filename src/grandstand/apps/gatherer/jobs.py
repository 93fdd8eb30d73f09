"""Background jobs: recording, live updates and the daily report."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Final

from grandstand.apps.gatherer.services import Gatherer
from grandstand.core.errors import GrandstandError
from grandstand.kit.jobs.job import Continuous, Cron, Job, JobContext

_POLL_SECONDS: Final = 1.0
_REPORT_TIMEOUT_SECONDS: Final = 900.0


def jobs(gatherer: Gatherer) -> tuple[Job, ...]:
    return (
        Job(
            "gatherer.recording",
            "Record the chosen markets while recording is on.",
            Continuous(),
            partial(_record, gatherer),
            timeout_seconds=None,
        ),
        Job(
            "gatherer.live-updates",
            "Update open market pages.",
            Continuous(),
            partial(_publish, gatherer),
            timeout_seconds=None,
        ),
        Job(
            "gatherer.report",
            "Report how complete the last day's recording is.",
            Cron("10 0 * * *"),
            partial(_report, gatherer),
            timeout_seconds=_REPORT_TIMEOUT_SECONDS,
        ),
    )


async def _record(gatherer: Gatherer, run: JobContext) -> str | None:
    while not await _is_due(gatherer):  # noqa: ASYNC110 - the request is in a table
        await asyncio.sleep(_POLL_SECONDS)
    try:
        return await gatherer.recording.run(run.tell)
    except GrandstandError as error:
        # A rejected key or a full disk does not get better by trying again.
        if not error.retry:
            await gatherer.recording.request(recording=False)
        raise


async def _publish(gatherer: Gatherer, _: JobContext) -> str | None:
    while True:
        await gatherer.live_updates.publish()
        await asyncio.sleep(_POLL_SECONDS)


async def _report(gatherer: Gatherer, _: JobContext) -> str | None:
    report = await gatherer.coverage.send_daily_report()
    return "nothing to report" if report is None else report.text()


async def _is_due(gatherer: Gatherer) -> bool:
    """Return whether recording is requested and no other process of this gatherer records."""
    return (
        await gatherer.recording.is_requested()
        and (await gatherer.recording.status()).state != "elsewhere"
    )
