"""A scripted server on loopback: responses, garbage and disconnects, byte by byte."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

Reply = Callable[[asyncio.StreamWriter], Awaitable[None]]


@dataclass(frozen=True)
class Heard:
    """A request as it arrived, and when by the loop's clock."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes
    at: float


@dataclass
class Outsider:
    """Sends the replies of its script in turn, then the default one."""

    usual: Reply
    script: list[Reply] = field(default_factory=list)
    heard: list[Heard] = field(default_factory=list)
    port: int = 0
    under_way: int = 0
    most_under_way: int = 0
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    tasks: set[asyncio.Task[object]] = field(default_factory=set)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.tasks.add(task)
        try:
            while (head := await reader.readuntil(b"\r\n\r\n")) and not writer.is_closing():
                await self._take(head.decode("latin-1"), reader, writer)
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            pass
        finally:
            writer.close()
            self.tasks.discard(task)

    async def _take(
        self, head: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        first, *lines = head.strip().split("\r\n")
        method, target, _ = first.split(" ")
        headers = {name.lower(): value for name, _, value in (at.partition(": ") for at in lines)}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        now = asyncio.get_running_loop().time()
        self.heard.append(Heard(method, target, headers, body, now))
        self.asked.set()
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        reply = self.script.pop(0) if self.script else self.usual
        try:
            await reply(writer)
            await writer.drain()
        finally:
            self.under_way -= 1


def answers(status: int = 200, body: bytes = b"{}", **headers: str) -> Reply:
    """Send a response; underscores in header names become hyphens."""

    async def reply(writer: asyncio.StreamWriter) -> None:
        lines = [f"HTTP/1.1 {status} Said", f"Content-Length: {len(body)}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)

    return reply


def waits(seconds: float, reply: Reply) -> Reply:
    """Send a reply after a delay."""

    async def late(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(seconds)
        await reply(writer)

    return late


def says(raw: bytes) -> Reply:
    """Send these bytes and disconnect."""

    async def reply(writer: asyncio.StreamWriter) -> None:
        writer.write(raw)
        await writer.drain()
        writer.close()

    return reply


def trickles(every_seconds: float) -> Reply:
    """Announce a body and send it one byte at a time, forever."""

    async def reply(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
        while not writer.is_closing():
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(every_seconds)

    return reply


@asynccontextmanager
async def listening(outsider: Outsider) -> AsyncIterator[Outsider]:
    """Serve the scripted server during a block."""
    server = await asyncio.start_server(outsider.serve, "127.0.0.1", 0)
    outsider.port = server.sockets[0].getsockname()[1]
    try:
        yield outsider
    finally:
        server.close()
        for task in tuple(outsider.tasks):
            task.cancel()
            await asyncio.wait([task])
