"""Kept here: the simulated exchange: markets on the leagues' games, priced as the odds are."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from random import Random
from typing import Final

from grandstand.base.clock import Clock
from grandstand.base.log import log
from grandstand.host.demo.games import Fancied, Leagues
from grandstand.simulators.exchange.exchange import Exchange
from grandstand.simulators.exchange.floor.catalogue import market_made
from grandstand.simulators.exchange.floor.events import Event
from grandstand.simulators.exchange.floor.lifecycle import Becoming
from grandstand.simulators.exchange.floor.market import EventListed, Result, SeriesListed
from grandstand.simulators.exchange.floor.numbers import CONTRACT, DOLLAR, SECOND
from grandstand.simulators.exchange.floor.world import Scenery, World
from grandstand.simulators.exchange.pacing import Pace
from grandstand.simulators.exchange.stream.faults import StreamFault

_SERIES: Final = SeriesListed("KXGAME", "Who wins the game", "Sports", "daily", ("Games",))
_OTHER_MARKETS: Final = 24
_EVENTS_A_SECOND: Final = 3.0
# A frame in some minutes, so that a gap is seen to be found and healed.
_LOST: Final = StreamFault("drop", share=0.001, channel="orderbook_delta")
_FIRST_SECONDS: Final = 2.0
_LOOK_SECONDS: Final = 20.0
_DAY: Final = 86_400 * SECOND
_KEPT_AFTER: Final = 6 * 3600 * SECOND


class GameMarkets:
    """Lists a market on every game near enough, prices it as the odds move, and settles it."""

    def __init__(self, exchange: Exchange, world: World, leagues: Leagues, clock: Clock) -> None:
        self._exchange = exchange
        self._world = world
        self._leagues = leagues
        self._clock = clock
        self._tickers: dict[str, str] = {}

    async def follow(self) -> None:
        """Look at the games now and then, until cancelled; first pages go before."""
        await asyncio.sleep(_FIRST_SECONDS)
        while True:
            try:
                await self.look()
            except Exception:  # noqa: BLE001 - the exchange goes on without its game markets
                log("demo").exception("the games' markets could not be brought up to date")
            await asyncio.sleep(_LOOK_SECONDS)

    async def look(self) -> None:
        """List, price and settle the markets of the games as they stand now, and tell of it."""
        games = await asyncio.to_thread(self._leagues.fancied, self._clock.now())
        self._exchange.tell([each for game in games for each in self._seen(game)])
        self._clear()

    def _seen(self, game: Fancied) -> list[Event]:
        ticker = self._tickers.get(game.game_id)
        if ticker is None:
            return [] if game.won is not None else self._listed(game)
        if game.won is None:
            return self._world.reprice(ticker, _price(game))
        market = self._world.market(ticker)
        if market is None or market.result:
            return []
        result: Result = "yes" if game.won else "no"
        changes = (Becoming("determined", result=result), Becoming("settled"))
        news = [self._world.become(ticker, change) for change in changes]
        return [each for each in news if each is not None]

    def _listed(self, game: Fancied) -> list[Event]:
        now, draw = self._world.now_us(), Random(game.game_id)  # noqa: S311 - repeatable
        day = f"{game.commence_at:%y%b%d}".upper()
        title = f"{game.home} to beat {game.away}?"
        event = EventListed(
            f"KXGAME-{day}{game.game_id[:6].upper()}", _SERIES, title, f"{game.league}, {day}"
        )
        closes = int(game.ends_at.timestamp()) * SECOND
        market = market_made(event, ("HOME", game.home), draw, now - _DAY, closes)
        market.title, market.fair = title, _price(game)
        market.volume = draw.randrange(5_000, 400_000) * CONTRACT
        market.volume_day = market.volume // 2
        market.open_interest = market.volume // 3
        market.traded = market.volume * market.fair
        market.last, market.last_size = market.fair, CONTRACT
        self._tickers[game.game_id] = market.ticker
        return [*self._world.list_event(event, [market])]

    def _clear(self) -> None:
        """Let go of games that ended hours ago."""
        now = self._world.now_us()
        for game_id, ticker in list(self._tickers.items()):
            market = self._world.market(ticker)
            if market is None or market.closes_at + _KEPT_AFTER < now:
                del self._tickers[game_id]
                self._world.forget(ticker)


@contextlib.asynccontextmanager
async def exchange_served(leagues: Leagues, clock: Clock, seed: int) -> AsyncIterator[str]:
    """Serve the exchange for the length of a block and answer its address."""
    scenery = Scenery(seed=seed, markets=_OTHER_MARKETS, exponent=0.2, depth=14, truth_most=200)
    world = World(clock, scenery)
    exchange = Exchange(world, clock, None, Pace(_EVENTS_A_SECOND), seed=seed)
    exchange.stream_faults.ask_for(_LOST)
    async with exchange.served() as address:
        following = asyncio.create_task(GameMarkets(exchange, world, leagues, clock).follow())
        try:
            yield address
        finally:
            following.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await following


def _price(game: Fancied) -> int:
    return round(game.chance * 100) * (DOLLAR // 100)
