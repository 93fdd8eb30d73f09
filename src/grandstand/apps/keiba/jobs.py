"""Scheduled work of the keiba app."""

from __future__ import annotations

from grandstand.apps.keiba.services import Keiba
from grandstand.kit.jobs.job import Every, Job, JobContext


def jobs(keiba: Keiba) -> tuple[Job, ...]:
    """Return the app's jobs."""

    async def check_watchlist(_: JobContext) -> str | None:
        return f"new entries of watched horses: {await keiba.watchlist.check_entries()}"

    async def check_results(_: JobContext) -> str | None:
        return f"new results: {await keiba.result_watcher.check()}"

    return (
        Job(
            "keiba.watchlist",
            "Look for watched horses on upcoming cards.",
            Every(6 * 3600.0),
            check_watchlist,
            timeout_seconds=3600.0,
        ),
        Job(
            "keiba.results",
            "Look for results of today's viewed races.",
            Every(300.0),
            check_results,
            timeout_seconds=300.0,
        ),
    )
