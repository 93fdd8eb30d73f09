"""Kept here: the server on its socket: started, announced, and stopped without haste or delay."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import signal
import socket
from collections.abc import Awaitable, Callable, Iterator

import uvicorn
from starlette.types import ASGIApp

GRACE_SECONDS = 3
_KEEP_ALIVE_SECONDS = 75
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_LARGEST_MESSAGE = 65_536


class Server(uvicorn.Server):
    """uvicorn, except that signals are left to whoever runs it."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals alone."""
        yield


def make_server(app: ASGIApp, *, behind_proxy: bool = False) -> Server:
    """Make the server; `serve(sockets=[...])` serves until `should_exit` is set."""
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


async def until_asked(work: asyncio.Task[None] | None = None) -> None:
    """Wait for SIGINT or SIGTERM; raise what breaks the work behind the pages meanwhile."""
    asked = asyncio.Event()
    with _signals(asked.set):
        await _either(asyncio.create_task(asked.wait()), work)


async def until_stopped(
    server: Server,
    listening: socket.socket,
    before_stop: Callable[[], Awaitable[None]],
    work: asyncio.Task[None] | None = None,
) -> None:
    """Serve until SIGINT or SIGTERM; a second signal waits for nobody.

    `before_stop` is done when the first has come, while the server still answers. Raises what
    breaks `work`, which is done meanwhile.
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
    """Answer the faster event loop where it is installed."""
    if importlib.util.find_spec("uvloop") is None:
        return asyncio.new_event_loop
    import uvloop

    return uvloop.new_event_loop
