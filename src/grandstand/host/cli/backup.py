"""`grandstand backup`, `restore` and `copy`: back up, restore and move data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from pydantic import SecretStr

from grandstand.core.clock import SystemClock
from grandstand.core.errors import InvalidInput, LimitReached, Unavailable
from grandstand.core.formatting import format_bytes
from grandstand.host.backup import restore as restoring
from grandstand.host.backup.backup import BackupResult, back_up
from grandstand.host.backup.copying import (
    SeriesCopyReport,
    SeriesCopyRequest,
    SeriesCopyResult,
    TableCopyReport,
    TableCopyRequest,
    TableCopyResult,
    copy_series,
    copy_tables,
)
from grandstand.host.cli.output import AsJson, show_progress, to_json
from grandstand.host.infrastructure import sqlite_file
from grandstand.host.registry import find_series, find_tables
from grandstand.host.settings import Settings, read_settings
from grandstand.kit.terminal import ColumnSpec, TableRow, console, print_table


def backup(
    to: Annotated[
        Path, typer.Argument(help="The backup file, or a folder for a file named by the time.")
    ],
    *,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    simulated: Annotated[bool, typer.Option("--simulated", help="Include simulated data.")] = False,
    json: AsJson = False,
) -> None:
    """Back up tables, series and the secret to one file while everything runs."""
    settings, clock = read_settings(), SystemClock()
    with show_progress(clock) as report:
        made = back_up(settings, to, clock=clock, report=report, force=force, simulated=simulated)
    manifest = made.manifest
    if json:
        document = {
            "path": made.path,
            "size_bytes": made.size_bytes,
            "made_at": manifest.made_at,
            "tables": manifest.tables,
            "series": manifest.series,
            "simulated": manifest.simulated,
            "files": len(manifest.files),
        }
        typer.echo(to_json(document))
        return
    size, items = format_bytes(made.size_bytes), sum(manifest.tables.values())
    typer.echo(
        f"wrote {made.path}: {size}, {items:,} items of "
        f"{len(manifest.tables)} tables, {sum(manifest.series.values()):,} rows of "
        f"{len(manifest.series)} series, {len(manifest.files)} files"
    )
    for line in _notes(settings, made):
        typer.echo(line)
    typer.echo(f"to restore: grandstand restore {made.path}")


def _notes(settings: Settings, made: BackupResult) -> list[str]:
    secret = any(member.name == "secret" for member in made.manifest.files)
    holds = "the platform's secret and people's accounts" if secret else "people's accounts"
    notes = [
        f"It holds {holds}. Only you may read it (mode 0600); protect copies too.",
        "settings.toml and data outside the home folder are not included.",
    ]
    if sqlite_file(settings) is None:
        notes.append(f"Tables are in {settings.tables} and not included.")
    if settings.series.get_secret_value() != "chunks":
        notes.append("Series are on a server and not included.")
    return notes


def restore(
    file: Annotated[Path | None, typer.Argument(help="The backup file.")] = None,
    *,
    force: Annotated[bool, typer.Option("--force", help="Move existing data aside.")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Undo the last restore.")] = False,
    json: AsJson = False,
) -> None:
    """Restore a backup after verifying it; the previous data is kept aside."""
    if undo == (file is not None):
        raise InvalidInput("Name a backup file, or use --undo")
    settings, clock = read_settings(), SystemClock()
    if file is None:
        back, aside = restoring.undo(settings, clock=clock)
        if json:
            typer.echo(to_json({"put_back": back, "aside": aside}))
            return
        typer.echo(f"put back what was in {back}")
        if aside is not None:
            typer.echo(f"the restored data is in {aside}")
        return
    with show_progress(clock) as report:
        restored = restoring.restore(settings, file, clock=clock, report=report, force=force)
    manifest = restored.manifest
    if json:
        document = {
            "home": restored.home,
            "made_at": manifest.made_at,
            "tables": manifest.tables,
            "series": manifest.series,
            "aside": restored.aside,
        }
        typer.echo(to_json(document))
        return
    items, rows = sum(manifest.tables.values()), sum(manifest.series.values())
    typer.echo(
        f"restored {items:,} items of {len(manifest.tables)} tables and {rows:,} rows of "
        f"{len(manifest.series)} series to {restored.home}, as of {manifest.made_at}"
    )
    if restored.aside is not None:
        typer.echo(f"the previous data is in {restored.aside}\nto undo: grandstand restore --undo")


_NUMBERS: Final = ("read", "written", "same", "other", "source", "target")
_TABLES: Final = (
    ColumnSpec("table", whole=True),
    *(ColumnSpec(heading, right=True) for heading in _NUMBERS),
    ColumnSpec("checksum", whole=True),
)
_SERIES: Final = (
    ColumnSpec("series", whole=True),
    *(ColumnSpec(heading, right=True) for heading in ("read", "added", "source", "target")),
    ColumnSpec("checksum", whole=True),
)


def copy(
    names: Annotated[
        list[str] | None, typer.Argument(help="Tables or apps, or series; all by default.")
    ] = None,
    *,
    source: Annotated[
        str | None,
        typer.Option(
            "--from", help="The source, written as in the settings; the configured one by default."
        ),
    ] = None,
    target: Annotated[
        str | None, typer.Option("--to", help="The target, written as in the settings.")
    ] = None,
    series: Annotated[
        bool, typer.Option("--series", help="Copy series instead of tables.")
    ] = False,
    create: Annotated[
        bool, typer.Option("--create", help="Create missing tables at the target.")
    ] = False,
    mirror: Annotated[
        bool, typer.Option("--mirror", help="Make the target equal: replace and remove items.")
    ] = False,
    check: Annotated[bool, typer.Option("--check", help="Only compare both sides.")] = False,
    json: AsJson = False,
) -> None:
    """Copy tables or series to another engine and compare both sides; exit 1 if they differ.

    An interrupted copy continues with the same command. Repeating it changes nothing.
    """
    if source is None and target is None:
        raise InvalidInput(
            "Set the target: --to dynamodb:REGION, sqlite:PATH, chunks or postgresql:…"
        )
    if series and (create or mirror):
        raise InvalidInput("Series are append-only: --create and --mirror do not apply to them")
    settings, clock = read_settings(), SystemClock()
    with _resumable(), show_progress(clock) as report:
        if series:
            here = settings.series.get_secret_value()
            places = SecretStr(source or here), SecretStr(target or here)
            request = SeriesCopyRequest(*places, find_series(names or []), check)
            copied: SeriesCopyReport | TableCopyReport = copy_series(
                settings, request, clock, report
            )
        else:
            here, chosen = settings.tables, find_tables(names or [])
            order = TableCopyRequest(source or here, target or here, chosen, mirror, create, check)
            copied = copy_tables(settings, order, clock, report)
    equal = all(part.equal for part in copied.parts)
    if json:
        document = asdict(copied) | {"equal": equal}
        del document["parts"]
        document["series" if series else "tables"] = [_copy_document(part) for part in copied.parts]
        typer.echo(to_json(document))
    else:
        _print_copied(copied)
        if equal and not series and not check:
            typer.echo(f"to use it: set tables to {target or here}, then grandstand doctor")
    if not equal:
        raise typer.Exit(1)


def _copy_document(part: SeriesCopyResult | TableCopyResult) -> dict[str, Any]:
    document = asdict(part) | {"equal": part.equal}
    if isinstance(part, TableCopyResult):
        for side, sums in (("source", part.source), ("target", part.target)):
            document[side] = {"items": sums.items, "checksum": sums.checksum}
    return document


def _print_copied(copied: SeriesCopyReport | TableCopyReport) -> None:
    if copied.resumed_from is not None:
        typer.echo(f"continued the copy started at {copied.resumed_from}")
    if isinstance(copied, TableCopyReport):
        parts = [part for part in copied.parts if part.source.items or part.target.items]
        print_table(console(), _TABLES, map(_table_row, parts))
        total, empty = sum(part.target.items for part in parts), len(copied.parts) - len(parts)
        typer.echo(f"{total:,} items in {len(parts)} tables; {empty} more are empty")
        for consumer in copied.consumers:
            what = "must rebuild: it had unread changes" if consumer.rebuilds else "continues there"
            typer.echo(f"consumer {consumer.name} of {consumer.source}: {what}")
        what, advice = "items", "Add --mirror to make the target equal the source."
    else:
        print_table(console(), _SERIES, map(_series_row, copied.parts))
        what = "rows"
        advice = "Rows were added meanwhile, or the target has its own rows. Run it again."
    if all(part.equal for part in copied.parts):
        typer.echo(f"both sides hold the same {what}, by count and checksum")
    else:
        typer.echo(f"the sides differ. {advice}")


def _table_row(part: TableCopyResult) -> TableRow:
    did = part.copied
    counts = (did.read, did.written, did.same, did.other, part.source.items, part.target.items)
    return _copy_row(part, counts)


def _series_row(part: SeriesCopyResult) -> TableRow:
    return _copy_row(part, (part.read, part.added, part.source.rows, part.target.rows))


def _copy_row(part: SeriesCopyResult | TableCopyResult, counts: Sequence[int]) -> TableRow:
    checksum = part.source.checksum[:12] if part.equal else "differs"
    return TableRow((part.name, *(f"{count:,}" for count in counts), checksum))


@contextmanager
def _resumable() -> Iterator[None]:
    """Print how to continue if the block is interrupted."""
    try:
        yield
    except (Unavailable, LimitReached, KeyboardInterrupt):
        typer.echo("to continue: run the same command again", err=True)
        raise
