"""The pages of bets."""

from grandstand.apps.bets.pages.calculators import CalculatorPages
from grandstand.apps.bets.pages.games import GamePages, LineShoppingPages
from grandstand.apps.bets.pages.models import ModelPages, ScoreboardPages
from grandstand.apps.bets.pages.wagers import BennyPages, WagerImportPages, WagerPages


class BetsPages(
    CalculatorPages,
    WagerImportPages,
    WagerPages,
    BennyPages,
    ModelPages,
    ScoreboardPages,
    LineShoppingPages,
    GamePages,
):
    """All pages of bets."""
