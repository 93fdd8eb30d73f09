"""Kept here: an outsider on a real socket of this machine, for as long as a block runs."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import socket
from collections.abc import AsyncIterator, Iterator
from typing import Final

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from grandstand.simulators.asgi import Application, Message, Receive, Send
from grandstand.simulators.faults import ABORT, ConnectionAborted

LOOPBACK: Final = "127.0.0.1"
_STEP_SECONDS: Final = 0.005
_GRACE_SECONDS: Final = 1


class _Protocol(HttpToolsProtocol):
    """Lets the application end its connection without an answer."""

    def on_message_begin(self) -> None:
        """Begin a request, with the way to end it."""
        super().on_message_begin()
        self.scope["extensions"] = {ABORT: {"now": self.transport.abort}}


class _Server(uvicorn.Server):
    """Leaves signals to the program it runs in."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield


@contextlib.asynccontextmanager
async def served(
    app: Application,
    port: int = 0,
    *,
    stream: type[asyncio.Protocol] | None = None,
    ping_seconds: float = 20.0,
) -> AsyncIterator[str]:
    """Serve an application on loopback and answer its address, `127.0.0.1:PORT`.

    Port 0 takes any free one. The block's end closes every connection. `stream` speaks on
    WebSockets in place of the usual protocol, and uncompressed.
    """
    listening = socket.create_server((LOOPBACK, port), backlog=256)
    # Whoever is let in inherits it: no body waits 40 ms for the head to be acknowledged.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    config = uvicorn.Config(
        _quietly(app),
        http=_Protocol,
        loop="uvloop" if importlib.util.find_spec("uvloop") else "asyncio",
        ws=stream or "websockets-sansio",
        ws_per_message_deflate=stream is None,
        ws_ping_interval=ping_seconds,
        lifespan="off",
        access_log=False,
        log_level="critical",
        server_header=False,
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
    server = _Server(config)
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        while not server.started and not serving.done():  # noqa: ASYNC110 - told by nothing else
            await asyncio.sleep(_STEP_SECONDS)
        yield f"{LOOPBACK}:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        await serving
        listening.close()


def _quietly(app: Application) -> Application:
    """End a connection that is to be cut without a word in the log."""

    async def serve(scope: Message, receive: Receive, send: Send) -> None:
        with contextlib.suppress(ConnectionAborted):
            await app(scope, receive, send)

    return serve
