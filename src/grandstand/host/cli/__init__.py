"""The `grandstand` command."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from grandstand import __version__
from grandstand.core.errors import GrandstandError
from grandstand.host.cli.lazy import Deferred, LazyGroup

_HERE = "grandstand.host.cli"
_ABOUT = "Games, races, matches and prediction markets: recorded, predicted and explained."

COMMANDS: dict[str, Deferred] = {
    "up": Deferred(f"{_HERE}.up", "up", "Start the server and the jobs."),
    "serve": Deferred(f"{_HERE}.up", "serve", "Start only the server."),
    "worker": Deferred(f"{_HERE}.up", "worker", "Run only the jobs."),
    "doctor": Deferred(
        f"{_HERE}.doctor",
        "doctor",
        "Check this installation.",
    ),
    "demo": Deferred(f"{_HERE}.up", "demo", "Manage the simulated sources."),
    "user": Deferred(f"{_HERE}.accounts", "user", "Manage user accounts."),
    "key": Deferred(f"{_HERE}.accounts", "key", "Manage API keys."),
    "jobs": Deferred(f"{_HERE}.jobs", "jobs", "List, run and pause jobs."),
    "config": Deferred(f"{_HERE}.config", "config", "Show the settings."),
    "backup": Deferred(f"{_HERE}.backup", "backup", "Back up all local data to one file."),
    "restore": Deferred(f"{_HERE}.backup", "restore", "Restore a backup."),
    "copy": Deferred(f"{_HERE}.copy", "copy", "Copy tables or series to another engine."),
    "tables": Deferred(f"{_HERE}.tables", "tables", "Create, inspect and serve the tables."),
    "series": Deferred(f"{_HERE}.series", "series", "Inspect, export and verify time series."),
    "bets": Deferred(f"{_HERE}.apps", "bets", "Games, odds, models, Benny and your bets."),
    "cricket": Deferred(f"{_HERE}.apps", "cricket", "Live matches, events and Live Activities."),
    "gatherer": Deferred(f"{_HERE}.apps", "gatherer", "Record prediction markets and query them."),
    "keiba": Deferred(f"{_HERE}.apps", "keiba", "Japanese racing: cards, form, odds, results."),
    "trainer": Deferred(
        f"{_HERE}.apps", "trainer", "Practice critical thinking and see your profile."
    ),
}


class _Commands(LazyGroup):
    """All commands."""

    deferred: ClassVar[dict[str, Deferred]] = COMMANDS


app = typer.Typer(
    name="grandstand",
    cls=_Commands,
    help=_ABOUT,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.command()
def reference(
    to: Annotated[Path, typer.Argument(help="The folder to write into.")] = Path("docs/reference"),
) -> None:
    """Write the reference pages from the code."""
    from grandstand.host.reference import build_reference

    for name, text in build_reference(whole()).items():
        (to / name).write_text(text, encoding="utf-8")
        typer.echo(f"wrote {to / name}")


@app.callback(invoke_without_command=True)
def _root(
    *,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        typer.echo(f"grandstand {__version__}")
        raise typer.Exit


def whole() -> typer.Typer:
    """Return the command line with every command loaded."""
    made = typer.Typer(name="grandstand", help=_ABOUT, add_completion=False)
    made.command("reference")(reference)
    for name, deferred in COMMANDS.items():
        found = getattr(import_module(deferred.module), deferred.name)
        if isinstance(found, typer.Typer):
            made.add_typer(found, name=name)
        else:
            made.command(name)(found)
    return made


def main() -> None:
    """Run the command line; a GrandstandError becomes one sentence and an exit code."""
    try:
        app(prog_name="grandstand")
    except GrandstandError as error:
        for line in str(error).splitlines():
            typer.echo(f"grandstand: {line}", err=True)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(130)
