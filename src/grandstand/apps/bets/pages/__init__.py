"""The pages of bets."""

from grandstand.apps.bets.pages.rooms import BetsPages

__all__ = ["BetsPages"]
