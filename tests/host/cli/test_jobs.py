"""The command line of jobs, beside a process that runs them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from typer.testing import CliRunner, Result

from grandstand.core.clock import SystemClock
from grandstand.core.errors import NotFound
from grandstand.core.metrics import Metrics
from grandstand.host.cli.jobs import jobs
from grandstand.host.infrastructure import open_store
from grandstand.host.settings import read_settings
from grandstand.kit.jobs.job import Every, Job, JobContext
from grandstand.kit.jobs.runner import JobRunner, RunnerConfig
from grandstand.kit.jobs.tables import JOB_TABLES
from grandstand.storage.tables import AsyncStore
from grandstand.storage.tables.platform_tables import PLATFORM_TABLES
from tests.kit.jobs.conftest import until
from tests.kit.stores import Listener

Call = Callable[..., Result]


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Call:
    """Runs the commands on a fresh data folder, on a wide terminal."""
    monkeypatch.setenv("GRANDSTAND_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("COLUMNS", "250")
    runner = CliRunner()

    def invoke(*arguments: str) -> Result:
        return runner.invoke(jobs, arguments)

    return invoke


@pytest.fixture
def ran(call: Call) -> Call:
    """The same, after two jobs have run once, one of them badly."""
    asyncio.run(run_once())
    return call


async def run_once() -> None:
    ended: list[str] = []

    async def well(_run: JobContext) -> str | None:
        ended.append("well")
        return "counted [7] odds"

    async def badly(_run: JobContext) -> str | None:
        ended.append("badly")
        message = "no such thing"
        raise NotFound(message)

    daily = Every(86_400, jitter=0.0)
    with open_store(read_settings()) as store:
        store.create((*PLATFORM_TABLES, *JOB_TABLES))
        runner = JobRunner(
            AsyncStore(store),
            [
                Job("tests.well", "Goes well.", daily, well),
                Job("tests.badly", "Goes badly.", daily, badly, tries=1),
            ],
            clock=SystemClock(),
            random=Random(1),
            metrics=Metrics(),
            publisher=Listener(),
            instance="here",
            config=RunnerConfig(look_seconds=0.1),
        )
        task = asyncio.create_task(runner.run())
        await until(lambda: len(ended) == 2)
        await runner.stop()
        await task


def test_jobs_are_listed_with_how_they_went(ran: Call) -> None:
    shown = ran("list").stdout
    told = json.loads(ran("list", "--json").stdout)

    badly, well = [line for line in shown.splitlines() if line.startswith("tests.")]
    assert "NotFound: no such thing" in badly
    assert "daily" in well
    assert " ago " in well
    assert "counted [7] odds" in well
    assert [job["last_outcome"] for job in told] == ["failed", "done"]
    assert told[1]["due_at"].endswith("+00:00")


def test_the_history_of_a_job_is_shown(ran: Call) -> None:
    shown = ran("history", "tests.well").stdout
    told = json.loads(ran("history", "tests.well", "--json").stdout)

    assert "counted [7] odds" in shown
    assert [(run["outcome"], run["instance"], run["attempt"]) for run in told] == [
        ("done", "here", 1)
    ]


def test_a_job_can_be_asked_for_paused_and_resumed(ran: Call) -> None:
    asked = ran("run", "tests.well").stdout
    states = [
        json.loads(ran(move, name, "--json").stdout)["state"]
        for move, name in [
            ("pause", "tests.badly"),
            ("resume", "tests.badly"),
            ("run", "tests.badly"),
        ]
    ]

    assert asked == "tests.well will start within seconds\n"
    assert states == ["paused", "waiting", "requested"]


@pytest.mark.parametrize("move", ["run", "pause", "resume", "history"])
def test_a_job_that_is_not_there_is_not_found(ran: Call, move: str) -> None:
    result = ran(move, "tests.unknown")

    assert isinstance(result.exception, NotFound)
    assert "there are tests.badly, tests.well" in str(result.exception)


def test_before_anything_has_started_there_are_no_jobs(call: Call) -> None:
    shown, told = call("list"), call("list", "--json")

    assert "No jobs yet" in shown.stdout
    assert json.loads(told.stdout) == []
