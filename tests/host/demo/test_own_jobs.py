"""Once a source is connected, the job that kept its stand-in in motion is not to be seen."""

from pathlib import Path

import pytest
from pydantic import SecretStr

from grandstand.apps.cricket.settings import CricketSettings
from grandstand.apps.keiba.settings import KeibaSettings
from grandstand.core.clock import SystemClock
from grandstand.host.demo.jobs import DEMO_JOBS, demo_jobs, unused_demo_jobs
from grandstand.host.demo.world import open_demo
from grandstand.host.runtime import Platform
from grandstand.host.settings import DemoSettings, Settings
from grandstand.kit.jobs.tables import JobState
from grandstand.kit.live import LiveHub

pytestmark = pytest.mark.anyio


async def test_the_jobs_are_those_of_the_demo(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, demo=DemoSettings(play="on"))
    services = dict.fromkeys(DEMO_JOBS)

    async with open_demo(settings) as demo, Platform.open(settings, apps=()) as platform:
        assert demo is not None
        made = demo_jobs(demo, services, LiveHub(SystemClock(), platform.metrics))

    assert {job.name for job in made} == set(DEMO_JOBS.values())
    assert unused_demo_jobs(settings) == frozenset()


async def test_a_job_of_a_connected_source_is_not_listed(tmp_path: Path) -> None:
    settings = Settings(
        home=tmp_path,
        demo=DemoSettings(play="on"),
        cricket=CricketSettings(feed_token=SecretStr("t")),
        keiba=KeibaSettings(ask_site=True),
    )
    async with Platform.open(settings, apps=()) as platform:
        now = platform.clock.now()
        for name in (*DEMO_JOBS.values(), "platform.sweep"):
            await platform.store(JobState.enrol(name, "Known from before.", "always", now, now))

        listed = [status.name for status in await platform.jobs.list()]

    assert listed == ["demo.past", "platform.sweep"]
