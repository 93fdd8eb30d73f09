"""A client that spreads requests over a few HTTP/2 connections to one host."""

from __future__ import annotations

import asyncio
import ssl
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf
from random import Random
from typing import Final, Self

from grandstand.core.clock import Clock
from grandstand.core.logging import get_logger
from grandstand.net.errors import InvalidRequest, redacted
from grandstand.net.http2_push.connection import Connection
from grandstand.net.http2_push.requests import (
    Batch,
    NoResponse,
    PendingRequest,
    PushOutcome,
    PushRequest,
)
from grandstand.net.retry import backoff_seconds, retry

_HTTPS_PORT: Final = 443
_SOON_SECONDS: Final = 0.01
_MOST_WAIT_SECONDS: Final = 5.0
_MAX_CLOSE_REASONS: Final = 20
_CLOSED: Final = "the client was closed"


@dataclass(frozen=True, slots=True)
class PushConfig:
    """Connections, limits and timeouts of a push client.

    Connections are opened when needed, one every `stagger_seconds`. A connection that is silent
    for `silence_seconds` while responses are due is pinged, and dropped if it stays silent that
    long again; an idle one is pinged every `ping_seconds`. Opening a connection is attempted
    `tries` times, with waits that double from `first_wait_seconds`.
    """

    connections: int = 2
    most_streams: int = 1_000
    stagger_seconds: float = 0.25
    open_seconds: float = 10.0
    silence_seconds: float = 5.0
    ping_seconds: float = 3_600.0
    tries: int = 3
    first_wait_seconds: float = 0.25
    most_response_bytes: int = 1_048_576


@dataclass(frozen=True, slots=True)
class ConnectionStatus:
    """The current state of one connection."""

    streams: int
    in_flight: int
    response_count: int


@dataclass(slots=True)
class _Watch:
    """When a connection last received a frame, and since when a ping is unanswered."""

    received_at: float
    frames: int = 0
    pinged_at: float | None = None


@dataclass(slots=True)
class PushStats:
    """Counters of connections and their closing messages."""

    opened: int = 0
    refused: int = 0
    close_reasons: deque[str] = field(default_factory=lambda: deque(maxlen=_MAX_CLOSE_REASONS))


class PushClient:
    """Sends batches of requests to one host, `HOST:PORT`, and returns the outcome of each.

    An outcome is a PushResponse of any status, or a NoResponse. Requests that the host declared
    unprocessed when it closed a connection are sent again; nothing else is.
    """

    def __init__(
        self,
        host: str,
        *,
        clock: Clock,
        random: Random,
        context: ssl.SSLContext | None = None,
        config: PushConfig | None = None,
    ) -> None:
        self._host, self._port = _read_host(host)
        self._clock = clock
        self._random = random
        self._context = context
        self._config = config or PushConfig()
        self._queue: deque[PendingRequest] = deque()
        self._connections: list[Connection] = []
        self._draining: list[Connection] = []
        self._opening: set[asyncio.Task[None]] = set()
        self._watch_task: asyncio.Task[None] | None = None
        self._batches: list[Batch] = []
        self._closed = False
        self._failed_connections = 0
        self._close_reason = ""
        self.count = PushStats()

    async def __aenter__(self) -> Self:
        """Return the client; connections are opened on demand."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close all connections."""
        await self.close()

    @property
    def statuses(self) -> tuple[ConnectionStatus, ...]:
        """The state of each connection."""
        return tuple(
            ConnectionStatus(each.streams, each.in_flight, each.response_count)
            for each in self._all
        )

    @property
    def _all(self) -> list[Connection]:
        return [*self._connections, *self._draining]

    async def send(
        self, requests: Sequence[PushRequest], *, within_seconds: float = 30.0
    ) -> list[PushOutcome]:
        """Send requests and return their outcomes in the same order.

        Without a response in time the outcome is a NoResponse. Raises InvalidRequest for requests
        that cannot be sent.
        """
        for request in requests:
            request.check()
        if not requests:
            return []
        if self._closed:
            return [NoResponse(_CLOSED, sent=False)] * len(requests)
        batch = Batch(requests, asyncio.get_running_loop().create_future())
        self._batches.append(batch)
        try:
            self._queue.extend((batch, index) for index in range(len(requests)))
            self._dispatch()
            async with asyncio.timeout(within_seconds):
                await batch.done
        except TimeoutError:
            self._abandon(batch, f"no response within {within_seconds:g} s")
        except asyncio.CancelledError:
            self._abandon(batch, "cancelled")
            raise
        finally:
            self._batches.remove(batch)
        return [outcome for outcome in batch.outcomes if outcome is not None]

    def renew(self) -> None:
        """Use new connections from now on; the current ones close after their last response."""
        for connection in list(self._connections):
            connection.drain()

    async def close(self) -> None:
        """Close every connection; requests in flight get a NoResponse."""
        self._closed = True
        tasks = [*self._opening, *([self._watch_task] if self._watch_task else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for connection in self._all:
            connection.close()
        for batch in self._batches:
            self._abandon(batch, _CLOSED)
        # TLS shuts down in the next iterations of the loop.
        for _ in range(3):
            await asyncio.sleep(0)

    def has_room(self, connection: Connection) -> None:
        """Send waiting requests over a connection."""
        if self._queue:
            connection.fill(self._queue)
            self._open_more()
        elif not connection.open and not connection.in_flight and connection in self._draining:
            self._draining.remove(connection)

    def refused(self, job: PendingRequest) -> None:
        """Send a request again, ahead of the queue."""
        self.count.refused += 1
        self._queue.appendleft(job)

    def ended(self, connection: Connection) -> None:
        """Replace a connection if requests are waiting."""
        if connection in self._connections:
            self._connections.remove(connection)
            self._draining.append(connection)
        # A host that closes a connection before any response is not retried at once.
        self._failed_connections = 0 if connection.response_count else self._failed_connections + 1
        if connection.close_reason:
            self._close_reason = connection.close_reason
            self.count.close_reasons.append(connection.close_reason)
            get_logger("push").info(
                "push_connection_closed", host=self._host, reason=connection.close_reason
            )
        if not self._closed:
            asyncio.get_running_loop().call_soon(self._dispatch)

    def _dispatch(self) -> None:
        tries = self._config.tries
        if self._failed_connections >= tries and not self._connections and not self._opening:
            self._failed_connections = tries - 1
            reason = self._close_reason or "no reason given"
            self._give_up(f"{self._host} closes connections at once: {reason}")
        for connection in list(self._connections):
            if self._queue:
                connection.fill(self._queue)
        self._open_more()
        if self._watch_task is None or self._watch_task.done():
            self._watch_task = asyncio.create_task(self._watch())

    def _open_more(self) -> None:
        """Open a connection if there is none, and more under load."""
        if not self._queue or self._closed:
            return
        open_count, opening = len(self._connections), len(self._opening)
        busy = len(self._queue) > self._config.most_streams // 2
        wanted = self._config.connections if busy else 1
        for turn in range(opening, wanted - open_count):
            wait = 0.0 if open_count + turn == 0 else self._config.stagger_seconds * max(turn, 1)
            task = asyncio.create_task(self._connect(wait + self._reconnect_wait))
            self._opening.add(task)
            task.add_done_callback(self._opening.discard)

    @property
    def _reconnect_wait(self) -> float:
        if not self._failed_connections:
            return 0.0
        first = self._config.first_wait_seconds
        return backoff_seconds(self._failed_connections, first, _MOST_WAIT_SECONDS, self._random)

    async def _connect(self, wait_seconds: float) -> None:
        def backoff(error: Exception, failures: int) -> float | None:
            if failures >= self._config.tries or not isinstance(error, OSError):
                return None
            return backoff_seconds(failures, self._config.first_wait_seconds, inf, self._random)

        await asyncio.sleep(wait_seconds)
        try:
            connection = await retry(self._open, backoff)
        except Exception as error:  # noqa: BLE001 - getaddrinfo raises UnicodeError, too
            why = str(redacted(error))
            get_logger("push").warning("push_connect_failed", host=self._host, reason=why)
            if not self._connections:
                self._give_up(f"no connection to {self._host}: {why}")
        else:
            self._connections.append(connection)
            self.count.opened += 1
            self.has_room(connection)

    async def _open(self) -> Connection:
        loop = asyncio.get_running_loop()
        authority = self._host if self._port == _HTTPS_PORT else f"{self._host}:{self._port}"
        self._context = self._context or ssl.create_default_context()
        self._context.set_alpn_protocols(["h2"])
        config = self._config
        async with asyncio.timeout(config.open_seconds):
            transport, connection = await loop.create_connection(
                lambda: Connection(
                    self, authority, config.most_streams, config.most_response_bytes
                ),
                self._host,
                self._port,
                ssl=self._context,
            )
        protocol = transport.get_extra_info("ssl_object").selected_alpn_protocol()
        if protocol != "h2":
            connection.abort("the host does not speak HTTP/2")
            raise OSError(f"{self._host} does not speak HTTP/2")
        return connection

    def _give_up(self, why: str) -> None:
        lost = NoResponse(why, sent=False)
        waiting, self._queue = self._queue, deque()
        for batch, index in waiting:
            batch.record(index, lost)

    def _abandon(self, batch: Batch, why: str) -> None:
        for connection in self._all:
            connection.cancel(batch, NoResponse(why, sent=True))
        unsent = NoResponse(why, sent=False)
        for index, outcome in enumerate(batch.outcomes):
            if outcome is None:
                batch.record(index, unsent)

    async def _watch(self) -> None:
        """Ping silent connections and drop dead ones."""
        watched: dict[Connection, _Watch] = {}
        step = max(min(self._config.silence_seconds, self._config.ping_seconds) / 4, _SOON_SECONDS)
        while self._all or self._opening or self._queue:
            before = self._clock.monotonic()
            await asyncio.sleep(step)
            now = self._clock.monotonic()
            # After a stall of the event loop, frames that arrived meanwhile are still unread.
            if now - before > 2 * step:
                continue
            self._draining = [each for each in self._draining if each.in_flight]
            watched = {each: watched.get(each) or _Watch(now) for each in self._all}
            for connection, watch in watched.items():
                self._check_alive(connection, watch, now)

    def _check_alive(self, connection: Connection, watch: _Watch, now: float) -> None:
        if connection.frames_received != watch.frames:
            watch.frames, watch.received_at = connection.frames_received, now
            watch.pinged_at = None
        config = self._config
        quiet = now - watch.received_at
        if watch.pinged_at is not None:
            if now - watch.pinged_at >= config.silence_seconds:
                connection.abort("no response to ping")
        elif quiet >= (
            config.silence_seconds if connection.awaits_response else config.ping_seconds
        ):
            watch.pinged_at = now
            connection.ping()


def _read_host(host: str) -> tuple[str, int]:
    name, colon, port = host.rpartition(":")
    if not colon:
        return host, _HTTPS_PORT
    if not name or not port.isdigit():
        raise InvalidRequest(f"Invalid host {host!r}. Use HOST or HOST:PORT.")
    return name, int(port)
