"""Kept here: `grandstand jobs …`: which jobs there are, how they went, and how they are moved."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Final, TypeVar

import typer

from grandstand.base.clock import SystemClock
from grandstand.host.cli.showing import as_json as written
from grandstand.host.demo.own_jobs import idle_jobs
from grandstand.host.opening import open_store
from grandstand.host.settings import read_settings
from grandstand.kit.jobs.due import rhythm_words
from grandstand.kit.jobs.tables import JobRun
from grandstand.kit.jobs.view import JobStatus, JobsView
from grandstand.kit.terminal import Column, Line, console, print_grid
from grandstand.storage.tables.store import AsyncStore

jobs = typer.Typer(help="The work that is done by itself.", no_args_is_help=True)

T = TypeVar("T")

_JOBS: Final = (
    Column("job", whole=True),
    Column("when", from_width=100, whole=True),
    Column("state", whole=True),
    Column("due", whole=True),
    Column("last", from_width=80, whole=True),
    Column("on", from_width=160, whole=True),
    Column("said", from_width=120),
)
_RUNS: Final = (
    Column("started", whole=True),
    Column("seconds", right=True),
    Column("outcome", whole=True),
    Column("try", right=True, from_width=80),
    Column("on", from_width=120, whole=True),
    Column("said"),
)

Name = Annotated[str, typer.Argument(help="A job, such as house.sweep.", show_default=False)]
AsJson = Annotated[bool, typer.Option("--json", help="As JSON, for programs.")]


@jobs.command("list")
def list_jobs(*, as_json: AsJson = False) -> None:
    """List every job: when it is due, where it runs, how it went last."""
    found = _viewing(lambda view: view.list())
    if as_json:
        typer.echo(written(found))
        return
    if not found:
        typer.echo("There are no jobs yet: they are enrolled when `grandstand up` starts.")
        return
    now = SystemClock().now()
    print_grid(console(), _JOBS, (_job_line(status, now) for status in found))


@jobs.command()
def run(name: Name, *, as_json: AsJson = False) -> None:
    """Ask for a run now; a process that runs jobs begins it within seconds."""
    _moved(name, JobsView.run_now, "is asked for and begins within seconds", as_json=as_json)


@jobs.command()
def pause(name: Name, *, as_json: AsJson = False) -> None:
    """Let a job rest until it is resumed; one that never ends is stopped."""
    _moved(name, JobsView.pause, "is paused", as_json=as_json)


@jobs.command()
def resume(name: Name, *, as_json: AsJson = False) -> None:
    """Let a job that rests go on; what it missed is made up for by one run."""
    _moved(name, JobsView.resume, "goes on", as_json=as_json)


@jobs.command()
def history(
    name: Name,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="At most so many runs.")] = 20,
    *,
    as_json: AsJson = False,
) -> None:
    """Show the last runs of a job, newest first."""
    runs = _viewing(lambda view: view.history(name, limit))
    if as_json:
        typer.echo(written([asdict(each) | {"seconds": each.seconds} for each in runs]))
        return
    print_grid(console(), _RUNS, map(_run_line, runs))


def _viewing(look: Callable[[JobsView], Awaitable[T]]) -> T:
    settings = read_settings()

    async def opened() -> T:
        with open_store(settings) as store:
            kept, clock = AsyncStore(store), store.session.clock
            return await look(JobsView(kept, clock, retired=idle_jobs(settings)))

    return asyncio.run(opened())


def _moved(
    name: str,
    move: Callable[[JobsView, str], Awaitable[None]],
    told: str,
    *,
    as_json: bool,
) -> None:
    async def moved(view: JobsView) -> JobStatus:
        await move(view, name)
        return await view.one(name)

    status = _viewing(moved)
    if as_json:
        typer.echo(written(status))
    else:
        typer.echo(f"{name} {told}")


def _job_line(status: JobStatus, now: datetime) -> Line:
    waits = status.due_at is not None and not status.paused and status.running_on is None
    ended = status.last_ended_at
    return Line(
        (
            status.name,
            rhythm_words(status.rhythm),
            status.state,
            f"in {_span(now, status.due_at)}" if waits else "–",
            f"{status.last_outcome} {_span(ended, now)} ago" if ended else "–",
            status.running_on or "–",
            status.last_error or status.last_said or "",
        )
    )


def _span(start: datetime | None, end: datetime | None) -> str:
    """Say how long it is from one moment to another, in the largest unit that fits."""
    seconds = max(0.0, (end - start).total_seconds()) if start and end else 0.0
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


def _run_line(each: JobRun) -> Line:
    return Line(
        (
            f"{each.started_at:%Y-%m-%d %H:%M:%S}",
            f"{each.seconds:.1f}",
            each.outcome,
            str(each.attempt),
            each.instance,
            each.error or each.said or "",
        )
    )
