"""Client and parser of The Odds API.

The smallest unit that is accepted or rejected is one bookmaker's market. A game without teams or
start is rejected as a whole, and so are duplicates.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Final, TypeVar

from grandstand.apps.bets.domain.records import (
    FeedGame,
    FeedGames,
    FeedPrice,
    FeedScore,
    FeedScores,
    PricedOutcome,
    QuotaUsage,
)
from grandstand.apps.bets.sources.validation import (
    AlreadyStarted,
    CreditsExhausted,
    InvalidValue,
    Rejections,
    Row,
    decode_json,
    optional_timestamp,
    parse_american_price,
    parse_line,
    parse_score,
    parse_timestamp,
    require_list,
    require_object,
    require_text,
    shorten,
)
from grandstand.core.clock import Clock
from grandstand.core.errors import InvalidInput, NotAllowed, SourceFailed
from grandstand.core.logging import get_logger
from grandstand.net.client import Credentials, Response, SourceRegistry
from grandstand.net.errors import InvalidResponse
from grandstand.net.rate_limits import Quota, QuotaReading, RateLimit
from grandstand.net.retry import RetryPolicy

T = TypeVar("T")

DRAW: Final = "Draw"
OVER: Final = "Over"
UNDER: Final = "Under"
_MAX_OUTCOMES: Final = 400
GAME_MARKETS: Final = ("h2h", "spreads", "totals")
_UNAUTHORIZED: Final = 401
_NOT_FOUND: Final = 404
_BOOKS_PER_REGION: Final = 10
_SCORES_CREDITS: Final = 2
_MAX_BYTES: Final = 32 * 1024 * 1024
_OUT_OF_CREDITS: Final = b"OUT_OF_USAGE_CREDITS"


@dataclass(frozen=True, slots=True)
class FeedOutcome:
    """One outcome of a market; `player` is set for props."""

    name: str
    price: int
    point: Decimal | None
    player: str | None


def parse_games(
    rows: Iterable[object],
    rejections: Rejections,
    *,
    markets: Sequence[str] = (),
    now: datetime | None = None,
) -> tuple[FeedGame, ...]:
    """Return the games with prices of the requested markets.

    With `now`, games that have started are rejected: their prices are in-play.
    """

    def parse(row: Row, game: FeedGame) -> FeedGame:
        if now is not None and game.commence_time <= now:
            raise AlreadyStarted(
                f"it started at {game.commence_time:%Y-%m-%d %H:%M}, too late for pregame prices"
            )
        prices = _parse_prices(row, game, frozenset(markets), rejections)
        return replace(game, prices=tuple(prices))

    return _parse_rows(rows, rejections, parse)


def parse_scores(rows: Iterable[object], rejections: Rejections) -> tuple[FeedScore, ...]:
    """Return the state of games; final scores are matched to teams by name."""
    return _parse_rows(rows, rejections, _parse_score)


def _parse_rows(
    rows: Iterable[object], rejections: Rejections, parse: Callable[[Row, FeedGame], T]
) -> tuple[T, ...]:
    """Parse each game once; those that cannot be parsed are rejected."""
    parsed: dict[str, T] = {}
    for data in rows:
        try:
            row = require_object(data, "a game")
            game = _parse_game(row)
            _check_new(game.game_id, parsed)
            parsed[game.game_id] = parse(row, game)
        except InvalidValue as reason:
            number = data.get("id") if isinstance(data, dict) else None
            name = f"game {shorten(number)}" if isinstance(number, str) and number else "a game"
            rejections.add(name, reason)
    return tuple(parsed.values())


def _check_new(key: object, seen: Container[object]) -> None:
    if key in seen:
        raise InvalidValue("duplicate: the first one is used")


def _check_requested(name: str, requested: frozenset[str]) -> None:
    if requested and name not in requested:
        raise InvalidValue("it was not requested")


def _parse_game(row: Row) -> FeedGame:
    home, away = require_text(row, "home_team"), require_text(row, "away_team")
    if home == away:
        raise InvalidValue(f"{home} cannot play itself")
    return FeedGame(
        game_id=require_text(row, "id"),
        sport=require_text(row, "sport_key"),
        home_team=home,
        away_team=away,
        commence_time=parse_timestamp(row.get("commence_time"), "commence_time"),
    )


def _parse_prices(
    row: Row, game: FeedGame, requested: frozenset[str], rejections: Rejections
) -> Iterable[FeedPrice]:
    seen: set[tuple[str, str]] = set()
    for data in require_list(row.get("bookmakers"), "bookmakers"):
        try:
            book = require_object(data, "a bookmaker")
            key = require_text(book, "key")
            markets = require_list(book.get("markets"), "markets")
        except InvalidValue as reason:
            rejections.add(f"game {game.game_id}, a bookmaker", reason)
            continue
        for item in markets:
            place = f"game {game.game_id}, {key}"
            try:
                market = require_object(item, "a market")
                name = require_text(market, "key")
                place = f"{place} {name}"
                _check_requested(name, requested)
                _check_new((key, name), seen)
                accepted, rejected = _parse_market(game, key, name, market)
            except InvalidValue as reason:
                rejections.add(place, reason)
                continue
            seen.add((key, name))
            yield from accepted
            for problem in rejected:
                rejections.add(place, problem)


def _parse_market(
    game: FeedGame, book: str, name: str, market: Row
) -> tuple[list[FeedPrice], list[str]]:
    """Return the prices of a market, several for props, and reasons why others were rejected."""
    updated = optional_timestamp(market, "last_update")
    outcomes = require_list(market.get("outcomes"), "outcomes")
    if len(outcomes) > _MAX_OUTCOMES:
        raise InvalidValue(f"it has {len(outcomes)} outcomes")
    parse = _MARKET_PARSERS.get(name)
    if parse is not None:
        sides = [_parse_outcome(item) for item in outcomes]
        return [FeedPrice(book, name, parse(game, sides), updated)], []
    return _parse_props(book, name, outcomes, updated)


def _parse_outcome(data: object) -> FeedOutcome:
    row = require_object(data, "an outcome")
    point = row.get("point")
    return FeedOutcome(
        require_text(row, "name"),
        parse_american_price(row.get("price")),
        None if point is None else parse_line(point),
        require_text(row, "description") if row.get("description") is not None else None,
    )


def _match_outcomes(outcomes: Sequence[FeedOutcome], names: Sequence[str]) -> list[FeedOutcome]:
    """Return the outcomes in the order of the required names, each exactly once."""
    by_name = {outcome.name: outcome for outcome in outcomes}
    for outcome in outcomes:
        if outcome.name not in names:
            raise InvalidValue(f"{outcome.name!r} is not a side: expected {', '.join(names)}")
    if len(by_name) < len(outcomes):
        raise InvalidValue("a side occurs twice")
    missing = [name for name in names if name not in by_name]
    if missing:
        raise InvalidValue(f"a side is missing: {', '.join(missing)}")
    return [by_name[name] for name in names]


def _parse_h2h(game: FeedGame, sides: Sequence[FeedOutcome]) -> tuple[PricedOutcome, ...]:
    names = [game.home_team, game.away_team]
    if game.sport.startswith("soccer") or any(side.name == DRAW for side in sides):
        names.append(DRAW)
    return tuple(PricedOutcome(side.name, side.price) for side in _match_outcomes(sides, names))


def _parse_spread(game: FeedGame, sides: Sequence[FeedOutcome]) -> tuple[PricedOutcome, ...]:
    home, away = _match_outcomes(sides, (game.home_team, game.away_team))
    if home.point is None or away.point is None or home.point + away.point != 0:
        raise InvalidValue(f"the lines {home.point} and {away.point} are not opposites")
    return _to_outcomes(home, away)


def _parse_total(game: FeedGame, sides: Sequence[FeedOutcome]) -> tuple[PricedOutcome, ...]:
    del game
    over, under = _match_outcomes(sides, (OVER, UNDER))
    if over.point is None or over.point != under.point:
        raise InvalidValue(f"the lines {over.point} and {under.point} differ")
    return _to_outcomes(over, under)


def _to_outcomes(*sides: FeedOutcome) -> tuple[PricedOutcome, ...]:
    return tuple(PricedOutcome(side.name, side.price, side.point) for side in sides)


_MARKET_PARSERS: Final[
    dict[str, Callable[[FeedGame, Sequence[FeedOutcome]], tuple[PricedOutcome, ...]]]
] = {
    "h2h": _parse_h2h,
    "spreads": _parse_spread,
    "totals": _parse_total,
}


def _parse_props(
    book: str, name: str, outcomes: Sequence[object], updated: datetime | None
) -> tuple[list[FeedPrice], list[str]]:
    """Accept each player's line that has both sides; reject the others one by one."""
    rejected: list[str] = []
    lines: dict[tuple[str, Decimal], list[FeedOutcome]] = {}
    for data in outcomes:
        try:
            side = _parse_outcome(data)
            lines.setdefault(_prop_key(side), []).append(side)
        except InvalidValue as reason:
            rejected.append(str(reason))
    accepted: list[FeedPrice] = []
    for (player, _), sides in lines.items():
        try:
            priced = _to_outcomes(*_match_outcomes(sides, (OVER, UNDER)))
            accepted.append(FeedPrice(book, name, priced, updated, player))
        except InvalidValue as reason:
            rejected.append(f"{player}: {reason}")
    return accepted, rejected


def _prop_key(side: FeedOutcome) -> tuple[str, Decimal]:
    """Return the player and line of a prop."""
    if side.player is None or side.point is None:
        raise InvalidValue("an outcome has no player or no line")
    return side.player, side.point


def _parse_score(row: Row, game: FeedGame) -> FeedScore:
    completed = row.get("completed")
    if not isinstance(completed, bool):
        raise InvalidValue("completed is not a boolean")
    score = FeedScore(
        game.game_id,
        game.sport,
        game.home_team,
        game.away_team,
        game.commence_time,
        completed,
        updated_at=optional_timestamp(row, "last_update"),
    )
    if not completed:
        return score
    data = [require_object(item, "a score") for item in require_list(row.get("scores"), "scores")]
    points = {require_text(item, "name"): parse_score(item.get("score")) for item in data}
    if len(data) != 2 or points.keys() != {game.home_team, game.away_team}:
        names = ", ".join(points) or "nobody"
        raise InvalidValue(
            f"its scores are of {names}, not of {game.home_team} and {game.away_team}"
        )
    return replace(score, home_score=points[game.home_team], away_score=points[game.away_team])


class OddsApiClient:
    """Client of the odds feed.

    Requests raise the errors of `net.errors`, NotAllowed without a valid key, CreditsExhausted
    before a request that would touch the `reserve`, and SourceFailed for unreadable replies.
    """

    def __init__(
        self,
        web: SourceRegistry,
        clock: Clock,
        *,
        url: str,
        key: str | None,
        reserve: int = 0,
        regions: Sequence[str] = ("us",),
        timeout_seconds: float = 15.0,
    ) -> None:
        self._clock = clock
        self._has_key = bool(key)
        self._reserve = reserve
        self._regions = tuple(regions)
        self._quota = QuotaUsage()
        self._log = get_logger("bets", source="odds-api")
        self._source = web.source(
            "odds-api",
            base_url=url,
            rate=RateLimit(per_second=5, burst=5),
            timeout_seconds=timeout_seconds,
            quota=Quota(None, "month"),
            credentials=Credentials(params={"apiKey": key}) if key else Credentials(),
            read_quota=read_credits,
            retries=RetryPolicy(tries=3, within_seconds=2 * timeout_seconds),
            most_bytes=_MAX_BYTES,
        )

    @property
    def quota(self) -> QuotaUsage:
        """The cost of the last request, and credits used and left after it."""
        return self._quota

    async def fetch_odds(
        self,
        sport: str,
        markets: Sequence[str] = GAME_MARKETS,
        *,
        bookmakers: Sequence[str] = (),
        game_ids: Sequence[str] = (),
    ) -> FeedGames:
        """Fetch the upcoming games of a sport with all prices; started games are rejected."""
        path = f"/v4/sports/{_path_segment(sport)}/odds"
        params = self._params(markets, bookmakers)
        if game_ids:
            params["eventIds"] = ",".join(game_ids)
        response = await self._request(path, params, len(markets) * self._paid_regions(bookmakers))
        return self._games(_json_list(response, path), markets)

    async def fetch_props(
        self, sport: str, game_id: str, markets: Sequence[str], *, bookmakers: Sequence[str] = ()
    ) -> FeedGames:
        """Fetch any markets of one game; empty if it is gone or has started."""
        path = f"/v4/sports/{_path_segment(sport)}/events/{_path_segment(game_id)}/odds"
        cost = len(markets) * self._paid_regions(bookmakers)
        response = await self._request(
            path, self._params(markets, bookmakers), cost, allow_missing=True
        )
        if response.status == _NOT_FOUND:
            return FeedGames((), usage=self._quota)
        data = decode_json(response)
        if not isinstance(data, dict):
            raise InvalidResponse(
                f"{response.source} did not return an object", source=response.source
            )
        return self._games([data], markets)

    async def fetch_scores(self, sport: str, days: int = 3) -> FeedScores:
        """Fetch the scores of the last 1 to 3 days."""
        path = f"/v4/sports/{_path_segment(sport)}/scores"
        params = {"daysFrom": str(max(1, min(days, 3))), "dateFormat": "iso"}
        response = await self._request(path, params, _SCORES_CREDITS)
        rejections = Rejections()
        scores = parse_scores(_json_list(response, path), rejections)
        self._log_rejections(rejections)
        return FeedScores(scores, rejections.all, self._quota)

    def _params(self, markets: Sequence[str], bookmakers: Sequence[str]) -> dict[str, str]:
        params = {"markets": ",".join(markets), "oddsFormat": "american", "dateFormat": "iso"}
        where = {"bookmakers": bookmakers} if bookmakers else {"regions": self._regions}
        return params | {name: ",".join(values) for name, values in where.items()}

    def _paid_regions(self, bookmakers: Sequence[str]) -> int:
        return -(-len(bookmakers) // _BOOKS_PER_REGION) if bookmakers else len(self._regions)

    async def _request(
        self, path: str, params: Mapping[str, str], cost: int, *, allow_missing: bool = False
    ) -> Response:
        if not self._has_key:
            raise NotAllowed("The odds feed requires an API key. Set GRANDSTAND_BETS_ODDS_KEY.")
        if cost:
            await self._check_credits(cost)
        accepted = {_UNAUTHORIZED, _NOT_FOUND} if allow_missing else {_UNAUTHORIZED}
        response = await self._source.get(path, params=dict(params), accept=accepted, cost=cost)
        self._quota = read_usage(response.headers, self._quota)
        if response.status == _UNAUTHORIZED:
            if _OUT_OF_CREDITS in response.body:
                raise CreditsExhausted("The odds feed's credits for this month are used up.")
            raise NotAllowed("The odds feed rejected the API key. Check GRANDSTAND_BETS_ODDS_KEY.")
        return response

    async def _check_credits(self, cost: int) -> None:
        left = (await self._source.current()).quota_left
        if left is not None and left - cost < self._reserve:
            raise CreditsExhausted(
                f"The request costs {cost} credits, {left} are left, {self._reserve} are reserved. "
                "Request less, lower bets.odds_reserve, or wait for the next month."
            )

    def _games(self, rows: Sequence[object], markets: Sequence[str]) -> FeedGames:
        rejections = Rejections()
        games = parse_games(rows, rejections, markets=markets, now=self._clock.now())
        self._log_rejections(rejections)
        return FeedGames(games, rejections.all, self._quota)

    def _log_rejections(self, rejections: Rejections) -> None:
        if rejections.invalid:
            self._log.warning(
                "odds_feed_rows_rejected", rejected=len(rejections.all), first=rejections.all[0]
            )


def read_credits(headers: Mapping[str, str], now: datetime) -> QuotaReading | None:
    """Return the month's credits from the reply headers, None if they are missing."""
    del now
    left = _whole_number(headers, "x-requests-remaining")
    return None if left is None else QuotaReading(left, _whole_number(headers, "x-requests-used"))


def read_usage(headers: Mapping[str, str], before: QuotaUsage) -> QuotaUsage:
    """Return the cost of a request and the credits left from the reply headers."""
    left = _whole_number(headers, "x-requests-remaining")
    if left is None:
        return replace(before, credits=None)
    last, used = (_whole_number(headers, f"x-requests-{name}") for name in ("last", "used"))
    return QuotaUsage(last, used, left)


def _whole_number(headers: Mapping[str, str], name: str) -> int | None:
    """Parse a number; the feed sometimes writes whole numbers as 498.0."""
    data = headers.get(name, "").partition(".")[0]
    return int(data) if data.isascii() and data.isdigit() and len(data) < 12 else None


def _path_segment(name: str) -> str:
    """Return a URL path segment.

    Raises InvalidInput if the name cannot be one.
    """
    if not name or not all(char.isascii() and (char.isalnum() or char in "_-") for char in name):
        raise InvalidInput(f"Invalid sport or game {name[:60]!r}. Use letters, digits, _ and -.")
    return name


def _json_list(response: Response, path: str) -> list[object]:
    data = decode_json(response)
    if not isinstance(data, list):
        raise SourceFailed(f"Unreadable reply of the odds feed at {path}: it is not a list.")
    return data
