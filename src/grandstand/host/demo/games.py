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
# Games before the world was created, which models learn from.
PAST_GAMES: Final = timedelta(days=21)
_FUTURE_GAMES: Final = timedelta(days=9)
_SOON: Final = timedelta(hours=30)


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

        seasons = []
        days = (PAST_GAMES + WORLD_LIFETIME + _FUTURE_GAMES).days
        for number, sport in enumerate(SPORTS):
            league = LEAGUES[sport]
            rounds = -(-days // league.days_between_rounds)
            seasons.append(
                simulate_season(
                    self._birth.seed + number,
                    sport,
                    rounds * (len(league.teams) // 2),
                    starts_at=self._birth.born_at - PAST_GAMES,
                    changes=8,
                    all_day=True,
                )
            )
        clear_tables()
        return tuple(seasons)

    @cached_property
    def feeds(self) -> tuple[SeasonFeed, ...]:
        """The seasons as the feed serves them."""
        from grandstand.simulators.odds.serializers import SeasonFeed

        return tuple(SeasonFeed.of(season) for season in self.seasons)

    def feed(self, clock: Clock, key: str) -> OddsApiSimulator:
        """Return the odds feed of these seasons, protected by a key."""
        from grandstand.simulators.odds.server import OddsApiSimulator

        return OddsApiSimulator(self.seasons, clock, key=key, credits=10_000_000)

    def priced_games(self, now: datetime) -> list[PricedGame]:
        """Return the priced games of these hours, including recently ended ones."""
        from grandstand.simulators.odds.serializers import from_epoch_us, to_epoch_us

        at, found = to_epoch_us(now), []
        for feed in self.feeds:
            games, teams = feed.season.games, feed.season.teams
            early, late = to_epoch_us(now - _SOON), to_epoch_us(now + _SOON)
            near = (games.commence_us > early) & (games.commence_us < late)
            for game in near.nonzero()[0].tolist():
                chance = _home_chance(feed, game, at)
                if chance is None or games.postponed[game]:
                    continue
                ended = games.known_us[game] <= at
                won = bool(games.home_score[game] > games.away_score[game])
                found.append(
                    PricedGame(
                        games.ids[game],
                        feed.season.league.title,
                        teams[games.home[game]],
                        teams[games.away[game]],
                        from_epoch_us(int(games.commence_us[game])),
                        from_epoch_us(int(games.completed_us[game])),
                        chance,
                        won if ended else None,
                    )
                )
        return found


def _home_chance(feed: SeasonFeed, game: int, at_us: int) -> float | None:
    """Return the home side's probability from the sharpest price, without the margin."""
    for line in feed.board.lines(game, at_us):
        if line.book == 0 and line.market == "h2h":
            sides = [_implied(price) for price in (line.first, line.second, line.draw) if price]
            return sides[0] / sum(sides)
    return None


def _implied(american: int) -> float:
    if american > 0:
        return 100 / (american + 100)
    return -american / (-american + 100)
