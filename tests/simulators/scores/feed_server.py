"""Deliveries and matches made by hand, and a feed that is visited."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import httpx2

from grandstand.core.clock import ManualClock
from grandstand.simulators.scores.feed import BASE, TOKEN, ScoreFeed
from grandstand.simulators.scores.match_record import Delivery, Player
from grandstand.simulators.serving import serve

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)
ADA, BEA, CLEO = Player(11, "A North"), Player(12, "B West"), Player(13, "C East")
GRACE = Player(21, "G South")


def delivery(over: int = 0, number: int = 1, **given: Any) -> Delivery:
    """A ball by Grace to Ada, with Bea at the other end."""
    told = {"inning": 1, "batter": ADA, "partner": BEA, "bowler": GRACE, **given}
    return Delivery(over=over, number=number, **told)


def feed_at_noon() -> tuple[ScoreFeed, ManualClock]:
    """A feed without matches, and its clock."""
    clock = ManualClock(NOON)
    return ScoreFeed(clock), clock


class Visitor:
    """Asks a feed with its key."""

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self.client = client

    async def ask(self, path: str, **params: str) -> httpx2.Response:
        """What an address answers."""
        return await self.client.get(f"{BASE}{path}", params={"api_token": TOKEN, **params})

    async def data(self, path: str, **params: str) -> Any:
        """What it has under `data`."""
        answer = await self.ask(path, **params)
        assert answer.status_code == 200, answer.text
        return answer.json()["data"]


@asynccontextmanager
async def visited(feed: ScoreFeed) -> AsyncIterator[Visitor]:
    """A feed on a real socket."""
    async with (
        serve(feed.application) as address,
        httpx2.AsyncClient(base_url=f"http://{address}", timeout=30) as client,
    ):
        yield Visitor(client)
