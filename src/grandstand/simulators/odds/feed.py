"""Kept here: the odds feed and the figures' site as one application: addresses, key, credits."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Final

from grandstand.base.clock import Clock
from grandstand.simulators.asgi import Application, Message, Receive, Send, answer_json
from grandstand.simulators.faults import Faults, Faulty
from grandstand.simulators.odds.asking import Asked, AskedWrong, read_query
from grandstand.simulators.odds.blemishes import Blemishes
from grandstand.simulators.odds.credits import CREDITS, Account
from grandstand.simulators.odds.espn import BASE as ESPN
from grandstand.simulators.odds.espn import figures_told
from grandstand.simulators.odds.words import Row, Told
from grandstand.simulators.odds.world.lines import MARKETS
from grandstand.simulators.odds.world.season import Season

BASE: Final = "/v4"
KEY: Final = "simulated"
SNAPSHOT: Final = timedelta(minutes=5)
FIRST_SNAPSHOT: Final = datetime(2020, 6, 6, tzinfo=UTC)
_REMEMBERED: Final = 10_000
_DETAILS: Final = "https://the-odds-api.com/liveapi/guides/v4/api-error-codes.html"


@dataclass
class OddsFeed:
    """The server; what it tells is what was known at its clock's moment, and nothing later."""

    seasons: tuple[Season, ...]
    clock: Clock
    key: str = KEY
    credits: int = CREDITS
    account: Account = field(init=False)
    faults: Faults = field(default_factory=lambda: Faults(Random(1)))  # noqa: S311 - repeatable
    blemishes: Blemishes = field(default_factory=Blemishes)
    asked: deque[str] = field(default_factory=lambda: deque(maxlen=_REMEMBERED))
    _told: dict[str, Told] = field(init=False)

    def __post_init__(self) -> None:
        self.account = Account(self.clock, self.credits)
        self._told = {season.league.key: Told.of(season) for season in self.seasons}

    @property
    def application(self) -> Application:
        """The ASGI application."""
        return Faulty(self._serve, self.faults)

    async def _serve(self, scope: Message, receive: Receive, send: Send) -> None:
        del receive
        path: str = scope["path"]
        query = scope["query_string"].decode("latin-1")
        self.asked.append(path)
        if path.startswith(f"{ESPN}/"):
            told = figures_told(path.removeprefix(ESPN), query, self._told, self.clock.now())
            status = 200 if told is not None else 404
            await answer_json(send, status, told if told is not None else {"code": 404})
            return
        try:
            answer = self._answered(path.strip("/").split("/"), query)
        except AskedWrong as wrong:
            said = {"message": str(wrong), "error_code": wrong.code, "details_url": _DETAILS}
            await answer_json(send, wrong.status, said, self._headers(wrong))
            return
        await answer_json(send, 200, answer, self.account.headers())

    def _headers(self, wrong: AskedWrong) -> list[tuple[bytes, bytes]]:
        keyless = wrong.code in {"MISSING_API_KEY", "INVALID_KEY"}
        return [] if keyless else self.account.headers()

    def _answered(self, parts: list[str], query: str) -> object:
        if parts.pop(0) != BASE.strip("/"):
            raise AskedWrong(404, "NOT_FOUND", "no such address")
        more = tuple(market for told in self._told.values() for market in told.season.props.markets)
        asked = read_query(query, more)
        if asked.key is None:
            raise AskedWrong(401, "MISSING_API_KEY", "API key is missing")
        if asked.key != self.key:
            raise AskedWrong(401, "INVALID_KEY", "API key is not valid")
        if self.account.too_often():
            raise AskedWrong(429, "EXCEEDED_FREQ_LIMIT", "Requests are too frequent")
        now, past = self.clock.now(), parts[:1] == ["historical"]
        if not past:
            return self._present(parts, asked, now)
        if asked.at is None:
            raise AskedWrong(422, "MISSING_HISTORICAL_TIMESTAMP", "Missing date parameter")
        if asked.at < FIRST_SNAPSHOT or asked.at > now:
            raise AskedWrong(422, "INVALID_HISTORICAL_TIMESTAMP", "There is no snapshot then")
        taken = asked.at - (asked.at - FIRST_SNAPSHOT) % SNAPSHOT
        data = self._present(parts[1:], asked, taken, dear=10)
        nearby = {"timestamp": taken, "previous_timestamp": taken - SNAPSHOT}
        nearby["next_timestamp"] = taken + SNAPSHOT
        return {**{name: f"{at:%Y-%m-%dT%H:%M:%SZ}" for name, at in nearby.items()}, "data": data}

    def _present(self, parts: list[str], asked: Asked, now: datetime, dear: int = 1) -> object:
        match parts:
            case ["sports"] if dear == 1:
                return self._sports(asked)
            case ["sports", "upcoming", "odds"] if dear == 1:
                return self._odds(tuple(self._told.values()), asked, now, dear)
            case ["sports", sport, "odds"]:
                return self._odds((self._of(sport),), asked, now, dear)
            case ["sports", sport, "events"]:
                told = self._of(sport)
                self._charge(0 if dear == 1 else 1)
                return [told.event(game, asked) for game in told.on_offer(now, asked)]
            case ["sports", sport, "events", game_id, "odds"]:
                return self._event_odds(self._of(sport), game_id, asked, now, dear=dear)
            case ["sports", sport, "participants"] if dear == 1:
                self._charge(1)
                teams = self._of(sport).season.teams
                return [{"id": f"par_{at:04}", "full_name": name} for at, name in enumerate(teams)]
            case ["sports", sport, "scores"] if dear == 1:
                return self._scores(self._of(sport), asked, now)
        raise AskedWrong(404, "NOT_FOUND", "no such address")

    def _of(self, sport: str) -> Told:
        if sport not in self._told:
            raise AskedWrong(404, "UNKNOWN_SPORT", "Unknown sport")
        return self._told[sport]

    def _charge(self, cost: int) -> None:
        if cost > self.account.remaining:
            message = "Usage quota has been reached. See usage plans at https://the-odds-api.com"
            raise AskedWrong(401, "OUT_OF_USAGE_CREDITS", message)
        self.account.spend(cost)

    def _sports(self, asked: Asked) -> list[Row]:
        self._charge(0)
        now = self.clock.now()
        found: list[Row] = []
        for told in self._told.values():
            league = told.season.league
            active = bool(told.on_offer(now, asked))
            if active or asked.everything:
                found.append(
                    {
                        "key": league.key,
                        "group": league.group,
                        "title": league.title,
                        "description": f"{league.title} games",
                        "active": active,
                        "has_outrights": False,
                    }
                )
        return found

    def _odds(
        self, all_told: tuple[Told, ...], asked: Asked, now: datetime, dear: int
    ) -> list[Row]:
        _check_region(asked)
        for market in asked.markets:
            if market not in MARKETS:
                message = f"Markets not supported by this endpoint: {market}"
                raise AskedWrong(422, "INVALID_MARKET", message)
        rows = [
            told.odds(game, now, asked) for told in all_told for game in told.on_offer(now, asked)
        ]
        self._charge(dear * len(asked.markets) * asked.region_count if rows else 0)
        return self.blemishes.applied(self.asked[-1], rows)

    def _event_odds(
        self, told: Told, game_id: str, asked: Asked, now: datetime, *, dear: int
    ) -> Row:
        _check_region(asked)
        game = told.find(game_id)
        if game is None or game not in told.on_offer(now, asked):
            raise AskedWrong(404, "EVENT_NOT_FOUND", "Event not found")
        row = told.odds(game, now, asked, whole=True)
        books = row["bookmakers"]
        markets = (
            {m["key"] for book in books for m in book["markets"]}
            if isinstance(books, list)
            else set()
        )
        self._charge(dear * len(markets) * asked.region_count)
        return self.blemishes.applied(self.asked[-1], [row])[0]

    def _scores(self, told: Told, asked: Asked, now: datetime) -> list[Row]:
        self._charge(1 if asked.days_from is None else 2)
        rows = [told.score(game, now, asked) for game in told.scored(now, asked.days_from)]
        return self.blemishes.applied(self.asked[-1], rows)


def _check_region(asked: Asked) -> None:
    if not asked.regions and not asked.bookmakers:
        raise AskedWrong(422, "MISSING_REGION", "Missing regions parameter")
