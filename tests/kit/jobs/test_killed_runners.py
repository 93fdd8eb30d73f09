"""When the process that runs a job is killed or frozen, another takes over.

When it does, on the clock, is the matter of the runner's own tests.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.kit.jobs import working
from tests.kit.jobs.conftest import Floor, once

ROOT = Path(__file__).parents[3]

Start = Callable[[str], "subprocess.Popen[str]"]


@pytest.fixture
def start(floor: Floor) -> Iterator[Start]:
    """Starts processes that run jobs, and ends them with the test."""
    started: list[subprocess.Popen[str]] = []

    def begin(name: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", working.__name__, floor.place, floor.prefix, name]
        environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"}
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment
        )
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline().endswith("up\n")
        return process

    yield begin
    for process in started:
        process.kill()
        process.communicate()


def told(process: subprocess.Popen[str], lines: int) -> dict[str, list[str]]:
    """Read what a process says: by job, the moment, the token and the rest."""
    assert process.stdout is not None
    read = [process.stdout.readline().split() for _ in range(lines)]
    return {job: [moment, *rest] for moment, job, *rest in read}


@pytest.mark.anyio
async def test_another_process_takes_over_from_one_that_was_killed(
    floor: Floor, start: Start
) -> None:
    first = start("first")
    held = told(first, 2)
    second = start("second")

    first.send_signal(signal.SIGKILL)
    killed_at = floor.clock.epoch()
    taken = told(second, 2)

    assert min(float(taken[job][0]) for job in ("always", "long")) > killed_at
    assert int(taken["always"][1]) > int(held["always"][1])
    assert (held["long"][2], taken["long"][2]) == ("1", "2")
    runs = await once(lambda: floor.view().history("tests.always"))
    assert [(run.instance, run.outcome) for run in runs] == [("first", "lost")]


@pytest.mark.anyio
async def test_a_process_that_was_frozen_stops_its_work_when_it_wakes_and_changes_nothing(
    floor: Floor, start: Start
) -> None:
    first = start("first")
    held = told(first, 2)
    second = start("second")

    first.send_signal(signal.SIGSTOP)
    told(second, 2)
    first.send_signal(signal.SIGCONT)
    woken = told(first, 1)

    assert woken["stopped"][1] == held["long"][1]
    view = floor.view()
    runs = await once(lambda: view.history("tests.long"), lambda seen: len(seen) == 2)
    status = await floor.view().one("tests.always")
    assert [(run.instance, run.outcome) for run in runs] == [("second", "done"), ("first", "lost")]
    assert status.running_on == "second"
