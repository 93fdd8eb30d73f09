"""Kept here: `grandstand new-app`: a new application with its rooms, tests and page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grandstand.host.scaffold.making import make
from grandstand.host.scaffold.naming import named


def new_app(
    name: Annotated[str, typer.Argument(help="One word of small letters, such as tides.")],
    *,
    title: Annotated[str, typer.Option(help="As pages show it; the name without it.")] = "",
    purpose: Annotated[str, typer.Option(help="What it is for, in a short sentence.")] = "",
    tree: Annotated[Path, typer.Option("--in", help="The tree of Grandstand.")] = Path(),
    even_if_changed: Annotated[
        bool, typer.Option("--even-if-changed", help="Also where changes are not committed.")
    ] = False,
) -> None:
    """Make a new application: its rooms, tests and page, entered where applications are listed."""
    made = make(tree, named(name, title, purpose), even_if_changed=even_if_changed)
    for path in made.written:
        typer.echo(f"wrote {path}")
    for path in made.entered:
        typer.echo(f"entered in {path}")
    typer.echo("")
    typer.echo("Next:")
    typer.echo("  ./run reference                              # brings docs/reference up to date")
    typer.echo(f"  ./test tests/apps/{name} tests/architecture")
    typer.echo(f"  ./run                                        # then open /{name}")
