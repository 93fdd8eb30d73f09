"""The HTTP routes of cricket."""

from grandstand.apps.cricket.api.aliases import AliasedCricketApi
from grandstand.apps.cricket.api.routes import CricketApi

__all__ = ["AliasedCricketApi", "CricketApi"]
