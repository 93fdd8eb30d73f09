"""Keiba's own work: watched horses are looked for on the coming cards, and results."""

import pytest

from grandstand.apps.keiba.app import CARD
from grandstand.kit.jobs.job import Every, Job, Run
from tests.apps.keiba.stage import ADA, NOON, SUNDAY, Stage

pytestmark = pytest.mark.anyio


def _watched(stage: Stage) -> Job:
    assert CARD.jobs is not None
    return CARD.jobs(stage.keiba)[0]


async def test_results_are_looked_for_by_themselves(gathered: Stage) -> None:
    assert CARD.jobs is not None
    job = CARD.jobs(gathered.keiba)[1]

    said = await job.work(Run(job.name, 1, 1, NOON, print))

    assert said == "new results: 0"
    assert (job.name, job.when) == ("keiba.results", Every(300.0))


async def test_watched_horses_are_looked_for_by_themselves(gathered: Stage) -> None:
    await gathered.keiba.day(SUNDAY, "jra")
    card = await gathered.keiba.card(gathered.small)
    await gathered.keiba.watch(ADA, card.runners[0].runner.horse_id)
    job = _watched(gathered)

    said = await job.work(Run(job.name, 1, 1, NOON, print))

    assert said == "new entries of watched horses: 1"
    assert (job.name, job.when) == ("keiba.watched", Every(6 * 3600.0))
