"""The card on keiba's door: what the host may know of it."""

from typing import Any, Final

from grandstand.apps.keiba import store
from grandstand.kit.app import App

CARD: Final[App[Any]] = App(
    name="keiba",
    title="Keiba",
    purpose="Races, horses and odds, predicted and paid out on paper.",
    tables=store.TABLES,
)
