"""Kept here: `grandstand backup`, which writes everything embedded to one file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grandstand.base.clock import SystemClock
from grandstand.host.cli.data.telling import size, telling
from grandstand.host.cli.showing import as_json
from grandstand.host.moving.backup import Made, back_up
from grandstand.host.opening import sqlite_file
from grandstand.host.settings import Settings, read_settings


def backup(
    to: Annotated[Path, typer.Argument(help="The file, or a folder to put one by the time into.")],
    *,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    simulated: Annotated[
        bool, typer.Option("--simulated", help="Also what the simulated sources filled.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Write it as JSON.")] = False,
) -> None:
    """Write tables, series and the house's secret to one file, while everything runs."""
    settings, clock = read_settings(), SystemClock()
    with telling(clock) as tell:
        made = back_up(settings, to, clock=clock, tell=tell, force=force, simulated=simulated)
    if json:
        typer.echo(as_json(_document(made)))
        return
    manifest = made.manifest
    typer.echo(
        f"wrote {made.path}: {size(made.size_bytes)}, {sum(manifest.tables.values()):,} items of "
        f"{len(manifest.tables)} tables, {sum(manifest.series.values()):,} rows of "
        f"{len(manifest.series)} series, {len(manifest.files)} files"
    )
    for line in _notes(settings, made):
        typer.echo(line)
    typer.echo(f"to bring it back: grandstand restore {made.path}")


def _notes(settings: Settings, made: Made) -> list[str]:
    secret = any(member.name == "secret" for member in made.manifest.files)
    holds = "the house's secret and people's accounts" if secret else "people's accounts"
    notes = [
        f"It holds {holds}, and only you may read it (mode 0600): keep it so where you take it.",
        "settings.toml is not part of it, nor is anything kept outside the home folder.",
    ]
    if sqlite_file(settings) is None:
        notes.append(f"Tables live in {settings.tables} and are not part of it.")
    if settings.series.get_secret_value() != "chunks":
        notes.append("Series live on a server and are not part of it.")
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
