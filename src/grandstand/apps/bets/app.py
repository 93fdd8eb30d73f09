"""Manifest of the bets app."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from grandstand.apps.bets import store
from grandstand.kit.app import App

if TYPE_CHECKING:
    from grandstand.apps.bets.services import Bets

NAME: Final = "bets"

APP: Final[App[Bets]] = App(
    name=NAME,
    title="Bets",
    purpose="Games, odds and models: what to back, why, and how it went.",
    tables=store.TABLES,
    build="grandstand.apps.bets.services:build",
    api="grandstand.apps.bets.api:BetsApi",
    pages="grandstand.apps.bets.pages:BetsPages",
    jobs="grandstand.apps.bets.jobs:jobs",
    commands="grandstand.apps.bets.cli.commands:commands",
)
