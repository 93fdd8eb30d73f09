"""Many open pages: what they cost, and how late they hear news."""

import asyncio
import json
import re
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from urllib.request import urlopen

from benchmarks.harness.rows import Limit, Row
from benchmarks.host.serving import TOPIC, running

_SENT = re.compile(rb'"sent":([0-9.]+)')
_HANDSHAKE = (
    b"GET /live HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)


def fifty_pages(home: Path, *, seconds: float) -> Row:
    """What 50 pages that hear news five times a second take of a core."""
    with running("ours", home, hertz=5) as port:
        share, _ = asyncio.run(_listen(port, 50, seconds))
    return Row(
        measure="50 page sockets at 5 Hz",
        unit="% of a core",
        ours=share * 100,
        aim=Limit(5),
        higher_is_better=False,
    )


def five_hundred_pages(home: Path, *, seconds: float) -> Row:
    """How late the slowest percent of news is with 500 pages, once a second."""
    with running("ours", home, hertz=1) as port:
        _, late = asyncio.run(_listen(port, 500, seconds))
    return Row(
        measure="500 page sockets at 1 Hz, p99 from telling to hearing",
        unit="ms",
        ours=statistics.quantiles(late, n=100)[98] * 1000,
        aim=Limit(100),
        higher_is_better=False,
    )


class _Page(asyncio.Protocol):
    """A page that only notes when its frames came, so that reading them delays no other page."""

    def __init__(self) -> None:
        self.heard: list[tuple[float, bytes]] = []
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask for a socket."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.write(_HANDSHAKE)

    def data_received(self, data: bytes) -> None:
        """Follow the topic once the socket is open; then note frames, which come whole."""
        if data.startswith(b"HTTP/1.1 101") and self._transport is not None:
            self._transport.write(_frame(json.dumps({"follow": {TOPIC: None}}).encode()))
        self.heard.append((time.monotonic(), data))

    def late(self) -> list[float]:
        """How late each news was."""
        found = [(at, _SENT.search(data)) for at, data in self.heard]
        return [at - float(sent[1]) for at, sent in found if sent is not None]


def _frame(text: bytes) -> bytes:
    """Write a text frame as clients do, masked; a mask of zeros changes nothing."""
    assert len(text) < 126
    return bytes((0x81, 0x80 | len(text))) + bytes(4) + text


async def _listen(port: int, pages: int, seconds: float) -> tuple[float, Sequence[float]]:
    """The share of a core the server took, and how late each news was."""
    loop = asyncio.get_running_loop()
    await asyncio.to_thread(_cpu_seconds, port)
    opened = [await loop.create_connection(_Page, "127.0.0.1", port) for _ in range(pages)]
    await asyncio.sleep(2.5)
    for _, page in opened:
        page.heard.clear()
    before, start = await asyncio.to_thread(_cpu_seconds, port), time.monotonic()
    await asyncio.sleep(seconds)
    taken, wall = await asyncio.to_thread(_cpu_seconds, port) - before, time.monotonic() - start
    late = [one for _, page in opened for one in page.late()]
    for transport, _ in opened:
        transport.close()
    assert len(late) >= pages * (seconds - 2), f"only {len(late)} news were heard"
    return taken / wall, late


def _cpu_seconds(port: int) -> float:
    with urlopen(f"http://127.0.0.1:{port}/bench/cpu") as answer:
        return float(json.load(answer))
