"""Kept here: bets on players: which figure a market counts, and what a player reached in a game."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from grandstand.apps.bets.model.history import History
from grandstand.apps.bets.model.settlement import Figure

# The figures that the feed's prop markets count, by the names box scores have for them.
STATS: Final[Mapping[str, tuple[str, ...]]] = {
    "player_points": ("PTS",),
    "player_rebounds": ("REB",),
    "player_assists": ("AST",),
    "player_threes": ("3PM",),
    "player_blocks": ("BLK",),
    "player_steals": ("STL",),
    "player_points_rebounds_assists": ("PTS", "REB", "AST"),
    "player_pass_tds": ("PASS_TD",),
    "player_pass_yds": ("PASS_YDS",),
    "player_rush_yds": ("RUSH_YDS",),
    "player_receptions": ("REC",),
    "player_reception_yds": ("REC_YDS",),
    "player_shots_on_target": ("SOT",),
    "player_goal_scorer_anytime": ("G",),
}


def counted(market: str, figures: Mapping[str, float]) -> float | None:
    """What a prop market counts of a player's figures; None when they do not have it.

    A market nobody has listed counts the figure of its own name.
    """
    names = STATS.get(market, (market.removeprefix("player_"),))
    if any(name not in figures for name in names):
        return None
    return sum(figures[name] for name in names)


def prop_result(history: History, game_id: str, player: str, market: str) -> Figure | None:
    """What decides a prop bet; None until the player's figures in the game are known.

    A player whose team's figures of the game came without his did not play.
    """
    game = history.announced(game_id)
    if game is None:
        return None
    rows = [
        row for row in history.rows("player", game.sport, player).rows if row.game_id == game_id
    ]
    if not rows:
        return None
    reached = counted(market, rows[-1].figures)
    return None if reached is None else Figure(round(reached))
