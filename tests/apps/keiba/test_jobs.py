"""Keiba's own work: watched horses are looked for on the coming cards, and results."""

import pytest

from grandstand.apps.keiba.jobs import jobs
from grandstand.kit.jobs.job import Every, Job, JobContext
from tests.apps.keiba.stage import ADA, NOON, SUNDAY, Stage

pytestmark = pytest.mark.anyio


def _watched(stage: Stage) -> Job:
    return jobs(stage.keiba)[0]


async def test_results_are_looked_for_by_themselves(gathered: Stage) -> None:
    job = jobs(gathered.keiba)[1]

    said = await job.work(JobContext(job.name, 1, 1, NOON, print))

    assert said == "new results: 0"
    assert (job.name, job.when) == ("keiba.results", Every(300.0))


async def test_watched_horses_are_looked_for_by_themselves(gathered: Stage) -> None:
    await gathered.keiba.days.day(SUNDAY, "jra")
    card = await gathered.keiba.cards.assemble(gathered.small)
    await gathered.keiba.watchlist.watch(ADA, card.runners[0].runner.horse_id)
    job = _watched(gathered)

    said = await job.work(JobContext(job.name, 1, 1, NOON, print))

    assert said == "new entries of watched horses: 1"
    assert (job.name, job.when) == ("keiba.watchlist", Every(6 * 3600.0))
