"""Value types shared by the bets domain, and names of teams, sports and models."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Final, Literal, TypeAlias

AnalysisType: TypeAlias = Literal["game", "prop"]
VerifiedType: TypeAlias = Literal["game", "game#inverse", "prop", "prop#inverse"]
Recommendation: TypeAlias = Literal["ORIGINAL", "INVERSE", "AVOID"]
Evidence: TypeAlias = Literal["INSUFFICIENT_DATA"]
ModelStatus: TypeAlias = Literal["active", "paused"]
BetStatus: TypeAlias = Literal["pending", "won", "lost", "push", "void"]
InjuryStatus: TypeAlias = Literal["out", "questionable", "doubtful", "active"]

_SEPARATORS: Final = re.compile(r"[\W_]+")
_SPORTS: Final = {
    "basketball_nba": "NBA",
    "basketball_wnba": "WNBA",
    "basketball_ncaab": "College basketball",
    "americanfootball_nfl": "NFL",
    "americanfootball_ncaaf": "College football",
    "baseball_mlb": "MLB",
    "icehockey_nhl": "NHL",
    "soccer_epl": "Premier League",
}
_MODELS: Final = {
    "hot_cold": "Hot and cold",
    "rest_schedule": "Rest and schedule",
    "injury_aware": "Injuries",
    "player_stats": "Player stats",
    "dixon_coles": "Dixon-Coles",
    "elo": "Elo",
    "benny": "Benny",
}


@dataclass(frozen=True, slots=True)
class PricedOutcome:
    """One side of a market: its American price and its line, if it has one."""

    name: str
    price: int
    point: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Tally:
    wins: int
    total: int


@lru_cache(maxsize=65_536)
def slug(name: str) -> str:
    """Return a name as keys write it: `Los Angeles Lakers` becomes `los_angeles_lakers`.

    Accents are dropped. A slug is its own slug, so either form can be used where a key is built.
    """
    decomposed = unicodedata.normalize("NFKD", name)
    text = "".join(char for char in decomposed if not unicodedata.combining(char))
    return _SEPARATORS.sub("_", text.lower()).strip("_")


def matchup_key(team: str, other: str) -> str:
    """Return the same key for two teams whichever is at home: both slugs, sorted."""
    return "#".join(sorted((slug(team), slug(other))))


def sport_name(sport: str) -> str:
    return _SPORTS.get(sport) or humanize_key(sport.partition("_")[2] or sport)


def model_name(model: str) -> str:
    return _MODELS.get(model) or humanize_key(model)


def humanize_key(key: str) -> str:
    return key.replace("_", " ").strip().capitalize()
