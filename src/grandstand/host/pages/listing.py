"""Kept here: what the house knows of itself, as tables of its status page."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from grandstand.host.storage import Part
from grandstand.kit.jobs.due import rhythm_words
from grandstand.kit.pages import shown
from grandstand.kit.pages.table import Cell, Column, DataTable, Row, Tone
from grandstand.wire.source import SourceStatus

if TYPE_CHECKING:
    from grandstand.kit.jobs.tables import JobRun
    from grandstand.kit.jobs.view import JobStatus

_STATES: Final[dict[str, Tone]] = {
    "running": "good",
    "retrying": "bad",
    "paused": "warn",
    "asked": "warn",
}
_BREAKERS: Final[dict[str, tuple[str, Tone]]] = {
    "closed": ("well", "good"),
    "half-open": ("tried again", "warn"),
    "open": ("left alone", "bad"),
}
"""The states of a breaker, whose words engineers know from circuits, as everybody says them."""
_LONGEST_ERROR: Final = 160


@dataclass(frozen=True, slots=True)
class Reader:
    """For whom a table is written: the moment and the zone its times are told in."""

    now: datetime
    zone: str

    def age(self, moment: datetime | None) -> Cell:
        """A moment told by its age."""
        return Cell(shown.age_tag(moment, self.now, self.zone), moment)


def jobs_table(jobs: Iterable[JobStatus], reader: Reader) -> DataTable:
    """List jobs, each name leading to its history."""
    columns = (
        Column("name", "Job"),
        Column("state", "State"),
        Column("rhythm", "When", rank=2),
        Column("due", "Next due", "time", rank=2),
        Column("outcome", "Last outcome"),
        Column("ended", "Ended", "time", rank=2),
        Column("error", "Last error or word"),
    )
    rows = tuple(Row(job.name, _job_cells(job, reader)) for job in jobs)
    return DataTable("jobs", "Jobs", columns, rows, csv_href="/status/jobs.csv", stacks=True)


def _job_cells(job: JobStatus, reader: Reader) -> tuple[Cell, ...]:
    words = job.last_error or job.last_said or ""
    return (
        Cell(job.name, href=f"/status/jobs/{job.name}"),
        Cell(job.state, tone=_STATES.get(job.state, ""), badge=True),
        Cell(rhythm_words(job.rhythm)),
        Cell("now") if job.running_on else reader.age(job.due_at),
        Cell(job.last_outcome or "never", tone="bad" if job.last_error else ""),
        reader.age(job.last_ended_at),
        Cell(_short(words), tone="bad" if job.last_error else "quiet"),
    )


def runs_table(runs: Iterable[JobRun], reader: Reader, job: str) -> DataTable:
    """List the runs of one job."""
    columns = (
        Column("token", "Run", "number"),
        Column("started", "Started", "time"),
        Column("took", "Took", "number"),
        Column("outcome", "Outcome"),
        Column("attempt", "Attempt", "number", rank=2),
        Column("instance", "Where", rank=2),
        Column("words", "Error or word"),
    )
    rows = tuple(
        Row(
            f"{run.token}-{run.attempt}",
            (
                Cell(shown.number(run.token), run.token),
                reader.age(run.started_at),
                _took(run.started_at, run.ended_at),
                Cell(run.outcome, tone="bad" if run.error else "good", badge=True),
                Cell(str(run.attempt), run.attempt),
                Cell(run.instance),
                Cell(run.error or run.said or "", tone="bad" if run.error else "quiet"),
            ),
        )
        for run in runs
    )
    return DataTable("runs", f"Runs of {job}", columns, rows, stacks=True)


def _took(started_at: datetime, ended_at: datetime) -> Cell:
    seconds = (ended_at - started_at).total_seconds()
    return Cell(shown.duration(seconds), seconds)


def sources_table(sources: Iterable[SourceStatus], reader: Reader) -> DataTable:
    """List outside sources with what may still be asked of them."""
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
                _standing(source.breaker),
                Cell(shown.number(source.used_today), source.used_today),
                Cell(shown.number(source.quota_left), source.quota_left),
                reader.age(source.next_at),
                reader.age(source.last_success_at),
                Cell(_short(source.last_error or ""), tone="bad"),
            ),
        )
        for source in sources
    )
    return DataTable(
        "sources", "Sources and quotas", columns, rows, csv_href="/status/sources.csv", stacks=True
    )


def _standing(breaker: str) -> Cell:
    word, tone = _BREAKERS.get(breaker, (breaker, ""))
    return Cell(word, tone=tone, badge=True)


def storage_table(parts: Iterable[Part]) -> DataTable:
    """List tables and series with what they hold and take."""
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
                Cell(shown.number(part.rows), part.rows),
                Cell(shown.byte_size(part.size_bytes), part.size_bytes),
            ),
        )
        for part in parts
    )
    return DataTable("storage", "Tables and series", columns, rows, csv_href="/status/storage.csv")


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_ERROR else f"{text[: _LONGEST_ERROR - 1]}…"
