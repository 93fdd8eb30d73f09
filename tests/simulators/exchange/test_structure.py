"""Every message and every field of the exchange's protocol, as they are on the wire."""

from __future__ import annotations

import re
from typing import Any

import httpx2
import pytest

from grandstand.simulators.exchange.market import CHANGE_KINDS, LifecycleChange
from grandstand.simulators.exchange.rest import RequestBudget
from grandstand.simulators.exchange.server import Exchange, ExchangeRules
from grandstand.simulators.exchange.world import WorldConfig
from tests.simulators.exchange.stream_reader import (
    REST,
    Frame,
    exchange_of,
    happen,
    open_tickers,
    reading,
    world_in,
)

pytestmark = pytest.mark.anyio

PRICE = r"[01]\.\d{4,5}"
SIZE = r"\d+\.\d\d"
CHANGE = r"-?\d+\.\d\d"
UUID = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
TICKER = r"KX[A-Z]+-[A-Z0-9]+-[A-Z0-9]+"
MICROS = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z"
SECONDS = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"
WORDS = r".+"

# A field is told by the pattern of its text, or by its type; a list by the patterns of its pairs.
FIELDS: dict[str, dict[str, object]] = {
    "orderbook_snapshot": {
        "market_ticker": TICKER,
        "market_id": UUID,
        "yes_dollars_fp": [PRICE, SIZE],
        "no_dollars_fp": [PRICE, SIZE],
    },
    "orderbook_delta": {
        "market_ticker": TICKER,
        "market_id": UUID,
        "price_dollars": PRICE,
        "delta_fp": CHANGE,
        "side": "yes|no",
        "ts": MICROS,
        "ts_ms": int,
    },
    "trade": {
        "trade_id": UUID,
        "market_ticker": TICKER,
        "yes_price_dollars": PRICE,
        "no_price_dollars": PRICE,
        "count_fp": SIZE,
        "taker_side": "yes|no",
        "taker_outcome_side": "yes|no",
        "taker_book_side": "bid|ask",
        "is_block_trade": bool,
        "ts": int,
        "ts_ms": int,
    },
    "ticker": {
        "market_ticker": TICKER,
        "market_id": UUID,
        "price_dollars": PRICE,
        "yes_bid_dollars": PRICE,
        "yes_ask_dollars": PRICE,
        "yes_bid_size_fp": SIZE,
        "yes_ask_size_fp": SIZE,
        "last_trade_size_fp": SIZE,
        "volume_fp": SIZE,
        "open_interest_fp": SIZE,
        "dollar_volume": int,
        "dollar_open_interest": int,
        "ts": int,
        "ts_ms": int,
        "time": SECONDS,
    },
    "event_lifecycle": {
        "event_ticker": WORDS,
        "series_ticker": WORDS,
        "title": WORDS,
        "subtitle": WORDS,
        "collateral_return_type": ".*",
        "exchange_index": int,
    },
    "event_fee_update": {
        "event_ticker": WORDS,
        "fee_type_override": (str, type(None)),
        "fee_multiplier_override": (int, type(None)),
    },
}
LIFECYCLE: dict[str, dict[str, object]] = {
    "created": {
        "open_ts": int,
        "close_ts": int,
        "exchange_index": int,
        "price_level_structure": WORDS,
        "additional_metadata": dict,
    },
    "activated": {"is_deactivated": bool},
    "deactivated": {"is_deactivated": bool},
    "close_date_updated": {"close_ts": int},
    "determined": {"result": "yes|no", "determination_ts": int, "settlement_value": PRICE},
    "settled": {"settled_ts": int},
    "price_level_structure_updated": {"price_level_structure": WORDS, "price_ranges": list},
    "metadata_updated": {"additional_metadata": dict},
}
ENVELOPES = {
    "subscribed": {"id", "type", "msg"},
    "ok": {"id", "type", "sid", "seq", "msg"},
    "unsubscribed": {"id", "type", "sid", "seq"},
    "error": {"id", "type", "msg"},
    "orderbook_snapshot": {"type", "sid", "seq", "msg"},
    "orderbook_delta": {"type", "sid", "seq", "msg"},
    "trade": {"type", "sid", "seq", "msg"},
    "ticker": {"type", "sid", "msg"},
    "market_lifecycle_v2": {"type", "sid", "seq", "msg"},
    "multivariate_market_lifecycle": {"type", "sid", "seq", "msg"},
    "event_lifecycle": {"type", "sid", "seq", "msg"},
    "event_fee_update": {"type", "sid", "seq", "msg"},
}


def fits(value: Any, form: object) -> bool:
    if isinstance(form, str):
        return isinstance(value, str) and re.fullmatch(form, value) is not None
    if isinstance(form, list):
        return all(len(pair) == 2 and all(map(fits, pair, form)) for pair in value)
    if form is int:
        return type(value) is int
    return isinstance(value, form)  # type: ignore[arg-type]


def unfit(frames: list[Frame], forms: dict[str, object]) -> list[tuple[str, object]]:
    """The fields of frames that are unknown, or not as they should be."""
    return [
        (name, value)
        for frame in frames
        for name, value in frame["msg"].items()
        if name not in forms or not fits(value, forms[name])
    ]


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def frames() -> list[Frame]:
    """All a reader of everything gets in a world where everything happens."""
    exchange = exchange_of(WorldConfig(markets=100))
    world, tickers = world_in(exchange), open_tickers(exchange)
    async with exchange.serve() as address, reading(address) as reader:
        got = await reader.subscribed(["orderbook_delta"], tickers[:60])
        got += await reader.subscribed(["ticker", "trade"])
        got += await reader.subscribed(["market_lifecycle_v2", "multivariate_market_lifecycle"])
        happen(exchange, 12_000)
        for market in (world.listed[0], next(it for it in world.listed if it.event.multivariate)):
            for change in CHANGE_KINDS:
                exchange.publish(world.change_market(market.ticker, LifecycleChange(change)))
        exchange.publish(world.create(0, 60))
        for multiplier in (2, None):
            exchange.publish(world.change_fees(world.listed[0].event.ticker, multiplier))
        got += await reader.updated(1, "add_markets", tickers[61])
        got += await reader.subscribed(["nothing"])
        await reader.send({"id": 5, "cmd": "unsubscribe", "params": {"sids": [1]}})
        got += await reader.taken()
    return got


def of(frames: list[Frame], kind: str) -> list[Frame]:
    return [frame for frame in frames if frame["type"] == kind]


async def test_every_type_of_message_occurs_and_no_other(frames: list[Frame]) -> None:
    assert {frame["type"] for frame in frames} == ENVELOPES.keys()


@pytest.mark.parametrize("kind", ENVELOPES)
async def test_the_envelope_of_a_message_has_its_fields(frames: list[Frame], kind: str) -> None:
    assert {frozenset(frame) for frame in of(frames, kind)} == {frozenset(ENVELOPES[kind])}


@pytest.mark.parametrize("kind", FIELDS)
async def test_a_message_has_its_fields_in_their_forms(frames: list[Frame], kind: str) -> None:
    found = of(frames, kind)

    assert unfit(found, FIELDS[kind]) == []
    assert {name for frame in found for name in frame["msg"]} == FIELDS[kind].keys()


@pytest.mark.parametrize("kind", sorted(FIELDS.keys() - {"orderbook_snapshot"}))
async def test_no_field_of_a_message_is_left_out(frames: list[Frame], kind: str) -> None:
    assert {frozenset(frame["msg"]) for frame in of(frames, kind)} == {frozenset(FIELDS[kind])}


@pytest.mark.parametrize("change", CHANGE_KINDS)
@pytest.mark.parametrize("kind", ["market_lifecycle_v2", "multivariate_market_lifecycle"])
async def test_news_of_a_market_has_the_fields_of_its_kind(
    frames: list[Frame], kind: str, change: str
) -> None:
    found = [it for it in of(frames, kind) if it["msg"]["event_type"] == change]

    forms = {"event_type": change, "market_ticker": TICKER, **LIFECYCLE[change]}
    assert found
    assert unfit(found, forms) == []
    assert {frozenset(frame["msg"]) for frame in found} == {frozenset(forms)}


async def test_both_stamps_of_a_delta_agree_to_the_millisecond(frames: list[Frame]) -> None:
    stamps = [(it["msg"]["ts"][20:23], it["msg"]["ts_ms"]) for it in of(frames, "orderbook_delta")]

    assert all(int(text) == milliseconds % 1000 for text, milliseconds in stamps)


async def test_fractions_of_contracts_and_of_cents_occur(frames: list[Frame]) -> None:
    deltas = [frame["msg"] for frame in of(frames, "orderbook_delta")]

    assert any(not delta["delta_fp"].endswith(".00") for delta in deltas)
    assert any(not delta["price_dollars"].endswith("00") for delta in deltas)


async def test_the_two_prices_of_a_trade_make_a_dollar(frames: list[Frame]) -> None:
    trades = [frame["msg"] for frame in of(frames, "trade")]

    sums = {
        int(it["yes_price_dollars"].replace(".", "")) + int(it["no_price_dollars"].replace(".", ""))
        for it in trades
    }
    assert sums == {10_000}
    assert {(it["taker_outcome_side"], it["taker_book_side"]) for it in trades} == {
        ("yes", "bid"),
        ("no", "ask"),
    }
    assert {it["is_block_trade"] for it in trades} == {True, False}


MARKET: dict[str, object] = {
    "ticker": TICKER,
    "event_ticker": WORDS,
    "series_ticker": WORDS,
    "market_type": "binary",
    "title": WORDS,
    "status": "initialized|active|inactive|closed|determined|finalized",
    "result": "yes|no|",
    "open_time": SECONDS,
    "close_time": SECONDS,
    "created_time": SECONDS,
    "updated_time": SECONDS,
    "yes_bid_dollars": PRICE,
    "yes_ask_dollars": PRICE,
    "last_price_dollars": PRICE,
    "volume_fp": SIZE,
    "volume_24h_fp": SIZE,
    "open_interest_fp": SIZE,
    "price_level_structure": WORDS,
    "price_ranges": list,
}
TRADE: dict[str, object] = {
    "trade_id": UUID,
    "ticker": TICKER,
    "yes_price_dollars": PRICE,
    "no_price_dollars": PRICE,
    "count_fp": SIZE,
    "taker_side": "yes|no",
    "taker_outcome_side": "yes|no",
    "taker_book_side": "bid|ask",
    "is_block_trade": bool,
    "created_time": MICROS,
}


@pytest.fixture
def exchange() -> Exchange:
    made = exchange_of(
        WorldConfig(markets=100), ExchangeRules(budget=RequestBudget(read_per_second=1_000_000))
    )
    happen(made, 2000)
    return made


@pytest.mark.parametrize(("path", "forms"), [("/markets", MARKET), ("/markets/trades", TRADE)])
async def test_what_rest_lists_has_its_fields_in_their_forms(
    exchange: Exchange, path: str, forms: dict[str, object]
) -> None:
    async with exchange.serve() as address, httpx2.AsyncClient() as client:
        answer = (await client.get(f"http://{address}{REST}{path}")).json()

    listed = answer[path.rpartition("/")[2]]
    wrong = [
        (name, item.get(name))
        for item in listed
        for name, form in forms.items()
        if not fits(item.get(name), form)
    ]
    assert len(listed) > 10
    assert wrong == []
