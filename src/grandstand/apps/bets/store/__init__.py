"""Kept here: the one table of bets, its keys, and every question and change put to it."""

from typing import Final

from grandstand.apps.bets.store.analyses import (
    Analysis,
    Forecast,
    KeptReason,
    ModelAdjustment,
    Prediction,
)
from grandstand.apps.bets.store.awaiting import (
    Awaited,
    BookmakerSeen,
    GameNote,
    QuotaUse,
    ResultLine,
)
from grandstand.apps.bets.store.building import Backtest, Dataset, DatasetPart, Trials
from grandstand.apps.bets.store.ledger import LedgerBook, LedgerEntry, LedgerHead, LedgerMark
from grandstand.apps.bets.store.odds import GameOdds, HistoricalOdds, PropOdds
from grandstand.apps.bets.store.outcomes import GameOutcome, TeamOutcome
from grandstand.apps.bets.store.people import (
    Bankroll,
    BankrollHistory,
    BennyBet,
    Learning,
    ModelSlot,
    UserModel,
)
from grandstand.apps.bets.store.shadow import ShadowBet, Thought
from grandstand.apps.bets.store.stats import Injury, Meeting, PlayerStats, TeamStats
from grandstand.apps.bets.store.table import bets
from grandstand.apps.bets.store.wagers import FavouriteTeam, KeptLimits, Wager

TABLES: Final = (bets,)

__all__ = [
    "TABLES",
    "Analysis",
    "Awaited",
    "Backtest",
    "Bankroll",
    "BankrollHistory",
    "BennyBet",
    "BookmakerSeen",
    "Dataset",
    "DatasetPart",
    "FavouriteTeam",
    "Forecast",
    "GameNote",
    "GameOdds",
    "GameOutcome",
    "HistoricalOdds",
    "Injury",
    "KeptLimits",
    "KeptReason",
    "Learning",
    "LedgerBook",
    "LedgerEntry",
    "LedgerHead",
    "LedgerMark",
    "Meeting",
    "ModelAdjustment",
    "ModelSlot",
    "PlayerStats",
    "Prediction",
    "PropOdds",
    "QuotaUse",
    "ResultLine",
    "ShadowBet",
    "TeamOutcome",
    "TeamStats",
    "Thought",
    "Trials",
    "UserModel",
    "Wager",
]
