"""Kept here: simulated seasons as the history models walk through, made once for all rows."""

from functools import cache

from grandstand.simulators.odds.world.season import Season, season

SEED = 2026


@cache
def world(sport: str = "basketball_nba", games: int | None = None, changes: int = 22) -> Season:
    """A season; a whole one of basketball has 1,230 games and more than 700 thousand prices."""
    return season(SEED, sport, games, changes=changes)
