"""The `grandstand` command; each subcommand is imported when it is used, so that help is fast."""

from __future__ import annotations

import gc
import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from grandstand import __version__
from grandstand.core.errors import GrandstandError

_HERE = "grandstand.host.cli"
_ABOUT = "Games, races, matches and prediction markets: recorded, predicted and explained."


@dataclass(frozen=True, slots=True)
class Deferred:
    """Where a command is defined, and its help sentence."""

    module: str
    name: str
    help: str

    def load(self, command_name: str) -> Any:  # noqa: ANN401 - typer keeps its own click to itself
        """Import the command."""
        command = getattr(import_module(self.module), self.name)
        if isinstance(command, typer.Typer):
            group = typer.main.get_group(command)
            group.name = command_name
            return group
        holder = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
        holder.command(command_name)(command)
        return typer.main.get_command(holder)


COMMANDS: dict[str, Deferred] = {
    "up": Deferred(f"{_HERE}.up", "up", "Start the server and the jobs."),
    "serve": Deferred(f"{_HERE}.up", "serve", "Start only the server."),
    "worker": Deferred(f"{_HERE}.up", "worker", "Run only the jobs."),
    "doctor": Deferred(f"{_HERE}.doctor", "doctor", "Check this installation."),
    "demo": Deferred(f"{_HERE}.up", "demo", "Manage the simulated sources."),
    "user": Deferred(f"{_HERE}.accounts", "user", "Manage user accounts."),
    "key": Deferred(f"{_HERE}.accounts", "key", "Manage API keys."),
    "jobs": Deferred(f"{_HERE}.jobs", "jobs", "List, run and pause jobs."),
    "config": Deferred(f"{_HERE}.config", "config", "Show the settings."),
    "backup": Deferred(f"{_HERE}.backup", "backup", "Back up all local data to one file."),
    "restore": Deferred(f"{_HERE}.backup", "restore", "Restore a backup."),
    "copy": Deferred(f"{_HERE}.backup", "copy", "Copy tables or series to another engine."),
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


class LazyGroup(TyperGroup):
    """A group that imports a command when it is called; help shows the stored sentences."""

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 - typer's own
        super().__init__(**options)
        for name, deferred in COMMANDS.items():
            self.commands[name] = TyperCommand(name, help=deferred.help)

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401 - as Deferred.load
        """Return all command names in order."""
        return sorted(super().list_commands(ctx))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401 - as Deferred.load
        """Return the loaded command and the remaining arguments."""
        name, command, rest = super().resolve_command(ctx, args)
        if name in COMMANDS:
            # Without garbage collection the imports take a tenth less time.
            gc.disable()
            try:
                command = COMMANDS[name].load(name)
            finally:
                gc.freeze()
                gc.enable()
        return name, command, rest


app = typer.Typer(
    name="grandstand",
    cls=LazyGroup,
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

    for name, text in build_reference(full_command()).items():
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


def full_command() -> typer.Typer:
    """Return the command line with every command loaded."""
    full = typer.Typer(name="grandstand", help=_ABOUT, add_completion=False)
    full.command("reference")(reference)
    for name, deferred in COMMANDS.items():
        command = getattr(import_module(deferred.module), deferred.name)
        if isinstance(command, typer.Typer):
            full.add_typer(command, name=name)
        else:
            full.command(name)(command)
    return full


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
