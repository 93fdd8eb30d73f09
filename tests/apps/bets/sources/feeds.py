"""Clients of a simulated feed, and hand-written feed rows."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from functools import cache
from random import Random
from typing import Any, TypeVar

from grandstand.apps.bets.sources.espn import EspnClient
from grandstand.apps.bets.sources.odds_api import OddsApiClient
from grandstand.core.clock import ManualClock
from grandstand.core.errors import GrandstandError
from grandstand.core.metrics import Metrics
from grandstand.net.client import SourceRegistry
from grandstand.simulators.odds.season import SimulatedSeason, simulate_season
from grandstand.simulators.odds.serializers import from_epoch_us
from grandstand.simulators.odds.server import KEY, OddsApiSimulator
from grandstand.simulators.serving import serve

T = TypeVar("T")

HOME, AWAY = "Oklahoma City Thunder", "Boston Celtics"


@cache
def played(sport: str = "basketball_nba") -> SimulatedSeason:
    """A short season, simulated once."""
    return simulate_season(1, sport, 90, changes=4)


def feed_at(
    simulated: SimulatedSeason, game: int, after: timedelta
) -> tuple[OddsApiSimulator, ManualClock]:
    """A feed some time after (or before) the start of a game, and its clock."""
    clock = ManualClock(from_epoch_us(int(simulated.games.commence_us[game])) + after)
    return OddsApiSimulator((simulated,), clock), clock


@asynccontextmanager
async def reached(
    feed: OddsApiSimulator, clock: ManualClock
) -> AsyncIterator[tuple[SourceRegistry, str]]:
    """The way to a feed on a real socket; waiting moves its clock."""

    async def sleep(seconds: float) -> None:
        clock.advance(seconds)

    async with (
        serve(feed.application) as address,
        SourceRegistry(clock=clock, random=Random(1), metrics=Metrics(), sleep=sleep) as web,
    ):
        yield web, f"http://{address}"


@asynccontextmanager
async def odds_client(
    feed: OddsApiSimulator, clock: ManualClock, *, key: str | None = KEY, reserve: int = 0
) -> AsyncIterator[OddsApiClient]:
    """The odds feed as our side sees it."""
    async with reached(feed, clock) as (web, url):
        yield OddsApiClient(web, clock, url=url, key=key, reserve=reserve)


@asynccontextmanager
async def espn_client(feed: OddsApiSimulator, clock: ManualClock) -> AsyncIterator[EspnClient]:
    """A client of the simulated ESPN."""
    async with reached(feed, clock) as (web, url):
        yield EspnClient(web, clock, url=url)


def result_of(call: Callable[[], T]) -> T | GrandstandError:
    """What a call answers, or the error of ours it raises; any other is a failure."""
    try:
        return call()
    except GrandstandError as error:
        return error


def outcome(name: str, price: object, point: float | None = None, **more: Any) -> dict[str, Any]:
    """One side of a market."""
    line = {} if point is None else {"point": point}
    return {"name": name, "price": price, **line, **more}


def market(key: str, *outcomes: dict[str, Any]) -> dict[str, Any]:
    """A market as the feed tells it."""
    return {"key": key, "last_update": "2026-01-01T10:00:00Z", "outcomes": list(outcomes)}


def game_json(*markets: dict[str, Any], **changed: Any) -> dict[str, Any]:
    """A game as the feed tells it, with one bookmaker."""
    return {
        "id": "g1",
        "sport_key": "basketball_nba",
        "sport_title": "NBA",
        "commence_time": "2026-01-02T00:00:00Z",
        "home_team": HOME,
        "away_team": AWAY,
        "bookmakers": [{"key": "fanduel", "title": "FanDuel", "markets": list(markets)}],
        **changed,
    }


def winner(first: object = 130, second: object = -150) -> dict[str, Any]:
    """Who wins: away stands first, as in the alphabet."""
    return market("h2h", outcome(AWAY, first), outcome(HOME, second))


def day_of(simulated: SimulatedSeason, game: int) -> datetime:
    """When a game begins."""
    return from_epoch_us(int(simulated.games.commence_us[game]))
