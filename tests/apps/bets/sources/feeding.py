"""A simulated feed as our side reaches it, and its rows written by hand."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from functools import cache
from random import Random
from typing import Any, TypeVar

from grandstand.apps.bets.sources.espn import Espn
from grandstand.apps.bets.sources.odds_api import OddsApi
from grandstand.base.clock import ManualClock
from grandstand.base.errors import GrandstandError
from grandstand.base.metrics import Metrics
from grandstand.simulators.odds.board import moment
from grandstand.simulators.odds.feed import KEY, OddsFeed
from grandstand.simulators.odds.world.season import Season, season
from grandstand.simulators.serving import served
from grandstand.wire.web import Web

T = TypeVar("T")

HOME, AWAY = "Oklahoma City Thunder", "Boston Celtics"


@cache
def played(sport: str = "basketball_nba") -> Season:
    """A short season, made once."""
    return season(1, sport, 90, changes=4)


def feed_at(made: Season, game: int, after: timedelta) -> tuple[OddsFeed, ManualClock]:
    """A feed some time after (or before) the start of a game, and its clock."""
    clock = ManualClock(moment(int(made.games.commence_us[game])) + after)
    return OddsFeed((made,), clock), clock


@asynccontextmanager
async def reached(feed: OddsFeed, clock: ManualClock) -> AsyncIterator[tuple[Web, str]]:
    """The way to a feed on a real socket; waiting moves its clock."""

    async def sleep(seconds: float) -> None:
        clock.advance(seconds)

    async with (
        served(feed.application) as address,
        Web(clock=clock, random=Random(1), metrics=Metrics(), sleep=sleep) as web,
    ):
        yield web, f"http://{address}"


@asynccontextmanager
async def asked(
    feed: OddsFeed, clock: ManualClock, *, key: str | None = KEY, reserve: int = 0
) -> AsyncIterator[OddsApi]:
    """The odds feed as our side sees it."""
    async with reached(feed, clock) as (web, url):
        yield OddsApi(web, clock, url=url, key=key, reserve=reserve)


@asynccontextmanager
async def figures(feed: OddsFeed, clock: ManualClock) -> AsyncIterator[Espn]:
    """The site of figures as our side sees it."""
    async with reached(feed, clock) as (web, url):
        yield Espn(web, clock, url=url)


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


def told(*markets: dict[str, Any], **changed: Any) -> dict[str, Any]:
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


def day_of(made: Season, game: int) -> datetime:
    """When a game begins."""
    return moment(int(made.games.commence_us[game]))
