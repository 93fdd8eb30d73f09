"""The HTTP API of bets."""

from grandstand.apps.bets.api.games import GameRoutes
from grandstand.apps.bets.api.models import ModelRoutes
from grandstand.apps.bets.api.wagers import WagerRoutes


class BetsApi(GameRoutes, ModelRoutes, WagerRoutes):
    """All routes of bets."""
