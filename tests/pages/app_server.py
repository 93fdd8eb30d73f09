"""An ASGI application on a port of its own, served from a thread that can be stopped and begun."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from starlette.types import ASGIApp

from grandstand.host.server.serving import LOOPBACK, bind, make_server
from grandstand.kit.live import LiveHub


@dataclass(frozen=True)
class OpenApp:
    """What is served, and the hub that says goodbye to pages before the server stops."""

    app: ASGIApp
    hub: LiveHub


OpenAppContext = Callable[[], AbstractAsyncContextManager[OpenApp]]

_TIMEOUT_SECONDS = 120.0


class AppServer:
    """One application; it keeps its port when it is begun again."""

    def __init__(self, opening: OpenAppContext, timeout_seconds: float = _TIMEOUT_SECONDS) -> None:
        self._opening = opening
        self._timeout_seconds = timeout_seconds
        self._port = 0
        self._stop: Future[Callable[[], object]] = Future()
        self._ended: Future[None] = Future()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        self._stop = Future()
        pool = ThreadPoolExecutor(1)
        self._ended = pool.submit(asyncio.run, self._run())
        pool.shutdown(wait=False)
        self._stop.result(self._timeout_seconds)

    def stop(self) -> None:
        self._stop.result()()
        self._ended.result(self._timeout_seconds)

    async def _run(self) -> None:
        try:
            async with self._opening() as opened:
                await self._serve(opened)
        except BaseException as error:
            if not self._stop.done():
                self._stop.set_exception(error)
            raise

    async def _serve(self, opened: OpenApp) -> None:
        asked, loop = asyncio.Event(), asyncio.get_running_loop()
        with bind(LOOPBACK, self._port) as listening:
            self._port = listening.getsockname()[1]
            server = make_server(opened.app)
            serving = asyncio.create_task(server.serve(sockets=[listening]))
            # The socket listens: whoever connects now waits until uvicorn accepts.
            self._stop.set_result(lambda: loop.call_soon_threadsafe(asked.set))
            await asked.wait()
            await opened.hub.close()
            server.should_exit = True
            await serving
