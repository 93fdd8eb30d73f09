"""Kept here: bets on players: which figures of a game a market counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

# The figures that the feed's prop markets count, by the names box scores have for them.
STATS: Final[Mapping[str, tuple[str, ...]]] = {
    "player_points": ("PTS",),
    "player_rebounds": ("REB",),
    "player_assists": ("AST",),
    "player_threes": ("3PM",),
    "player_blocks": ("BLK",),
    "player_steals": ("STL",),
    "player_points_rebounds_assists": ("PTS", "REB", "AST"),
    "player_pass_tds": ("PASS_TDS",),
    "player_pass_yds": ("PASS_YDS",),
    "player_rush_yds": ("RUSH_YDS",),
    "player_receptions": ("RECEPTIONS",),
    "player_reception_yds": ("REC_YDS",),
    "player_shots_on_target": ("SOT",),
    "player_goal_scorer_anytime": ("GOALS",),
}


def counted(market: str, figures: Mapping[str, float]) -> float | None:
    """What a prop market counts of a player's figures; None when they do not have it.

    A market nobody has listed counts the figure of its own name.
    """
    names = STATS.get(market, (market.removeprefix("player_"),))
    if any(name not in figures for name in names):
        return None
    return sum(figures[name] for name in names)
