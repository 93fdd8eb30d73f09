"""The servers that are measured, each in a process of its own: ours, and bare FastAPI."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import msgspec
from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from grandstand.host.runtime import Platform
from grandstand.host.server.application import build_application
from grandstand.host.server.serving import LOOPBACK, bind, loop_factory, make_server
from grandstand.host.settings import Settings
from grandstand.kit.routes import CurrentCaller, build_router, get, json_response

Kind = Literal["bare", "ours"]
PATH = "/api/bench/prices?limit=5"
TOPIC = "platform/bench"
_PROGRAM = "from benchmarks.host.serving import main; main()"


class Price(msgspec.Struct):
    """A value such as hot reads answer."""

    market: str
    yes_cents: int
    no_cents: int
    taken_at_ms: int


PRICES = [Price(f"MARKET-{n}", n, 100 - n, 1_760_000_000_000 + n) for n in range(10)]


class BenchApi:
    """A typed read, as an application has it."""

    @get("/prices", summary="Prices", answers=list[Price])
    async def prices(self, who: CurrentCaller, limit: int = 5) -> Response:
        """The last prices."""
        assert who.user_id
        return json_response(PRICES[:limit])


async def cpu_seconds(_request: Request) -> Response:
    """What this process has used of a core so far."""
    return JSONResponse(time.process_time())


def bare() -> FastAPI:
    """FastAPI alone, answering the same bytes."""
    app = FastAPI()
    body = msgspec.json.encode(PRICES[:5])

    @app.get("/api/bench/prices")
    async def prices(limit: int = 5) -> Response:
        assert limit == 5
        return Response(body, media_type="application/json")

    return app


async def serve(kind: Kind, home: Path, hertz: float) -> None:
    """Serve until killed; says on stdout at which port."""
    with bind(LOOPBACK, 0) as listening:
        print(listening.getsockname()[1], flush=True)  # noqa: T201 - read by who started this
        if kind == "bare":
            await make_server(bare()).serve(sockets=[listening])
            return
        log = (home.parent / f"{home.name}.log").open("w", encoding="utf-8")
        async with Platform.open(Settings(home=home)) as platform, platform.background.running():
            stack, app = build_application(platform, write=log.write)
            added: list[Any] = [*build_router(BenchApi(), "/api/bench").routes]
            app.router.routes[:0] = [*added, Route("/bench/cpu", cpu_seconds)]
            telling = asyncio.create_task(_tell(platform, hertz))
            await make_server(stack).serve(sockets=[listening])
            telling.cancel()


async def _tell(platform: Platform, hertz: float) -> None:
    while hertz:
        await asyncio.sleep(1 / hertz)
        platform.hub.publish(
            TOPIC, {"sent": time.monotonic(), "rows": [[n, n * 2] for n in range(10)]}
        )


@contextmanager
def running(kind: Kind, home: Path, hertz: float = 0) -> Iterator[int]:
    """A server in a process of its own; its port."""
    words = [sys.executable, "-c", _PROGRAM, kind, str(home), str(hertz)]
    program = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    with program:
        assert program.stdout is not None
        try:
            yield int(program.stdout.readline())
        finally:
            program.kill()


def main() -> None:
    """Serve what the command line names."""
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.run(serve(sys.argv[1], Path(sys.argv[2]), float(sys.argv[3])))  # type: ignore[arg-type]
