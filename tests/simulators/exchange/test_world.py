"""The exchange's own world: repeatable, never crossed, and true to its clock."""

from collections import Counter
from itertools import pairwise

import pytest

from grandstand.core.clock import ManualClock
from grandstand.simulators.exchange.market import (
    CHANGE_KINDS,
    DOLLAR,
    MILLISECOND,
    SECOND,
    ChangeKind,
    DeltaEvent,
    LifecycleChange,
    QuoteEvent,
    TradeEvent,
)
from grandstand.simulators.exchange.world import World, WorldConfig

STEP = 500 * MILLISECOND


def world_of(**scenery: float | bool | None) -> World:
    return World(ManualClock(), WorldConfig(**({"markets": 40} | scenery)))  # type: ignore[arg-type]


def test_the_same_seed_and_steps_make_the_same_world() -> None:
    one, same, other = world_of(), world_of(), world_of(seed=2)
    until = one.now_us() + STEP

    events = one.step(500, until)

    assert same.step(500, until) == events
    assert other.step(500, until) != events


def test_no_book_is_ever_crossed_and_no_level_is_ever_negative() -> None:
    world = world_of(markets=6)
    seen = []

    for _ in range(400):
        world.step(5, world.now_us() + STEP)
        books = [world.book(market.ticker) for market in world.listed]
        seen += [
            (
                (book.best_yes or 0) + (book.best_no or 0),
                min(*book.yes.values(), *book.no.values(), 1),
            )
            for book in books
            if book is not None
        ]

    assert max(tops for tops, _ in seen) < DOLLAR
    assert min(least for _, least in seen) > 0


def test_a_trade_takes_from_the_book_what_was_traded_unless_it_is_a_block() -> None:
    world = world_of()

    events = world.step(20_000, world.now_us() + STEP)

    taken = [
        (trade, delta)
        for trade, delta in pairwise(events)
        if isinstance(trade, TradeEvent) and not trade.is_block
    ]
    assert len(taken) > 500
    assert all(
        isinstance(delta, DeltaEvent)
        and delta.ticker == trade.ticker
        and delta.at == trade.at
        and delta.size == -trade.size
        and delta.yes is not trade.taker_yes
        and delta.price == (DOLLAR - trade.price if trade.taker_yes else trade.price)
        for trade, delta in taken
    )
    blocks = [after for it, after in pairwise(events) if isinstance(it, TradeEvent) and it.is_block]
    assert blocks
    assert all(isinstance(after, QuoteEvent) for after in blocks)


def test_a_summary_tells_the_book_and_the_trades_of_its_moment() -> None:
    world = world_of(markets=3)

    events = world.step(3000, world.now_us() + STEP)

    last = {event.ticker: event for event in events if isinstance(event, TradeEvent)}
    told = {event.ticker: event for event in events if isinstance(event, QuoteEvent)}
    assert last
    assert {ticker: told[ticker].last for ticker in last} == {
        ticker: trade.price for ticker, trade in last.items()
    }


def test_markets_are_busy_by_zipfs_law() -> None:
    world = world_of(markets=2000)
    rank = {market.ticker: place for place, market in enumerate(world.listed, 1)}

    events = world.step(30_000, world.now_us() + STEP)

    busy = Counter(rank[event.ticker] for event in events if isinstance(event, DeltaEvent))
    shares = [busy[place] / busy[1] for place in (2, 4, 8, 16)]
    assert shares == pytest.approx([1 / 2, 1 / 4, 1 / 8, 1 / 16], rel=0.35)
    assert len(busy) > 800


def test_stamps_never_go_back_even_if_the_clock_is_set_back() -> None:
    clock = ManualClock()
    world = World(clock, WorldConfig(markets=12))

    clock.advance(1)
    before = world.step(100)
    world.skew_seconds = -3600.0
    clock.advance(1)
    after = world.step(100)

    stamps = [event.at for event in (*before, *after)]
    assert stamps == sorted(stamps)
    assert world.now_us() < before[-1].at


def test_a_clock_of_milliseconds_gives_many_events_one_stamp() -> None:
    fine, coarse = world_of(), world_of(micros=False)
    until = fine.now_us() + 50 * MILLISECOND

    stamps = [event.at for event in coarse.step(2000, until)]

    assert {at % MILLISECOND for at in stamps} == {0}
    assert len(set(stamps)) <= 51
    assert len({event.at for event in fine.step(2000, until)}) > 1000


def test_the_same_change_happens_more_than_once_at_one_instant() -> None:
    world = world_of()

    events = world.step(5000, world.now_us() + STEP)

    same = Counter(event for event in events if isinstance(event, DeltaEvent))
    assert max(same.values()) >= 2


def test_a_book_loses_a_whole_side_now_and_then_and_gets_it_back() -> None:
    world = world_of(markets=1)
    seen = set()

    for _ in range(3000):
        world.step(1, world.now_us() + STEP)
        book = world.book(world.listed[0].ticker)
        seen.add(book is not None and bool(book.yes))

    assert seen == {True, False}


def test_only_open_markets_trade_and_markets_of_every_status_are_listed() -> None:
    world = world_of(markets=200)
    now = world.now_us()
    statuses = {market.ticker: market.status(now) for market in world.listed}

    events = world.step(5000, now + STEP)

    assert {statuses[it.ticker] for it in events if isinstance(it, DeltaEvent)} == {"active"}
    assert set(statuses.values()) == {
        "active", "initialized", "inactive", "closed", "determined", "finalized",
    }  # fmt: skip


def test_opening_and_closing_are_the_clocks_doing_and_nobody_is_told() -> None:
    clock = ManualClock()
    world = World(clock, WorldConfig(markets=3))
    world.create(60, 600)
    ticker = str(world.truth.lifecycle[1].body["market_ticker"])
    market = world.markets.get(ticker)
    assert market is not None
    told = len(world.truth.lifecycle)

    statuses = [market.status(world.now_us() + seconds * SECOND) for seconds in (59, 60, 659, 660)]

    assert statuses == ["initialized", "active", "active", "closed"]
    assert len(world.truth.lifecycle) == told


def test_a_later_close_opens_a_closed_market_again() -> None:
    clock = ManualClock()
    world = World(clock, WorldConfig(markets=3))
    market = world.listed[0]
    clock.advance(1000 * 3600)
    closed = market.status(world.now_us())

    world.change_market(market.ticker, LifecycleChange("close_date_updated", closes_in_seconds=60))

    assert closed == "closed"
    assert market.status(world.now_us()) == "active"


@pytest.mark.parametrize("change", CHANGE_KINDS)
def test_what_becomes_of_a_market_is_told_and_noted(change: ChangeKind) -> None:
    world = world_of()
    ticker = world.listed[0].ticker

    events = world.change_market(ticker, LifecycleChange(change))

    (event,) = world.truth.lifecycle
    assert (event.body["event_type"], event.body["market_ticker"]) == (change, ticker)
    assert events == [event]


def test_a_world_left_to_itself_decides_settles_and_lists_markets() -> None:
    clock = ManualClock()
    world = World(clock, WorldConfig(markets=60))
    kinds: set[object] = set()

    for _ in range(400):
        clock.advance(60)
        kinds |= {str(event.body.get("event_type", "event")) for event in world.change_any_market()}  # type: ignore[union-attr]

    assert kinds >= {
        "created", "activated", "deactivated", "close_date_updated", "determined", "settled",
        "metadata_updated", "event",
    }  # fmt: skip


def test_there_is_nothing_to_be_told_of_a_market_that_is_not_listed() -> None:
    world = world_of()

    assert world.change_market("NONE", LifecycleChange("settled")) == []
    assert world.change_fees("NONE", 2) == []
    assert (world.book("NONE"), world.quote("NONE"), world.markets.get("NONE")) == (
        None,
        None,
        None,
    )


def test_a_new_price_clears_the_bids_it_leaves_too_high_and_bids_beside_it() -> None:
    world = world_of(markets=6, depth=12)
    market = next(one for one in world.listed if one.status(world.now_us()) == "active")
    fair = DOLLAR // 5 if market.fair > DOLLAR // 2 else DOLLAR * 4 // 5

    events = world.reprice(market.ticker, fair)

    book = world.book(market.ticker)
    assert book is not None
    assert (book.best_yes or 0) < fair < (book.best_ask or 0)
    assert fair - (book.best_yes or 0) <= 3 * market.tick
    assert (book.best_ask or 0) - fair <= 3 * market.tick
    assert {type(event) for event in events} == {DeltaEvent, QuoteEvent}
    assert next(world.truth.books_at(market.ticker, (world.now_us() + SECOND,))) == book


def test_a_market_that_is_let_go_of_is_not_listed_any_more() -> None:
    world = world_of(markets=6)
    gone = world.listed[0].ticker
    world.book(gone)

    world.remove(gone)

    assert world.markets.get(gone) is None
    assert gone not in {market.ticker for market in world.listed}
    assert gone not in world.truth.tickers
    assert world.step(50, world.now_us() + STEP)
