"""Kept here: the status page: jobs, sources, storage and events, and one page for each job."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from starlette.requests import Request
from starlette.responses import Response

from grandstand.base.errors import NotFound
from grandstand.host.pages.listing import (
    Reader,
    jobs_table,
    runs_table,
    sources_table,
    storage_table,
)
from grandstand.host.storage import Part
from grandstand.kit.jobs.due import rhythm_words
from grandstand.kit.pages import shown
from grandstand.kit.pages.forms import lead_to
from grandstand.kit.pages.table import DataTable
from grandstand.kit.routes import Who, page
from grandstand.kit.who.caller import Caller

if TYPE_CHECKING:
    from grandstand.host.house import House
    from grandstand.kit.jobs.view import JobStatus

EVENTS_SHOWN: Final = 60
RUNS_SHOWN: Final = 50


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure at the head of the page."""

    title: str
    value: str
    detail: str = ""
    tone: str = ""


class StatusPages:
    """How the house is, for whoever keeps it."""

    def __init__(self, house: House) -> None:
        self._house = house

    @page("/status", access="admin")
    async def status(self, request: Request, who: Who) -> Response:
        """Jobs with their last error, sources and quotas, storage and the event log."""
        house, query = self._house, request.query_params
        jobs, sources, storage, events = await asyncio.gather(
            house.jobs.list(),
            house.sources(),
            house.storage(),
            house.events.recent(EVENTS_SHOWN, who),
        )
        reader = self._reader(who)
        return house.pages.render(
            request,
            "house/status.html",
            figures=self._figures(jobs, storage),
            jobs=jobs_table(jobs, reader).view(query),
            sources=sources_table(sources, reader).view(query),
            storage=storage_table(storage).view(query),
            events=events,
        )

    @page("/status/{table}.csv", access="admin")
    async def download(self, who: Who, table: str) -> Response:
        """One table of the page as CSV; raises NotFound."""
        made = await self._table(table, who)
        headers = {"content-disposition": f'attachment; filename="{made.name}.csv"'}
        return Response(made.csv(), headers=headers, media_type="text/csv")

    @page("/status/jobs/{name}", access="admin")
    async def job(self, request: Request, who: Who, name: str) -> Response:
        """One job and the history of its runs; raises NotFound."""
        job = await self._house.jobs.one(name)
        runs = await self._house.jobs.history(name, RUNS_SHOWN)
        table = runs_table(runs, self._reader(who), name).view(request.query_params)
        return self._house.pages.render(
            request, "house/job.html", job=job, rhythm=rhythm_words(job.rhythm), runs=table
        )

    @page("/status/jobs/{name}/{action}", access="admin", method="POST")
    async def move(self, name: str, action: str) -> Response:
        """Run, pause or resume a job; raises NotFound."""
        jobs = self._house.jobs
        moves = {"run": jobs.run_now, "pause": jobs.pause, "resume": jobs.resume}
        if action not in moves:
            raise NotFound(f"A job can be moved by {', '.join(moves)}, not by {action}")
        await moves[action](name)
        return lead_to(f"/status/jobs/{name}")

    async def _table(self, name: str, who: Caller) -> DataTable:
        house, reader = self._house, self._reader(who)
        if name == "jobs":
            return jobs_table(await house.jobs.list(), reader)
        if name == "sources":
            return sources_table(await house.sources(), reader)
        if name == "storage":
            return storage_table(await house.storage())
        raise NotFound("There are the tables jobs, sources and storage")

    def _reader(self, who: Caller) -> Reader:
        return Reader(self._house.clock.now(), who.preferences.time_zone)

    def _figures(self, jobs: Sequence[JobStatus], storage: Sequence[Part]) -> tuple[Figure, ...]:
        failing = [job for job in jobs if job.last_error]
        running = [job for job in jobs if job.running_on]
        taken = sum(part.size_bytes or 0 for part in storage)
        kept = sum(part.rows or 0 for part in storage)
        engines = sorted({part.engine for part in storage})
        return (
            Figure("Jobs", shown.number(len(jobs)), f"{len(running)} running now"),
            Figure(
                "Failing",
                shown.number(len(failing)),
                "every job went well" if not failing else "see their last error",
                "bad" if failing else "good",
            ),
            Figure("Storage", shown.byte_size(taken), f"{shown.number(kept)} rows"),
            Figure("Engines", ", ".join(engines) or shown.NOTHING),
            Figure("Open pages", shown.number(self._house.hub.open_pages)),
        )
