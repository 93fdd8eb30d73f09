"""Kept here: `grandstand demo …`: which sources are simulated, and how to be rid of their data."""

from __future__ import annotations

from typing import Annotated

import typer

from grandstand.host.cli.asking import confirmed
from grandstand.host.cli.showing import as_json as written
from grandstand.host.demo.birth import wipe as wipe_simulated
from grandstand.host.demo.sources import plays, simulated_folder, standings
from grandstand.host.settings import read_settings

demo = typer.Typer(help="The sources that are simulated.", no_args_is_help=True)


@demo.command()
def status(
    *, as_json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False
) -> None:
    """Say which sources are simulated, and how to connect the real ones."""
    settings = read_settings()
    found = standings(settings)
    if as_json:
        told = [
            {"source": one.source.name, "app": one.source.app, "standing": one.word}
            | {"title": one.source.title, "how": one.source.how}
            for one in found
        ]
        typer.echo(written({"plays": plays(settings), "sources": told}))
        return
    # Lines are left as long as they are: names broken at the edge could not be copied.
    for one in found:
        source = one.source
        typer.echo(f"{source.app:<10}{one.word:<15}{source.title}")
        if not one.connected:
            typer.echo(f"{'':<25}to connect it, {source.how}")
    folder = simulated_folder(settings)
    if folder.exists():
        typer.echo(f"Simulated data is in {folder}; `grandstand demo wipe` removes it.")
    if not plays(settings):
        typer.echo("Nothing is simulated here: GRANDSTAND_DEMO_PLAY=on would do so.")


@demo.command()
def wipe(
    *, yes: Annotated[bool, typer.Option("--yes", help="Do not ask whether to go on.")] = False
) -> None:
    """Remove everything simulated; what is real stays as it is."""
    settings = read_settings()
    folder = simulated_folder(settings)
    if not folder.exists():
        typer.echo("There is no simulated data.")
        return
    confirmed(f"Remove everything simulated in {folder}?", yes=yes)
    wipe_simulated(settings)
    typer.echo(f"removed {folder}")
