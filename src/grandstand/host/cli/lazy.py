"""Commands that are imported only when they are used, so that help is fast."""

from __future__ import annotations

import gc
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup


@dataclass(frozen=True, slots=True)
class Deferred:
    """Where a command is defined, and its help sentence."""

    module: str
    name: str
    help: str

    def load(self, command_name: str) -> Any:  # noqa: ANN401 - typer keeps its own click to itself
        """Import the command."""
        found = getattr(import_module(self.module), self.name)
        if isinstance(found, typer.Typer):
            group = typer.main.get_group(found)
            group.name = command_name
            return group
        holder = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
        holder.command(command_name)(found)
        return typer.main.get_command(holder)


class LazyGroup(TyperGroup):
    """A group that imports a command when it is called; help shows the stored sentences."""

    deferred: ClassVar[Mapping[str, Deferred]] = {}

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 - typer's own
        super().__init__(**options)
        for name, waiting in self.deferred.items():
            self.commands[name] = TyperCommand(name, help=waiting.help)

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401 - as Deferred.load
        """Return all command names in order."""
        return sorted(super().list_commands(ctx))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401 - as Deferred.load
        """Return the loaded command and the remaining arguments."""
        name, command, rest = super().resolve_command(ctx, args)
        if name is not None and name in self.deferred:
            command = _loaded(self.deferred[name], name)
        return name, command, rest


def _loaded(waiting: Deferred, name: str) -> Any:  # noqa: ANN401 - as Deferred.load
    """Load a command with garbage collection off, which saves a tenth of the time."""
    gc.disable()
    try:
        return waiting.load(name)
    finally:
        gc.freeze()
        gc.enable()
