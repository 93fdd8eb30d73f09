"""The exchange is asked over REST as it wants to be asked, and what it answers is read exactly."""

from collections import Counter
from collections.abc import AsyncIterator, Awaitable
from datetime import timedelta
from random import Random
from typing import Any

import msgspec
import pytest

from grandstand.apps.gatherer.sources.kalshi.rest import (
    KalshiClient,
    ListingBody,
    ListingPage,
    parse_book,
    parse_items,
    parse_market,
    parse_trade,
)
from grandstand.apps.gatherer.sources.kalshi.signing import KeyRejected, Signer
from grandstand.core.clock import ManualClock, SystemClock
from grandstand.core.errors import SourceFailed
from grandstand.net.client import SourceRegistry
from grandstand.simulators.exchange.control import step_world
from grandstand.simulators.faults import Fault
from tests.apps.gatherer.sources.kalshi.conftest import PEM, Stage

pytestmark = pytest.mark.anyio

CLOCK = SystemClock()


@pytest.fixture
def exchange(stage: Stage, web: SourceRegistry, signer: Signer) -> KalshiClient:
    return KalshiClient(web, stage.rest_url, signer=signer, clock=CLOCK)


async def test_markets_come_page_by_page_until_the_cursor_is_empty(
    exchange: KalshiClient, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grandstand.apps.gatherer.sources.kalshi.rest._MARKETS_PER_PAGE", 7)

    pages = [page async for page in exchange.markets()]

    found = [market for page in pages for market in page.items]
    told = stage.world.listed[0]
    assert [len(page.items) for page in pages] == [7, 7, 7, 7, 7, 5]
    assert [market.ticker for market in found] == [one.ticker for one in stage.world.listed]
    assert (found[0].volume, found[0].title) == (told.volume, told.title)
    assert found[0].open_ts == told.opens_at // 1_000_000 * 1_000_000


async def test_a_cursor_that_comes_again_ends_the_asking(
    exchange: KalshiClient, stage: Stage
) -> None:
    stage.simulated.rest.cursor_loops = True

    with pytest.raises(SourceFailed, match="repeats pages"):
        [page async for page in exchange.markets()]


async def test_books_are_fetched_a_hundred_at_once_and_equal_the_truth(
    exchange: KalshiClient, stage: Stage
) -> None:
    tickers = [market.ticker for market in stage.world.listed]

    found = await exchange.books([*tickers, "NO-SUCH-MARKET"])

    truth = stage.world.book(tickers[0])
    assert truth is not None
    assert found.keys() == {*tickers}
    assert found[tickers[0]].levels() == (
        tuple(map(tuple, truth.levels(yes=True))),
        tuple(map(tuple, truth.levels(yes=False))),
    )


async def test_trades_are_told_as_the_stream_tells_them(
    exchange: KalshiClient, stage: Stage
) -> None:
    await step_world(stage.simulated, stage.world, 300)

    pages = [page async for page in exchange.trades(start_s=0, end_s=2**33)]

    found = {str(trade.trade_id): trade for page in pages for trade in page.items}
    truth = stage.world.truth.trades
    last = found[truth[-1].trade_id]
    assert found.keys() == {trade.trade_id for trade in truth}
    assert last.exchange_ts == truth[-1].at // 1000 * 1000
    assert (last.price, last.size) == (truth[-1].price, truth[-1].size)
    assert last.taker_side == truth[-1].taker_yes


async def test_series_events_and_the_state_of_the_exchange(exchange: KalshiClient) -> None:
    series = await exchange.series()
    events = [event async for page in exchange.events() for event in page.items]
    status = await exchange.status()

    assert {event.series_ticker for event in events} <= {one.ticker for one in series}
    assert (status.exchange_active, status.trading_active) == (True, True)


async def test_the_account_says_how_often_it_may_be_asked(exchange: KalshiClient) -> None:
    limit = await exchange.limits()

    assert limit is not None
    assert (limit.tier, limit.per_second) == ("basic", 200.0)
    assert (await exchange.status()).exchange_active


async def test_being_asked_too_often_is_waited_out(exchange: KalshiClient, stage: Stage) -> None:
    stage.simulated.rest_faults.ask_for(Fault(kind="too many", times=2, seconds=0))

    status = await exchange.status()

    assert status.exchange_active


async def test_a_key_the_exchange_does_not_know_is_a_clear_end(
    stage: Stage, web: SourceRegistry
) -> None:
    stranger = Signer.from_pem("key-2", PEM, CLOCK)
    exchange = KalshiClient(web, stage.rest_url, signer=stranger, clock=CLOCK)

    with pytest.raises(KeyRejected, match="Check the key ID") as refused:
        await exchange.status()

    assert not refused.value.retry


async def test_a_clock_that_is_an_hour_ahead_of_the_exchange_is_found_out(
    stage: Stage, web: SourceRegistry, signer: Signer
) -> None:
    ahead = ManualClock(CLOCK.now() + timedelta(hours=1))
    exchange = KalshiClient(web, stage.rest_url, signer=signer, clock=ahead)

    offset = await exchange.clock_offset()

    assert offset is not None
    assert abs(offset + timedelta(hours=1)) < timedelta(minutes=10)


async def test_items_that_cannot_be_read_are_counted_and_cost_nothing_else() -> None:
    good = b'{"ticker":"A-1","event_ticker":"A","status":"active","volume_fp":"12.50"}'
    bad = (
        b"7",
        b"{}",
        good.replace(b"12.50", b"12.505"),
        good.replace(b'"active"', b"null"),
        good.replace(b'"A-1"', b"[]"),
    )

    page = parse_items(ListingBody(items=[*map(msgspec.Raw, (good, *bad))]), parse_market)

    assert page == ListingPage(page.items, "", 5)
    assert [(market.ticker, market.volume) for market in page.items] == [("A-1", 1250)]


async def test_a_trade_that_does_not_say_who_took_or_is_of_less_than_nothing_is_refused() -> None:
    good = (
        b'{"trade_id":"8d7e3c1a-0b52-4ac6-9a5e-2f0c4d1b7e90","ticker":"A-1",'
        b'"yes_price_dollars":"0.5300","count_fp":"25.00","taker_side":"yes",'
        b'"created_time":"2026-11-16T12:00:00.123456Z"}'
    )
    bad = (
        good.replace(b'"taker_side":"yes",', b""),
        good.replace(b'"yes",', b'"up",'),
        good.replace(b"25.00", b"-25.00"),
    )

    page = parse_items(ListingBody(items=[*map(msgspec.Raw, (good, *bad))]), parse_trade)

    assert [(trade.taker_side, trade.size) for trade in page.items] == [(True, 2500)]
    assert page.rejected == 3


async def test_a_book_with_a_level_below_nothing_is_refused() -> None:
    good = b'{"ticker":"A-1","orderbook_fp":{"yes_dollars":[["0.5300","25.00"]]}}'

    page = parse_items(
        ListingBody(items=[*map(msgspec.Raw, (good, good.replace(b"25.00", b"-25.00")))]),
        parse_book,
    )

    assert [(ticker, book.levels()) for ticker, book in page.items] == [
        ("A-1", (((53_000, 2500),), ()))
    ]
    assert page.rejected == 1


async def test_an_exchange_that_is_closed_says_when_it_means_to_open(
    exchange: KalshiClient, stage: Stage
) -> None:
    stage.simulated.rest.exchange_active = False
    stage.simulated.rest.resumes_at = 1_793_620_800 * 1_000_000

    status = await exchange.status()

    assert (status.exchange_active, status.trading_active) == (False, False)
    assert status.resumes_at is not None
    assert status.resumes_at.timestamp() == 1_793_620_800


_STRANGE: tuple[Any, ...] = (
    None,
    -1,
    1e300,
    "",
    "x" * 100_000,
    [],
    {},
    [[[]]],
    {"a": {"b": [None]}},
    True,
)


def _spoilt(draw: Random, told: Any) -> Any:
    """Return a body with something strange in one place, however deep."""
    if isinstance(told, dict) and told and draw.random() < 0.9:
        name = draw.choice([*told])
        left = {key: value for key, value in told.items() if key != name or draw.random() < 0.7}
        return left | ({name: _spoilt(draw, told[name])} if name in left else {})
    if isinstance(told, list) and told and draw.random() < 0.9:
        at = draw.randrange(len(told))
        return [*told[:at], _spoilt(draw, told[at]), *told[at + 1 :]]
    return draw.choice(_STRANGE)


async def test_bodies_with_anything_in_them_are_refused_and_counted_and_never_end_the_asking(
    stage: Stage, web: SourceRegistry, signer: Signer, monkeypatch: pytest.MonkeyPatch
) -> None:
    exchange = KalshiClient(web, stage.rest_url, signer=signer, clock=CLOCK, per_second=5000)
    await step_world(stage.simulated, stage.world, 100)
    draw, rest, outcomes = Random(5), stage.simulated.rest, Counter[str]()
    true = rest.respond
    ways = (
        lambda: _all(exchange.markets()),
        lambda: _all(exchange.trades(start_s=0, end_s=2**33)),
        lambda: exchange.books([stage.world.listed[0].ticker]),
        exchange.series,
        exchange.status,
    )

    monkeypatch.setattr(
        type(rest), "respond", lambda _, path, query: (200, _spoilt(draw, true(path, query)[1]))
    )
    for number in range(150):
        outcomes[await _outcome(ways[number % len(ways)]())] += 1
    monkeypatch.undo()

    assert outcomes.keys() == {"read", "refused"}
    assert exchange.rejected > 0
    assert len(await _all(exchange.markets())) == len(stage.world.listed)


async def _all(pages: AsyncIterator[ListingPage[Any]]) -> list[Any]:
    return [item async for page in pages for item in page.items]


async def _outcome(asked: Awaitable[object]) -> str:
    try:
        await asked
    except SourceFailed:
        return "refused"
    return "read"
