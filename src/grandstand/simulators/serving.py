"""Serving a simulator on a loopback socket."""

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


class _Protocol(HttpToolsProtocol):
    """Lets the application abort its connection without a response."""

    def on_message_begin(self) -> None:
        """Start a request, with the function that aborts it."""
        super().on_message_begin()
        self.scope["extensions"] = {ABORT: {"now": self.transport.abort}}


class _Server(uvicorn.Server):
    """Leaves signals to the surrounding program."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture no signals."""
        yield


@contextlib.asynccontextmanager
async def serve(
    app: Application,
    port: int = 0,
    *,
    stream: type[asyncio.Protocol] | None = None,
    ping_seconds: float = 20.0,
) -> AsyncIterator[str]:
    """Serve an application on loopback and yield its address, `127.0.0.1:PORT`.

    Port 0 selects a free port. All connections are closed at the end. `stream` replaces the
    WebSocket protocol, and disables compression.
    """
    listening = socket.create_server((LOOPBACK, port), backlog=256)
    # Accepted sockets inherit it; otherwise a body waits 40 ms for the ACK of its headers.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    config = uvicorn.Config(
        _suppress_aborts(app),
        http=_Protocol,
        loop="uvloop" if importlib.util.find_spec("uvloop") else "asyncio",
        ws=stream or "websockets-sansio",
        ws_per_message_deflate=stream is None,
        ws_ping_interval=ping_seconds,
        lifespan="off",
        access_log=False,
        log_level="critical",
        server_header=False,
        timeout_graceful_shutdown=1,
    )
    server = _Server(config)
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        while not server.started and not serving.done():  # noqa: ASYNC110 - uvicorn has no event for it
            await asyncio.sleep(0.005)
        yield f"{LOOPBACK}:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        await serving
        listening.close()


def _suppress_aborts(app: Application) -> Application:
    """Do not log connections that are aborted on purpose."""

    async def serve(scope: Message, receive: Receive, send: Send) -> None:
        with contextlib.suppress(ConnectionAborted):
            await app(scope, receive, send)

    return serve
