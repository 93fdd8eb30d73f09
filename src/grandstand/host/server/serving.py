"""Binding, starting and stopping the server."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import importlib.util
import signal
import socket
from collections.abc import Awaitable, Callable, Iterator
from typing import Final

import uvicorn
from starlette.types import ASGIApp

from grandstand.core.errors import Conflict, InvalidInput

GRACE_SECONDS = 3
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Server(uvicorn.Server):
    """A uvicorn server that leaves signals to its caller."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Do not capture signals."""
        yield


def make_server(app: ASGIApp, *, behind_proxy: bool = False) -> Server:
    """Create the server; `serve(sockets=[...])` serves until `should_exit` is set."""
    config = uvicorn.Config(
        app,
        http="httptools",
        ws="websockets-sansio",
        ws_max_size=65_536,
        ws_per_message_deflate=False,
        loop="none",
        lifespan="off",
        access_log=False,
        log_config=None,
        log_level="warning",
        server_header=False,
        proxy_headers=behind_proxy,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    return Server(config)


@contextlib.contextmanager
def _signals(stop: Callable[[], None]) -> Iterator[None]:
    loop = asyncio.get_running_loop()
    for number in _SIGNALS:
        loop.add_signal_handler(number, stop)
    try:
        yield
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)


async def wait_for_signal(work: asyncio.Task[None] | None = None) -> None:
    """Wait for SIGINT or SIGTERM; raise the error if the background work fails meanwhile."""
    stopping = asyncio.Event()
    with _signals(stopping.set):
        await _either(asyncio.create_task(stopping.wait()), work)


async def serve_until_stopped(
    server: Server,
    listening: socket.socket,
    before_stop: Callable[[], Awaitable[None]],
    work: asyncio.Task[None] | None = None,
) -> None:
    """Serve until SIGINT or SIGTERM; a second signal stops at once.

    `before_stop` runs after the first signal, while the server still responds. Raises the error if
    `work` fails.
    """
    stopping = asyncio.Event()

    def stop() -> None:
        server.force_exit = stopping.is_set()
        stopping.set()

    with _signals(stop):
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        try:
            await _either(asyncio.create_task(stopping.wait()), work, serving)
        finally:
            await before_stop()
            server.should_exit = True
            await serving


async def _either(waiting: asyncio.Task[bool], *others: asyncio.Task[None] | None) -> None:
    known = [task for task in others if task is not None]
    await asyncio.wait({waiting, *known}, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    for task in known:
        if task.done():
            task.result()


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop]:
    """Return uvloop's event loop if it is installed."""
    if importlib.util.find_spec("uvloop") is None:
        return asyncio.new_event_loop
    import uvloop

    return uvloop.new_event_loop


LOOPBACK: Final = "127.0.0.1"


class PortInUse(Conflict):
    """Another program uses the port."""

    code = "port-taken"


class InvalidAddress(InvalidInput):
    """This machine does not have the address, or may not bind to it."""

    code = "address-unusable"


def url_of(host: str, port: int) -> str:
    """Return the URL of a local port."""
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def bind(host: str, port: int) -> socket.socket:
    """Bind a port before anything else starts; 0 binds any free port.

    Raises PortInUse or InvalidAddress with what to do.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family, backlog=1024)
        # Connections inherit it. Without it a body waits 40 ms until the head is acknowledged;
        # asyncio sets it only on sockets that name their protocol.
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listening
    except OSError as fault:
        if fault.errno == errno.EADDRINUSE:
            raise PortInUse(
                f"Port {port} of {host} is in use. Stop the program that listens there, or choose "
                "another port (0 means any free port)."
            ) from fault
        raise InvalidAddress(
            f"Cannot listen on {host} port {port}: {fault.strerror or fault}"
        ) from fault
