"""Kept here: all pages of bets, put together from their parts."""

from __future__ import annotations

from grandstand.apps.bets.pages.benny import BennyPages
from grandstand.apps.bets.pages.calculators import CalculatorPages
from grandstand.apps.bets.pages.games import GamePages
from grandstand.apps.bets.pages.importing import ImportPages
from grandstand.apps.bets.pages.mine import MinePages
from grandstand.apps.bets.pages.models import ModelPages
from grandstand.apps.bets.pages.scoreboard import ScorePages
from grandstand.apps.bets.pages.shopping import ShoppingPages


class BetsPages(
    CalculatorPages,
    ImportPages,
    MinePages,
    BennyPages,
    ModelPages,
    ScorePages,
    ShoppingPages,
    GamePages,
):
    """Games, lines, the scoreboard, one's own models, Benny, one's own bets, and calculators."""
