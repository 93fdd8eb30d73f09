"""The whole platform on a real socket of loopback, in a thread of its own, for tests."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import httpx2
from fastapi import FastAPI

from grandstand.apps.gatherer.settings import GathererSettings
from grandstand.apps.keiba.settings import KeibaSettings
from grandstand.host.registry import APPS
from grandstand.host.runtime import Platform
from grandstand.host.server.application import build_application
from grandstand.host.server.serving import LOOPBACK, Server, bind, make_server
from grandstand.host.settings import AuthSettings, ServerSettings, Settings
from grandstand.kit.app import App
from grandstand.simulators.asgi import Message, Receive, Send
from grandstand.simulators.serving import serve as simulator_served

T = TypeVar("T")

# The port for discarding, on which nobody listens: whoever asks there is refused at once.
_NOBODY = "127.0.0.1:9"

# Nothing here has to be quick: on a busy machine a platform may take its time.
_PATIENCE_SECONDS = 120.0

Adding = Callable[[FastAPI], None]


def settings_in(
    folder: Path, *, auth: AuthSettings | None = None, exchange: str = _NOBODY, **server: Any
) -> Settings:
    """Settings that keep everything in a folder, and know no outsider but perhaps an exchange."""
    rest, stream = f"http://{exchange}/trade-api/v2", f"ws://{exchange}/trade-api/ws/v2"
    return Settings(
        home=folder,
        server=ServerSettings(**server),
        auth=auth or AuthSettings(),
        tables="sqlite",
        gatherer=GathererSettings(rest_url=rest, stream_url=stream),
    )


@asynccontextmanager
async def _harmless(settings: Settings) -> AsyncIterator[Settings]:
    """Settings that ask a site without a page, on this machine, instead of the race site."""
    if settings.keiba != KeibaSettings():
        yield settings
        return
    async with simulator_served(_no_such_page) as address:
        url = f"http://{address}"
        keiba = KeibaSettings(
            race_url=url, nar_url=url, db_url=url, gap_seconds=0, jitter_seconds=0
        )
        yield settings.model_copy(update={"keiba": keiba})


async def _no_such_page(_scope: Message, _receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 404, "headers": []})
    await send({"type": "http.response.body", "body": b""})


@dataclass
class Served:
    """A running platform."""

    port: int
    platform: Platform
    app: FastAPI
    server: Server
    loop: asyncio.AbstractEventLoop
    lines: list[str] = field(default_factory=list)

    @property
    def address(self) -> str:
        return f"http://{LOOPBACK}:{self.port}"

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        """Let the platform's own event loop do something."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(_PATIENCE_SECONDS)

    def client(self, **headers: str) -> httpx2.Client:
        return httpx2.Client(
            base_url=self.address, headers=headers, timeout=_PATIENCE_SECONDS, trust_env=False
        )


@contextmanager
def serving(
    settings: Settings, *, add: Adding | None = None, apps: tuple[App[Any], ...] = APPS
) -> Iterator[Served]:
    """Serve a platform for the length of a block; `add` may add routes of a test's own."""
    ready, held = threading.Event(), []
    failed: list[BaseException] = []
    lines: list[str] = []

    async def serve() -> None:
        async with _harmless(settings) as chosen, Platform.open(chosen, apps=apps) as platform:
            stack, app = build_application(platform, write=lines.append)
            if add is not None:
                add(app)
            server = make_server(stack)
            with bind(LOOPBACK, 0) as listening:
                port = listening.getsockname()[1]
                loop = asyncio.get_running_loop()
                held.append(Served(port, platform, app, server, loop, lines))
                ready.set()
                await server.serve(sockets=[listening])

    def run() -> None:
        try:
            asyncio.run(serve())
        except BaseException as error:  # noqa: BLE001 - told to the test, not to the thread
            failed.append(error)
        finally:
            ready.set()

    thread = threading.Thread(target=run)
    thread.start()
    ready.wait(_PATIENCE_SECONDS)
    assert not failed, failed
    try:
        yield held[0]
    finally:
        held[0].server.should_exit = True
        thread.join(_PATIENCE_SECONDS)
    assert not thread.is_alive()
