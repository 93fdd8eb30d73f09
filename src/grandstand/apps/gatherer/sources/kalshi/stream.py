"""Kept here: one socket of the exchange, signed anew at each connection; frames with stamps."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from random import Random
from typing import Final, NamedTuple, TypeAlias
from urllib.parse import urlsplit

from grandstand.apps.gatherer.model.messages import Message
from grandstand.apps.gatherer.sources.kalshi.errors import KeyRefused
from grandstand.apps.gatherer.sources.kalshi.signing import Signer
from grandstand.base.clock import Clock
from grandstand.base.metrics import Metrics
from grandstand.wire.errors import NotConnected, SourceRefused
from grandstand.wire.socket import Connected, Keeping, Socket
from grandstand.wire.socket import Message as Arrived

# Half the time of a named tuple's own constructor, and there is one for each frame.
_made: Final = tuple.__new__
_KEYS: Final = frozenset({401, 403})
# The exchange may send frames of up to 64 MiB; a deep queue spares pauses of the socket.
KEEPING: Final = Keeping(
    ping_seconds=10.0, pong_seconds=20.0, most_bytes=64 * 1024 * 1024, queue=4096
)


class Heard(NamedTuple):
    """A frame: as it came, what it means, and when it was received."""

    raw: str | bytes
    message: Message
    received_at: int


@dataclass(frozen=True, slots=True)
class Opened:
    """A connection stands; `conn` is used by no other of this gatherer."""

    conn: int


@dataclass(frozen=True, slots=True)
class Lost:
    """The connection is gone, or none could be made; another is tried."""

    conn: int | None
    at: int
    reason: str


StreamEvent: TypeAlias = Heard | Opened | Lost


class Stream:
    """A socket of the exchange: iterate over it in one task, send from any.

    Iterating raises KeyRefused when the exchange does not accept the key, and what `Socket`
    raises.
    """

    def __init__(
        self,
        name: str,
        url: str,
        *,
        signer: Signer | None,
        parse: Callable[[str | bytes], Message],
        stamp: Callable[[], int],
        clock: Clock,
        random: Random,
        metrics: Metrics,
        keeping: Keeping = KEEPING,
    ) -> None:
        path = urlsplit(url).path
        self.name = name
        self._parse = parse
        self._stamp = stamp
        self._conn: int | None = None
        self._socket = Socket(
            name,
            url,
            clock=clock,
            random=random,
            metrics=metrics,
            headers=None if signer is None else lambda: signer.handshake(path),
            keeping=keeping,
        )

    @property
    def connected(self) -> bool:
        """Whether a connection stands."""
        return self._socket.connected

    async def send(self, text: str) -> bool:
        """Send a command; tell whether there was a connection to send it over."""
        try:
            await self._socket.send(text)
        except NotConnected:
            return False
        return True

    async def reconnect(self) -> None:
        """Give this connection up; the iteration makes another."""
        await self._socket.reconnect()

    async def close(self) -> None:
        """End the iteration and the connection."""
        await self._socket.close()

    async def __aiter__(self) -> AsyncIterator[StreamEvent]:
        parse, stamp = self._parse, self._stamp
        try:
            async for event in self._socket:
                if type(event) is Arrived:
                    raw = event.data
                    yield _made(Heard, (raw, parse(raw), stamp()))
                elif type(event) is Connected:
                    self._conn = stamp()
                    yield Opened(self._conn)
                else:
                    conn, self._conn = self._conn, None
                    yield Lost(conn, stamp(), getattr(event, "reason", ""))
        except SourceRefused as refused:
            if refused.answered not in _KEYS:
                raise
            message = (
                f"{self.name} refused the connection with {refused.answered}: check the key id, "
                "the private key and this machine's clock (`grandstand gatherer check`)"
            )
            raise KeyRefused(message) from refused
