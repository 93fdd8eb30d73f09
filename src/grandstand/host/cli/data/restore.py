"""Kept here: `grandstand restore`, which brings a backup back and keeps what was there."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grandstand.base.clock import SystemClock
from grandstand.base.errors import InvalidInput
from grandstand.host.cli.data.telling import telling
from grandstand.host.cli.showing import as_json
from grandstand.host.moving.restore import Restored
from grandstand.host.moving.restore import restore as bring_back
from grandstand.host.moving.restore import undo as put_back
from grandstand.host.settings import read_settings


def restore(
    file: Annotated[Path | None, typer.Argument(help="What `grandstand backup` wrote.")] = None,
    *,
    force: Annotated[
        bool, typer.Option("--force", help="Set aside what is there, and restore.")
    ] = False,
    undo: Annotated[
        bool, typer.Option("--undo", help="Put back what the last restore set aside.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Write it as JSON.")] = False,
) -> None:
    """Bring a backup back, once it was found whole; what was there before is kept aside."""
    if undo == (file is not None):
        raise InvalidInput("Say what to restore: a file that `grandstand backup` wrote, or --undo")
    settings, clock = read_settings(), SystemClock()
    if file is None:
        back, aside = put_back(settings, clock=clock)
        told = {"put_back": str(back), "aside": None if aside is None else str(aside)}
        typer.echo(as_json(told) if json else _undone(back, aside))
        return
    with telling(clock) as tell:
        restored = bring_back(settings, file, clock=clock, tell=tell, force=force)
    typer.echo(as_json(_document(restored)) if json else _told(restored))


def _told(restored: Restored) -> str:
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
            f"what was there before is in {restored.aside}",
            "to undo: grandstand restore --undo",
        ]
    return "\n".join(lines)


def _undone(back: Path, aside: Path | None) -> str:
    line = f"put back what was in {back}"
    return line if aside is None else f"{line}\nthe restored data is in {aside}"


def _document(restored: Restored) -> dict[str, object]:
    return {
        "home": str(restored.home),
        "made_at": restored.manifest.made_at,
        "tables": restored.manifest.tables,
        "series": restored.manifest.series,
        "aside": None if restored.aside is None else str(restored.aside),
    }
