"""The pages of cricket."""

from grandstand.apps.cricket.pages.rooms import CricketPages

__all__ = ["CricketPages"]
