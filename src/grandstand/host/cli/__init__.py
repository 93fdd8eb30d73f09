"""Kept here: the command line of the house."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError

from grandstand import __version__
from grandstand.base.errors import GrandstandError
from grandstand.host.cli.doctor import doctor
from grandstand.host.cli.series import series
from grandstand.host.cli.tables import tables

app = typer.Typer(
    name="grandstand",
    help="Games, races, matches and markets: collected, kept, predicted, told.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
app.add_typer(tables, name="tables")
app.add_typer(series, name="series")
app.command("doctor")(doctor)


@app.command()
def reference(
    to: Annotated[Path, typer.Argument(help="The folder to write into.")] = Path("docs/reference"),
) -> None:
    """Write the reference pages: commands, errors, settings and tables."""
    from grandstand.host.reference import pages

    for name, text in pages(app).items():
        (to / name).write_text(text, encoding="utf-8")
        typer.echo(f"wrote {to / name}")


@app.callback(invoke_without_command=True)
def _root(
    *,
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
) -> None:
    if version:
        typer.echo(f"grandstand {__version__}")
        raise typer.Exit


def main() -> None:
    """Run the command line; an error of ours is one sentence and an exit code, no traceback."""
    try:
        app(prog_name="grandstand")
    except GrandstandError as error:
        typer.echo(f"grandstand: {error}", err=True)
        sys.exit(error.exit_code)
    except ValidationError as fault:
        for problem in fault.errors():
            name = "_".join(str(step) for step in problem["loc"]).upper()
            typer.echo(f"grandstand: setting GRANDSTAND_{name}: {problem['msg']}", err=True)
        sys.exit(78)
    except KeyboardInterrupt:
        sys.exit(130)
