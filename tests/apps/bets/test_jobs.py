"""The jobs of bets have the specified names and times, and one sport that fails stops no other."""

import pytest

from grandstand.apps.bets.jobs import jobs
from grandstand.core.clock import ManualClock
from grandstand.core.errors import SourceFailed
from grandstand.kit.jobs.job import Cron, Every, Job, JobContext
from tests.apps.bets.stage import EPL, NBA, NOON, Stage, embedded, game, h2h, staged

pytestmark = pytest.mark.anyio


@pytest.fixture
def stage() -> Stage:
    """Bets on two sports."""
    clock = ManualClock(NOON)
    return staged(embedded(clock), clock, sports=(NBA, EPL), prop_sports=(NBA,))


def named(stage: Stage) -> dict[str, Job]:
    return {job.name.removeprefix("bets."): job for job in jobs(stage.bets)}


def run(said: list[str]) -> JobContext:
    return JobContext("bets.any", 1, 1, NOON, said.append)


def test_the_specified_jobs_run_when_they_should(stage: Stage) -> None:
    when = {name: job.when for name, job in named(stage).items()}

    assert {name for name, each in when.items() if each == Every(4 * 3600.0)} == {
        "odds_collector",
        "outcome_collector",
        "analysis_generator",
    }
    assert when["benny_trader"] == Cron("0 14 * * *")
    assert when["user_model_weight_adjuster"] == Cron("0 5 * * 1")
    assert set(when) >= {
        "odds_cleanup",
        "model_adjustment_calculator",
        "props_collector",
        "stats_collector",
        "schedule_collector",
        "injury_collector",
    }


async def test_every_job_says_what_it_did(stage: Stage) -> None:
    stage.odds.games = [game(h2h("fanduel", -150, 130))]
    said: list[str] = []

    outputs = {name: await job.work(run(said)) for name, job in named(stage).items()}

    assert outputs["odds_collector"] == "2 of 2 sports"
    assert f"{NBA}: received 1, written 1, credits 3" in said
    assert outputs["benny_trader"] == "0 bets placed, 1 rejected"
    assert outputs["odds_cleanup"] == "odds removed: 0"


async def test_a_job_fails_only_when_every_sport_does(stage: Stage) -> None:
    stage.odds.down = True
    said: list[str] = []

    with pytest.raises(SourceFailed):
        await named(stage)["odds_collector"].work(run(said))

    assert said == [f"{NBA}: The feed is at lunch", f"{EPL}: The feed is at lunch"]
