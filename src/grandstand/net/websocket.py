"""A WebSocket client that reconnects whenever the connection is lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from random import Random
from typing import Final, Self, TypeAlias

import websockets
from websockets.asyncio.client import ClientConnection, connect

from grandstand.core.clock import Clock
from grandstand.core.logging import get_logger, redact
from grandstand.core.metrics import Metrics
from grandstand.net import errors
from grandstand.net.rate_limits import Sleep
from grandstand.net.retry import backoff_seconds


@dataclass(frozen=True, slots=True)
class Connected:
    """The connection is open; `number` counts connections from 1."""

    number: int
    at: datetime


@dataclass(frozen=True, slots=True)
class Message:
    """A received message: text or bytes."""

    data: str | bytes = field(repr=False)
    received_at: datetime


@dataclass(frozen=True, slots=True)
class Disconnected:
    """The connection was lost or could not be opened; the next attempt follows."""

    reason: str
    again_in_seconds: float
    at: datetime


SocketEvent: TypeAlias = Connected | Message | Disconnected
Headers: TypeAlias = Callable[[], Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class SocketConfig:
    """Timeouts and backoff of a connection.

    A ping is sent every `ping_seconds` and must be answered within `pong_seconds`. With
    `silence_seconds`, that long without a message ends the connection. Waits between attempts
    double from `first_seconds` to `most_seconds`, and are reset once a connection has lasted for
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


_CONFIG: Final = SocketConfig()


class WebSocketClient:
    """A reconnecting WebSocket: iterate over its events in one task, send from any.

    `headers` is called for every connection, so that signatures are fresh. Iterating raises
    SourceRefused if the source rejects us, and InvalidRequest if the URL is invalid.
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
        config: SocketConfig = _CONFIG,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self.name = name
        self._url = url
        self._clock = clock
        self._random = random
        self._metrics = metrics
        self._headers = headers
        self._config = config
        self._sleep = sleep
        self._log = get_logger("net", source=name)
        self._connection: ClientConnection | None = None
        self._closing = asyncio.Event()
        self._connections = 0
        self._failed = 0
        self._ended = ""

    @property
    def connected(self) -> bool:
        """Whether the connection is open."""
        return self._connection is not None

    async def send(self, data: str | bytes) -> None:
        """Send text or bytes. Raises NotConnected."""
        connection = self._connection
        if connection is None:
            raise self._not_connected()
        try:
            await connection.send(data)
            return
        except websockets.ConnectionClosed as error:
            cause = errors.redacted(error)
        raise self._not_connected() from cause

    async def reconnect(self) -> None:
        """Close the current connection; the iteration opens a new one."""
        if self._connection is not None:
            await self._connection.close()

    async def close(self) -> None:
        """Close the connection and end the iteration."""
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
            except errors.NetworkError as error:
                if not error.retry:
                    raise
                reason = str(error)
            else:
                try:
                    yield Connected(self._connections, self._clock.now())
                    while (data := await self._receive(connection)) is not None:
                        yield Message(data, self._clock.now())
                    reason = self._ended
                    # A connection that did not last counts as a failure.
                    lasted = self._clock.monotonic() - began >= self._config.settled_seconds
                    self._failed = 0 if lasted else self._failed + 1
                finally:
                    self._connection = None
                    await connection.close()
            if self._closing.is_set():
                return
            config = self._config
            wait = backoff_seconds(
                max(1, self._failed), config.first_seconds, config.most_seconds, self._random
            )
            self._log.warning("disconnected", reason=reason, again_in_seconds=round(wait, 2))
            yield Disconnected(reason, wait, self._clock.now())
            if not self._closing.is_set():
                await self._wait(wait)

    async def _receive(self, connection: ClientConnection) -> str | bytes | None:
        """Return the next message; None if the connection has ended."""
        silence = self._config.silence_seconds
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
        """Open a connection. Raises NotConnected (retryable), SourceRefused or InvalidRequest."""
        config, headers = self._config, self._headers() if self._headers else {}
        try:
            connection = await _DirectConnect(
                self._url,
                additional_headers=headers,
                proxy=None,
                open_timeout=config.open_seconds,
                ping_interval=config.ping_seconds,
                ping_timeout=config.pong_seconds,
                close_timeout=1.0,
                max_size=config.most_bytes,
                max_queue=config.queue,
            )
        except (websockets.WebSocketException, OSError, TimeoutError, ValueError) as error:
            secrets = tuple(headers.values())
            failure = self._translate(error, redact(str(error), *secrets))
            cause = errors.redacted(error, *secrets)
        else:
            self._connections += 1
            self._connection = connection
            self._metrics.count("socket_connects", source=self.name, outcome="ok")
            return connection
        self._failed += 1
        self._metrics.count("socket_connects", source=self.name, outcome="failed")
        raise failure from cause

    async def _wait(self, seconds: float) -> None:
        sleeping = asyncio.ensure_future(self._sleep(seconds))
        closing = asyncio.create_task(self._closing.wait())
        try:
            await asyncio.wait((sleeping, closing), return_when=asyncio.FIRST_COMPLETED)
        finally:
            sleeping.cancel()
            closing.cancel()

    def _translate(self, error: Exception, text: str) -> errors.NetworkError:
        if isinstance(error, websockets.InvalidStatus):
            status = error.response.status_code
            if 300 <= status < 500 and status not in {408, 425, 429}:
                message = f"{self.name} refused the connection with {status}"
                return errors.SourceRefused(message, source=self.name, response_status=status)
            return errors.NotConnected(f"{self.name} responded with {status}", source=self.name)
        if isinstance(error, websockets.InvalidURI | ValueError):
            return errors.InvalidRequest(
                f"{self.name} cannot be connected to: {text}", source=self.name
            )
        message = f"{self.name} cannot be reached: {text or 'connection timed out'}"
        return errors.NotConnected(message, source=self.name)

    def _not_connected(self) -> errors.NotConnected:
        message = f"Not connected to {self.name}. Wait for the next Connected event."
        return errors.NotConnected(message, source=self.name)


class _DirectConnect(connect):
    """Connects without following redirects."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        """Return the error: the target of a redirect would get our credentials."""
        return exc
