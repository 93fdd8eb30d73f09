"""Kept here: a WebSocket to an outsider that is connected again whenever it is lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from random import Random
from typing import Final, Self, TypeAlias

import websockets
from websockets.asyncio.client import ClientConnection, connect

from grandstand.base.clock import Clock
from grandstand.base.log import log, redact
from grandstand.base.metrics import Metrics
from grandstand.wire.errors import (
    NotConnected,
    RequestFault,
    SourceRefused,
    WireError,
    told,
)
from grandstand.wire.rate import Sleep

_TRYING_HELPS: Final = frozenset({408, 425, 429})
_CLIENT_ERRORS: Final = range(400, 500)
_REDIRECTS: Final = range(300, 400)


@dataclass(frozen=True, slots=True)
class Connected:
    """A connection stands; `number` counts them from 1."""

    number: int
    at: datetime


@dataclass(frozen=True, slots=True)
class Message:
    """What came over the connection: text or bytes."""

    data: str | bytes = field(repr=False)
    received_at: datetime


@dataclass(frozen=True, slots=True)
class Disconnected:
    """The connection is gone, or none could be made; another is tried after a while."""

    reason: str
    again_in_seconds: float
    at: datetime


SocketEvent: TypeAlias = Connected | Message | Disconnected
Headers: TypeAlias = Callable[[], Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Keeping:
    """How a connection is kept: when it counts as dead, and how soon another is tried.

    A ping goes out every `ping_seconds` and is answered within `pong_seconds`; where a source is
    never silent for long, `silence_seconds` without a message ends the connection too. Waits double
    from `first_seconds` to `most_seconds` and start anew once a connection has lasted for
    `settled_seconds`.
    """

    open_seconds: float = 10.0
    ping_seconds: float = 15.0
    pong_seconds: float = 15.0
    silence_seconds: float | None = None
    first_seconds: float = 0.5
    most_seconds: float = 30.0
    settled_seconds: float = 30.0
    most_bytes: int = 4 * 1024 * 1024
    queue: int = 256


_KEEPING: Final = Keeping()


class Socket:
    """A WebSocket client: iterate over it for what happens, in one task; send from any.

    `headers` is asked anew for every connection, so that signatures are fresh. Iterating raises
    SourceRefused when the source will not have us, and RequestFault when the address is none.
    """

    def __init__(
        self,
        name: str,
        url: str,
        *,
        clock: Clock,
        random: Random,
        metrics: Metrics,
        headers: Headers | None = None,
        keeping: Keeping = _KEEPING,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self.name = name
        self._url = url
        self._clock = clock
        self._random = random
        self._metrics = metrics
        self._headers = headers
        self._keeping = keeping
        self._sleep = sleep
        self._log = log("wire", source=name)
        self._connection: ClientConnection | None = None
        self._closing = asyncio.Event()
        self._made = 0
        self._failed = 0
        self._ended = ""

    @property
    def connected(self) -> bool:
        """Whether a connection stands."""
        return self._connection is not None

    async def send(self, data: str | bytes) -> None:
        """Send text or bytes; raise NotConnected when there is no connection to send it over."""
        connection = self._connection
        if connection is None:
            raise self._not_connected()
        try:
            await connection.send(data)
            return
        except websockets.ConnectionClosed as error:
            cause = told(error)
        raise self._not_connected() from cause

    async def reconnect(self) -> None:
        """Give this connection up, if there is one; the iteration makes another."""
        if self._connection is not None:
            await self._connection.close()

    async def close(self) -> None:
        """End the iteration and the connection."""
        self._closing.set()
        await self.reconnect()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def __aiter__(self) -> AsyncIterator[SocketEvent]:
        while not self._closing.is_set():
            began = self._clock.monotonic()
            reason = None
            try:
                connection = await self._open()
            except WireError as error:
                if not error.retry:
                    raise
                reason = str(error)
            else:
                try:
                    yield Connected(self._made, self._clock.now())
                    while (data := await self._receive(connection)) is not None:
                        yield Message(data, self._clock.now())
                    reason = self._end(began)
                finally:
                    self._connection = None
                    await connection.close()
            if self._closing.is_set():
                return
            wait = self._backoff()
            self._log.warning("disconnected", reason=reason, again_in_seconds=round(wait, 2))
            yield Disconnected(reason, wait, self._clock.now())
            if not self._closing.is_set():
                await self._wait(wait)

    async def _receive(self, connection: ClientConnection) -> str | bytes | None:
        """Answer the next message; None when the connection is over."""
        silence = self._keeping.silence_seconds
        try:
            if silence is None:
                return await connection.recv()
            async with asyncio.timeout(silence):
                return await connection.recv()
        except websockets.ConnectionClosed as closed:
            self._ended = redact(str(closed))
        except TimeoutError:
            self._ended = f"silent for {silence:g} s"
        return None

    async def _open(self) -> ClientConnection:
        """Make a connection; raise NotConnected to try again, SourceRefused and RequestFault."""
        headers = self._headers() if self._headers else {}
        try:
            connection = await self._connect(headers)
        except (websockets.WebSocketException, OSError, TimeoutError, ValueError) as error:
            secrets = tuple(headers.values())
            failure = self._translated(error, redact(str(error), *secrets))
            cause = told(error, *secrets)
        else:
            self._made += 1
            self._connection = connection
            self._metrics.count("socket_connects", source=self.name, outcome="ok")
            return connection
        self._failed += 1
        self._metrics.count("socket_connects", source=self.name, outcome="failed")
        raise failure from cause

    async def _connect(self, headers: Mapping[str, str]) -> ClientConnection:
        keeping = self._keeping
        return await _Direct(
            self._url,
            additional_headers=headers,
            proxy=None,
            open_timeout=keeping.open_seconds,
            ping_interval=keeping.ping_seconds,
            ping_timeout=keeping.pong_seconds,
            close_timeout=1.0,
            max_size=keeping.most_bytes,
            max_queue=keeping.queue,
        )

    def _end(self, began: float) -> str:
        """Answer why a connection ended, and count it as a failure if it was short."""
        settled = self._clock.monotonic() - began >= self._keeping.settled_seconds
        self._failed = 0 if settled else self._failed + 1
        return self._ended

    def _backoff(self) -> float:
        doubled = self._keeping.first_seconds * 2.0 ** min(max(0, self._failed - 1), 30)
        return self._random.uniform(0.5, 1.0) * min(doubled, self._keeping.most_seconds)

    async def _wait(self, seconds: float) -> None:
        resting = asyncio.ensure_future(self._sleep(seconds))
        closing = asyncio.create_task(self._closing.wait())
        try:
            await asyncio.wait((resting, closing), return_when=asyncio.FIRST_COMPLETED)
        finally:
            resting.cancel()
            closing.cancel()

    def _translated(self, error: Exception, said: str) -> WireError:
        if isinstance(error, websockets.InvalidStatus):
            status = error.response.status_code
            refused = status in _REDIRECTS or status in _CLIENT_ERRORS
            if refused and status not in _TRYING_HELPS:
                message = f"{self.name} refused the connection with {status}"
                return SourceRefused(message, source=self.name, answered=status)
            return NotConnected(f"{self.name} answered {status}", source=self.name)
        if isinstance(error, websockets.InvalidURI | ValueError):
            message = f"{self.name} cannot be connected to: {said}"
            return RequestFault(message, source=self.name)
        message = f"{self.name} cannot be reached: {said or 'no connection in time'}"
        return NotConnected(message, source=self.name)

    def _not_connected(self) -> NotConnected:
        message = f"There is no connection to {self.name} now: wait for the next Connected"
        return NotConnected(message, source=self.name)


class _Direct(connect):
    """Connects to the address given and to no other."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        """Follow no redirect: its target would get our credentials."""
        return exc
