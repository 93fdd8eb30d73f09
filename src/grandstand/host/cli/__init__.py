"""Kept here: the command line of the house."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from grandstand import __version__
from grandstand.base.errors import GrandstandError
from grandstand.host.cli.lazy import Deferred, LazyGroup

_HERE = "grandstand.host.cli"
_ABOUT = "Games, races, matches and markets: collected, kept, predicted, told."

COMMANDS: dict[str, Deferred] = {
    "up": Deferred(f"{_HERE}.up", "up", "Start everything: the server and the jobs."),
    "serve": Deferred(f"{_HERE}.up", "serve", "Start the server alone."),
    "worker": Deferred(f"{_HERE}.up", "worker", "Run the jobs alone."),
    "doctor": Deferred(
        f"{_HERE}.doctor",
        "doctor",
        "Say what works here and what is missing.",
    ),
    "demo": Deferred(f"{_HERE}.demo", "demo", "The sources that are simulated."),
    "user": Deferred(f"{_HERE}.user", "user", "Who may log in."),
    "key": Deferred(f"{_HERE}.key", "key", "API keys, for scripts."),
    "jobs": Deferred(f"{_HERE}.jobs", "jobs", "The work that is done by itself."),
    "config": Deferred(f"{_HERE}.config", "config", "The settings."),
    "new-app": Deferred(
        f"{_HERE}.new_app", "new_app", "Make a new application: rooms, tests and page."
    ),
    "backup": Deferred(f"{_HERE}.data.backup", "backup", "Write everything embedded to one file."),
    "restore": Deferred(f"{_HERE}.data.restore", "restore", "Bring a backup back."),
    "copy": Deferred(f"{_HERE}.data.copy", "copy", "Copy tables or series to another engine."),
    "tables": Deferred(f"{_HERE}.data.tables", "tables", "The tables of every application."),
    "series": Deferred(f"{_HERE}.data.series", "series", "The time series of every application."),
    "bets": Deferred(f"{_HERE}.apps", "bets", "Games, odds, models, Benny and your own bets."),
    "cricket": Deferred(
        f"{_HERE}.apps", "cricket", "Matches ball by ball, and phones that follow."
    ),
    "gatherer": Deferred(f"{_HERE}.apps", "gatherer", "Record a prediction market, and ask it."),
    "keiba": Deferred(f"{_HERE}.apps", "keiba", "Japanese racing: cards, form, ranking, results."),
    "trainer": Deferred(f"{_HERE}.apps", "trainer", "Practise judgement, and see it grow."),
}


class _Commands(LazyGroup):
    """Every command there is."""

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
    """Write the reference pages from what the code declares."""
    from grandstand.host.reference import pages

    for name, text in pages(whole()).items():
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


def whole() -> typer.Typer:
    """Answer the command line with every command loaded, for whoever wants to read it."""
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
    """Run the command line; an error of ours is one sentence and an exit code, no traceback."""
    try:
        app(prog_name="grandstand")
    except GrandstandError as error:
        for line in str(error).splitlines():
            typer.echo(f"grandstand: {line}", err=True)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(130)
