"""The list of markets while nothing is recorded: fetched again when old, kept when alone."""

from contextlib import AbstractAsyncContextManager, AsyncExitStack
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from grandstand.apps.gatherer.app import APP
from grandstand.core.clock import SystemClock
from grandstand.host.runtime import Platform
from grandstand.host.settings import Settings
from grandstand.simulators.exchange.server import Exchange
from grandstand.simulators.exchange.world import World, WorldConfig
from tests.apps.gatherer.app_fixture import gatherer_of, settings_at

pytestmark = pytest.mark.anyio


class AheadClock(SystemClock):
    """The machine's clock, so far ahead."""

    ahead = timedelta()

    def now(self) -> datetime:
        return super().now() + self.ahead

    def epoch(self) -> float:
        return super().epoch() + self.ahead.total_seconds()


def _exchange(markets: int, port: int = 0) -> AbstractAsyncContextManager[str]:
    clock = SystemClock()
    return Exchange(World(clock, WorldConfig(markets=markets)), clock).serve(port)


async def test_an_old_list_is_fetched_again_and_does_while_the_exchange_is_away(
    tmp_path: Path,
) -> None:
    clock = AheadClock()
    async with AsyncExitStack() as opened:
        async with _exchange(5) as address:
            settings = Settings(home=tmp_path, gatherer=settings_at(address))
            opening = Platform.open(settings, apps=(APP,), clock=clock)
            gatherer = gatherer_of(await opened.enter_async_context(opening))
            first = await gatherer.markets.list()
        async with _exchange(9, int(address.rpartition(":")[2])):
            fresh = await gatherer.markets.list()
            clock.ahead = timedelta(minutes=6)
            old = await gatherer.markets.list()

        clock.ahead = timedelta(minutes=12)
        away = await gatherer.markets.list()

    assert [market.ticker for market in fresh] == [market.ticker for market in first]
    assert len(old) > len(first)
    assert {market.ticker for market in away} == {market.ticker for market in old}
