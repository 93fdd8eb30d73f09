"""The card on cricket's door: what the host may know of it."""

from typing import Any, Final

from grandstand.apps.cricket import store
from grandstand.kit.app import App

CARD: Final[App[Any]] = App(
    name="cricket",
    title="Cricket",
    purpose="Matches ball by ball, followed and told as they happen.",
    tables=store.TABLES,
)
