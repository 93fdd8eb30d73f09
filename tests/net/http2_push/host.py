"""An HTTP/2 server whose handler the test supplies."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from random import Random

from grandstand.core.clock import SystemClock
from grandstand.net.http2_push.client import PushClient, PushConfig
from grandstand.net.http2_push.requests import PushRequest, SharedHeaders
from grandstand.simulators.push.http2_server import (
    Certificate,
    Http2Connection,
    Http2Request,
    Http2Response,
)

Doing = Callable[[Http2Connection, Http2Request], Http2Response | None]

CERTIFICATE = Certificate.make()
SHARED = SharedHeaders([("authorization", "bearer abc"), ("apns-priority", "5")])
QUICK = PushConfig(connections=1, stagger_seconds=0, tries=1, silence_seconds=5)


@dataclass
class Host:
    """The requests and connections of a host, and its address."""

    address: str = ""
    links: list[Http2Connection] = field(default_factory=list)
    asked: list[Http2Request] = field(default_factory=list)
    came: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def paths(self) -> list[str]:
        return [asked.path for asked in self.asked]

    @property
    def faults(self) -> int:
        return sum(
            count for link in self.links for name, count in link.count.items() if "E" in name
        )


def fine(_link: Http2Connection, _asked: Http2Request) -> Http2Response:
    """Respond with 200."""
    return Http2Response(200, (("apns-id", "x"),))


@asynccontextmanager
async def hosting(
    doing: Doing = fine, *, first_streams: int = 1, window: int = 65_535
) -> AsyncIterator[Host]:
    """Serve on loopback for as long as the block runs."""
    host = Host()

    def answer(link: Http2Connection, asked: Http2Request) -> Http2Response | None:
        host.asked.append(asked)
        host.came.set()
        return doing(link, asked)

    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: Http2Connection(answer, host.links, first_streams, window),
        "127.0.0.1",
        0,
        ssl=CERTIFICATE.serving(),
    )
    host.address = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield host
    finally:
        server.close()
        for link in host.links:
            link.drop()
        await asyncio.sleep(0.01)


def client_of(
    address: str, pushing: PushConfig = QUICK, context: ssl.SSLContext | None = None
) -> PushClient:
    """Return a client that trusts the host."""
    trusted = context or CERTIFICATE.trusting()
    return PushClient(
        address, clock=SystemClock(), random=Random(1), context=trusted, config=pushing
    )


def requests(count: int, body: bytes = b"{}") -> list[PushRequest]:
    """Return that many requests, each with its own path."""
    return [PushRequest(f"/3/device/{at:04x}", SHARED, body) for at in range(count)]
