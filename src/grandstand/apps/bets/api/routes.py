"""Kept here: all routes of bets together."""

from __future__ import annotations

from grandstand.apps.bets.api.building import BuildingRoutes
from grandstand.apps.bets.api.games import GameRoutes
from grandstand.apps.bets.api.money import BennyRoutes, WagerRoutes
from grandstand.apps.bets.api.scores import ScoreRoutes
from grandstand.apps.bets.api.tools import ToolRoutes


class BetsApi(GameRoutes, ScoreRoutes, BuildingRoutes, BennyRoutes, WagerRoutes, ToolRoutes):
    """Bets for programs."""
