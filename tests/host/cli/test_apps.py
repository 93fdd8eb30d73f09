"""Commands of applications."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from grandstand.core.errors import NotFound
from grandstand.host.cli import COMMANDS
from grandstand.host.cli.apps import commands_of
from grandstand.host.registry import APPS
from grandstand.kit.app import App, AppResources, AppServices


class Counting:
    """The service of a small application."""

    def __init__(self, resources: AppResources) -> None:
        self.store = resources.store

    async def tables(self) -> int:
        return len(self.store.store.session.engine.list_tables())


def _commands(opened: Any) -> typer.Typer:
    made = typer.Typer()

    @made.command()
    def count() -> None:
        """Count the tables there are."""

        async def counted() -> int:
            async with opened() as service:
                return int(await service.tables())

        typer.echo(f"{asyncio.run(counted())} tables")

    return made


def test_a_command_of_an_application_works_with_its_service(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRANDSTAND_HOME", str(tmp_path))
    card = App(
        name="counting",
        title="Counting",
        purpose="Count.",
        build=lambda resources: AppServices(services=Counting(resources)),
        commands=_commands,
    )

    done = CliRunner().invoke(commands_of(card), [])

    assert done.exit_code == 0, done.output
    assert int(done.output.split()[0]) > 10


def test_an_application_without_commands_says_so() -> None:
    with pytest.raises(NotFound):
        commands_of(App(name="quiet", title="Quiet", purpose="Nothing."))


def test_every_application_with_commands_is_on_the_command_line() -> None:
    assert [app.name for app in APPS if app.commands and app.name not in COMMANDS] == []
