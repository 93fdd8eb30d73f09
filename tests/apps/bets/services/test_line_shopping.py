"""Prices are shopped for: the best, those that always pay, middles, and those left behind."""

from dataclasses import replace
from decimal import Decimal

import pytest

from grandstand.apps.bets.domain.odds import InvalidPrice
from grandstand.apps.bets.services.games import GameBoard
from grandstand.apps.bets.services.line_shopping import fair_odds
from grandstand.apps.bets.store.wagers import FavoriteTeam
from grandstand.core.errors import NotFound
from grandstand.kit.app import ExchangePrice
from grandstand.kit.outbox import OutboxMessage
from tests.apps.bets.stage import (
    ADA,
    BOB,
    CELTICS,
    LAKERS,
    NBA,
    NOON,
    Stage,
    game,
    h2h,
    spread,
    total,
)

pytestmark = pytest.mark.anyio


async def collected(stage: Stage, *prices: object) -> None:
    stage.odds.games = [game(*prices)]  # type: ignore[arg-type]
    await stage.bets.odds_collector.collect(NBA)


async def test_the_best_price_of_each_side_is_found_with_its_worth(stage: Stage) -> None:
    await collected(stage, h2h("fanduel", -150, 130), h2h("betmgm", -140, 120))

    [away, home] = await stage.bets.line_shopping.best_prices(NBA)

    assert (home.name, home.price, home.bookmaker) == (LAKERS, -140, "betmgm")
    assert (away.name, away.price, away.bookmaker) == (CELTICS, 130, "fanduel")
    assert home.fair is not None
    assert home.expected_return == pytest.approx(home.fair * (1 + 100 / 140) - 1)
    assert await stage.bets.line_shopping.best_prices(NBA, "other") == ()


async def test_bets_that_always_pay_are_found_and_stakes_even_out(stage: Stage) -> None:
    await collected(stage, h2h("fanduel", 110, -130), h2h("betmgm", -130, 115))

    [found] = await stage.bets.line_shopping.arbitrages(NBA)

    returns = {round(leg.share * (1 + leg.outcome.price / 100), 6) for leg in found.legs}
    assert found.profit_share == pytest.approx(1 / (1 / 2.1 + 1 / 2.15) - 1)
    assert sum(leg.share for leg in found.legs) == pytest.approx(1)
    assert len(returns) == 1


async def test_two_lines_of_different_points_are_no_arbitrage(stage: Stage) -> None:
    await collected(
        stage, spread("fanduel", "-3.5", 110, -130), spread("betmgm", "-4.5", -130, 110)
    )

    assert await stage.bets.line_shopping.arbitrages(NBA) == ()


async def test_a_middle_lies_between_two_lines(stage: Stage) -> None:
    await collected(
        stage,
        total("fanduel", "218.5"),
        total("betmgm", "221.5"),
        spread("fanduel", "-2.5"),
        spread("betmgm", "-5.5"),
    )

    found = await stage.bets.line_shopping.middles(NBA)

    assert {(each.market_key, each.low, each.high) for each in found} == {
        ("totals", Decimal("218.5"), Decimal("221.5")),
        ("spreads", Decimal("2.5"), Decimal("5.5")),
    }
    assert found[0].cost_share == pytest.approx(1 - 1 / (2 * 110 / 210))


async def test_of_the_same_two_lines_the_cheapest_middle_is_found(stage: Stage) -> None:
    await collected(
        stage,
        total("fanduel", "218.5"),
        total("betmgm", "221.5", -130, 110),
        total("caesars", "221.5"),
    )

    [found] = await stage.bets.line_shopping.middles(NBA)

    assert [leg.bookmaker for leg in found.legs] == ["fanduel", "betmgm"]


async def test_what_no_score_can_hit_is_no_middle(stage: Stage) -> None:
    await collected(
        stage,
        spread("fanduel", "0.5"),
        spread("betmgm", "-0.5"),
        total("fanduel", "218"),
        total("betmgm", "218.5"),
    )

    assert await stage.bets.line_shopping.middles(NBA) == ()


async def test_a_price_that_stood_still_while_others_moved_is_stale(stage: Stage) -> None:
    books = ("fanduel", "betmgm", "caesars", "draftkings")
    await collected(stage, *(h2h(book, -110, -110) for book in books))
    stage.clock.advance(3600)
    await collected(
        stage, h2h("fanduel", -110, -110), *(h2h(book, -160, 140) for book in books[1:])
    )

    [stale] = await stage.bets.line_shopping.stale_lines(NBA)

    assert (stale.bookmaker, stale.outcome.name, stale.age_seconds) == ("fanduel", LAKERS, 3600)
    assert stale.edge > 0.05
    stage.clock.advance(3600)
    assert await stage.bets.line_shopping.best_prices(NBA) != ()
    stage.clock.advance(3600)
    assert await stage.bets.line_shopping.best_prices(NBA) == ()


async def test_a_price_that_is_told_again_is_fresh_though_it_did_not_change(stage: Stage) -> None:
    await collected(stage, h2h("fanduel", -150, 130), h2h("betmgm", -140, 120))
    stage.clock.advance(2 * 3600)

    await collected(stage, h2h("fanduel", -150, 130))

    [game_shown] = (await stage.bets.games.upcoming(NBA)).items
    ages = {quote.bookmaker: quote.age_seconds for quote in game_shown.quotes}
    assert ages == {"fanduel": 0, "betmgm": 7200}
    assert {each.bookmaker for each in await stage.bets.line_shopping.best_prices(NBA)} == {
        "fanduel"
    }


def test_fair_odds_take_the_margin_out() -> None:
    found = fair_odds((-150, 130), "multiplicative")

    assert found.probabilities == pytest.approx((0.579832, 0.420168), abs=1e-6)
    assert found.margin == pytest.approx(0.034783, abs=1e-6)
    assert found.americans == (-138, 138)
    with pytest.raises(InvalidPrice):
        fair_odds((-50, 130))
    with pytest.raises(InvalidPrice, match="Unknown method"):
        fair_odds((-150, 130), "magic")


class Exchange:
    """An exchange with one market."""

    async def of_game(self, *_: object) -> tuple[ExchangePrice, ...]:
        return (ExchangePrice("M1", "Lakers to win", LAKERS, 5900, 6000, NOON, "/gatherer/M1"),)


async def test_a_game_shows_lines_picks_and_what_the_exchange_asks(stage: Stage) -> None:
    games = GameBoard(
        db=stage.db,
        settings=stage.bets.settings,
        predictions=stage.bets.predictions,
        exchange_prices=Exchange(),
    )
    bets = replace(stage.bets, games=games)
    await collected(stage, h2h("fanduel", -150, 130), spread("fanduel", "-3.5"))
    await bets.analysis_generator.run(NBA)

    view = await bets.games.get("g1")

    assert [(line.bookmaker, line.market_key, len(line.points)) for line in view.lines] == [
        ("fanduel", "h2h", 1),
        ("fanduel", "spreads", 1),
    ]
    assert {pick.model for pick in view.picks} >= {"consensus", "ensemble"}
    assert [each.ask for each in view.game.exchange] == [6000]
    top = await bets.predictions.top_pick(NBA, "fanduel")
    assert top is not None
    picks = (await bets.predictions.picks(NBA, "fanduel", "consensus")).items
    assert {pick.market_key for pick in picks} == {"h2h", "spreads"}
    with pytest.raises(NotFound):
        await bets.games.get("nothing")
    with pytest.raises(NotFound):
        await bets.predictions.picks(NBA, "fanduel", "oracle")


async def test_people_are_told_once_of_their_teams_games(stage: Stage) -> None:
    await stage.bets.favorites.add(ADA, NBA, "los angeles lakers")
    await stage.bets.favorites.add(BOB, NBA, "Miami Heat")
    await collected(stage, h2h("fanduel", -150, 130))

    first = await stage.bets.alerts.run()
    again = await stage.bets.alerts.run()

    [noted] = await stage.outbox.waiting("bets.alert")
    assert isinstance(noted, OutboxMessage)
    await stage.bets.alerts.deliver(noted)
    [event] = await stage.events.recent(5, ADA)
    assert (first, again) == (1, 0)
    assert f"{LAKERS} play {CELTICS}" in event.text
    assert await stage.events.recent(5, BOB) == ()
    assert await stage.bets.favorites.remove(ADA, NBA, LAKERS) is True
    assert stage.store(FavoriteTeam.of_user("ada")) == []
