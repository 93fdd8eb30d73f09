"""The simulated server: The Odds API with key and credits, and ESPN, as one ASGI application."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Final, Literal, TypeAlias, cast

import msgspec

from grandstand.core.clock import Clock
from grandstand.simulators.asgi import Application, Message, Receive, Send, send_json
from grandstand.simulators.faults import Faults, Faulty
from grandstand.simulators.odds.espn import BASE as ESPN
from grandstand.simulators.odds.espn import espn_response
from grandstand.simulators.odds.prices import MARKETS
from grandstand.simulators.odds.season import SimulatedSeason
from grandstand.simulators.odds.serializers import (
    InvalidQuery,
    QueryParams,
    Row,
    SeasonFeed,
    parse_query,
)

CREDITS: Final = 20_000
PER_SECOND: Final = 30
MalformedKind: TypeAlias = Literal[
    "short price",
    "missing side",
    "unknown team",
    "text score",
    "one score",
    "duplicated game",
    "no start",
    "no teams",
    "text price",
]
BASE: Final = "/v4"
KEY: Final = "simulated"
SNAPSHOT: Final = timedelta(minutes=5)
FIRST_SNAPSHOT: Final = datetime(2020, 6, 6, tzinfo=UTC)
_MAX_REQUESTS: Final = 10_000
_DETAILS: Final = "https://the-odds-api.com/liveapi/guides/v4/api-error-codes.html"


@dataclass
class CreditAccount:
    """A month's credits and the request rate; free requests are always answered."""

    clock: Clock
    credits: int = CREDITS
    per_second: int = PER_SECOND
    used: int = 0
    last: int = 0
    _requests: deque[float] = field(default_factory=deque)

    @property
    def remaining(self) -> int:
        return max(0, self.credits - self.used)

    def is_rate_limited(self) -> bool:
        """Count a request and return whether the rate limit is exceeded."""
        now = self.clock.epoch()
        while self._requests and self._requests[0] <= now - 1:
            self._requests.popleft()
        self._requests.append(now)
        return len(self._requests) > self.per_second

    def spend(self, cost: int) -> None:
        self.used += cost
        self.last = cost

    def headers(self) -> list[tuple[bytes, bytes]]:
        """Return the usage headers of a reply."""
        headers = {
            "x-requests-remaining": self.remaining,
            "x-requests-used": self.used,
            "x-requests-last": self.last,
        }
        return [(name.encode(), str(value).encode()) for name, value in headers.items()]


class MalformedReply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A fault in the first game of replies, repeated `times` times."""

    kind: MalformedKind
    path: str = "/v4"
    times: int = 1


@dataclass
class MalformedReplies:
    """The requested faults, in order."""

    requested: list[MalformedReply] = field(default_factory=list)

    def request(self, *faults: MalformedReply) -> None:
        """Replace the requested faults."""
        self.requested = [*faults]

    def apply(self, path: str, rows: list[Row]) -> list[Row]:
        """Return a reply with the faults applied."""
        for at, fault in enumerate(self.requested):
            if fault.times > 0 and path.startswith(fault.path) and rows:
                self.requested[at] = msgspec.structs.replace(fault, times=fault.times - 1)
                rows = _FAULT_FUNCTIONS[fault.kind](rows)
        return rows


def _outcomes(row: Row) -> list[Row]:
    """Return the outcomes of a game's first market."""
    books = cast("list[Row]", row.get("bookmakers") or [{}])
    markets = cast("list[Row]", books[0].get("markets") or [{}])
    return cast("list[Row]", markets[0].get("outcomes") or [{}])


def _short_price(rows: list[Row]) -> list[Row]:
    _outcomes(rows[0])[0]["price"] = -50
    return rows


def _text_price(rows: list[Row]) -> list[Row]:
    _outcomes(rows[0])[0]["price"] = "evens"
    return rows


def _missing_side(rows: list[Row]) -> list[Row]:
    _outcomes(rows[0]).pop()
    return rows


def _unknown_team(rows: list[Row]) -> list[Row]:
    _outcomes(rows[0])[0]["name"] = "Harlem Globetrotters"
    return rows


def _text_score(rows: list[Row]) -> list[Row]:
    for row in rows:
        if row.get("scores"):
            cast("list[Row]", row["scores"])[0]["score"] = "forfeit"
            break
    return rows


def _one_score(rows: list[Row]) -> list[Row]:
    for row in rows:
        if row.get("scores"):
            cast("list[Row]", row["scores"]).pop()
            break
    return rows


def _duplicated(rows: list[Row]) -> list[Row]:
    return [rows[0], *rows]


def _no_start(rows: list[Row]) -> list[Row]:
    return [{**rows[0], "commence_time": None}, *rows[1:]]


def _no_teams(rows: list[Row]) -> list[Row]:
    return [{**rows[0], "home_team": None}, *rows[1:]]


_FAULT_FUNCTIONS: Final[dict[MalformedKind, Callable[[list[Row]], list[Row]]]] = {
    "short price": _short_price,
    "missing side": _missing_side,
    "unknown team": _unknown_team,
    "text score": _text_score,
    "one score": _one_score,
    "duplicated game": _duplicated,
    "no start": _no_start,
    "no teams": _no_teams,
    "text price": _text_price,
}


@dataclass
class OddsApiSimulator:
    """The server; it returns what was known at its clock's time."""

    seasons: tuple[SimulatedSeason, ...]
    clock: Clock
    key: str = KEY
    credits: int = CREDITS
    account: CreditAccount = field(init=False)
    faults: Faults = field(default_factory=lambda: Faults(Random(1)))  # noqa: S311 - repeatable
    malformed: MalformedReplies = field(default_factory=MalformedReplies)
    requests: deque[str] = field(default_factory=lambda: deque(maxlen=_MAX_REQUESTS))
    _feeds: dict[str, SeasonFeed] = field(init=False)

    def __post_init__(self) -> None:
        self.account = CreditAccount(self.clock, self.credits)
        self._feeds = {season.league.key: SeasonFeed.of(season) for season in self.seasons}

    @property
    def application(self) -> Application:
        """The ASGI application."""
        return Faulty(self._serve, self.faults)

    async def _serve(self, scope: Message, receive: Receive, send: Send) -> None:
        del receive
        path: str = scope["path"]
        query = scope["query_string"].decode("latin-1")
        self.requests.append(path)
        if path.startswith(f"{ESPN}/"):
            reply = espn_response(path.removeprefix(ESPN), query, self._feeds, self.clock.now())
            status = 200 if reply is not None else 404
            await send_json(send, status, reply if reply is not None else {"code": 404})
            return
        try:
            body = self._respond(path.strip("/").split("/"), query)
        except InvalidQuery as error:
            problem = {"message": str(error), "error_code": error.code, "details_url": _DETAILS}
            await send_json(send, error.status, problem, self._headers(error))
            return
        await send_json(send, 200, body, self.account.headers())

    def _headers(self, error: InvalidQuery) -> list[tuple[bytes, bytes]]:
        keyless = error.code in {"MISSING_API_KEY", "INVALID_KEY"}
        return [] if keyless else self.account.headers()

    def _respond(self, parts: list[str], query: str) -> object:
        if parts.pop(0) != BASE.strip("/"):
            raise InvalidQuery(404, "NOT_FOUND", "Not found")
        more = tuple(
            market for feed in self._feeds.values() for market in feed.season.props.markets
        )
        params = parse_query(query, more)
        if params.key is None:
            raise InvalidQuery(401, "MISSING_API_KEY", "API key is missing")
        if params.key != self.key:
            raise InvalidQuery(401, "INVALID_KEY", "API key is not valid")
        if self.account.is_rate_limited():
            raise InvalidQuery(429, "EXCEEDED_FREQ_LIMIT", "Requests are too frequent")
        now, past = self.clock.now(), parts[:1] == ["historical"]
        if not past:
            return self._resource(parts, params, now)
        if params.at is None:
            raise InvalidQuery(422, "MISSING_HISTORICAL_TIMESTAMP", "Missing date parameter")
        if params.at < FIRST_SNAPSHOT or params.at > now:
            raise InvalidQuery(422, "INVALID_HISTORICAL_TIMESTAMP", "There is no snapshot then")
        taken = params.at - (params.at - FIRST_SNAPSHOT) % SNAPSHOT
        data = self._resource(parts[1:], params, taken, cost_factor=10)
        nearby = {"timestamp": taken, "previous_timestamp": taken - SNAPSHOT}
        nearby["next_timestamp"] = taken + SNAPSHOT
        return {**{name: f"{at:%Y-%m-%dT%H:%M:%SZ}" for name, at in nearby.items()}, "data": data}

    def _resource(
        self, parts: list[str], params: QueryParams, now: datetime, cost_factor: int = 1
    ) -> object:
        match parts:
            case ["sports"] if cost_factor == 1:
                return self._sports(params)
            case ["sports", "upcoming", "odds"] if cost_factor == 1:
                return self._odds(tuple(self._feeds.values()), params, now, cost_factor)
            case ["sports", sport, "odds"]:
                return self._odds((self._feed(sport),), params, now, cost_factor)
            case ["sports", sport, "events"]:
                feed = self._feed(sport)
                self._charge(0 if cost_factor == 1 else 1)
                return [feed.event(game, params) for game in feed.on_offer(now, params)]
            case ["sports", sport, "events", game_id, "odds"]:
                return self._event_odds(
                    self._feed(sport), game_id, params, now, cost_factor=cost_factor
                )
            case ["sports", sport, "participants"] if cost_factor == 1:
                self._charge(1)
                teams = self._feed(sport).season.teams
                return [{"id": f"par_{at:04}", "full_name": name} for at, name in enumerate(teams)]
            case ["sports", sport, "scores"] if cost_factor == 1:
                return self._scores(self._feed(sport), params, now)
        raise InvalidQuery(404, "NOT_FOUND", "Not found")

    def _feed(self, sport: str) -> SeasonFeed:
        if sport not in self._feeds:
            raise InvalidQuery(404, "UNKNOWN_SPORT", "Unknown sport")
        return self._feeds[sport]

    def _charge(self, cost: int) -> None:
        if cost > self.account.remaining:
            message = "Usage quota has been reached. See usage plans at https://the-odds-api.com"
            raise InvalidQuery(401, "OUT_OF_USAGE_CREDITS", message)
        self.account.spend(cost)

    def _sports(self, params: QueryParams) -> list[Row]:
        self._charge(0)
        now = self.clock.now()
        sports: list[Row] = []
        for feed in self._feeds.values():
            league = feed.season.league
            active = bool(feed.on_offer(now, params))
            if active or params.everything:
                sports.append(
                    {
                        "key": league.key,
                        "group": league.group,
                        "title": league.title,
                        "description": f"{league.title} games",
                        "active": active,
                        "has_outrights": False,
                    }
                )
        return sports

    def _odds(
        self,
        all_feeds: tuple[SeasonFeed, ...],
        params: QueryParams,
        now: datetime,
        cost_factor: int,
    ) -> list[Row]:
        _check_region(params)
        for market in params.markets:
            if market not in MARKETS:
                message = f"Markets not supported by this endpoint: {market}"
                raise InvalidQuery(422, "INVALID_MARKET", message)
        rows = [
            feed.odds(game, now, params)
            for feed in all_feeds
            for game in feed.on_offer(now, params)
        ]
        self._charge(cost_factor * len(params.markets) * params.region_count if rows else 0)
        return self.malformed.apply(self.requests[-1], rows)

    def _event_odds(
        self,
        feed: SeasonFeed,
        game_id: str,
        params: QueryParams,
        now: datetime,
        *,
        cost_factor: int,
    ) -> Row:
        _check_region(params)
        game = feed.find(game_id)
        if game is None or game not in feed.on_offer(now, params):
            raise InvalidQuery(404, "EVENT_NOT_FOUND", "Event not found")
        row = feed.odds(game, now, params, whole=True)
        books = row["bookmakers"]
        markets = (
            {m["key"] for book in books for m in book["markets"]}
            if isinstance(books, list)
            else set()
        )
        self._charge(cost_factor * len(markets) * params.region_count)
        return self.malformed.apply(self.requests[-1], [row])[0]

    def _scores(self, feed: SeasonFeed, params: QueryParams, now: datetime) -> list[Row]:
        self._charge(1 if params.days_from is None else 2)
        rows = [feed.score(game, now, params) for game in feed.scored(now, params.days_from)]
        return self.malformed.apply(self.requests[-1], rows)


def _check_region(params: QueryParams) -> None:
    if not params.regions and not params.bookmakers:
        raise InvalidQuery(422, "MISSING_REGION", "Missing regions parameter")
