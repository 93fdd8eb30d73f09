"""Kept here: the gatherer's work that is done by itself: recording, news for pages, the report."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Final

from grandstand.apps.gatherer.service import Gatherer
from grandstand.base.errors import GrandstandError
from grandstand.kit.jobs.job import Always, Cron, Job, Run

_LOOK_SECONDS: Final = 1.0
_LONGEST_REPORT_SECONDS: Final = 900.0


def jobs(gatherer: Gatherer) -> tuple[Job, ...]:
    """Answer the gatherer's jobs."""
    return (
        Job(
            "gatherer.recording",
            "Record the markets chosen, while that is asked for.",
            Always(),
            partial(_record, gatherer),
            timeout_seconds=None,
        ),
        Job(
            "gatherer.news",
            "Tell open pages of the markets they show.",
            Always(),
            partial(_tell, gatherer),
            timeout_seconds=None,
        ),
        Job(
            "gatherer.report",
            "Report how whole the last day was recorded.",
            Cron("10 0 * * *"),
            partial(_report, gatherer),
            timeout_seconds=_LONGEST_REPORT_SECONDS,
        ),
    )


async def _record(gatherer: Gatherer, run: Run) -> str | None:
    while not await _wanted(gatherer):  # noqa: ASYNC110 - asked for in a table
        await asyncio.sleep(_LOOK_SECONDS)
    try:
        return await gatherer.record(run.tell)
    except GrandstandError as fault:
        # A key that is refused, or a disk that is full, does not mend by trying again.
        if not fault.retry:
            await gatherer.ask_for(recording=False)
        raise


async def _tell(gatherer: Gatherer, _: Run) -> str | None:
    while True:
        await gatherer.watching.tell()
        await asyncio.sleep(_LOOK_SECONDS)


async def _report(gatherer: Gatherer, _: Run) -> str | None:
    found = await gatherer.reporting.tell_yesterday()
    return "nothing was to be recorded" if found is None else found.text()


async def _wanted(gatherer: Gatherer) -> bool:
    """Tell whether recording is asked for, and no other process of this gatherer is at it."""
    return await gatherer.asked_for() and (await gatherer.ingest()).state != "elsewhere"
