"""Kept here: games, prices and scores in the odds feed's own words."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Final, TypeAlias

import numpy as np

from grandstand.simulators.odds.asking import Asked
from grandstand.simulators.odds.board import Board, Line, moment, stamp
from grandstand.simulators.odds.world.lines import IN_PLAY, MARKETS
from grandstand.simulators.odds.world.season import Season

Row: TypeAlias = dict[str, object]

DRAW: Final = "Draw"
_SHOWN_US: Final = 14 * 86_400_000_000


@dataclass(frozen=True, slots=True)
class Told:
    """A season that is being told of."""

    season: Season
    board: Board

    @classmethod
    def of(cls, season: Season) -> Told:
        """Make a season ready to be told of."""
        return cls(season, Board(season))

    def find(self, game_id: str) -> int | None:
        """Answer the number of a game, None when there is none of that id."""
        try:
            return self.season.games.ids.index(game_id)
        except ValueError:
            return None

    def on_offer(self, now: datetime, asked: Asked) -> list[int]:
        """Answer the games that are live or to come and pass the query's filters."""
        games, at = self.season.games, stamp(now)
        ends = np.where(games.postponed, games.commence_us, games.completed_us)
        open_now = (games.announced_us <= at) & (ends > at)
        if asked.starts_from is not None:
            open_now &= games.commence_us >= stamp(asked.starts_from)
        if asked.starts_to is not None:
            open_now &= games.commence_us <= stamp(asked.starts_to)
        found: list[int] = np.flatnonzero(open_now).tolist()
        if asked.event_ids is not None:
            found = [game for game in found if games.ids[game] in asked.event_ids]
        return found

    def scored(self, now: datetime, days_from: int | None) -> list[int]:
        """Answer the games whose scores are told: live, to come, and ended in the last days."""
        games, at = self.season.games, stamp(now)
        begun = games.commence_us <= at
        ended = begun & (games.known_us <= at) & ~games.postponed
        lasts = (days_from or 0) * 86_400_000_000
        recent = games.commence_us > at - max(lasts, 12 * 3_600_000_000)
        shown = (games.announced_us <= at) & (~begun | (recent & (~ended | bool(days_from))))
        found: list[int] = np.flatnonzero(shown).tolist()
        return found

    def event(self, game: int, asked: Asked) -> Row:
        """Answer a game without prices."""
        season = self.season
        return {
            "id": season.games.ids[game],
            "sport_key": season.league.key,
            "sport_title": season.league.title,
            "commence_time": _when(int(season.games.commence_us[game]), asked),
            "home_team": season.teams[season.games.home[game]],
            "away_team": season.teams[season.games.away[game]],
        }

    def odds(self, game: int, now: datetime, asked: Asked, *, whole: bool = False) -> Row:
        """Answer a game with the prices in force; `whole` has markets about players too.

        The books of an answer with props have no `last_update`; their markets do.
        """
        at = stamp(now)
        lines = self.board.lines(game, at)
        if whole:
            lines = sorted([*lines, *self.board.prop_lines(game, at)], key=lambda line: line.book)
        chosen = [
            line
            for line in lines
            if line.market in asked.markets and self._is_wanted(line.book, asked)
        ]
        books = [
            self._book(game, book, list(of_book), asked, whole=whole)
            for book, of_book in groupby(chosen, key=lambda line: line.book)
        ]
        return {**self.event(game, asked), "bookmakers": books}

    def score(self, game: int, now: datetime, asked: Asked) -> Row:
        """Answer how a game stands; scores are texts, null before the start."""
        games, at = self.season.games, stamp(now)
        row: Row = {**self.event(game, asked), "completed": False, "scores": None}
        row["last_update"] = None
        if games.postponed[game] or games.commence_us[game] > at:
            return row
        ended = bool(games.known_us[game] <= at)
        home, away = self.points(game, at)
        teams = self.season.teams[games.home[game]], self.season.teams[games.away[game]]
        told = [
            {"name": name, "score": str(points)}
            for name, points in zip(teams, (home, away), strict=True)
        ]
        seen = int(games.known_us[game]) if ended else at
        return {**row, "completed": ended, "scores": told, "last_update": _when(seen, asked)}

    def points(self, game: int, at_us: int) -> tuple[int, int]:
        """Answer the score of a game as it is told at a moment."""
        games = self.season.games
        if games.known_us[game] <= at_us:
            if games.corrected[game] and games.corrected_us[game] > at_us:
                return int(games.first_home_score[game]), int(games.first_away_score[game])
            return int(games.home_score[game]), int(games.away_score[game])
        gone = (at_us - int(games.commence_us[game])) / (self.season.league.hours * 3.6e9)
        parts = [at for at, part in enumerate(IN_PLAY) if part <= gone]
        if not parts:
            return 0, 0
        margin = int(self.season.play.margin[game, parts[-1]])
        total = int(self.season.play.total[game, parts[-1]])
        return (total + margin) // 2, (total - margin) // 2

    def _is_wanted(self, book: int, asked: Asked) -> bool:
        known = self.season.books[book]
        if asked.bookmakers:
            return known.key in asked.bookmakers
        return known.region in asked.regions

    def _book(self, game: int, book: int, lines: list[Line], asked: Asked, *, whole: bool) -> Row:
        known = self.season.books[book]
        newest = max(line.captured_us for line in lines)
        row: Row = {"key": known.key, "title": known.title}
        if not whole:
            row["last_update"] = _when(newest, asked)
        if asked.links:
            row["link"] = None
        markets: dict[str, Row] = {}
        for line in lines:
            told = markets.setdefault(
                line.market,
                {"key": line.market, "last_update": _when(line.captured_us, asked), "outcomes": []},
            )
            outcomes = told["outcomes"]
            assert isinstance(outcomes, list)  # noqa: S101 - made above
            outcomes += self._outcomes(game, line, asked)
        row["markets"] = list(markets.values())
        return row

    def _outcomes(self, game: int, line: Line, asked: Asked) -> list[Row]:
        """Answer the sides of a market; teams come in the order of the alphabet."""
        season = self.season
        if line.market in {"h2h", "spreads"}:
            home = season.teams[season.games.home[game]]
            away = season.teams[season.games.away[game]]
            sides = sorted([(home, line.first, line.point), (away, line.second, -line.point)])
            if line.draw:
                sides.append((DRAW, line.draw, line.point))
        else:
            sides = [("Over", line.first, line.point), ("Under", line.second, line.point)]
        found: list[Row] = []
        for name, price, point in sides:
            row: Row = {"name": name}
            if line.player is not None:
                row["description"] = season.players[line.player].name
            row["price"] = price if asked.american else decimal(price)
            if line.market != MARKETS[0]:
                row["point"] = point
            if asked.limits:
                row["bet_limit"] = season.books[line.book].limit_dollars
            found.append(row)
        return found


def decimal(american: int) -> float:
    """Answer an American price as a decimal one, as the feed rounds it."""
    return round(1 + (american / 100 if american > 0 else 100 / -american), 2)


def _when(stamped: int, asked: Asked) -> str | int:
    told = moment(stamped)
    return int(told.timestamp()) if asked.unix else f"{told:%Y-%m-%dT%H:%M:%SZ}"
