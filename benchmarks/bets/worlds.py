"""Simulated seasons as a history, built once for all rows."""

from functools import cache

from grandstand.simulators.odds.season import SimulatedSeason, simulate_season

SEED = 2026


@cache
def world(
    sport: str = "basketball_nba", games: int | None = None, changes: int = 22
) -> SimulatedSeason:
    """A season; a whole one of basketball has 1,230 games and more than 700 thousand prices."""
    return simulate_season(SEED, sport, games, changes=changes)
