"""The exchange's WebSocket: signed at each connection, frames passed on as received."""

import json
from random import Random
from typing import Any

import pytest

from grandstand.apps.gatherer.domain.messages import SubscribedReply
from grandstand.apps.gatherer.domain.subscriptions import MonotonicClock
from grandstand.apps.gatherer.sources.kalshi.signing import KeyRejected, Signer
from grandstand.apps.gatherer.sources.kalshi.stream import (
    KalshiStream,
    StreamClosed,
    StreamOpened,
)
from grandstand.apps.gatherer.sources.kalshi.ws_decode import FrameDecoder
from grandstand.core.clock import SystemClock
from grandstand.core.metrics import Metrics
from grandstand.net.websocket import Message
from tests.apps.gatherer.sources.kalshi.conftest import PEM, Stage

pytestmark = pytest.mark.anyio

CLOCK = SystemClock()


def _stream(stage: Stage, signer: Signer | None, **more: Any) -> KalshiStream:
    stamps = MonotonicClock()
    parts: dict[str, Any] = {
        "signer": signer,
        "stamp": lambda: stamps.next(7),
        "clock": CLOCK,
        "random": Random(1),
        "metrics": Metrics(),
    }
    return KalshiStream("exchange-0", stage.ws_url, **(parts | more))


async def test_frames_come_as_received(stage: Stage, signer: Signer) -> None:
    stream = _stream(stage, signer)
    events = aiter(stream)
    ticker = stage.world.listed[0].ticker

    opened = await anext(events)
    params = {"channels": ["orderbook_delta"], "market_tickers": [ticker]}
    sent = await stream.send(json.dumps({"id": 1, "cmd": "subscribe", "params": params}))
    first, second = await anext(events), await anext(events)
    await stream.close()

    assert opened == StreamOpened(7)
    assert sent
    assert isinstance(first, Message)
    assert isinstance(second, Message)
    assert FrameDecoder().parse(first.data) == SubscribedReply(1, "orderbook_delta", 1)
    assert f'"market_ticker":"{ticker}"' in str(second.data)


async def test_a_lost_connection_is_told_and_the_next_is_signed_anew(
    stage: Stage, signer: Signer
) -> None:
    stream = _stream(stage, signer)
    events = aiter(stream)

    opened = await anext(events)
    await stream.reconnect()
    lost, again = await anext(events), await anext(events)
    await stream.close()

    assert isinstance(opened, StreamOpened)
    assert isinstance(lost, StreamClosed)
    assert lost.conn == opened.conn
    assert isinstance(again, StreamOpened)
    assert again.conn > opened.conn
    assert stage.simulated.connections_made == 2


@pytest.mark.parametrize("signer", [None, Signer.from_pem("key-2", PEM, CLOCK)])
async def test_who_is_not_known_is_refused_once_with_what_to_do(
    stage: Stage, signer: Signer | None
) -> None:
    stream = _stream(stage, signer)

    with pytest.raises(KeyRejected, match="rejected the connection with status 401"):
        [event async for event in stream]

    assert stage.simulated.connections_made == 0


async def test_nothing_is_sent_without_a_connection(stage: Stage, signer: Signer) -> None:
    stream = _stream(stage, signer)

    sent = await stream.send("{}")

    assert not sent
    assert not stream.connected
