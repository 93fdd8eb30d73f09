"""Kalshi WebSocket stream: a signed socket that reconnects."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from random import Random
from typing import Final, TypeAlias
from urllib.parse import urlsplit

from grandstand.apps.gatherer.sources.kalshi.signing import KeyRejected, Signer
from grandstand.core.clock import Clock
from grandstand.core.metrics import Metrics
from grandstand.net.errors import NotConnected, SourceRefused
from grandstand.net.websocket import Connected, Message, SocketConfig, WebSocketClient

_KEY_STATUSES: Final = frozenset({401, 403})
# The exchange may send frames of up to 64 MiB; a deep queue avoids pauses of the socket.
SOCKET_CONFIG: Final = SocketConfig(
    ping_seconds=10.0, pong_seconds=20.0, most_bytes=64 * 1024 * 1024, queue=4096
)


@dataclass(frozen=True, slots=True)
class StreamOpened:
    """A connection is open; `conn` is its unique id within this gatherer."""

    conn: int


@dataclass(frozen=True, slots=True)
class StreamClosed:
    """The connection was lost, or could not be opened; another attempt follows."""

    conn: int | None
    at: int
    reason: str


StreamEvent: TypeAlias = Message | StreamOpened | StreamClosed


class KalshiStream:
    """A socket of the exchange; iterate in one task, send from any.

    Frames come as they are received from the socket. Iterating raises KeyRejected if the exchange
    does not accept the key.
    """

    def __init__(
        self,
        name: str,
        url: str,
        *,
        signer: Signer | None,
        stamp: Callable[[], int],
        clock: Clock,
        random: Random,
        metrics: Metrics,
        config: SocketConfig = SOCKET_CONFIG,
    ) -> None:
        path = urlsplit(url).path
        self.name = name
        self._stamp = stamp
        self._conn: int | None = None
        self._socket = WebSocketClient(
            name,
            url,
            clock=clock,
            random=random,
            metrics=metrics,
            headers=None if signer is None else lambda: signer.handshake(path),
            config=config,
        )

    @property
    def connected(self) -> bool:
        return self._socket.connected

    async def send(self, text: str) -> bool:
        """Send a command, and return False if there is no connection."""
        try:
            await self._socket.send(text)
        except NotConnected:
            return False
        return True

    async def reconnect(self) -> None:
        """Close this connection; the iteration opens another."""
        await self._socket.reconnect()

    async def close(self) -> None:
        """End the iteration and the connection."""
        await self._socket.close()

    async def __aiter__(self) -> AsyncIterator[StreamEvent]:
        try:
            async for event in self._socket:
                if type(event) is Message:
                    yield event
                elif type(event) is Connected:
                    self._conn = self._stamp()
                    yield StreamOpened(self._conn)
                else:
                    conn, self._conn = self._conn, None
                    yield StreamClosed(conn, self._stamp(), getattr(event, "reason", ""))
        except SourceRefused as error:
            if error.answered not in _KEY_STATUSES:
                raise
            message = (
                f"{self.name} rejected the connection with status {error.answered}. Check the key "
                "ID, the private key and this machine's clock (`grandstand gatherer check`)."
            )
            raise KeyRejected(message) from error
