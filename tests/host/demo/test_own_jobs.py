"""Once a source is connected, the job that kept its stand-in in motion is not to be seen."""

from pathlib import Path

import pytest
from pydantic import SecretStr

from grandstand.apps.cricket.settings import CricketSettings
from grandstand.apps.keiba.settings import KeibaSettings
from grandstand.base.clock import SystemClock
from grandstand.host.demo.own_jobs import OWN_JOBS, idle_jobs
from grandstand.host.demo.story import demo_jobs
from grandstand.host.demo.world import playing
from grandstand.host.house import House
from grandstand.host.settings import DemoSettings, Settings
from grandstand.kit.jobs.tables import KeptJob
from grandstand.kit.live import Hub

pytestmark = pytest.mark.anyio


async def test_the_jobs_are_those_of_the_demo(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, demo=DemoSettings(play="on"))
    services = dict.fromkeys(OWN_JOBS)

    async with playing(settings) as demo, House.open(settings, apps=()) as house:
        assert demo is not None
        made = demo_jobs(demo, services, Hub(SystemClock(), house.metrics))

    assert {job.name for job in made} == set(OWN_JOBS.values())
    assert idle_jobs(settings) == frozenset()


async def test_a_job_of_a_connected_source_is_not_listed(tmp_path: Path) -> None:
    settings = Settings(
        home=tmp_path,
        demo=DemoSettings(play="on"),
        cricket=CricketSettings(feed_token=SecretStr("t")),
        keiba=KeibaSettings(ask_site=True),
    )
    async with House.open(settings, apps=()) as house:
        now = house.clock.now()
        for name in (*OWN_JOBS.values(), "house.sweep"):
            await house.store(KeptJob.enrol(name, "Known from before.", "always", now, now))

        listed = [status.name for status in await house.jobs.list()]

    assert listed == ["demo.past", "house.sweep"]
