"""The card on bets' door: what the host may know of it."""

from typing import Any, Final

from grandstand.apps.bets import store
from grandstand.kit.app import App

CARD: Final[App[Any]] = App(
    name="bets",
    title="Bets",
    purpose="Games, odds and models: what to back, why, and how it went.",
    tables=store.TABLES,
)
