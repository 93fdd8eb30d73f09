"""Kept here: keiba's work that is done by itself: looking for watched horses and for results."""

from __future__ import annotations

from typing import Final

from grandstand.apps.keiba.service import Keiba
from grandstand.kit.jobs.job import Every, Job, Run

_SIX_HOURS: Final = 6 * 3600.0
_FIVE_MINUTES: Final = 300.0
_LONGEST_SECONDS: Final = 3600.0


def jobs(keiba: Keiba) -> tuple[Job, ...]:
    """Answer keiba's jobs."""

    async def look(_: Run) -> str | None:
        noted = await keiba.look_for_watched()
        return f"new entries of watched horses: {noted}"

    async def results(_: Run) -> str | None:
        noted = await keiba.look_for_results()
        return f"new results: {noted}"

    return (
        Job(
            "keiba.watched",
            "Look for watched horses on the coming cards.",
            Every(_SIX_HOURS),
            look,
            timeout_seconds=_LONGEST_SECONDS,
        ),
        Job(
            "keiba.results",
            "Look for the results of today's races that somebody looked at.",
            Every(_FIVE_MINUTES),
            results,
            timeout_seconds=_FIVE_MINUTES,
        ),
    )
