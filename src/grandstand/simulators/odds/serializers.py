"""Serialization of a simulated season as The Odds API's JSON."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Final, TypeAlias
from urllib.parse import parse_qsl

import numpy as np

from grandstand.simulators.odds.leagues import Integers
from grandstand.simulators.odds.prices import IN_PLAY, MARKETS
from grandstand.simulators.odds.season import SimulatedSeason

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MAX_BOOKS: Final = 128
_MAX_MARKETS: Final = 8
_MAX_PLAYERS: Final = 4096
REGIONS: Final = ("us", "us2", "uk", "eu", "au")
_BOOKS_PER_REGION: Final = 10
Row: TypeAlias = dict[str, object]
DRAW: Final = "Draw"


def to_epoch_us(instant: datetime) -> int:
    return (instant - EPOCH) // timedelta(microseconds=1)


def from_epoch_us(epoch_us: int) -> datetime:
    return EPOCH + timedelta(microseconds=int(epoch_us))


@dataclass(frozen=True, slots=True)
class PriceLine:
    """A price in force: bookmaker and market, and its sides; props have a player."""

    book: int
    market: str
    captured_us: int
    point: float
    first: int
    second: int
    draw: int = 0
    player: int | None = None


class PriceBoard:
    """A season's prices, indexed by game and time."""

    def __init__(self, season: SimulatedSeason) -> None:
        quotes, props = season.quotes, season.props
        self._season = season
        keys = (
            quotes.game.astype(np.int64) * _MAX_BOOKS + quotes.book
        ) * _MAX_MARKETS + quotes.market
        self._order = np.lexsort((quotes.captured_us, keys))
        self._keys = keys[self._order]
        self._captured = quotes.captured_us[self._order]
        keys = (props.game.astype(np.int64) * _MAX_BOOKS + props.book) * _MAX_MARKETS + props.market
        keys = keys * _MAX_PLAYERS + props.player
        self._prop_order = np.lexsort((props.captured_us, keys))
        self._prop_keys = keys[self._prop_order]
        self._prop_captured = props.captured_us[self._prop_order]

    def lines(self, game: int, at_us: int) -> list[PriceLine]:
        """Return the prices of a game's markets in force at a time, by bookmaker."""
        rows = self._newest(self._keys, self._captured, _MAX_BOOKS * _MAX_MARKETS, (game, at_us))
        quotes = self._season.quotes
        return [
            PriceLine(
                int(quotes.book[row]),
                MARKETS[quotes.market[row]],
                int(quotes.captured_us[row]),
                float(quotes.point[row]),
                int(quotes.first[row]),
                int(quotes.second[row]),
                int(quotes.draw[row]),
            )
            for row in self._order[rows].tolist()
        ]

    def prop_lines(self, game: int, at_us: int) -> list[PriceLine]:
        """Return the player prices of a game in force at a time, by bookmaker."""
        width = _MAX_BOOKS * _MAX_MARKETS * _MAX_PLAYERS
        rows = self._newest(self._prop_keys, self._prop_captured, width, (game, at_us))
        props = self._season.props
        return [
            PriceLine(
                int(props.book[row]),
                props.markets[props.market[row]],
                int(props.captured_us[row]),
                float(props.point[row]),
                int(props.over[row]),
                int(props.under[row]),
                player=int(props.player[row]),
            )
            for row in self._prop_order[rows].tolist()
        ]

    @staticmethod
    def _newest(
        keys: Integers, captured: Integers, width: int, game_and_time: tuple[int, int]
    ) -> Integers:
        """Return the last row of each key of a game that is not after a time."""
        game, at_us = game_and_time
        low, high = np.searchsorted(keys, (game * width, (game + 1) * width))
        visible: Integers = np.flatnonzero(captured[low:high] <= at_us) + low
        if not len(visible):
            return visible
        last = np.append(keys[visible][1:] != keys[visible][:-1], True)
        newest: Integers = visible[last]
        return newest


class InvalidQuery(Exception):
    """A request the feed rejects, with status and error code."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


@dataclass(frozen=True, slots=True)
class QueryParams:
    """The parsed query parameters of a request."""

    key: str | None
    regions: tuple[str, ...]
    bookmakers: tuple[str, ...]
    markets: tuple[str, ...]
    event_ids: frozenset[str] | None
    starts_from: datetime | None
    starts_to: datetime | None
    at: datetime | None
    days_from: int | None
    american: bool
    unix: bool
    limits: bool
    links: bool
    everything: bool

    @property
    def region_count(self) -> int:
        """The number of regions charged; ten bookmakers count as one."""
        if self.bookmakers:
            return -(-len(self.bookmakers) // _BOOKS_PER_REGION)
        return len(self.regions)


def parse_query(query: str, more_markets: tuple[str, ...] = ()) -> QueryParams:
    """Parse a query string.

    Raises InvalidQuery for values the feed does not accept.
    """
    values = dict(parse_qsl(query, keep_blank_values=True))
    odds, dates = values.get("oddsFormat", "decimal"), values.get("dateFormat", "iso")
    _require_one_of(odds, ("decimal", "american"), "INVALID_ODDS_FORMAT", "oddsFormat")
    _require_one_of(dates, ("iso", "unix"), "INVALID_DATE_FORMAT", "dateFormat")
    regions, markets = _parse_list(values, "regions"), _parse_list(values, "markets") or ("h2h",)
    for region in regions:
        _require_one_of(region, REGIONS, "INVALID_REGION", "regions")
    for market in markets:
        _require_one_of(market, (*MARKETS, *more_markets), "INVALID_MARKET", "markets")
    event_ids = _parse_list(values, "eventIds")
    return QueryParams(
        key=values.get("apiKey"),
        regions=regions,
        bookmakers=_parse_list(values, "bookmakers"),
        markets=tuple(dict.fromkeys(markets)),
        event_ids=frozenset(event_ids) if event_ids else None,
        starts_from=_parse_time(values, "commenceTimeFrom", "INVALID_COMMENCE_TIME_FROM"),
        starts_to=_parse_time(values, "commenceTimeTo", "INVALID_COMMENCE_TIME_TO"),
        at=_parse_time(values, "date", "INVALID_HISTORICAL_TIMESTAMP"),
        days_from=_parse_days(values.get("daysFrom")),
        american=odds == "american",
        unix=dates == "unix",
        limits=values.get("includeBetLimits") == "true",
        links=values.get("includeLinks") == "true",
        everything=values.get("all") == "true",
    )


def _parse_list(values: dict[str, str], name: str) -> tuple[str, ...]:
    return tuple(filter(None, values.get(name, "").split(",")))


def _require_one_of(word: str, known: tuple[str, ...], code: str, name: str) -> None:
    if word not in known:
        raise InvalidQuery(422, code, f"Invalid {name} parameter: {word[:40]}")


def _parse_time(values: dict[str, str], name: str, code: str) -> datetime | None:
    """Parse a time; the feed accepts only whole seconds with a Z."""
    if name not in values:
        return None
    try:
        return datetime.strptime(values[name], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    except ValueError as fault:
        message = f"Invalid {name} parameter. Format as YYYY-MM-DDTHH:MM:SSZ"
        raise InvalidQuery(422, code, message) from fault


def _parse_days(values: str | None) -> int | None:
    if values is None:
        return None
    if values not in {"1", "2", "3"}:
        message = "Invalid daysFrom parameter. Must be an integer between 1 and 3"
        raise InvalidQuery(422, "INVALID_SCORES_DAYS_FROM", message)
    return int(values)


@dataclass(frozen=True, slots=True)
class SeasonFeed:
    """A season as the feeds publish it."""

    season: SimulatedSeason
    board: PriceBoard

    @classmethod
    def of(cls, season: SimulatedSeason) -> SeasonFeed:
        return cls(season, PriceBoard(season))

    def find(self, game_id: str) -> int | None:
        """Return the number of a game, None if the id is unknown."""
        try:
            return self.season.games.ids.index(game_id)
        except ValueError:
            return None

    def on_offer(self, now: datetime, params: QueryParams) -> list[int]:
        """Return the live and upcoming games that pass the query's filters."""
        games, at = self.season.games, to_epoch_us(now)
        ends = np.where(games.postponed, games.commence_us, games.completed_us)
        open_now = (games.announced_us <= at) & (ends > at)
        if params.starts_from is not None:
            open_now &= games.commence_us >= to_epoch_us(params.starts_from)
        if params.starts_to is not None:
            open_now &= games.commence_us <= to_epoch_us(params.starts_to)
        games_on_offer: list[int] = np.flatnonzero(open_now).tolist()
        if params.event_ids is not None:
            games_on_offer = [
                game for game in games_on_offer if games.ids[game] in params.event_ids
            ]
        return games_on_offer

    def scored(self, now: datetime, days_from: int | None) -> list[int]:
        """Return the games with scores: live, upcoming, and ended in the last days."""
        games, at = self.season.games, to_epoch_us(now)
        begun = games.commence_us <= at
        ended = begun & (games.known_us <= at) & ~games.postponed
        period_us = (days_from or 0) * 86_400_000_000
        recent = games.commence_us > at - max(period_us, 12 * 3_600_000_000)
        shown = (games.announced_us <= at) & (~begun | (recent & (~ended | bool(days_from))))
        scored_games: list[int] = np.flatnonzero(shown).tolist()
        return scored_games

    def event(self, game: int, params: QueryParams) -> Row:
        """Return a game without prices."""
        season = self.season
        return {
            "id": season.games.ids[game],
            "sport_key": season.league.key,
            "sport_title": season.league.title,
            "commence_time": _format_time(int(season.games.commence_us[game]), params),
            "home_team": season.teams[season.games.home[game]],
            "away_team": season.teams[season.games.away[game]],
        }

    def odds(self, game: int, now: datetime, params: QueryParams, *, whole: bool = False) -> Row:
        """Return a game with the prices in force; `whole` includes player markets.

        In replies with props only markets have a `last_update`, not bookmakers.
        """
        at = to_epoch_us(now)
        lines = self.board.lines(game, at)
        if whole:
            lines = sorted([*lines, *self.board.prop_lines(game, at)], key=lambda line: line.book)
        chosen = [
            line
            for line in lines
            if line.market in params.markets and self._is_requested(line.book, params)
        ]
        books = [
            self._book(game, book, list(of_book), params, whole=whole)
            for book, of_book in groupby(chosen, key=lambda line: line.book)
        ]
        return {**self.event(game, params), "bookmakers": books}

    def score(self, game: int, now: datetime, params: QueryParams) -> Row:
        """Return the score of a game; scores are text, null before the start."""
        games, at = self.season.games, to_epoch_us(now)
        row: Row = {**self.event(game, params), "completed": False, "scores": None}
        row["last_update"] = None
        if games.postponed[game] or games.commence_us[game] > at:
            return row
        ended = bool(games.known_us[game] <= at)
        home, away = self.points(game, at)
        teams = self.season.teams[games.home[game]], self.season.teams[games.away[game]]
        scores = [
            {"name": name, "score": str(points)}
            for name, points in zip(teams, (home, away), strict=True)
        ]
        updated_us = int(games.known_us[game]) if ended else at
        return {
            **row,
            "completed": ended,
            "scores": scores,
            "last_update": _format_time(updated_us, params),
        }

    def points(self, game: int, at_us: int) -> tuple[int, int]:
        """Return the score of a game as published at a time."""
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

    def _is_requested(self, book: int, params: QueryParams) -> bool:
        known = self.season.books[book]
        if params.bookmakers:
            return known.key in params.bookmakers
        return known.region in params.regions

    def _book(
        self, game: int, book: int, lines: list[PriceLine], params: QueryParams, *, whole: bool
    ) -> Row:
        known = self.season.books[book]
        newest = max(line.captured_us for line in lines)
        row: Row = {"key": known.key, "title": known.title}
        if not whole:
            row["last_update"] = _format_time(newest, params)
        if params.links:
            row["link"] = None
        markets: dict[str, Row] = {}
        for line in lines:
            market = markets.setdefault(
                line.market,
                {
                    "key": line.market,
                    "last_update": _format_time(line.captured_us, params),
                    "outcomes": [],
                },
            )
            outcomes = market["outcomes"]
            assert isinstance(outcomes, list)  # noqa: S101 - made above
            outcomes += self._outcomes(game, line, params)
        row["markets"] = list(markets.values())
        return row

    def _outcomes(self, game: int, line: PriceLine, params: QueryParams) -> list[Row]:
        """Return the outcomes of a market; teams are in alphabetical order."""
        season = self.season
        if line.market in {"h2h", "spreads"}:
            home = season.teams[season.games.home[game]]
            away = season.teams[season.games.away[game]]
            sides = sorted([(home, line.first, line.point), (away, line.second, -line.point)])
            if line.draw:
                sides.append((DRAW, line.draw, line.point))
        else:
            sides = [("Over", line.first, line.point), ("Under", line.second, line.point)]
        outcomes: list[Row] = []
        for name, price, point in sides:
            row: Row = {"name": name}
            if line.player is not None:
                row["description"] = season.players[line.player].name
            row["price"] = price if params.american else american_to_decimal(price)
            if line.market != MARKETS[0]:
                row["point"] = point
            if params.limits:
                row["bet_limit"] = season.books[line.book].limit_dollars
            outcomes.append(row)
        return outcomes


def american_to_decimal(american: int) -> float:
    """Return a decimal price as the feed rounds it."""
    return round(1 + (american / 100 if american > 0 else 100 / -american), 2)


def _format_time(epoch_us: int, params: QueryParams) -> str | int:
    instant = from_epoch_us(epoch_us)
    return int(instant.timestamp()) if params.unix else f"{instant:%Y-%m-%dT%H:%M:%SZ}"
