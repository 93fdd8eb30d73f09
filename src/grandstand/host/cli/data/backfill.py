"""Kept here: `grandstand tables backfill`, which shows how far it is and how to go on."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from grandstand.base.errors import GrandstandError, NotFound
from grandstand.host.catalogue import all_tables
from grandstand.host.opening import open_store
from grandstand.host.settings import read_settings
from grandstand.storage.tables.declaration.entity import Entity
from grandstand.storage.tables.upkeep.backfill import Progress as Reached
from grandstand.storage.tables.upkeep.backfill import Report, backfill


def backfill_entity(
    entity: Annotated[str, typer.Argument(help="An entity with a schema version, as Attempt.")],
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Count, but write nothing.")] = False,
    segments: Annotated[int, typer.Option(min=1, help="Parts of the table worked on at once.")] = 1,
    resume: Annotated[str | None, typer.Option(help="Go on from where a run stopped.")] = None,
) -> None:
    """Bring every stored item of an entity to its present schema version."""
    kind = _entity(entity)
    console = Console(stderr=True)
    bar = Progress(
        TextColumn(f"{entity}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[upgraded]} upgraded"),
        TimeRemainingColumn(),
        console=console,
    )
    last: list[Reached] = []
    with open_store(read_settings()) as store, bar:
        task = bar.add_task(entity, total=None, upgraded=0)

        def show(reached: Reached) -> None:
            last[:] = [reached]
            total = max(reached.estimated, reached.scanned)
            bar.update(task, total=total, completed=reached.scanned, upgraded=reached.upgraded)

        try:
            report = backfill(
                store, kind, progress=show, dry_run=dry_run, segments=segments, resume=resume
            )
        except (GrandstandError, KeyboardInterrupt):
            if last and last[0].resume:
                console.print(f"to go on: --segments {segments} --resume {last[0].resume}")
            raise
    _tell(report)


def _entity(name: str) -> type[Entity]:
    known = {entity.__name__: entity for table in all_tables() for entity in table.entities}
    if name not in known:
        versioned = [n for n, entity in known.items() if entity.__plan__.schema_version]
        message = f"There is no entity {name}; those with a version are {', '.join(versioned)}"
        raise NotFound(message)
    return known[name]


def _tell(report: Report) -> None:
    reached = report.progress
    would = "would be upgraded" if report.dry_run else "upgraded"
    typer.echo(f"{reached.upgraded} {would}, {reached.current} were current", nl=False)
    typer.echo(f", {reached.failed} failed" if reached.failed else "")
    for failure in report.failures:
        key = ", ".join(f"{name}={value!r}" for name, value in failure.key.items())
        typer.echo(f"{key}: {failure.reason}", err=True)
    if reached.failed:
        raise typer.Exit(1)
