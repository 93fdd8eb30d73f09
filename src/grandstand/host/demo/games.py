"""Simulated leagues: games around the clock with market prices."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Final

from grandstand.core.clock import Clock
from grandstand.host.demo.world_state import WORLD_LIFETIME, WorldState

if TYPE_CHECKING:
    from grandstand.simulators.odds.season import SimulatedSeason
    from grandstand.simulators.odds.serializers import SeasonFeed
    from grandstand.simulators.odds.server import OddsApiSimulator

SPORTS: Final = ("basketball_nba", "americanfootball_nfl", "soccer_epl")
# The days before a world is made that have games too: what models learn from.
PAST_GAMES: Final = timedelta(days=21)
_AFTER: Final = timedelta(days=9)
_CHANGES: Final = 8
_SHARP: Final = 0
_SOON: Final = timedelta(hours=30)
_CREDITS: Final = 10_000_000
_HUNDRED: Final = 100


@dataclass(frozen=True, slots=True)
class PricedGame:
    """A game with the home side's probability at the sharpest bookmaker."""

    game_id: str
    league: str
    home: str
    away: str
    commence_at: datetime
    ends_at: datetime
    chance: float
    won: bool | None


class Leagues:
    """The seasons of all leagues, generated on first use."""

    def __init__(self, birth: WorldState) -> None:
        self._birth = birth

    @cached_property
    def seasons(self) -> tuple[SimulatedSeason, ...]:
        """The season of each league, from some weeks before the world was created to its end."""
        from grandstand.simulators.odds.leagues import LEAGUES
        from grandstand.simulators.odds.prices import clear_tables
        from grandstand.simulators.odds.season import simulate_season

        made = []
        days = (PAST_GAMES + WORLD_LIFETIME + _AFTER).days
        for number, sport in enumerate(SPORTS):
            league = LEAGUES[sport]
            rounds = -(-days // league.days_between_rounds)
            made.append(
                simulate_season(
                    self._birth.seed + number,
                    sport,
                    rounds * (len(league.teams) // 2),
                    starts_at=self._birth.born_at - PAST_GAMES,
                    changes=_CHANGES,
                    all_day=True,
                )
            )
        clear_tables()
        return tuple(made)

    @cached_property
    def told(self) -> tuple[SeasonFeed, ...]:
        """The seasons as the feed serves them."""
        from grandstand.simulators.odds.serializers import SeasonFeed

        return tuple(SeasonFeed.of(season) for season in self.seasons)

    def feed(self, clock: Clock, key: str) -> OddsApiSimulator:
        """Return the odds feed of these seasons, protected by a key."""
        from grandstand.simulators.odds.server import OddsApiSimulator

        return OddsApiSimulator(self.seasons, clock, key=key, credits=_CREDITS)

    def fancied(self, now: datetime) -> list[PricedGame]:
        """Return the priced games of these hours, including recently ended ones."""
        from grandstand.simulators.odds.serializers import from_epoch_us, to_epoch_us

        at, found = to_epoch_us(now), []
        for told in self.told:
            games, teams = told.season.games, told.season.teams
            early, late = to_epoch_us(now - _SOON), to_epoch_us(now + _SOON)
            near = (games.commence_us > early) & (games.commence_us < late)
            for game in near.nonzero()[0].tolist():
                chance = _home_chance(told, game, at)
                if chance is None or games.postponed[game]:
                    continue
                ended = games.known_us[game] <= at
                won = bool(games.home_score[game] > games.away_score[game])
                found.append(
                    PricedGame(
                        games.ids[game],
                        told.season.league.title,
                        teams[games.home[game]],
                        teams[games.away[game]],
                        from_epoch_us(int(games.commence_us[game])),
                        from_epoch_us(int(games.completed_us[game])),
                        chance,
                        won if ended else None,
                    )
                )
        return found


def _home_chance(told: SeasonFeed, game: int, at_us: int) -> float | None:
    """Return the home side's probability from the sharpest price, without the margin."""
    for line in told.board.lines(game, at_us):
        if line.book == _SHARP and line.market == "h2h":
            sides = [_implied(price) for price in (line.first, line.second, line.draw) if price]
            return sides[0] / sum(sides)
    return None


def _implied(american: int) -> float:
    if american > 0:
        return _HUNDRED / (american + _HUNDRED)
    return -american / (-american + _HUNDRED)
