"""Trades, volumes, candles and tops of books over time, and an order that might have been."""

from uuid import UUID

import pytest

from grandstand.apps.gatherer.domain.order_book import Order
from grandstand.apps.gatherer.services.queries.prices import Candle, TooManyPoints, Volume
from grandstand.apps.gatherer.services.recordings import MarketHistory
from grandstand.apps.gatherer.store import TRADES
from tests.apps.gatherer.services.conftest import Opener
from tests.apps.gatherer.services.recorded_rows import (
    SECOND,
    START,
    book_at,
    recorded,
    shown,
    trade,
    truth,
)

pytestmark = pytest.mark.anyio


async def test_volumes_leave_block_trades_out_unless_asked_for(place: Opener) -> None:
    engine = place("own")
    engine.prepare(TRADES)
    trades = [trade(1, START), trade(2, START + 1, ticker="KXB-2"), trade(3, START + 2)]
    engine.append(TRADES, [*trades, trade(4, START + 3, ticker="KXB-2", block=True)])
    engine.append(TRADES, [trade(5, START - 86_400 * SECOND)])
    asking = MarketHistory(engine)

    plain = await asking.volumes(START + 10)
    every = await asking.volumes(START + 10, blocks=True)

    assert plain == (Volume("KXA-1", 2, 500), Volume("KXB-2", 1, 250))
    assert every == (Volume("KXA-1", 2, 500), Volume("KXB-2", 2, 500))


async def test_recent_trades_come_in_one_order_however_they_came(place: Opener) -> None:
    engine = place("own")
    engine.prepare(TRADES)
    tied = [trade(number, START) for number in (3, 1, 4, 2)]
    engine.append(TRADES, tied)

    found = await MarketHistory(engine).recent_trades("KXA-1", limit=2)

    assert [each.trade_id for each in found] == [UUID(int=4), UUID(int=3)]


async def test_the_newest_trade_is_the_one_its_candle_closes_with(place: Opener) -> None:
    engine = place("own")
    engine.prepare(TRADES)
    tied = [trade(number, START)._replace(received_at=START + 10 - number) for number in (3, 1, 2)]
    engine.append(TRADES, tied)
    asking = MarketHistory(engine)

    newest, *_ = await asking.recent_trades("KXA-1", limit=3)
    (candle,) = await asking.candles("KXA-1", START, START + SECOND, SECOND)

    assert newest.trade_id == UUID(int=1)
    assert newest.price == candle.close


async def test_candles_hold_first_highest_lowest_and_last(place: Opener) -> None:
    engine = place("own")
    engine.prepare(TRADES)
    minute = 60 * SECOND
    engine.append(TRADES, [trade(9, START), trade(50, START + 1), trade(4, START + 2)])
    engine.append(TRADES, [trade(98, START + 3, block=True), trade(7, START + minute)])

    found = await MarketHistory(engine).candles("KXA-1", START, START + 2 * minute, minute)

    assert found == (
        Candle(START, 10_000, 51_000, 5_000, 5_000, 3, 750),
        Candle(START + minute, 8_000, 8_000, 8_000, 8_000, 1, 250),
    )


async def test_too_many_points_are_refused(place: Opener) -> None:
    asking = MarketHistory(place("own"))

    with pytest.raises(TooManyPoints):
        await asking.candles("KXA-1", START, START + 100_000, 1)


async def test_depth_over_time_is_the_top_of_the_true_book(place: Opener) -> None:
    day = truth(2, 200)
    engine = place("own")
    recorded(day, lost=[range(START + 150_000, START + 200_000)]).keep(engine)
    start, step = day[0].at + 250_000, 50_000
    instants = range(start, start + 6 * step, step)

    found = await MarketHistory(engine).depth("KXA-1", start, instants[-1], step)

    true = [shown(book_at(day, "KXA-1", at)) for at in instants]
    assert [(each.at_us, each.best_yes_bid) for each in found] == [
        (at, yes[-1][0]) for at, (yes, _) in zip(instants, true, strict=True)
    ]
    assert [(each.bid_depth, each.ask_depth) for each in found] == [
        (sum(size for _, size in yes), sum(size for _, size in no)) for yes, no in true
    ]


async def test_an_order_is_filled_from_the_book_of_its_instant(place: Opener) -> None:
    day = truth(2, 200)
    engine = place("own")
    recorded(day).keep(engine)
    at = day[100].at
    yes, _ = shown(book_at(day, "KXA-1", at))

    book, fill = await MarketHistory(engine).simulate_fill(
        "KXA-1", Order(side=True, is_buy=False, size=50), at
    )

    assert fill.levels == ((yes[-1][0], 50),)
    assert book.exact


async def test_there_is_no_depth_before_the_first_snapshot(place: Opener) -> None:
    day = truth(2, 200)
    engine = place("own")
    recording = recorded(day)
    recording.keep(engine)
    first = min(row.snapshot_ts for row in recording.snapshots if row.ticker == "KXA-1")
    instants = range(day[0].at - 40 * SECOND, day[-1].at, SECOND // 10)

    found = await MarketHistory(engine).depth("KXA-1", instants[0], instants[-1], SECOND // 10)

    assert [each.at_us for each in found] == [at for at in instants if at >= first]
    assert found
