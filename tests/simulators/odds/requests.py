"""A simulated feed on a real socket, and a client for it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Any

import httpx2
import numpy as np
import numpy.typing as npt

from grandstand.core.clock import ManualClock
from grandstand.simulators.odds.season import SimulatedSeason
from grandstand.simulators.odds.serializers import from_epoch_us
from grandstand.simulators.odds.server import KEY, OddsApiSimulator
from grandstand.simulators.serving import serve


class FeedClient:
    """An HTTP client that sends the feed's key."""

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self.client = client

    async def get(self, path: str, **params: str) -> httpx2.Response:
        """Return the response of a path."""
        return await self.client.get(path, params={"apiKey": KEY, **params})

    async def get_json(self, path: str, **params: str) -> Any:
        """Return the JSON of a path."""
        answer = await self.get(path, **params)
        assert answer.status_code == 200, answer.text
        return answer.json()


@asynccontextmanager
async def connect(feed: OddsApiSimulator) -> AsyncIterator[FeedClient]:
    """A feed on a real socket."""
    async with (
        serve(feed.application) as address,
        httpx2.AsyncClient(base_url=f"http://{address}", timeout=30) as client,
    ):
        yield FeedClient(client)


def implied(prices: npt.NDArray[np.int32]) -> npt.NDArray[np.float64]:
    """The chances American prices stand for, 0 where there is no price."""
    size = np.abs(prices.astype(np.float64))
    found: npt.NDArray[np.float64] = np.where(prices > 0, 100.0, size) / (size + 100)
    return found


def start_of(season: SimulatedSeason, game: int) -> datetime:
    """When a game begins."""
    return from_epoch_us(int(season.games.commence_us[game]))


def feed_before(season: SimulatedSeason, game: int = 40, *, hours: float = 1.0) -> OddsApiSimulator:
    """A feed some hours before the start of a game."""
    clock = ManualClock(start_of(season, game) - timedelta(hours=hours))
    return OddsApiSimulator((season,), clock)
