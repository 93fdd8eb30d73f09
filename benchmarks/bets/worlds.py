"""Kept here: simulated seasons as the history models walk through, made once for all rows."""

from functools import cache

from grandstand.apps.bets.model.history import History
from grandstand.simulators.odds.season import Season, season
from tests.apps.bets.facts_of import facts_of

SEED = 2026


@cache
def world(sport: str = "basketball_nba", games: int | None = None, changes: int = 22) -> Season:
    """A season; a whole one of basketball has 1,230 games and more than 700 thousand prices."""
    return season(SEED, sport, games, changes=changes)


def history_of(made: Season, *, players: bool = False) -> History:
    """All facts of a season; those about players may be left out."""
    return History(facts_of(made, players=players))
