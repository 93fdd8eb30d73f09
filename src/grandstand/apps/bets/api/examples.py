"""Kept here: what the routes of bets answer, by example."""

from __future__ import annotations

from typing import Any, Final

_AT: Final = "2026-02-11T12:00:00Z"
_STARTS: Final = "2026-02-12T00:00:00Z"
_GAME: Final[dict[str, Any]] = {
    "game_id": "e912304de2b2ce35b473ce2ecd3d1502",
    "sport": "basketball_nba",
    "home_team": "Los Angeles Lakers",
    "away_team": "Boston Celtics",
    "commence_time": _STARTS,
}

GAME: Final[dict[str, Any]] = {
    **_GAME,
    "updated_at": _AT,
    "odds": {
        "fanduel": {
            "h2h": [
                {"name": "Los Angeles Lakers", "price": -150, "point": None},
                {"name": "Boston Celtics", "price": 130, "point": None},
            ]
        }
    },
    "captured_at": {"fanduel": {"h2h": _AT}},
    "age_seconds": {"fanduel": {"h2h": 240}},
    "exchange": [],
}
ANALYSIS: Final[dict[str, Any]] = {
    **_GAME,
    "model": "ensemble",
    "analysis_type": "game",
    "bookmaker": "fanduel",
    "prediction": "Los Angeles Lakers",
    "confidence": 0.6175,
    "reasoning": "The market and the ratings agree.",
    "created_at": _AT,
    "roi": 2.92,
    "risk_level": "moderate",
    "odds": -150,
    "market_key": "h2h",
    "side": "home",
    "point": None,
    "player_name": None,
    "is_inverse": False,
    "original_prediction": None,
    "reasons": [{"source": "elo", "contribution": 0.21, "text": "62 points ahead at home"}],
    "verdict": None,
    "analysis_correct": None,
    "closing_probability": None,
}
USER_MODEL: Final[dict[str, Any]] = {
    "model_id": "01kafc2q8x3m5r7t9v0w1y2z3a",
    "name": "Form and rest",
    "description": "",
    "sport": "basketball_nba",
    "bet_types": ["h2h", "spreads"],
    "data_sources": {
        "recent_form": {"enabled": True, "weight": 0.6},
        "rest_schedule": {"enabled": True, "weight": 0.4},
    },
    "custom_datasets": [],
    "min_confidence": 0.55,
    "status": "active",
    "auto_adjust_weights": False,
    "created_at": _AT,
    "updated_at": _AT,
}
WAGER: Final[dict[str, Any]] = {
    **_GAME,
    "wager_id": "20260212T0000-0f3a9c5d7e1b2a4c6d8e",
    "market_key": "h2h",
    "side": "home",
    "point": None,
    "participant": None,
    "price": -150,
    "stake": "15.50",
    "bookmaker": "fanduel",
    "note": "",
    "placed_at": _AT,
    "status": "settled",
    "verdict": "win",
    "payout": "25.83",
    "profit": "10.33",
    "clv": 0.018,
    "settled_at": "2026-02-12T04:00:00Z",
}
