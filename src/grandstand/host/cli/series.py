"""`grandstand series`: inspect, migrate, export and verify time series."""

from __future__ import annotations

import enum
import json
from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from grandstand.core.errors import InvalidInput
from grandstand.host.cli.output import AsJson
from grandstand.host.infrastructure import open_series
from grandstand.host.registry import find_series
from grandstand.host.settings import read_settings
from grandstand.kit.terminal import ColumnSpec, TableRow, console, print_table
from grandstand.storage.series.declaration import Series
from grandstand.storage.series.engines.postgres.engine import PostgresEngine
from grandstand.storage.series.engines.postgres.schema import Edition, steps
from grandstand.storage.series.engines.protocol import SeriesEngine
from grandstand.storage.series.export import Form
from grandstand.storage.series.export import export as export_series
from grandstand.storage.series.query import SeriesStatus, Window
from grandstand.storage.series.verify import Finding
from grandstand.storage.series.verify import verify as verify_series

series = typer.Typer(help="Inspect, export and verify time series.", no_args_is_help=True)

Names = Annotated[list[str] | None, typer.Argument(help="Series; all by default.")]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_STATUS: Final = (
    ColumnSpec("series", whole=True),
    ColumnSpec("from", from_width=100, whole=True),
    ColumnSpec("to", from_width=100, whole=True),
    ColumnSpec("chunks", right=True),
    ColumnSpec("compressed", right=True),
    ColumnSpec("rows", right=True),
    ColumnSpec("late", right=True, from_width=80),
    ColumnSpec("bytes", right=True),
    ColumnSpec("bytes/row", right=True, from_width=80),
    ColumnSpec("ratio", right=True, from_width=80),
    ColumnSpec("gaps", right=True),
)


class ServerKind(enum.StrEnum):
    """The kind of server to write statements for."""

    postgres = "postgres"
    timescale = "timescale"
    apache = "timescale-apache"


_EDITIONS: dict[ServerKind, Edition] = {
    ServerKind.postgres: "plain",
    ServerKind.timescale: "timescale",
    ServerKind.apache: "timescale-apache",
}


@series.command()
def status(
    names: Names = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Show chunks, rows, size, compression and gaps of each series."""
    found = []
    with closing(open_series(read_settings())) as engine:
        for one in find_series(names or []):
            engine.prepare(one)
            found.append(engine.status(one))
    if as_json:
        typer.echo(json.dumps([_document(one) for one in found], indent=2))
        return
    print_table(console(), _STATUS, (TableRow(_row(one)) for one in found))
    for series_status in found:
        _show_gaps(series_status)


def _row(status: SeriesStatus) -> tuple[str, ...]:
    chunks = status.chunks
    rows = sum(chunk.rows + chunk.late for chunk in chunks)
    size = sum(chunk.size_bytes for chunk in chunks)
    ratio = _ratio(status)
    return (
        status.name,
        _moment(chunks[0].start) if chunks else "–",
        _moment(chunks[-1].end) if chunks else "–",
        f"{len(chunks):,}",
        f"{sum(chunk.state == 'compressed' for chunk in chunks):,}",
        f"{rows:,}",
        f"{sum(chunk.late for chunk in chunks):,}",
        f"{size:,}",
        f"{size / rows:.0f}" if rows else "–",
        f"{ratio:.1f}×" if ratio else "–",
        str(len(status.gaps)),
    )


def _show_gaps(status: SeriesStatus) -> None:
    if not status.gaps:
        return
    typer.echo(f"\ngaps of {status.name}:")
    for start, end in status.gaps[:10]:
        length = timedelta(microseconds=end - start)
        typer.echo(f"  {_moment(start)} – {_moment(end)}  ({length})")
    if len(status.gaps) > 10:
        typer.echo(f"  and {len(status.gaps) - 10} more; --json lists them all")


def _ratio(status: SeriesStatus) -> float | None:
    """Return the compression ratio; None unless there are both kinds of chunks."""
    sizes = {True: 0, False: 0}
    rows = {True: 0, False: 0}
    for chunk in status.chunks:
        compressed = chunk.state == "compressed"
        sizes[compressed] += chunk.size_bytes
        rows[compressed] += chunk.rows + chunk.late
    if not all((*sizes.values(), *rows.values())):
        return None
    return (sizes[False] / rows[False]) / (sizes[True] / rows[True])


def _document(status: SeriesStatus) -> dict[str, Any]:
    return {
        "name": status.name,
        "rows": sum(chunk.rows + chunk.late for chunk in status.chunks),
        "size_bytes": sum(chunk.size_bytes for chunk in status.chunks),
        "compression_ratio": _ratio(status),
        "chunks": [asdict(chunk) for chunk in status.chunks],
        "gaps": [{"start": start, "end": end} for start, end in status.gaps],
    }


def _moment(time_us: int) -> str:
    try:
        return (_EPOCH + timedelta(microseconds=time_us)).strftime("%Y-%m-%d %H:%M")
    except OverflowError:
        return f"{time_us} µs"


@series.command()
def ddl(
    names: Names = None,
    engine: Annotated[ServerKind, typer.Option(help="The kind of server.")] = ServerKind.timescale,
    *,
    wide: Annotated[bool, typer.Option("--wide", help="Compress for very many keys.")] = False,
) -> None:
    """Print the statements that create the series on PostgreSQL or TimescaleDB."""
    for one in find_series(names or []):
        for step in steps(one, _EDITIONS[engine], wide=wide):
            typer.echo(f"-- {step.name}\n{step.sql.rstrip(';')};\n")


@series.command()
def migrate(
    names: Names = None,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what is due.")] = False,
) -> None:
    """Create or update what the series need; repeating it is harmless."""
    with closing(open_series(read_settings())) as engine:
        for one in find_series(names or []):
            for step in engine.pending(one) if isinstance(engine, PostgresEngine) else ():
                typer.echo(f"{one.name}: {step.name}")
            if not dry_run:
                engine.prepare(one)
    typer.echo("dry run: nothing was changed" if dry_run else "the series are ready")


@series.command()
def upkeep(names: Names = None) -> None:
    """Close, compress, merge and drop what is due."""
    chosen = find_series(names or [])
    with closing(open_series(read_settings())) as engine, _progress() as progress:
        task = progress.add_task("upkeep", total=len(chosen))
        for one in chosen:
            progress.update(task, description=f"upkeep of {one.name}")
            engine.prepare(one)
            done = engine.upkeep(one)
            typer.echo(
                f"{one.name}: {done.closed} closed, {done.compressed} compressed, "
                f"{done.merged} merged, {done.dropped} dropped"
            )
            for repaired in done.repaired:
                typer.echo(f"  repaired: {repaired}")
            progress.advance(task)


@series.command()
def export(
    name: Annotated[str, typer.Argument(help="The series.")],
    *,
    since: Annotated[
        str | None, typer.Option("--from", help="Start time: ISO 8601 or microseconds.")
    ] = None,
    until: Annotated[
        str | None, typer.Option("--to", help="End time (exclusive): ISO 8601 or microseconds.")
    ] = None,
    key: Annotated[
        list[str] | None, typer.Option(help="Only this key, such as a ticker; repeatable.")
    ] = None,
    parquet: Annotated[Path | None, typer.Option(help="Write Parquet to this file.")] = None,
    csv: Annotated[Path | None, typer.Option(help="Write CSV to this file.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
) -> None:
    """Write the rows of a series, oldest first, to a Parquet or CSV file."""
    path, form = _target(parquet, csv)
    (one,) = find_series([name])
    start = -(2**63) if since is None else _time_us(since)
    end = 2**63 - 1 if until is None else _time_us(until)
    window = Window(one, start, end, keys=tuple(key or ()))
    with closing(open_series(read_settings())) as engine, _progress() as progress:
        task = progress.add_task(f"export of {name}", total=None)
        rows = export_series(
            engine,
            window,
            path,
            form,
            force=force,
            on_progress=lambda done: progress.update(
                task, completed=done, description=f"export of {name}: {done:,} rows"
            ),
        )
    typer.echo(f"wrote {rows:,} rows to {path}", err=True)


def _target(parquet: Path | None, csv: Path | None) -> tuple[Path, Form]:
    if parquet is not None and csv is None:
        return parquet, "parquet"
    if csv is not None and parquet is None:
        return csv, "csv"
    raise InvalidInput("Set one output: either --parquet FILE or --csv FILE")


def _time_us(text: str) -> int:
    """Parse a time; without a zone it is UTC. Raises InvalidInput."""
    try:
        return int(text)
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as fault:
        raise InvalidInput(
            f"{text!r} is not a time. Use 2026-01-31T12:00:00Z, or microseconds since 1970."
        ) from fault
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return (aware - _EPOCH) // timedelta(microseconds=1)


@series.command()
def verify(names: Names = None) -> None:
    """Read all stored data without changing it and report problems; exit 1 if there are any."""
    wrong = False
    with closing(open_series(read_settings())) as engine, _progress() as progress:
        for one in find_series(names or []):
            findings = _verify(engine, one, progress)
            wrong = wrong or any(finding.serious for finding in findings)
            for finding in findings:
                typer.echo(str(finding))
            if not findings:
                typer.echo(f"{one.name}: no problems")
    if wrong:
        raise typer.Exit(1)


def _verify(engine: SeriesEngine, one: Series[Any], progress: Progress) -> list[Finding]:
    task = progress.add_task(f"verify {one.name}", total=None)
    report = partial(progress.update, task)
    return [*verify_series(engine, one, lambda at: report(completed=at.done, total=at.chunks))]


def _progress() -> Progress:
    """Show progress on standard error, only on a terminal."""
    console = Console(stderr=True)
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
