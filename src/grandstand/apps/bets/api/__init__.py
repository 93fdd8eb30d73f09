"""The HTTP routes of bets."""

from grandstand.apps.bets.api.routes import BetsApi

__all__ = ["BetsApi"]
