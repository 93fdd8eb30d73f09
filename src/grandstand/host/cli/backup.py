"""`grandstand backup` and `grandstand restore`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grandstand.core.clock import SystemClock
from grandstand.core.errors import InvalidInput
from grandstand.core.formatting import format_bytes
from grandstand.host.backup.backup import Made, back_up
from grandstand.host.backup.restore import RestoreResult
from grandstand.host.backup.restore import restore as bring_back
from grandstand.host.backup.restore import undo as put_back
from grandstand.host.cli.output import show_progress, to_json
from grandstand.host.infrastructure import sqlite_file
from grandstand.host.settings import Settings, read_settings


def backup(
    to: Annotated[
        Path, typer.Argument(help="The backup file, or a folder for a file named by the time.")
    ],
    *,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    simulated: Annotated[bool, typer.Option("--simulated", help="Include simulated data.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Back up tables, series and the secret to one file while everything runs."""
    settings, clock = read_settings(), SystemClock()
    with show_progress(clock) as tell:
        made = back_up(settings, to, clock=clock, tell=tell, force=force, simulated=simulated)
    if json:
        typer.echo(to_json(_document(made)))
        return
    manifest = made.manifest
    size, items = format_bytes(made.size_bytes), sum(manifest.tables.values())
    typer.echo(
        f"wrote {made.path}: {size}, {items:,} items of "
        f"{len(manifest.tables)} tables, {sum(manifest.series.values()):,} rows of "
        f"{len(manifest.series)} series, {len(manifest.files)} files"
    )
    for line in _notes(settings, made):
        typer.echo(line)
    typer.echo(f"to restore: grandstand restore {made.path}")


def _notes(settings: Settings, made: Made) -> list[str]:
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


def _document(made: Made) -> dict[str, object]:
    return {
        "path": str(made.path),
        "size_bytes": made.size_bytes,
        "made_at": made.manifest.made_at,
        "tables": made.manifest.tables,
        "series": made.manifest.series,
        "simulated": made.manifest.simulated,
        "files": len(made.manifest.files),
    }


def restore(
    file: Annotated[Path | None, typer.Argument(help="The backup file.")] = None,
    *,
    force: Annotated[bool, typer.Option("--force", help="Move existing data aside.")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Undo the last restore.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Restore a backup after verifying it; the previous data is kept aside."""
    if undo == (file is not None):
        raise InvalidInput("Name a backup file, or use --undo")
    settings, clock = read_settings(), SystemClock()
    if file is None:
        back, aside = put_back(settings, clock=clock)
        told = {"put_back": str(back), "aside": None if aside is None else str(aside)}
        typer.echo(to_json(told) if json else _undone(back, aside))
        return
    with show_progress(clock) as tell:
        restored = bring_back(settings, file, clock=clock, tell=tell, force=force)
    typer.echo(to_json(_restore_document(restored)) if json else _told(restored))


def _told(restored: RestoreResult) -> str:
    manifest = restored.manifest
    items, rows = sum(manifest.tables.values()), sum(manifest.series.values())
    lines = [
        (
            f"restored {items:,} items of {len(manifest.tables)} tables and {rows:,} rows of "
            f"{len(manifest.series)} series to {restored.home}, as of {manifest.made_at}"
        )
    ]
    if restored.aside is not None:
        lines += [
            f"the previous data is in {restored.aside}",
            "to undo: grandstand restore --undo",
        ]
    return "\n".join(lines)


def _undone(back: Path, aside: Path | None) -> str:
    line = f"put back what was in {back}"
    return line if aside is None else f"{line}\nthe restored data is in {aside}"


def _restore_document(restored: RestoreResult) -> dict[str, object]:
    return {
        "home": str(restored.home),
        "made_at": restored.manifest.made_at,
        "tables": restored.manifest.tables,
        "series": restored.manifest.series,
        "aside": None if restored.aside is None else str(restored.aside),
    }
