"""Kept here: the commands of applications, each a group under its application's name."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import typer

from grandstand.base.errors import NotFound
from grandstand.host.catalogue import APPS
from grandstand.host.cli.logs import write_logs
from grandstand.host.demo.world import playing
from grandstand.host.house import House
from grandstand.host.settings import Settings, read_settings
from grandstand.kit.app import App


def commands_of(card: App[Any], begin: Callable[[Settings], None] = lambda _: None) -> typer.Typer:
    """Answer an application's commands; the house is opened by whichever of them is called.

    `begin` is called with the settings before that. Raises NotFound when it has none.
    """
    if card.commands is None:
        raise NotFound(f"{card.title} has no commands")

    @asynccontextmanager
    async def opened() -> AsyncIterator[Any]:
        settings = read_settings()
        begin(settings)
        async with (
            playing(settings, apps=(card.name,)) as demo,
            House.open(settings, apps=(card,), demo=demo) as house,
        ):
            yield house.services[card.name]

    return card.commands(opened)


def __getattr__(name: str) -> typer.Typer:
    """Answer the commands of the application of that name, as `Deferred` asks for them."""
    for card in APPS:
        if card.name == name and card.commands is not None:
            return commands_of(card, write_logs)
    raise AttributeError(name)
