"""What goes wrong in the stream: each fault happens as asked, and is written down."""

import json
from collections import Counter
from itertools import pairwise

import httpx2
import pytest
import websockets

from grandstand.simulators.exchange.server import Exchange
from grandstand.simulators.exchange.ws_connections import STREAM_FAULTS_PATH, StreamFault
from tests.simulators.exchange.stream_reader import (
    Frame,
    Reader,
    exchange_of,
    happen,
    open_tickers,
    reading,
)

pytestmark = pytest.mark.anyio


async def told(exchange: Exchange, reader: Reader, *faults: StreamFault) -> list[Frame]:
    """What a reader of all books gets of 600 events with these faults."""
    await reader.subscribed(["orderbook_delta"], open_tickers(exchange))
    exchange.stream_faults.ask_for(*faults)
    happen(exchange, 600)
    exchange.stream_faults.ask_for()
    return await reader.taken()


def struck(exchange: Exchange, kind: str) -> list[int]:
    return [it.seq for it in exchange.stream_faults.struck if it.kind == kind]


async def test_a_dropped_frame_leaves_a_hole_in_the_numbers() -> None:
    exchange = exchange_of()
    async with exchange.serve() as address, reading(address) as reader:
        frames = await told(exchange, reader, StreamFault("drop", share=0.05))

    seen = {frame["seq"] for frame in frames}
    missing = set(range(min(seen), max(seen))) - seen
    assert missing
    assert missing <= set(struck(exchange, "drop"))


async def test_a_duplicate_is_the_same_frame_again() -> None:
    exchange = exchange_of()
    async with exchange.serve() as address, reading(address) as reader:
        frames = await told(exchange, reader, StreamFault("duplicate", share=0.05))

    twice = [frame["seq"] for frame, after in pairwise(frames) if frame == after]
    assert twice
    assert twice == struck(exchange, "duplicate")


async def test_reordered_frames_all_arrive_but_not_in_their_order() -> None:
    exchange = exchange_of()
    async with exchange.serve() as address, reading(address) as reader:
        frames = await told(exchange, reader, StreamFault("reorder", share=0.05, times=5))

    seen = [frame["seq"] for frame in frames]
    assert seen != sorted(seen)
    assert sorted(seen) == list(range(min(seen), max(seen) + 1))
    assert len(struck(exchange, "reorder")) == 5


async def test_a_malformed_frame_stands_in_the_place_of_a_good_one() -> None:
    exchange = exchange_of()
    async with exchange.serve() as address, reading(address) as reader:
        await reader.subscribed(["orderbook_delta"], open_tickers(exchange))
        exchange.stream_faults.ask_for(StreamFault("malformed", times=60))
        happen(exchange, 200)
        texts = await reader.texts()

    kinds = Counter(_reading(text) for text in texts[:60])
    assert len(kinds) >= 4
    assert {_reading(text) for text in texts[60:]} == {"orderbook_delta"}
    assert json.loads(texts[60])["seq"] == struck(exchange, "malformed")[-1] + 1


def _reading(text: str) -> str:
    try:
        value = json.loads(text)
    except ValueError:
        return "no JSON"
    return str(value.get("type")) if isinstance(value, dict) else type(value).__name__


async def test_a_stall_holds_everything_back_and_loses_nothing() -> None:
    exchange = exchange_of()
    async with exchange.serve() as address, reading(address) as reader:
        await reader.subscribed(["orderbook_delta"], open_tickers(exchange))
        exchange.stream_faults.ask_for(StreamFault("stall", seconds=0.3, times=1))
        happen(exchange, 200)
        held = [len(it.out) for it in exchange.hub.connections.values()]
        frames = await reader.taken()

    assert held[0] > 100
    seen = [frame["seq"] for frame in frames]
    assert seen == list(range(seen[0], seen[0] + len(seen)))


@pytest.mark.parametrize(("code", "received"), [(0, 1006), (1001, 1001), (1008, 1008)])
async def test_a_connection_is_closed_with_a_code_or_cut_without_a_word(
    code: int, received: int
) -> None:
    exchange = exchange_of()
    async with exchange.serve() as address, reading(address) as reader:
        await reader.subscribed(["orderbook_delta"], open_tickers(exchange))
        exchange.stream_faults.ask_for(StreamFault("disconnect", code=code, times=1))
        happen(exchange, 50)
        with pytest.raises(websockets.ConnectionClosed) as closed:
            await reader.taken()

    assert (closed.value.rcvd.code if closed.value.rcvd else 1006) == received


@pytest.mark.parametrize("code", [10, 25])
async def test_a_terminal_error_names_its_subscription_and_ends_only_that_one(code: int) -> None:
    exchange = exchange_of()
    async with exchange.serve() as address, reading(address) as reader:
        await reader.subscribed(["orderbook_delta"], open_tickers(exchange))
        await reader.subscribed(["trade"])
        fault = StreamFault("error", code=code, times=1, channel="orderbook_delta")
        exchange.stream_faults.ask_for(fault)
        happen(exchange, 100)
        frames = [frame for frame in await reader.taken() if frame["sid"] == 1]
        happen(exchange, 2000)
        after = await reader.taken()

    assert frames[-1]["type"] == "error"
    assert frames[-1]["msg"]["code"] == code
    assert frames[-1]["seq"] == frames[-2]["seq"] + 1
    assert {frame["type"] for frame in after} == {"trade"}


async def test_a_fault_can_be_kept_to_one_channel() -> None:
    exchange = exchange_of()
    async with exchange.serve() as address, reading(address) as reader:
        await reader.subscribed(["trade", "ticker"])
        exchange.stream_faults.ask_for(StreamFault("drop", channel="trade"))
        happen(exchange, 2000)
        frames = await reader.taken()

    assert {frame["type"] for frame in frames} == {"ticker"}


async def test_the_same_seed_strikes_the_same_frames() -> None:
    seen = []
    for _ in range(2):
        exchange = exchange_of()
        exchange.stream_faults.ask_for(StreamFault("drop", share=0.1), StreamFault("duplicate"))
        hits = [exchange.stream_faults.on_frame("trade") for _ in range(50)]
        seen.append([hit.kind for hit in hits if hit])

    assert seen[0] == seen[1]
    assert set(seen[0]) == {"drop", "duplicate"}


async def test_faults_are_asked_for_and_read_back_over_http() -> None:
    exchange = exchange_of()
    async with exchange.serve() as address, httpx2.AsyncClient() as client:
        url = f"http://{address}{STREAM_FAULTS_PATH}"
        rule = {"kind": "drop", "share": 0.5, "channel": "trade"}
        await client.put(url, json=[rule])
        answer = (await client.get(url)).json()
        wrong = await client.put(url, json=[{"kind": "earthquake"}])

    assert answer["rules"][0] | rule == answer["rules"][0]
    assert answer["struck"] == []
    assert wrong.status_code == 400
