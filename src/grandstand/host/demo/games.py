"""Kept here: the simulated leagues: their games around the clock, and what the market thinks."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Final

from grandstand.base.clock import Clock
from grandstand.host.demo.birth import LASTS, Birth

if TYPE_CHECKING:
    from grandstand.simulators.odds.feed import OddsFeed
    from grandstand.simulators.odds.words import Told
    from grandstand.simulators.odds.world.season import Season

SPORTS: Final = ("basketball_nba", "americanfootball_nfl", "soccer_epl")
# The days before a world is made that have games too: what models learn from.
PAST: Final = timedelta(days=21)
_AFTER: Final = timedelta(days=9)
_CHANGES: Final = 8
_SHARP: Final = 0
_SOON: Final = timedelta(hours=30)
_CREDITS: Final = 10_000_000
_HUNDRED: Final = 100


@dataclass(frozen=True, slots=True)
class Fancied:
    """A game, and how likely the sharpest bookmaker thinks that home wins it."""

    game_id: str
    league: str
    home: str
    away: str
    commence_at: datetime
    ends_at: datetime
    chance: float
    won: bool | None


class Leagues:
    """The seasons of all leagues, made when they are first asked for."""

    def __init__(self, birth: Birth) -> None:
        self._birth = birth

    @cached_property
    def seasons(self) -> tuple[Season, ...]:
        """The season of each league, from some weeks before the world was made to its end."""
        from grandstand.simulators.odds.world.laws import forget_tables
        from grandstand.simulators.odds.world.leagues import LEAGUES
        from grandstand.simulators.odds.world.season import season

        made = []
        days = (PAST + LASTS + _AFTER).days
        for number, sport in enumerate(SPORTS):
            league = LEAGUES[sport]
            rounds = -(-days // league.days_between_rounds)
            made.append(
                season(
                    self._birth.seed + number,
                    sport,
                    rounds * (len(league.teams) // 2),
                    starts_at=self._birth.born_at - PAST,
                    changes=_CHANGES,
                    all_day=True,
                )
            )
        forget_tables()
        return tuple(made)

    @cached_property
    def told(self) -> tuple[Told, ...]:
        """The seasons, ready to be told of."""
        from grandstand.simulators.odds.words import Told

        return tuple(Told.of(season) for season in self.seasons)

    def feed(self, clock: Clock, key: str) -> OddsFeed:
        """Answer the odds feed of these seasons at a clock, which opens by a key."""
        from grandstand.simulators.odds.feed import OddsFeed

        return OddsFeed(self.seasons, clock, key=key, credits=_CREDITS)

    def fancied(self, now: datetime) -> list[Fancied]:
        """Answer the games of these hours with a price, those that ended of late included."""
        from grandstand.simulators.odds.board import moment, stamp

        at, found = stamp(now), []
        for told in self.told:
            games, teams = told.season.games, told.season.teams
            early, late = stamp(now - _SOON), stamp(now + _SOON)
            near = (games.commence_us > early) & (games.commence_us < late)
            for game in near.nonzero()[0].tolist():
                chance = _home_chance(told, game, at)
                if chance is None or games.postponed[game]:
                    continue
                ended = games.known_us[game] <= at
                won = bool(games.home_score[game] > games.away_score[game])
                found.append(
                    Fancied(
                        games.ids[game],
                        told.season.league.title,
                        teams[games.home[game]],
                        teams[games.away[game]],
                        moment(int(games.commence_us[game])),
                        moment(int(games.completed_us[game])),
                        chance,
                        won if ended else None,
                    )
                )
        return found


def _home_chance(told: Told, game: int, at_us: int) -> float | None:
    """Answer what the sharpest book's price says of home, without its margin."""
    for line in told.board.lines(game, at_us):
        if line.book == _SHARP and line.market == "h2h":
            sides = [_implied(price) for price in (line.first, line.second, line.draw) if price]
            return sides[0] / sum(sides)
    return None


def _implied(american: int) -> float:
    if american > 0:
        return _HUNDRED / (american + _HUNDRED)
    return -american / (-american + _HUNDRED)
