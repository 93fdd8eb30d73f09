"""Kept here: a client that keeps a few connections to one host and spreads requests over them."""

from __future__ import annotations

import asyncio
import ssl
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Final, Self

from grandstand.base.clock import Clock
from grandstand.base.log import log
from grandstand.wire.errors import RequestFault, told
from grandstand.wire.push.batch import Batch, Job
from grandstand.wire.push.connection import Connection
from grandstand.wire.push.values import Lost, Outcome, Request

_HTTPS_PORT: Final = 443
_SOON_SECONDS: Final = 0.01
_MOST_WAIT_SECONDS: Final = 5.0
_KEPT_FAREWELLS: Final = 20
_CLOSED: Final = "the client was closed"


@dataclass(frozen=True, slots=True)
class Pushing:
    """How a host is pushed to.

    Connections are opened when they are needed, one every `stagger_seconds`. One that is silent for
    `silence_seconds` though answers are due is asked for a sign of life, and dropped when none
    comes for as long again; an idle one is asked every `ping_seconds`. A connection that cannot be
    made is tried `tries` times, with waits that double from `first_wait_seconds`.
    """

    connections: int = 2
    most_streams: int = 1_000
    stagger_seconds: float = 0.25
    open_seconds: float = 10.0
    silence_seconds: float = 5.0
    ping_seconds: float = 3_600.0
    tries: int = 3
    first_wait_seconds: float = 0.25
    most_answer_bytes: int = 1_048_576


@dataclass(frozen=True, slots=True)
class Standing:
    """One connection as it is now."""

    streams: int
    flying: int
    answered: int


@dataclass(slots=True)
class _Watch:
    """When a connection was last heard of, and since when a ping is unanswered."""

    heard_at: float
    heard: int = 0
    asked_at: float | None = None


@dataclass(slots=True)
class Counts:
    """What happened so far, for who watches."""

    opened: int = 0
    refused: int = 0
    farewells: deque[str] = field(default_factory=lambda: deque(maxlen=_KEPT_FAREWELLS))


class PushClient:
    """Sends batches of requests to one host, `HOST:PORT`, and answers what came of each.

    Outcomes are values: an Answer of whatever status, or Lost. What the host has surely not looked
    at (it said so, when it sent us away) is sent again by itself; nothing else is.
    """

    def __init__(
        self,
        host: str,
        *,
        clock: Clock,
        random: Random,
        context: ssl.SSLContext | None = None,
        pushing: Pushing | None = None,
    ) -> None:
        self._host, self._port = _read_host(host)
        self._clock = clock
        self._random = random
        self._context = context
        self._pushing = pushing or Pushing()
        self._queue: deque[Job] = deque()
        self._connections: list[Connection] = []
        self._leaving: list[Connection] = []
        self._opening: set[asyncio.Task[None]] = set()
        self._watching: asyncio.Task[None] | None = None
        self._batches: list[Batch] = []
        self._closed = False
        self._barren = 0
        self._farewell = ""
        self.count = Counts()

    async def __aenter__(self) -> Self:
        """Begin; connections are made when something is sent."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """End all connections."""
        await self.close()

    @property
    def standing(self) -> tuple[Standing, ...]:
        """The connections there are."""
        return tuple(Standing(each.streams, each.flying, each.answered) for each in self._all)

    @property
    def _all(self) -> list[Connection]:
        return [*self._connections, *self._leaving]

    async def send(
        self, requests: Sequence[Request], *, within_seconds: float = 30.0
    ) -> list[Outcome]:
        """Send requests and answer their outcomes in the same order.

        What has no answer in time, or comes after the end, is Lost. Raises RequestFault for
        requests that cannot be sent.
        """
        for request in requests:
            request.check()
        if not requests:
            return []
        if self._closed:
            return [Lost(_CLOSED, sent=False)] * len(requests)
        batch = Batch(requests, asyncio.get_running_loop().create_future())
        self._batches.append(batch)
        try:
            self._queue.extend((batch, index) for index in range(len(requests)))
            self._go()
            async with asyncio.timeout(within_seconds):
                await batch.done
        except TimeoutError:
            self._abandon(batch, f"no answer within {within_seconds:g} s")
        except asyncio.CancelledError:
            self._abandon(batch, "not wanted any more")
            raise
        finally:
            self._batches.remove(batch)
        return [outcome for outcome in batch.outcomes if outcome is not None]

    def renew(self) -> None:
        """Use new connections from now on; the present ones end with their last answer."""
        for connection in list(self._connections):
            connection.drain()

    async def close(self) -> None:
        """End every connection; what is still under way is lost."""
        self._closed = True
        tasks = [*self._opening, *([self._watching] if self._watching else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for connection in self._all:
            connection.close()
        for batch in self._batches:
            self._abandon(batch, _CLOSED)
        # TLS says goodbye in the loop's next rounds.
        for _ in range(3):
            await asyncio.sleep(0)

    def has_room(self, connection: Connection) -> None:
        """Send more over a connection."""
        if self._queue:
            connection.fill(self._queue)
            self._open_more()
        elif not connection.open and not connection.flying and connection in self._leaving:
            self._leaving.remove(connection)

    def refused(self, job: Job) -> None:
        """Send a request again, before those that wait."""
        self.count.refused += 1
        self._queue.appendleft(job)

    def ended(self, connection: Connection) -> None:
        """Replace a connection when there is work for another."""
        if connection in self._connections:
            self._connections.remove(connection)
            self._leaving.append(connection)
        # A host that sends us away before it answers anything is not asked again at once.
        self._barren = 0 if connection.answered else self._barren + 1
        if connection.farewell:
            self._farewell = connection.farewell
            self.count.farewells.append(connection.farewell)
            log("push").info("connection ended", host=self._host, why=connection.farewell)
        if not self._closed:
            asyncio.get_running_loop().call_soon(self._go)

    def _go(self) -> None:
        tries = self._pushing.tries
        if self._barren >= tries and not self._connections and not self._opening:
            self._barren = tries - 1
            self._give_up(f"{self._host} ends connections unused: {self._farewell or 'no reason'}")
        for connection in list(self._connections):
            if self._queue:
                connection.fill(self._queue)
        self._open_more()
        if self._watching is None or self._watching.done():
            self._watching = asyncio.create_task(self._watch())

    def _open_more(self) -> None:
        """Open a connection where there is none, and more when one has more than it can take."""
        if not self._queue or self._closed:
            return
        there, opening = len(self._connections), len(self._opening)
        busy = len(self._queue) > self._pushing.most_streams // 2
        wanted = self._pushing.connections if busy else 1
        for turn in range(opening, wanted - there):
            wait = 0.0 if there + turn == 0 else self._pushing.stagger_seconds * max(turn, 1)
            task = asyncio.create_task(self._connect(wait + self._penalty))
            self._opening.add(task)
            task.add_done_callback(self._opening.discard)

    @property
    def _penalty(self) -> float:
        if not self._barren:
            return 0.0
        doubled = self._pushing.first_wait_seconds * 2.0 ** min(self._barren - 1, 10)
        return min(doubled, _MOST_WAIT_SECONDS) * self._random.uniform(0.5, 1.0)

    async def _connect(self, wait_seconds: float) -> None:
        await asyncio.sleep(wait_seconds)
        doubling = self._pushing.first_wait_seconds
        why = ""
        for left in reversed(range(self._pushing.tries)):
            try:
                connection = await self._open()
            except (OSError, TimeoutError) as error:
                why = str(told(error))
            else:
                self._connections.append(connection)
                self.count.opened += 1
                self.has_room(connection)
                return
            if left:
                await asyncio.sleep(self._random.uniform(0.5, 1.0) * doubling)
                doubling *= 2
        log("push").warning("no connection", host=self._host, why=why)
        if not self._connections:
            self._give_up(f"no connection to {self._host}: {why}")

    async def _open(self) -> Connection:
        loop = asyncio.get_running_loop()
        authority = self._host if self._port == _HTTPS_PORT else f"{self._host}:{self._port}"
        self._context = self._context or ssl.create_default_context()
        self._context.set_alpn_protocols(["h2"])
        chosen = self._pushing
        async with asyncio.timeout(chosen.open_seconds):
            transport, connection = await loop.create_connection(
                lambda: Connection(self, authority, chosen.most_streams, chosen.most_answer_bytes),
                self._host,
                self._port,
                ssl=self._context,
            )
        spoken = transport.get_extra_info("ssl_object").selected_alpn_protocol()
        if spoken != "h2":
            connection.abort("the host does not speak HTTP/2")
            message = f"{self._host} does not speak HTTP/2"
            raise OSError(message)
        return connection

    def _give_up(self, why: str) -> None:
        lost = Lost(why, sent=False)
        waiting, self._queue = self._queue, deque()
        for batch, index in waiting:
            batch.take(index, lost)

    def _abandon(self, batch: Batch, why: str) -> None:
        for connection in self._all:
            connection.cancel(batch, Lost(why, sent=True))
        unsent = Lost(why, sent=False)
        for index, outcome in enumerate(batch.outcomes):
            if outcome is None:
                batch.take(index, unsent)

    async def _watch(self) -> None:
        """Look after connections: ask silent ones for a sign of life, drop the dead."""
        watched: dict[Connection, _Watch] = {}
        step = max(
            min(self._pushing.silence_seconds, self._pushing.ping_seconds) / 4, _SOON_SECONDS
        )
        while self._all or self._opening or self._queue:
            before = self._clock.monotonic()
            await asyncio.sleep(step)
            now = self._clock.monotonic()
            # Who was kept from looking for so long has not read what came meanwhile.
            if now - before > 2 * step:
                continue
            self._leaving = [each for each in self._leaving if each.flying]
            watched = {each: watched.get(each) or _Watch(now) for each in self._all}
            for connection, watch in watched.items():
                self._look_after(connection, watch, now)

    def _look_after(self, connection: Connection, watch: _Watch, now: float) -> None:
        if connection.frames_heard != watch.heard:
            watch.heard, watch.heard_at = connection.frames_heard, now
            watch.asked_at = None
        chosen = self._pushing
        quiet = now - watch.heard_at
        if watch.asked_at is not None:
            if now - watch.asked_at >= chosen.silence_seconds:
                connection.abort("no sign of life")
        elif quiet >= (chosen.silence_seconds if connection.expectant else chosen.ping_seconds):
            watch.asked_at = now
            connection.ping()


def _read_host(host: str) -> tuple[str, int]:
    name, colon, port = host.rpartition(":")
    if not colon:
        return host, _HTTPS_PORT
    if not name or not port.isdigit():
        message = f"{host!r} is no host: write HOST or HOST:PORT"
        raise RequestFault(message)
    return name, int(port)
