"""Kept here: the teams and games that some words are about."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from grandstand.apps.bets.model.names import sport_name
from grandstand.apps.bets.service.means import Means
from grandstand.apps.bets.store import Awaited, ResultLine
from grandstand.kit.app import Found
from grandstand.kit.sought import MOST, nearest, nearness

_BACK: Final = timedelta(days=14)
_AHEAD: Final = timedelta(days=30)
_DAY: Final = timedelta(days=1)
_TEAMS: Final = 3


@dataclass(frozen=True, slots=True)
class _Game:
    game_id: str
    sport: str
    home_team: str
    away_team: str
    commence_time: datetime
    score: str = ""

    @property
    def title(self) -> str:
        return f"{self.home_team} v {self.away_team}"

    @property
    def detail(self) -> str:
        said = self.score or f"{self.commence_time:%a %d %b %H:%M} UTC"
        return f"{sport_name(self.sport)}, {said}"

    @property
    def href(self) -> str:
        return f"/bets/games/{self.game_id}"


class Searching:
    """Looks among the games of the last two weeks and of the next month."""

    def __init__(self, means: Means) -> None:
        self._means = means

    async def run(self, sought: str) -> tuple[Found, ...]:
        """Answer teams first, each leading to its next game, then games."""
        games = [
            game
            for sport in self._means.settings.sports
            for game in await self._of_sport(sport)
            if nearness(sought, game.home_team, game.away_team, sport_name(game.sport)) is not None
        ]
        now = self._means.now()
        games.sort(key=lambda one: (abs(one.commence_time - now), one.commence_time < now))
        teams = self._teams(sought, games)
        found = nearest(sought, games, lambda one: (one.title, sport_name(one.sport)))
        return (*teams, *map(_found, found))[:MOST]

    async def today(self) -> tuple[int, Found | None]:
        """Answer how many games begin within a day, and the next of all sports."""
        now, coming = self._means.now(), list[_Game]()
        for sport in self._means.settings.sports:
            async for row in self._means.each(Awaited.between(sport, now, now + _AHEAD)):
                coming.append(
                    _Game(row.game_id, sport, row.home_team, row.away_team, row.commence_time)
                )
        following = min(coming, key=lambda one: one.commence_time, default=None)
        count = sum(one.commence_time - now <= _DAY for one in coming)
        return count, None if following is None else _found(following)

    def _teams(self, sought: str, games: Iterable[_Game]) -> tuple[Found, ...]:
        """The teams of games, each with the one that is nearest in time."""
        now, first = self._means.now(), dict[str, _Game]()
        for game in sorted(games, key=lambda one: one.commence_time < now):
            for team in (game.home_team, game.away_team):
                first.setdefault(team, game)
        named = nearest(sought, first, lambda team: (team,), _TEAMS)
        return tuple(_team(team, first[team], now) for team in named)

    async def _of_sport(self, sport: str) -> list[_Game]:
        now, found = self._means.now(), dict[str, _Game]()
        async for row in self._means.each(Awaited.between(sport, now - _BACK, now + _AHEAD)):
            found[row.game_id] = _Game(
                row.game_id, sport, row.home_team, row.away_team, row.commence_time
            )
        async for line in self._means.each(ResultLine.within(sport, now - _BACK, now)):
            found[line.game_id] = _Game(
                line.game_id,
                sport,
                line.home_team,
                line.away_team,
                line.commence_time,
                f"{line.home_score}\u2013{line.away_score}, {line.commence_time:%a %d %b}",
            )
        return list(found.values())


def _found(game: _Game) -> Found:
    return Found("game", game.title, game.detail, game.href)


def _team(team: str, game: _Game, now: datetime) -> Found:
    other = game.away_team if team == game.home_team else game.home_team
    when = "last" if game.commence_time < now else "next"
    detail = f"{sport_name(game.sport)}, {when} against {other}: {game.detail.partition(', ')[2]}"
    return Found("team", team, detail, game.href)
