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
_KEEP_ALIVE_SECONDS = 75
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_LARGEST_MESSAGE = 65_536


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
        ws_max_size=_LARGEST_MESSAGE,
        ws_per_message_deflate=False,
        loop="none",
        lifespan="off",
        access_log=False,
        log_config=None,
        log_level="warning",
        server_header=False,
        proxy_headers=behind_proxy,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
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
    asked = asyncio.Event()
    with _signals(asked.set):
        await _either(asyncio.create_task(asked.wait()), work)


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
    asked = asyncio.Event()

    def stop() -> None:
        server.force_exit = asked.is_set()
        asked.set()

    with _signals(stop):
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        try:
            await _either(asyncio.create_task(asked.wait()), work, serving)
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
_BACKLOG: Final = 1024


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
        listening = socket.create_server((host, port), family=family, backlog=_BACKLOG)
        # Whoever is let in inherits it. Without it a body waits for the head to be acknowledged,
        # which takes 40 ms; asyncio asks for it only of sockets that name their protocol.
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listening
    except OSError as fault:
        if fault.errno == errno.EADDRINUSE:
            raise PortInUse(
                f"Port {port} of {host} is taken: stop the program that listens there, or choose "
                "another port (0 takes any free one)"
            ) from fault
        raise InvalidAddress(
            f"Cannot listen on {host} port {port}: {fault.strerror or fault}"
        ) from fault
