"""The status page: jobs, sources, storage and events, and a page per job."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from starlette.requests import Request
from starlette.responses import Response

from grandstand.core import formatting
from grandstand.core.errors import NotFound
from grandstand.host.maintenance import StoragePart
from grandstand.kit.auth.caller import Caller
from grandstand.kit.jobs.job import humanize_schedule
from grandstand.kit.pages.page import redirect_to
from grandstand.kit.pages.rendering import age_tag
from grandstand.kit.pages.table import Cell, Column, DataTable, Row, Tone
from grandstand.kit.routes import CurrentCaller, page
from grandstand.net.client import SourceStatus

if TYPE_CHECKING:
    from grandstand.host.runtime import Platform
    from grandstand.kit.jobs.admin import JobStatus
    from grandstand.kit.jobs.tables import JobRun

_STATES: Final[dict[str, Tone]] = {
    "running": "good",
    "retrying": "bad",
    "paused": "warn",
    "requested": "warn",
}
_BREAKERS: Final[dict[str, tuple[str, Tone]]] = {
    "closed": ("working", "good"),
    "half-open": ("being retried", "warn"),
    "open": ("paused", "bad"),
}


@dataclass(frozen=True, slots=True)
class Reader:
    """The current time and the time zone of the reader."""

    now: datetime
    zone: str

    def age(self, moment: datetime | None) -> Cell:
        """Return a time as an age."""
        return Cell(age_tag(moment, self.now, self.zone), moment)


def jobs_table(jobs: Iterable[JobStatus], reader: Reader) -> DataTable:
    """Return the jobs as a table, linked to their history."""
    columns = (
        Column("name", "Job"),
        Column("state", "State"),
        Column("schedule", "Schedule", rank=2),
        Column("due", "Next due", "time", rank=2),
        Column("outcome", "Last outcome"),
        Column("ended", "Ended", "time", rank=2),
        Column("error", "Last result"),
    )
    rows = tuple(Row(job.name, _job_cells(job, reader)) for job in jobs)
    return DataTable("jobs", "Jobs", columns, rows, csv_href="/status/jobs.csv", stacks=True)


def _job_cells(job: JobStatus, reader: Reader) -> tuple[Cell, ...]:
    text = job.last_error or job.last_result or ""
    return (
        Cell(job.name, href=f"/status/jobs/{job.name}"),
        Cell(job.state, tone=_STATES.get(job.state, ""), badge=True),
        Cell(humanize_schedule(job.schedule)),
        Cell("now") if job.running_on else reader.age(job.due_at),
        Cell(job.last_outcome or "never", tone="bad" if job.last_error else ""),
        reader.age(job.last_ended_at),
        Cell(_shorten(text), tone="bad" if job.last_error else "quiet"),
    )


def runs_table(runs: Iterable[JobRun], reader: Reader, job: str) -> DataTable:
    """Return the runs of one job as a table."""
    columns = (
        Column("token", "Run", "number"),
        Column("started", "Started", "time"),
        Column("took", "Took", "number"),
        Column("outcome", "Outcome"),
        Column("attempt", "Attempt", "number", rank=2),
        Column("instance", "Where", rank=2),
        Column("result", "Result"),
    )
    rows = tuple(
        Row(
            f"{run.token}-{run.attempt}",
            (
                Cell(formatting.format_number(run.token), run.token),
                reader.age(run.started_at),
                Cell(formatting.format_duration(run.seconds), run.seconds),
                Cell(run.outcome, tone="bad" if run.error else "good", badge=True),
                Cell(str(run.attempt), run.attempt),
                Cell(run.instance),
                Cell(run.error or run.result or "", tone="bad" if run.error else "quiet"),
            ),
        )
        for run in runs
    )
    return DataTable("runs", f"Runs of {job}", columns, rows, stacks=True)


def sources_table(sources: Iterable[SourceStatus], reader: Reader) -> DataTable:
    """Return the sources as a table with their remaining quota."""
    columns = (
        Column("name", "Source"),
        Column("host", "Host", rank=2),
        Column("breaker", "State"),
        Column("used", "Used", "number"),
        Column("left", "Left", "number"),
        Column("next", "Next allowed", "time", rank=2),
        Column("success", "Last success", "time", rank=2),
        Column("error", "Last error"),
    )
    rows = tuple(
        Row(
            source.name,
            (
                Cell(source.name),
                Cell(source.host),
                Cell(breaker, tone=tone, badge=True),
                Cell(formatting.format_number(source.used_today), source.used_today),
                Cell(formatting.format_number(source.quota_left), source.quota_left),
                reader.age(source.next_at),
                reader.age(source.last_success_at),
                Cell(_shorten(source.last_error or ""), tone="bad"),
            ),
        )
        for source in sources
        for breaker, tone in (_BREAKERS.get(source.breaker, (source.breaker, "")),)
    )
    return DataTable(
        "sources", "Sources and quotas", columns, rows, csv_href="/status/sources.csv", stacks=True
    )


def storage_table(parts: Iterable[StoragePart]) -> DataTable:
    """Return the tables and series as a table with their sizes."""
    columns = (
        Column("name", "Name"),
        Column("kind", "Kind", rank=2),
        Column("owner", "Owner", rank=2),
        Column("engine", "Engine", rank=2),
        Column("rows", "Rows", "number"),
        Column("size", "Size", "number"),
    )
    rows = tuple(
        Row(
            f"{part.kind}-{part.name}{'-simulated' if part.simulated else ''}",
            (
                Cell(part.name),
                Cell(part.kind),
                Cell(f"{part.owner}, simulated" if part.simulated else part.owner),
                Cell(part.engine),
                Cell(formatting.format_number(part.rows), part.rows),
                Cell(formatting.format_bytes(part.size_bytes), part.size_bytes),
            ),
        )
        for part in parts
    )
    return DataTable("storage", "Tables and series", columns, rows, csv_href="/status/storage.csv")


def _shorten(text: str) -> str:
    return text if len(text) <= 160 else f"{text[:159]}…"


EVENTS_SHOWN: Final = 60


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure at the top of the page."""

    title: str
    value: str
    detail: str = ""
    tone: str = ""


class StatusPages:
    """The status page and a page per job."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform

    @page("/status", access="admin")
    async def status(self, request: Request, who: CurrentCaller) -> Response:
        """Jobs with their last error, sources and quotas, storage and events."""
        platform, query = self._platform, request.query_params
        jobs, sources, storage, events = await asyncio.gather(
            platform.jobs.list(),
            platform.sources(),
            platform.storage(),
            platform.events.recent(EVENTS_SHOWN, who),
        )
        reader = self._reader(who)
        return platform.pages.render(
            request,
            "platform/status.html",
            figures=self._figures(jobs, storage),
            jobs=jobs_table(jobs, reader).view(query),
            sources=sources_table(sources, reader).view(query),
            storage=storage_table(storage).view(query),
            events=events,
        )

    @page("/status/{table}.csv", access="admin")
    async def download(self, who: CurrentCaller, table: str) -> Response:
        """One table of the page as CSV. Raises NotFound."""
        data = await self._table(table, who)
        headers = {"content-disposition": f'attachment; filename="{data.name}.csv"'}
        return Response(data.csv(), headers=headers, media_type="text/csv")

    @page("/status/jobs/{name}", access="admin")
    async def job(self, request: Request, who: CurrentCaller, name: str) -> Response:
        """One job and the history of its runs. Raises NotFound."""
        job = await self._platform.jobs.one(name)
        runs = await self._platform.jobs.history(name, 50)
        table = runs_table(runs, self._reader(who), name).view(request.query_params)
        return self._platform.pages.render(
            request,
            "platform/job.html",
            job=job,
            schedule=humanize_schedule(job.schedule),
            runs=table,
        )

    @page("/status/jobs/{name}/{action}", access="admin", method="POST")
    async def move(self, name: str, action: str) -> Response:
        """Run, pause or resume a job. Raises NotFound."""
        jobs = self._platform.jobs
        moves = {"run": jobs.run_now, "pause": jobs.pause, "resume": jobs.resume}
        if action not in moves:
            raise NotFound(f"Unknown action {action!r}. Use one of {', '.join(moves)}.")
        await moves[action](name)
        return redirect_to(f"/status/jobs/{name}")

    async def _table(self, name: str, who: Caller) -> DataTable:
        platform, reader = self._platform, self._reader(who)
        if name == "jobs":
            return jobs_table(await platform.jobs.list(), reader)
        if name == "sources":
            return sources_table(await platform.sources(), reader)
        if name == "storage":
            return storage_table(await platform.storage())
        raise NotFound("The tables are jobs, sources and storage")

    def _reader(self, who: Caller) -> Reader:
        return Reader(self._platform.clock.now(), who.preferences.time_zone)

    def _figures(
        self, jobs: Sequence[JobStatus], storage: Sequence[StoragePart]
    ) -> tuple[Figure, ...]:
        failing = [job for job in jobs if job.last_error]
        running = [job for job in jobs if job.running_on]
        taken = sum(part.size_bytes or 0 for part in storage)
        kept = sum(part.rows or 0 for part in storage)
        engines = sorted({part.engine for part in storage})
        return (
            Figure("Jobs", formatting.format_number(len(jobs)), f"{len(running)} running now"),
            Figure(
                "Failing",
                formatting.format_number(len(failing)),
                "all jobs succeeded" if not failing else "see the last error",
                "bad" if failing else "good",
            ),
            Figure(
                "Storage", formatting.format_bytes(taken), f"{formatting.format_number(kept)} rows"
            ),
            Figure("Engines", ", ".join(engines) or formatting.EMPTY),
            Figure("Open pages", formatting.format_number(self._platform.hub.open_pages)),
        )
