"""The DynamoDB endpoint as an ASGI app on uvicorn."""

from __future__ import annotations

import asyncio
import importlib.util
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import Final, TypeAlias
from zlib import crc32

from starlette.types import ASGIApp, Receive, Scope, Send

from grandstand.core.errors import Unavailable
from grandstand.host.server.serving import (
    LOOPBACK,
    LimitedConfig,
    LimitedServer,
    bind,
    raise_file_limit,
)
from grandstand.storage.tables.dynamodb_server.server import MAX_BODY, DynamoDbServer, Reply

Announce: TypeAlias = Callable[[str, int], None]

PORT: Final = 8000
SWEEP_SECONDS: Final = 10.0


def application(server: DynamoDbServer, sweep_seconds: float = SWEEP_SECONDS) -> ASGIApp:
    """Return the ASGI app, which also sweeps expired items.

    The engine responds in microseconds, so it is called inline: a thread would cost more.
    """

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _live(server, sweep_seconds, receive, send)
            return
        body = await _read_body(receive)
        if body is not None:
            await _send(_reply(server, scope, body), send)

    return app


async def _live(server: DynamoDbServer, every_seconds: float, receive: Receive, send: Send) -> None:
    """Sweep while the server runs."""
    await receive()
    sweeping = asyncio.create_task(_sweep(server, every_seconds))
    await send({"type": "lifespan.startup.complete"})
    await receive()
    sweeping.cancel()
    await send({"type": "lifespan.shutdown.complete"})


async def _sweep(server: DynamoDbServer, seconds: float) -> None:
    while True:
        await asyncio.sleep(seconds)
        # An unavailable store is retried next time; requests report it.
        with suppress(Unavailable):
            server.sweep()


async def _read_body(receive: Receive) -> bytes | None:
    """Read the body and drop the rest if it is too large; None if the client disconnected."""
    parts: list[bytes] = []
    kept = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        part: bytes = message.get("body", b"")
        if kept <= MAX_BODY:
            parts.append(part)
            kept += len(part)
        if not message.get("more_body", False):
            break
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _reply(server: DynamoDbServer, scope: Scope, body: bytes) -> Reply:
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
    if scope["path"] == "/" and scope["method"] == "POST":
        return server.handle(headers, body)
    if scope["path"] == "/" and scope["method"] in ("GET", "HEAD"):
        # The real service names the requested host and ends with a space too.
        host = headers.get("host", f"dynamodb.{server.region}.amazonaws.com")
        return _plain(200, f"healthy: {host} ".encode("latin-1"))
    return _plain(404, b"<UnknownOperationException/>\n")


def _plain(status: int, body: bytes) -> Reply:
    headers = (
        ("content-type", "text/plain"),
        ("content-length", str(len(body))),
        ("x-amz-crc32", str(crc32(body))),
    )
    return Reply(status, headers, body)


async def _send(reply: Reply, send: Send) -> None:
    headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in reply.headers]
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    await send({"type": "http.response.body", "body": reply.body})


def make_server(server: DynamoDbServer, sweep_seconds: float = SWEEP_SECONDS) -> LimitedServer:
    """Create the server; `run(sockets=[...])` serves until `should_exit` is set."""
    config = LimitedConfig(
        application(server, sweep_seconds),
        loop="uvloop" if importlib.util.find_spec("uvloop") else "asyncio",
        lifespan="on",
        ws="none",
        access_log=False,
        log_level="warning",
        server_header=False,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=5,
    )
    return LimitedServer(config)


def serve(
    server: DynamoDbServer, host: str = LOOPBACK, port: int = PORT, announce: Announce | None = None
) -> None:
    """Serve until interrupted; `announce` gets the address and port once bound.

    Only the main thread can be interrupted; use `make_server` in another. Raises PortInUse or
    InvalidAddress.
    """
    raise_file_limit()
    with bind(host, port) as listening:
        address = listening.getsockname()
        if announce is not None:
            announce(address[0], address[1])
        # uvicorn finishes its requests, then passes the signal to the previous handler.
        before = signal.signal(signal.SIGTERM, signal.default_int_handler)
        with suppress(KeyboardInterrupt):
            make_server(server).run(sockets=[listening])
        signal.signal(signal.SIGTERM, before)
