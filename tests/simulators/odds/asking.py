"""A feed of small seasons on a real socket, and who asks it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Any

import httpx2
import numpy as np
import numpy.typing as npt

from grandstand.base.clock import ManualClock
from grandstand.simulators.odds.board import moment
from grandstand.simulators.odds.feed import KEY, OddsFeed
from grandstand.simulators.odds.world.season import Season
from grandstand.simulators.serving import served


class Visitor:
    """Asks a feed with its key."""

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self.client = client

    async def ask(self, path: str, **params: str) -> httpx2.Response:
        """What an address answers."""
        return await self.client.get(path, params={"apiKey": KEY, **params})

    async def told(self, path: str, **params: str) -> Any:
        """What it says."""
        answer = await self.ask(path, **params)
        assert answer.status_code == 200, answer.text
        return answer.json()


@asynccontextmanager
async def visited(feed: OddsFeed) -> AsyncIterator[Visitor]:
    """A feed on a real socket."""
    async with (
        served(feed.application) as address,
        httpx2.AsyncClient(base_url=f"http://{address}", timeout=30) as client,
    ):
        yield Visitor(client)


def implied(prices: npt.NDArray[np.int32]) -> npt.NDArray[np.float64]:
    """The chances American prices stand for, 0 where there is no price."""
    size = np.abs(prices.astype(np.float64))
    found: npt.NDArray[np.float64] = np.where(prices > 0, 100.0, size) / (size + 100)
    return found


def start_of(season: Season, game: int) -> datetime:
    """When a game begins."""
    return moment(int(season.games.commence_us[game]))


def feed_before(season: Season, game: int = 40, *, hours: float = 1.0) -> OddsFeed:
    """A feed some hours before the start of a game."""
    clock = ManualClock(start_of(season, game) - timedelta(hours=hours))
    return OddsFeed((season,), clock)
