"""Kept here: what can go wrong with prices, bets and forecasts.

InvalidInput   PriceImpossible SelectionImpossible OutcomeUnknown ForecastImpossible StakeImpossible
               TooFewResults
Conflict       BetUndecided GameOutOfTurn
"""

from __future__ import annotations

from grandstand.base.errors import Conflict, InvalidInput


class PriceImpossible(InvalidInput):
    """There is no such price: American ones are at least 100 or at most -100, decimal above 1."""


class SelectionImpossible(InvalidInput):
    """There is no such bet: its market, side, line and participant do not fit each other."""


class OutcomeUnknown(InvalidInput):
    """The outcome is named like neither side of its market."""


class ForecastImpossible(InvalidInput):
    """A probability lies outside of 0 to 1, or as many results as forecasts are missing."""


class StakeImpossible(InvalidInput):
    """A stake or a share of the bankroll cannot be that."""


class TooFewResults(InvalidInput):
    """There are too few results to work anything out of them."""


class BetUndecided(Conflict):
    """The bet is not decided yet, so nothing can be paid."""


class GameOutOfTurn(Conflict):
    """The game is not later than the last one that was counted, so it may have been already."""
