"""Keiba's own work: watched horses are looked for on the coming cards."""

import pytest

from grandstand.apps.keiba.app import CARD
from grandstand.kit.jobs.job import Every, Job, Run
from tests.apps.keiba.stage import ADA, NOON, SUNDAY, Stage

pytestmark = pytest.mark.anyio


def _watched(stage: Stage) -> Job:
    assert CARD.jobs is not None
    [job] = CARD.jobs(stage.keiba)
    return job


async def test_watched_horses_are_looked_for_by_themselves(gathered: Stage) -> None:
    await gathered.keiba.day(SUNDAY, "jra")
    card = await gathered.keiba.card(gathered.small)
    await gathered.keiba.watch(ADA, card.runners[0].runner.horse_id)
    job = _watched(gathered)

    said = await job.work(Run(job.name, 1, 1, NOON, print))

    assert said == "new entries of watched horses: 1"
    assert (job.name, job.when) == ("keiba.watched", Every(6 * 3600.0))
