"""Kept here: a walk through a house made in memory, for what is only known when it stands."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from starlette.routing import BaseRoute, Mount, Route, WebSocketRoute

from grandstand.host.house import House
from grandstand.host.server.application import application
from grandstand.host.settings import Settings
from grandstand.kit.jobs.job import Always, Cron, Every, Job
from grandstand.kit.routes import MarkedRoute


@dataclass(frozen=True, slots=True)
class Walked:
    """The routes and the jobs of the whole house, as rows to be read."""

    routes: tuple[tuple[str, ...], ...]
    jobs: tuple[tuple[str, ...], ...]


def walk() -> Walked:
    """Put a house together in memory, look around, and leave nothing behind."""
    with TemporaryDirectory() as home:
        return asyncio.run(_walk(Path(home)))


async def _walk(home: Path) -> Walked:
    settings = Settings.model_construct(home=home, tables="sqlite::memory:")
    async with House.open(settings) as house:
        _, app = application(house)
        routes = [row for route in app.router.routes for row in _route_rows(route)]
        jobs = [_job_row(job) for job in house.background.runner.jobs]
        return Walked(tuple(sorted(routes)), tuple(sorted(jobs)))


def _route_rows(route: BaseRoute) -> Iterator[tuple[str, ...]]:
    if isinstance(route, MarkedRoute):
        mark = route.mark
        yield f"`{route.path}`", mark.method, mark.access, mark.summary or _told(route)
    elif isinstance(route, Route):
        methods = sorted((route.methods or set()) - {"HEAD"})
        yield f"`{route.path}`", ", ".join(methods), "see there", _told(route)
    elif isinstance(route, Mount):
        # What a file is called changes with what is in it.
        yield (
            f"`{route.path.rpartition('/')[0] or route.path}/…`",
            "GET",
            "anyone",
            "Files of pages.",
        )
    elif isinstance(route, WebSocketRoute):
        yield f"`{route.path}`", "socket", "user", "News for open pages."


def _told(route: Route) -> str:
    return (inspect.getdoc(route.endpoint) or "").partition("\n")[0]


def _job_row(job: Job) -> tuple[str, ...]:
    match job.when:
        case Every(seconds=seconds):
            when = f"every {seconds:g} s"
        case Cron(line=line, zone=zone):
            when = f"`{line}` {zone}"
        case Always():
            when = "always"
    limit = "–" if job.timeout_seconds is None else f"{job.timeout_seconds:g} s"
    return f"`{job.name}`", when, limit, str(job.tries), job.purpose
