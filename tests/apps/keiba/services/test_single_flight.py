"""Of all who want the same page at once, one asks the site: in one process and in four."""

import asyncio
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from grandstand.core.clock import SystemClock
from grandstand.simulators.faults import Fault
from grandstand.simulators.racing.site import Site
from grandstand.simulators.serving import serve
from grandstand.storage.tables import Naming, Store
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from tests.apps.keiba.services.racing_process import request_race
from tests.apps.keiba.stage import ALL_TABLES, SMALL, Stage

pytestmark = pytest.mark.anyio


async def test_of_many_in_one_process_one_asks_the_site(stage: Stage) -> None:
    found = await asyncio.gather(*(stage.keiba.pages.dated_race(stage.small) for _ in range(12)))

    assert len(stage.requested()) == 1
    assert {one.value.race_id for one in found} == {stage.small}


async def test_of_four_processes_one_asks_the_site(race_site: Site, tmp_path: Path) -> None:
    file, loop = tmp_path / "shared.db", asyncio.get_running_loop()
    with Store(
        SqliteEngine.open(file, clock=SystemClock()), naming=Naming(), clock=SystemClock()
    ) as store:
        store.create(ALL_TABLES)
    race_site.faults.ask_for(Fault(kind="delay", path="/race/race/", seconds=1.0))

    async with serve(race_site.application) as address:
        with ProcessPoolExecutor(4, mp_context=get_context("spawn")) as processes:
            found = await asyncio.gather(
                *(
                    loop.run_in_executor(
                        processes, request_race, file, address, SMALL, f"process-{n}"
                    )
                    for n in range(4)
                )
            )

    asked = [one.path for one in race_site.access_log.requests if "shutuba" in one.path]
    assert len(asked) == 1
    assert sorted(found) == [("fetched", 10), ("fresh", 10), ("fresh", 10), ("fresh", 10)]
