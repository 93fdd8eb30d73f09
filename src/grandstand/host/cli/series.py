"""Kept here: `grandstand series …`: what there is of each series, and what keeps it in order."""

from __future__ import annotations

import enum
from contextlib import closing
from datetime import UTC, datetime
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table as Grid

from grandstand.host.catalogue import find_series
from grandstand.host.opening import open_series
from grandstand.host.settings import Settings
from grandstand.storage.series.engines.postgres import PostgresEngine
from grandstand.storage.series.engines.postgres.ddl import Edition, steps
from grandstand.storage.series.window import SeriesStatus

series = typer.Typer(help="The time series of every application.", no_args_is_help=True)

Names = Annotated[list[str] | None, typer.Argument(help="Series; all when none is named.")]


class Server(enum.StrEnum):
    """For which kind of server statements are written."""

    postgres = "postgres"
    timescale = "timescale"
    apache = "timescale-apache"


_EDITIONS: dict[Server, Edition] = {
    Server.postgres: "plain",
    Server.timescale: "timescale",
    Server.apache: "timescale-apache",
}


@series.command()
def status(names: Names = None) -> None:
    """Show chunks, rows, bytes and gaps of each series."""
    grid = Grid(box=None, header_style="bold", pad_edge=False)
    for heading in ("series", "from", "to"):
        grid.add_column(heading, no_wrap=True)
    for heading in ("chunks", "baked", "rows", "late", "bytes", "bytes/row", "gaps"):
        grid.add_column(heading, justify="right")
    with closing(open_series(Settings())) as engine:
        for one in find_series(names or []):
            engine.prepare(one)
            grid.add_row(*_row(engine.status(one)))
    Console().print(grid)


def _row(told: SeriesStatus) -> tuple[str, ...]:
    chunks = told.chunks
    rows = sum(chunk.rows + chunk.late for chunk in chunks)
    size = sum(chunk.size_bytes for chunk in chunks)
    return (
        told.name,
        _moment(chunks[0].start) if chunks else "–",
        _moment(chunks[-1].end) if chunks else "–",
        f"{len(chunks):,}",
        f"{sum(chunk.state == 'baked' for chunk in chunks):,}",
        f"{rows:,}",
        f"{sum(chunk.late for chunk in chunks):,}",
        f"{size:,}",
        f"{size / rows:.0f}" if rows else "–",
        str(len(told.gaps)),
    )


def _moment(time_us: int) -> str:
    return datetime.fromtimestamp(time_us / 1_000_000, UTC).strftime("%Y-%m-%d %H:%M")


@series.command()
def ddl(
    names: Names = None,
    engine: Annotated[Server, typer.Option(help="The kind of server.")] = Server.timescale,
    *,
    wide: Annotated[bool, typer.Option("--wide", help="Compress for very many keys.")] = False,
) -> None:
    """Print the statements that make the series on a PostgreSQL or TimescaleDB server."""
    for one in find_series(names or []):
        for step in steps(one, _EDITIONS[engine], wide=wide):
            typer.echo(f"-- {step.name}\n{step.sql.rstrip(';')};\n")


@series.command()
def migrate(
    names: Names = None,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what is due.")] = False,
) -> None:
    """Make what the series need where they live; doing it twice is harmless."""
    with closing(open_series(Settings())) as engine:
        for one in find_series(names or []):
            for step in engine.pending(one) if isinstance(engine, PostgresEngine) else ():
                typer.echo(f"{one.name}: {step.name}")
            if not dry_run:
                engine.prepare(one)
    typer.echo("nothing was changed" if dry_run else "the series are ready")


@series.command()
def upkeep(names: Names = None) -> None:
    """Close, compress, merge and drop what is due."""
    with closing(open_series(Settings())) as engine:
        for one in find_series(names or []):
            engine.prepare(one)
            done = engine.upkeep(one)
            typer.echo(
                f"{one.name}: {done.closed} closed, {done.baked} baked, {done.merged} merged, "
                f"{done.dropped} dropped"
            )
            for repaired in done.repaired:
                typer.echo(f"  repaired: {repaired}")
