"""The simulated exchange: markets on the leagues' games, priced like the odds."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from random import Random
from typing import Final

from grandstand.core.clock import Clock
from grandstand.core.logging import get_logger
from grandstand.host.demo.games import Leagues, PricedGame
from grandstand.simulators.exchange.control import Pace
from grandstand.simulators.exchange.market import (
    CONTRACT,
    DOLLAR,
    SECOND,
    ExchangeEvent,
    LifecycleChange,
    ListedEvent,
    ListedSeries,
    Result,
)
from grandstand.simulators.exchange.server import Exchange
from grandstand.simulators.exchange.trading import make_market
from grandstand.simulators.exchange.world import World, WorldConfig
from grandstand.simulators.exchange.ws_connections import StreamFault

_SERIES: Final = ListedSeries("KXGAME", "Winner of the game", "Sports", "daily", ("Games",))


class GameMarkets:
    """Lists a market for each upcoming game, moves its price with the odds, and settles it."""

    def __init__(self, exchange: Exchange, world: World, leagues: Leagues, clock: Clock) -> None:
        self._exchange = exchange
        self._world = world
        self._leagues = leagues
        self._clock = clock
        self._tickers: dict[str, str] = {}

    async def follow(self) -> None:
        """Update the markets periodically until cancelled; page requests come first."""
        await asyncio.sleep(2.0)
        while True:
            try:
                await self.look()
            except Exception:  # noqa: BLE001 - the exchange goes on without its game markets
                get_logger("demo").exception("demo_markets_failed")
            await asyncio.sleep(20.0)

    async def look(self) -> None:
        """List, price and settle markets for the current games."""
        games = await asyncio.to_thread(self._leagues.priced_games, self._clock.now())
        self._exchange.publish([each for game in games for each in self._update(game)])
        self._clear()

    def _update(self, game: PricedGame) -> list[ExchangeEvent]:
        ticker = self._tickers.get(game.game_id)
        if ticker is None:
            return [] if game.won is not None else self._list(game)
        if game.won is None:
            return self._world.reprice(ticker, _price(game))
        market = self._world.markets.get(ticker)
        if market is None or market.result:
            return []
        result: Result = "yes" if game.won else "no"
        changes = (LifecycleChange("determined", result=result), LifecycleChange("settled"))
        events = (self._world.change_market(ticker, change) for change in changes)
        return [event for changed in events for event in changed]

    def _list(self, game: PricedGame) -> list[ExchangeEvent]:
        now, draw = self._world.now_us(), Random(game.game_id)  # noqa: S311 - repeatable
        day = f"{game.commence_at:%y%b%d}".upper()
        title = f"{game.home} to beat {game.away}?"
        event = ListedEvent(
            f"KXGAME-{day}{game.game_id[:6].upper()}", _SERIES, title, f"{game.league}, {day}"
        )
        closes = int(game.ends_at.timestamp()) * SECOND
        market = make_market(event, ("HOME", game.home), draw, now - 86_400 * SECOND, closes)
        market.title, market.fair = title, _price(game)
        market.volume = draw.randrange(5_000, 400_000) * CONTRACT
        market.volume_day = market.volume // 2
        market.open_interest = market.volume // 3
        market.traded = market.volume * market.fair
        market.last, market.last_size = market.fair, CONTRACT
        self._tickers[game.game_id] = market.ticker
        return self._world.list_event(event, [market])

    def _clear(self) -> None:
        """Drop games that ended hours ago."""
        now = self._world.now_us()
        for game_id, ticker in list(self._tickers.items()):
            market = self._world.markets.get(ticker)
            if market is None or market.closes_at + 6 * 3600 * SECOND < now:
                del self._tickers[game_id]
                self._world.remove(ticker)


@contextlib.asynccontextmanager
async def serve_exchange(leagues: Leagues, clock: Clock, seed: int) -> AsyncIterator[str]:
    """Serve the exchange while the block runs and return its address."""
    config = WorldConfig(seed=seed, markets=24, exponent=0.2, depth=14, truth_most=200)
    world = World(clock, config)
    exchange = Exchange(world, clock, None, Pace(3.0), seed=seed)
    # One lost frame in some minutes shows how gaps are found and closed.
    exchange.stream_faults.ask_for(StreamFault("drop", share=0.001, channel="orderbook_delta"))
    async with exchange.serve() as address:
        following = asyncio.create_task(GameMarkets(exchange, world, leagues, clock).follow())
        try:
            yield address
        finally:
            following.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await following


def _price(game: PricedGame) -> int:
    return round(game.chance * 100) * (DOLLAR // 100)
