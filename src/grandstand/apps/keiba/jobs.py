"""Scheduled work of the keiba app."""

from __future__ import annotations

from typing import Final

from grandstand.apps.keiba.services import Keiba
from grandstand.kit.jobs.job import Every, Job, JobContext

_FIVE_MINUTES: Final = 300.0
_HOUR: Final = 3600.0


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
            Every(6 * _HOUR),
            check_watchlist,
            timeout_seconds=_HOUR,
        ),
        Job(
            "keiba.results",
            "Look for results of today's viewed races.",
            Every(_FIVE_MINUTES),
            check_results,
            timeout_seconds=_FIVE_MINUTES,
        ),
    )
