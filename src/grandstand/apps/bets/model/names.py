"""Kept here: how sports and models are called for people."""

from __future__ import annotations

from typing import Final

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
    "player_stats": "Player figures",
    "dixon_coles": "Dixon-Coles",
    "elo": "Elo",
    "benny": "Benny",
}


def sport_name(sport: str) -> str:
    """Name a sport."""
    return _SPORTS.get(sport) or plain(sport.partition("_")[2] or sport)


def model_name(model: str) -> str:
    """Name a built-in model."""
    return _MODELS.get(model) or plain(model)


def plain(key: str) -> str:
    """Write a key as words."""
    return key.replace("_", " ").strip().capitalize()
