"""The simulated exchange has a market on every game, priced as the odds are, settled as it ends."""

from datetime import timedelta

import pytest

from grandstand.core.clock import ManualClock
from grandstand.host.demo.games import Leagues
from grandstand.host.demo.markets import GameMarkets
from grandstand.host.exchange_prices import named_first
from grandstand.simulators.exchange.market import DOLLAR, Market
from grandstand.simulators.exchange.server import Exchange
from grandstand.simulators.exchange.world import World, WorldConfig
from tests.host.demo.conftest import NOON

pytestmark = pytest.mark.anyio


def _opened(leagues: Leagues, clock: ManualClock) -> tuple[GameMarkets, World]:
    world = World(clock, WorldConfig(markets=2, truth_most=50))
    return GameMarkets(Exchange(world, clock), world, leagues, clock), world


def _of_games(world: World) -> dict[str, Market]:
    return {m.title: m for m in world.listed if m.ticker.endswith("-HOME")}


async def test_a_market_names_both_teams_and_costs_what_the_odds_say(leagues: Leagues) -> None:
    clock = ManualClock(NOON)
    markets, world = _opened(leagues, clock)
    game = next(g for g in leagues.priced_games(NOON) if g.won is None and 0.2 < g.chance < 0.8)

    await markets.look()

    listed = _of_games(world)[f"{game.home} to beat {game.away}?"]
    book = world.book(listed.ticker)
    assert book is not None
    assert named_first(listed.title, game.home, game.away) == game.home
    assert abs((book.best_yes or 0) - game.chance * DOLLAR) < DOLLAR // 10
    assert abs((book.best_ask or 0) - game.chance * DOLLAR) < DOLLAR // 10


async def test_prices_follow_the_odds(leagues: Leagues) -> None:
    clock = ManualClock(NOON)
    markets, world = _opened(leagues, clock)
    await markets.look()
    clock.advance(3 * 3600)

    await markets.look()

    priced = {f"{g.home} to beat {g.away}?": g for g in leagues.priced_games(clock.now())}
    fair = {title: market.fair for title, market in _of_games(world).items() if not market.result}
    assert fair
    assert all(abs(fair[t] - priced[t].chance * DOLLAR) < DOLLAR // 10 for t in fair)


async def test_a_market_is_settled_as_its_game_ended(leagues: Leagues) -> None:
    clock = ManualClock(NOON)
    markets, world = _opened(leagues, clock)
    await markets.look()
    known = _of_games(world)
    clock.advance(8 * 3600)

    await markets.look()

    over = [game for game in leagues.priced_games(clock.now()) if game.won is not None]
    ended = {f"{game.home} to beat {game.away}?": "yes" if game.won else "no" for game in over}
    settled = {title: market.result for title, market in known.items() if market.result}
    assert settled
    assert settled == {title: ended[title] for title in known if title in ended}


async def test_games_long_over_are_let_go_of(leagues: Leagues) -> None:
    clock = ManualClock(NOON)
    markets, world = _opened(leagues, clock)
    await markets.look()
    before = {market.ticker for market in _of_games(world).values()}
    clock.advance(timedelta(days=2).total_seconds())

    await markets.look()

    assert before
    assert not before & {market.ticker for market in _of_games(world).values()}
