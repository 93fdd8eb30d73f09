"""A client that asks and changes its mind at once is not answered, and the others still are."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import ResponseReceived

from grandstand.simulators.push.http2_server import (
    REFUSED_STREAM,
    Http2Connection,
    Http2Request,
    Http2Response,
)

pytestmark = pytest.mark.anyio

HEADERS = [(":method", "POST"), (":path", "/3"), (":scheme", "https"), (":authority", "push")]


async def _answered(link: Http2Connection, ask: Callable[[H2Connection], None]) -> list[int]:
    """The streams that are answered after a client sent all it has to say in one piece."""
    server = await asyncio.get_running_loop().create_server(lambda: link, "127.0.0.1", 0)
    async with server:
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        client = H2Connection(H2Configuration(client_side=True))
        client.initiate_connection()
        ask(client)
        writer.write(client.data_to_send())
        found: list[int] = []
        while not found:
            events = client.receive_data(await reader.read(65_536))
            found += [each.stream_id for each in events if isinstance(each, ResponseReceived)]
        writer.close()
    return found


@pytest.mark.parametrize(
    "reply", [Http2Response(200), Http2Response(200, body=b"{}"), REFUSED_STREAM]
)
async def test_a_stream_reset_with_its_request_leaves_the_next_one_answered(
    reply: Http2Response,
) -> None:
    replies = [reply, Http2Response(200)]
    heard: list[Http2Request] = []

    def answer(_link: Http2Connection, asked: Http2Request) -> Http2Response:
        heard.append(asked)
        return replies.pop(0)

    def ask(client: H2Connection) -> None:
        client.send_headers(1, HEADERS, end_stream=True)
        client.reset_stream(1)
        client.send_headers(3, HEADERS, end_stream=True)

    link = Http2Connection(answer, [], first_streams=10)
    found = await _answered(link, ask)

    assert found == [3]
    assert len(heard) == 2
    assert link.count["resets"] == 1
