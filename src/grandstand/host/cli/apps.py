"""The commands of the apps."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import typer

from grandstand.core.errors import NotFound
from grandstand.host.cli.output import write_logs
from grandstand.host.demo.world import open_demo
from grandstand.host.registry import APPS
from grandstand.host.runtime import Platform
from grandstand.host.settings import Settings, read_settings
from grandstand.kit.app import App, load


def commands_of(card: App[Any], begin: Callable[[Settings], None] = lambda _: None) -> typer.Typer:
    """Return an app's commands; each opens the platform when it is called.

    `begin` is called with the settings first. Raises NotFound if the app has no commands.
    """
    if card.commands is None:
        raise NotFound(f"{card.title} has no commands")

    @asynccontextmanager
    async def opened() -> AsyncIterator[Any]:
        settings = read_settings()
        begin(settings)
        async with (
            open_demo(settings, apps=(card.name,)) as demo,
            Platform.open(settings, apps=(card,), demo=demo) as platform,
        ):
            yield platform.services[card.name]

    return load(card.commands)(opened)


def __getattr__(name: str) -> typer.Typer:
    """Return the commands of the app with that name."""
    for card in APPS:
        if card.name == name and card.commands is not None:
            return commands_of(card, write_logs)
    raise AttributeError(name)
