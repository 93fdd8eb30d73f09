"""`grandstand jobs`: list, run and pause jobs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Final, TypeVar

import typer

from grandstand.core.clock import SystemClock
from grandstand.host.cli.output import AsJson, to_json
from grandstand.host.demo.jobs import unused_demo_jobs
from grandstand.host.infrastructure import open_store
from grandstand.host.settings import read_settings
from grandstand.kit.jobs.admin import JobAdmin, JobStatus
from grandstand.kit.jobs.job import humanize_schedule
from grandstand.kit.jobs.tables import JobRun
from grandstand.kit.terminal import ColumnSpec, TableRow, console, print_table
from grandstand.storage.tables.store import AsyncStore

jobs = typer.Typer(help="List, run and pause jobs.", no_args_is_help=True)

T = TypeVar("T")

_JOBS: Final = (
    ColumnSpec("job", whole=True),
    ColumnSpec("when", from_width=100, whole=True),
    ColumnSpec("state", whole=True),
    ColumnSpec("due", whole=True),
    ColumnSpec("last", from_width=80, whole=True),
    ColumnSpec("on", from_width=160, whole=True),
    ColumnSpec("result", from_width=120),
)
_RUNS: Final = (
    ColumnSpec("started", whole=True),
    ColumnSpec("seconds", right=True),
    ColumnSpec("outcome", whole=True),
    ColumnSpec("try", right=True, from_width=80),
    ColumnSpec("on", from_width=120, whole=True),
    ColumnSpec("result"),
)

Name = Annotated[str, typer.Argument(help="The job, such as platform.sweep.", show_default=False)]


@jobs.command("list")
def list_jobs(*, as_json: AsJson = False) -> None:
    """List all jobs with due time, instance and last outcome."""
    found = _with_admin(lambda admin: admin.list())
    if as_json:
        typer.echo(to_json(found))
        return
    if not found:
        typer.echo("No jobs yet. They are declared when `grandstand up` starts.")
        return
    now = SystemClock().now()
    print_table(console(), _JOBS, (_job_line(status, now) for status in found))


@jobs.command()
def run(name: Name, *, as_json: AsJson = False) -> None:
    """Run a job now; a process that runs jobs starts it within seconds."""
    _change(name, JobAdmin.run_now, "will start within seconds", as_json=as_json)


@jobs.command()
def pause(name: Name, *, as_json: AsJson = False) -> None:
    """Pause a job; a continuous one is stopped."""
    _change(name, JobAdmin.pause, "is paused", as_json=as_json)


@jobs.command()
def resume(name: Name, *, as_json: AsJson = False) -> None:
    """Resume a paused job; one run makes up for those missed."""
    _change(name, JobAdmin.resume, "is resumed", as_json=as_json)


@jobs.command()
def history(
    name: Name,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="The maximum number of runs.")] = 20,
    *,
    as_json: AsJson = False,
) -> None:
    """Show the last runs of a job, newest first."""
    runs = _with_admin(lambda admin: admin.history(name, limit))
    if as_json:
        typer.echo(to_json([asdict(each) | {"seconds": each.seconds} for each in runs]))
        return
    print_table(console(), _RUNS, map(_run_line, runs))


def _with_admin(act: Callable[[JobAdmin], Awaitable[T]]) -> T:
    settings = read_settings()

    async def run() -> T:
        with open_store(settings) as store:
            retired = unused_demo_jobs(settings)
            return await act(JobAdmin(AsyncStore(store), store.session.clock, retired=retired))

    return asyncio.run(run())


def _change(
    name: str, change: Callable[[JobAdmin, str], Awaitable[None]], done: str, *, as_json: bool
) -> None:
    async def act(admin: JobAdmin) -> JobStatus:
        await change(admin, name)
        return await admin.one(name)

    status = _with_admin(act)
    typer.echo(to_json(status) if as_json else f"{name} {done}")


def _job_line(status: JobStatus, now: datetime) -> TableRow:
    waits = status.due_at is not None and not status.paused and status.running_on is None
    ended = status.last_ended_at
    return TableRow(
        (
            status.name,
            humanize_schedule(status.schedule),
            status.state,
            f"in {_span(now, status.due_at)}" if waits else "–",
            f"{status.last_outcome} {_span(ended, now)} ago" if ended else "–",
            status.running_on or "–",
            status.last_error or status.last_result or "",
        )
    )


def _span(start: datetime | None, end: datetime | None) -> str:
    """Return the time between two moments in the largest unit."""
    seconds = max(0.0, (end - start).total_seconds()) if start and end else 0.0
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


def _run_line(each: JobRun) -> TableRow:
    return TableRow(
        (
            f"{each.started_at:%Y-%m-%d %H:%M:%S}",
            f"{each.seconds:.1f}",
            each.outcome,
            str(each.attempt),
            each.instance,
            each.error or each.result or "",
        )
    )
