"""Kept here: the one table of bets, its keys, and every question and change put to it."""

from typing import Final

from grandstand.apps.bets.store.analyses import Analysis, ModelAdjustment, Prediction
from grandstand.apps.bets.store.odds import GameOdds, HistoricalOdds, PropOdds
from grandstand.apps.bets.store.outcomes import GameOutcome, TeamOutcome
from grandstand.apps.bets.store.people import (
    Bankroll,
    BankrollHistory,
    BennyBet,
    Learning,
    UserModel,
)
from grandstand.apps.bets.store.stats import Injury, PlayerStats, TeamStats
from grandstand.apps.bets.store.table import bets

TABLES: Final = (bets,)

__all__ = [
    "TABLES",
    "Analysis",
    "Bankroll",
    "BankrollHistory",
    "BennyBet",
    "GameOdds",
    "GameOutcome",
    "HistoricalOdds",
    "Injury",
    "Learning",
    "ModelAdjustment",
    "PlayerStats",
    "Prediction",
    "PropOdds",
    "TeamOutcome",
    "TeamStats",
    "UserModel",
]
