"""The card on the gatherer's door: what the host may know of it."""

from typing import Any, Final

from grandstand.apps.gatherer import store
from grandstand.kit.app import App

CARD: Final[App[Any]] = App(
    name="gatherer",
    title="Gatherer",
    purpose="Markets of the exchange, gathered tick by tick and kept whole.",
    series=store.SERIES,
)
