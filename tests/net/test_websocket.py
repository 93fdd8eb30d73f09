"""The WebSocket client: reconnects, fresh headers and growing waits."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from http import HTTPStatus
from random import Random
from typing import Any

import pytest
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.http11 import Request, Response

from grandstand.core.clock import SystemClock
from grandstand.core.metrics import Metrics
from grandstand.net.errors import InvalidRequest, NotConnected, SourceRefused
from grandstand.net.websocket import (
    Connected,
    Disconnected,
    Message,
    SocketConfig,
    SocketEvent,
    WebSocketClient,
)
from tests.net.outsider import Outsider

pytestmark = pytest.mark.anyio

Talk = Callable[[ServerConnection], Awaitable[None]]

QUICK = SocketConfig(first_seconds=0.01, most_seconds=0.05)


async def _echo(connection: ServerConnection) -> None:
    async for message in connection:
        await connection.send(message)


@asynccontextmanager
async def _serving(talk: Talk, **more: Any) -> AsyncIterator[Server]:
    async with serve(talk, "127.0.0.1", 0, **more) as server:
        yield server


def _url(server: Server) -> str:
    return f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}/feed"


def _socket(url: str, keeping: SocketConfig = QUICK, **more: Any) -> WebSocketClient:
    parts: dict[str, Any] = {"clock": SystemClock(), "random": Random(1), "metrics": Metrics()}
    return WebSocketClient("stream", url, config=keeping, **(parts | more))


async def _first(socket: WebSocketClient, count: int) -> list[SocketEvent]:
    """The first events; the socket is closed with the last."""
    events: list[SocketEvent] = []
    async with asyncio.timeout(10):
        async for event in socket:
            events.append(event)
            await _close_after(socket, len(events) >= count)
    return events


async def _close_after(socket: WebSocketClient, last: bool) -> None:  # noqa: FBT001 - reads as it is said
    await (socket.close() if last else asyncio.sleep(0))


def _kinds(events: list[SocketEvent]) -> list[type[SocketEvent]]:
    return [type(event) for event in events]


async def test_what_is_sent_is_heard_as_text_or_bytes() -> None:
    heard: list[str | bytes] = []
    async with _serving(_echo) as server, _socket(_url(server)) as socket:
        events = aiter(socket)
        first = await anext(events)
        await socket.send("text")
        await socket.send(b"bytes")
        for _ in range(2):
            event = await anext(events)
            assert isinstance(event, Message)
            heard.append(event.data)

    assert isinstance(first, Connected)
    assert heard == ["text", b"bytes"]


async def test_a_lost_connection_comes_back_and_says_so() -> None:
    async def hang_up(connection: ServerConnection) -> None:
        await connection.send("hello")
        await connection.close(1012, "restarting")

    metrics = Metrics()
    async with _serving(hang_up) as server:
        events = await _first(_socket(_url(server), metrics=metrics), 6)

    assert _kinds(events) == [Connected, Message, Disconnected] * 2
    assert isinstance(events[2], Disconnected)
    assert events[2].reason.startswith("received 1012 (service restart) restarting")
    assert [event.number for event in events if isinstance(event, Connected)] == [1, 2]
    assert metrics.value("socket_connects", source="stream", outcome="ok") == 2


async def test_headers_are_made_anew_for_every_connection() -> None:
    seen: list[str] = []
    numbers = itertools.count(1)

    async def note(connection: ServerConnection) -> None:
        assert connection.request is not None
        seen.append(connection.request.headers["x-signature"])

    def sign() -> dict[str, str]:
        return {"x-signature": f"signed-{next(numbers)}"}

    async with _serving(note) as server:
        await _first(_socket(_url(server), headers=sign), 6)

    assert seen == ["signed-1", "signed-2", "signed-3"]


async def test_waits_grow_with_jitter_until_a_connection_lasts() -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    keeping = SocketConfig(first_seconds=1.0, most_seconds=4.0)
    events = await _first(_socket("ws://127.0.0.1:1/", keeping, sleep=sleep), 6)

    assert _kinds(events) == [Disconnected] * 6
    bounds = [(0.5, 1), (1, 2), (2, 4), (2, 4), (2, 4)]
    assert [low <= wait <= high for wait, (low, high) in zip(waits, bounds, strict=True)] == (
        [True] * 5
    )


async def test_a_connection_that_lasted_is_followed_by_a_short_wait() -> None:
    async def brief(connection: ServerConnection) -> None:
        await asyncio.sleep(0.02)
        await connection.close()

    keeping = SocketConfig(first_seconds=0.01, most_seconds=60, settled_seconds=0.01)
    async with _serving(brief) as server:
        events = await _first(_socket(_url(server), keeping), 12)

    waits = [event.again_in_seconds for event in events if isinstance(event, Disconnected)]
    assert len(waits) == 6
    assert max(waits) <= 0.01


async def test_a_peer_that_answers_no_ping_is_given_up() -> None:
    done = asyncio.Event()

    async def deaf(connection: ServerConnection) -> None:
        connection.transport.pause_reading()
        await done.wait()
        connection.transport.abort()

    keeping = SocketConfig(first_seconds=0.01, ping_seconds=0.1, pong_seconds=0.1)
    async with _serving(deaf, ping_interval=None, close_timeout=0.1) as server:
        events = await _first(_socket(_url(server), keeping), 2)
        done.set()

    assert isinstance(events[1], Disconnected)
    assert "ping timeout" in events[1].reason


async def test_a_peer_that_is_silent_for_too_long_is_given_up() -> None:
    async def mute(connection: ServerConnection) -> None:
        await connection.wait_closed()

    keeping = SocketConfig(first_seconds=0.01, silence_seconds=0.1)
    async with _serving(mute) as server:
        events = await _first(_socket(_url(server), keeping), 2)

    assert isinstance(events[1], Disconnected)
    assert events[1].reason == "silent for 0.1 s"


@pytest.mark.parametrize("size", [100_000, 5_000_000])
async def test_a_message_above_the_limit_ends_the_connection_even_packed(size: int) -> None:
    async def flood(connection: ServerConnection) -> None:
        await connection.send(bytes(size))
        await connection.wait_closed()

    keeping = SocketConfig(first_seconds=0.01, most_bytes=65_536)
    async with _serving(flood, compression="deflate") as server:
        events = await _first(_socket(_url(server), keeping), 2)

    assert isinstance(events[1], Disconnected)
    assert "1009" in events[1].reason


async def test_garbage_ends_the_connection() -> None:
    async def babble(connection: ServerConnection) -> None:
        connection.transport.write(b"\xff" * 32)
        await connection.wait_closed()

    async with _serving(babble) as server:
        events = await _first(_socket(_url(server)), 2)

    assert isinstance(events[1], Disconnected)
    assert "1002" in events[1].reason


@pytest.mark.parametrize("status", [401, 403, 404, 302])
async def test_a_source_that_will_not_have_us_is_not_tried_again(
    status: int, other: Outsider
) -> None:
    asked: list[Request] = []

    def refuse(connection: ServerConnection, request: Request) -> Response:
        asked.append(request)
        answer = connection.respond(HTTPStatus(status), "no\n")
        answer.headers["Location"] = f"ws://127.0.0.1:{other.port}/"
        return answer

    async with _serving(_echo, process_request=refuse) as server:
        with pytest.raises(SourceRefused, match=f"refused the connection with {status}") as raised:
            await _first(_socket(_url(server)), 5)

    assert raised.value.response_status == status
    assert len(asked) == 1
    assert other.heard == []


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_a_source_that_is_overloaded_is_tried_again(status: int) -> None:
    answers = iter([status, status])

    def refuse(connection: ServerConnection, _request: Request) -> Response | None:
        given = next(answers, None)
        return connection.respond(HTTPStatus(given), "later\n") if given else None

    async with _serving(_echo, process_request=refuse) as server:
        events = await _first(_socket(_url(server)), 3)

    assert _kinds(events) == [Disconnected, Disconnected, Connected]


async def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="stream cannot be connected to"):
        await _first(_socket("http://127.0.0.1/"), 1)


async def test_sending_without_a_connection_says_what_to_wait_for() -> None:
    socket = _socket("ws://127.0.0.1:1/")

    with pytest.raises(NotConnected, match="Wait for the next Connected"):
        await socket.send("x")

    assert not socket.connected


async def test_giving_a_connection_up_makes_another() -> None:
    async with _serving(_echo) as server, _socket(_url(server)) as socket:
        events = aiter(socket)
        await anext(events)
        await socket.reconnect()
        after = [await anext(events) for _ in range(2)]

    assert _kinds(after) == [Disconnected, Connected]


async def test_closing_ends_a_long_wait_at_once() -> None:
    keeping = SocketConfig(first_seconds=60, most_seconds=60)
    socket = _socket("ws://127.0.0.1:1/", keeping)
    events = aiter(socket)
    await anext(events)
    waiting = asyncio.ensure_future(anext(events, None))
    await asyncio.sleep(0.05)

    await socket.close()

    assert await asyncio.wait_for(waiting, 1) is None


async def test_no_proxy_of_the_environment_is_used(
    other: Outsider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", other.url)
    monkeypatch.setenv("WS_PROXY", other.url)
    async with _serving(_echo) as server:
        events = await _first(_socket(_url(server)), 1)

    assert _kinds(events) == [Connected]
    assert other.heard == []
