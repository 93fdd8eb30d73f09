"""A socket of the exchange is signed at each connection, and its frames bear growing stamps."""

from random import Random
from typing import Any

import pytest

from grandstand.apps.gatherer.model.messages import Subscribed
from grandstand.apps.gatherer.model.stamps import Stamps
from grandstand.apps.gatherer.sources.kalshi import commands
from grandstand.apps.gatherer.sources.kalshi.errors import KeyRefused
from grandstand.apps.gatherer.sources.kalshi.frames import FrameDecoder
from grandstand.apps.gatherer.sources.kalshi.signing import Signer
from grandstand.apps.gatherer.sources.kalshi.stream import Heard, Lost, Opened, Stream
from grandstand.base.clock import SystemClock
from grandstand.base.metrics import Metrics
from tests.apps.gatherer.sources.kalshi.conftest import PEM, Stage

pytestmark = pytest.mark.anyio

CLOCK = SystemClock()


def _stream(stage: Stage, signer: Signer | None, **more: Any) -> Stream:
    stamps = Stamps()
    parts: dict[str, Any] = {
        "signer": signer,
        "parse": FrameDecoder().parse,
        "stamp": lambda: stamps.next(7),
        "clock": CLOCK,
        "random": Random(1),
        "metrics": Metrics(),
    }
    return Stream("exchange-0", stage.ws_url, **(parts | more))


async def test_frames_come_with_what_they_mean_and_stamps_that_grow(
    stage: Stage, signer: Signer
) -> None:
    stream = _stream(stage, signer)
    events = aiter(stream)
    ticker = stage.world.listed[0].ticker

    opened = await anext(events)
    sent = await stream.send(commands.subscribe(1, ["orderbook_delta"], [ticker], yes_price=False))
    first, second = await anext(events), await anext(events)
    await stream.close()

    assert opened == Opened(7)
    assert sent
    assert isinstance(first, Heard)
    assert isinstance(second, Heard)
    assert first.message == Subscribed(1, "orderbook_delta", 1)
    assert (first.received_at, second.received_at) == (8, 9)
    assert f'"market_ticker":"{ticker}"' in str(second.raw)


async def test_a_lost_connection_is_told_and_the_next_is_signed_anew(
    stage: Stage, signer: Signer
) -> None:
    stream = _stream(stage, signer)
    events = aiter(stream)

    opened = await anext(events)
    await stream.reconnect()
    lost, again = await anext(events), await anext(events)
    await stream.close()

    assert isinstance(opened, Opened)
    assert isinstance(lost, Lost)
    assert lost.conn == opened.conn
    assert isinstance(again, Opened)
    assert again.conn > opened.conn
    assert stage.simulated.connections_made == 2


@pytest.mark.parametrize("signer", [None, Signer.of("key-2", PEM, CLOCK)])
async def test_who_is_not_known_is_refused_once_with_what_to_do(
    stage: Stage, signer: Signer | None
) -> None:
    stream = _stream(stage, signer)

    with pytest.raises(KeyRefused, match="refused the connection with 401: check the key id"):
        [event async for event in stream]

    assert stage.simulated.connections_made == 0


async def test_nothing_is_sent_without_a_connection(stage: Stage, signer: Signer) -> None:
    stream = _stream(stage, signer)

    sent = await stream.send("{}")

    assert not sent
    assert not stream.connected
