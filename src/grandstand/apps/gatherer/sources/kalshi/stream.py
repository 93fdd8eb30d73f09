"""Kalshi WebSocket: a signed socket that reconnects, and the subscriptions of a connection."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from random import Random
from typing import Final, Literal, TypeAlias
from urllib.parse import urlsplit

import msgspec

from grandstand.apps.gatherer.domain.subscriptions import BOOKS, Channel
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
            if error.response_status not in _KEY_STATUSES:
                raise
            raise KeyRejected(
                f"{self.name} rejected the connection with status {error.response_status}. Check "
                "the key ID, the private key and this machine's clock "
                "(`grandstand gatherer check`)."
            ) from error


CommandKind: TypeAlias = Literal[
    "channel", "subscribe", "add", "delete", "snapshot", "prove", "probe"
]

_ACTIONS: Final = {
    "add": "add_markets",
    "prove": "add_markets",
    "delete": "delete_markets",
    "snapshot": "get_snapshot",
}
_MARKET_LIMIT: Final = 26
_RATE_LIMITED: Final = 27
_UNKNOWN_SID: Final = 7
_RETRIED: Final = frozenset({1, 18})
_FIRST_BACKOFF_SECONDS: Final = 0.1
_MAX_BACKOFF_SECONDS: Final = 10.0
_MAX_ATTEMPTS: Final = 8


@dataclass(frozen=True, slots=True)
class SubscriptionLimits:
    """Limits of commands and subscriptions.

    `batch` is the number of markets per command. A command without a reply within
    `timeout_seconds` makes the connection overdue.
    """

    batch: int = 400
    per_subscription: int = 1000
    in_flight: int = 8
    timeout_seconds: float = 15.0
    yes_price: bool = False


@dataclass(frozen=True, slots=True)
class Command:
    """One command, how often it was rejected, and when it was sent."""

    kind: CommandKind
    markets: tuple[str, ...] = ()
    sid: int = 0
    channel: Channel = BOOKS
    attempts: int = 0
    sent_at: float = 0.0


@dataclass(slots=True)
class SubscriptionManager:
    """The subscriptions of one connection; it handles replies and returns the next commands.

    The wanted markets outlive a connection; everything else is reset by `reset`.
    """

    limits: SubscriptionLimits
    channels: tuple[Channel, ...] = ()
    wanted: set[str] = field(default_factory=set)
    rejected: dict[str, int] = field(default_factory=dict)
    overflow: set[str] = field(default_factory=set)
    sids: dict[int, set[str]] = field(default_factory=dict)
    placed: dict[str, int] = field(default_factory=dict)
    channel_sids: dict[Channel, int] = field(default_factory=dict)
    _queue: deque[Command] = field(default_factory=deque)
    _sent: dict[int, Command] = field(default_factory=dict)
    _waiting: dict[str, None] = field(default_factory=dict)
    _unfollowing: dict[str, int] = field(default_factory=dict)
    _full: set[int] = field(default_factory=set)
    _max_batch: int = 0
    _last_id: int = 0
    _backoff_until: float = 0.0
    _backoff_seconds: float = 0.0

    def reset(self) -> None:
        """Start over on a new connection: everything wanted is requested again."""
        existing = (
            self.sids,
            self.placed,
            self.channel_sids,
            self._sent,
            self._waiting,
            self._unfollowing,
        )
        for gone in existing:
            gone.clear()
        self._queue.clear()
        self._full.clear()
        self._max_batch = self._max_batch or self.limits.batch
        self._last_id, self._backoff_until, self._backoff_seconds = 0, 0.0, 0.0
        self._queue.extend(Command("channel", channel=channel) for channel in self.channels)
        self._waiting.update(dict.fromkeys(sorted(self.wanted)))

    def follow(self, markets: Iterable[str]) -> None:
        for market in markets:
            if market not in self.wanted:
                self.wanted.add(market)
                self._waiting[market] = None

    def unfollow(self, markets: Iterable[str]) -> None:
        by_sid: dict[int, list[str]] = {}
        for market in markets:
            self.wanted.discard(market)
            self.overflow.discard(market)
            self.rejected.pop(market, None)
            self._waiting.pop(market, None)
            sid = self.placed.pop(market, 0)
            if sid in self.sids:
                self.sids[sid].discard(market)
                by_sid.setdefault(sid, []).append(market)
        for sid, removed in by_sid.items():
            self._unfollowing.update(dict.fromkeys(removed, sid))
            last = self._queue[-1] if self._queue else Command("probe")
            again = (last.kind, last.sid) == ("delete", sid)
            gone = (*self._queue.pop().markets, *removed) if again else removed
            self._queue.extend(
                Command("delete", part, sid) for part in _chunks(gone, self.limits.batch)
            )

    def on_listed(self, sid: int, listed: Collection[str] | None) -> None:
        """Handle the list of markets of a subscription: missing ones are requested again.

        Replies come in the order of commands, so the list reflects what was placed before. None
        means that the reply contained no list.
        """
        if listed is None:
            return
        for market in self.sids.get(sid, set()) - {*listed}:
            self.sids[sid].discard(market)
            self.placed.pop(market, None)
            if market in self.wanted:
                self._waiting[market] = None

    def request_snapshots(self, sid: int, markets: Collection[str]) -> None:
        """Request snapshots of markets of one subscription."""
        wanted = [market for market in markets if market in self.wanted]
        self._queue.extend(
            Command("snapshot", part, sid) for part in _chunks(wanted, self.limits.batch)
        )

    def request_proof(self, sids: Iterable[int]) -> None:
        """Request numbered replies, which reveal whether anything before them is missing.

        Adding a market that is already there has no effect.
        """
        for sid in {*sids} - {command.sid for command in self._proof_commands}:
            if self.sids.get(sid):
                self._queue.append(Command("prove", (min(self.sids[sid]),), sid))

    @property
    def awaits_proof(self) -> bool:
        """Whether a requested proof is outstanding."""
        return bool(self._proof_commands)

    @property
    def _proof_commands(self) -> list[Command]:
        commands = (*self._queue, *self._sent.values())
        return [command for command in commands if command.kind == "prove"]

    def probe(self) -> None:
        """Request any reply; without one the connection is overdue."""
        self._queue.append(Command("probe"))

    def next_commands(self, now: float) -> list[str]:
        """Return the encoded commands to send now."""
        found: list[str] = []
        while now >= self._backoff_until and len(self._sent) < self.limits.in_flight:
            command = self._queue.popleft() if self._queue else self._next_command()
            if command is None:
                break
            self._last_id += 1
            self._sent[self._last_id] = replace(command, sent_at=now)
            found.append(_encode(self._last_id, command, yes_price=self.limits.yes_price))
        return found

    def overdue(self, now: float) -> bool:
        """Return whether a reply is overdue.

        Snapshot requests do not count: if the market is gone there is no reply.
        """
        late = [
            (number, sent)
            for number, sent in self._sent.items()
            if now - sent.sent_at > self.limits.timeout_seconds
        ]
        for number, sent in late:
            if sent.kind == "snapshot":
                del self._sent[number]
        return any(sent.kind != "snapshot" for _, sent in late)

    @property
    def settled(self) -> bool:
        """Whether everything was requested and answered."""
        return not (self._queue or self._sent or self._waiting)

    def on_subscribed(self, command_id: int, channel: str, sid: int) -> None:
        """Handle the confirmation of a subscription."""
        sent = self._sent.pop(command_id, None)
        if sent is None:
            return
        self._backoff_seconds = 0.0
        if sent.kind == "channel":
            self.channel_sids[sent.channel] = sid
            return
        if channel == BOOKS:
            self._place(sid, sent.markets)

    def on_acknowledged(self, command_id: int) -> None:
        """Handle the confirmation of a command, or the snapshot that answers it."""
        sent = self._sent.pop(command_id, None)
        if sent is not None:
            self._backoff_seconds = 0.0
            if sent.kind == "add":
                self._place(sent.sid, sent.markets)
            self._on_deleted(sent)

    def on_error(self, command_id: int, code: int, now: float) -> int | None:
        """Handle the rejection of a command.

        Returns the subscription if it turned out not to exist: `on_ended` is to be called.
        """
        sent = self._sent.pop(command_id, None)
        if sent is None:
            return None
        command = replace(sent, attempts=sent.attempts + 1)
        if code == _UNKNOWN_SID and command.sid:
            self._on_deleted(command)
            if command.kind == "add":
                self._on_rejected(command, code)
            return command.sid
        if code == _RATE_LIMITED:
            self._back_off(now)
            self._queue.appendleft(replace(command, attempts=0))
        elif code in _RETRIED and command.attempts < _MAX_ATTEMPTS:
            self._queue.append(command)
        elif command.kind in ("subscribe", "add"):
            self._on_rejected(command, code)
        elif command.kind == "snapshot":
            half = len(command.markets) // 2
            parts = _chunks(command.markets, half) if half else []
            self._queue.extend(replace(command, markets=part) for part in parts)
        elif command.kind in ("channel", "delete", "prove"):
            # Without the channel, trades would be missing unnoticed.
            self._back_off(now)
            self._queue.append(command)
        return None

    def _back_off(self, now: float) -> None:
        grown = self._backoff_seconds * 2 or _FIRST_BACKOFF_SECONDS
        self._backoff_seconds = min(_MAX_BACKOFF_SECONDS, grown)
        self._backoff_until = now + self._backoff_seconds

    def _on_deleted(self, command: Command) -> None:
        if command.kind == "delete":
            for market in command.markets:
                self._unfollowing.pop(market, None)

    def on_ended(self, sid: int) -> bool:
        """Handle the end of a subscription: its markets are requested again.

        Returns whether it was known.
        """
        for channel, existing in [*self.channel_sids.items()]:
            if existing == sid:
                del self.channel_sids[channel]
                self._queue.append(Command("channel", channel=channel))
                return True
        self._queue = deque(command for command in self._queue if command.sid != sid)
        markets = self.sids.pop(sid, None)
        if markets is None:
            return False
        self._unfollowing = {
            market: existing for market, existing in self._unfollowing.items() if existing != sid
        }
        for market in sorted(markets):
            self.placed.pop(market, None)
            if market in self.wanted:
                self._waiting[market] = None
        return True

    def _next_command(self) -> Command | None:
        """Return a command for unrequested markets, for a subscription with room if there is one.

        Only one new subscription is requested at a time, so that the next markets find its room.
        """
        # A market still on its old subscription would be received twice.
        free = (market for market in self._waiting if market not in self._unfollowing)
        first = next(free, None)
        if first is None:
            return None
        sid = next((sid for sid in self.sids if self._room(sid) > 0), 0)
        if not sid and any(sent.kind == "subscribe" for sent in self._sent.values()):
            return None
        count = min(self._max_batch, self._room(sid)) if sid else self._max_batch
        markets = (first, *islice(free, count - 1))
        for market in markets:
            del self._waiting[market]
        return Command("add" if sid else "subscribe", markets, sid)

    def _room(self, sid: int) -> int:
        if sid in self._full:
            return 0
        requested = sum(
            len(sent.markets)
            for sent in self._sent.values()
            if sent.kind == "add" and sent.sid == sid
        )
        return self.limits.per_subscription - len(self.sids[sid]) - requested

    def _place(self, sid: int, markets: Sequence[str]) -> None:
        existing = self.sids.setdefault(sid, set())
        unwanted = [market for market in markets if market not in self.wanted]
        for market in markets:
            existing.add(market)
            self.placed[market] = sid
        if unwanted:
            self.unfollow(unwanted)

    def _on_rejected(self, command: Command, code: int) -> None:
        """Try a smaller batch or another subscription, or give up a rejected market."""
        if command.kind == "add" and code in (_MARKET_LIMIT, _UNKNOWN_SID):
            self._full.add(command.sid)
        elif len(command.markets) > 1:
            half = max(1, len(command.markets) // 2)
            if code == _MARKET_LIMIT:
                self._max_batch = min(self._max_batch, half)
            else:
                kind, sid = command.kind, command.sid
                self._queue.extend(
                    Command(kind, part, sid) for part in _chunks(command.markets, half)
                )
                return
        elif code == _MARKET_LIMIT:
            self.overflow.update(command.markets)
            self.wanted.difference_update(command.markets)
            return
        else:
            self.rejected.update(dict.fromkeys(command.markets, code))
            self.wanted.difference_update(command.markets)
            return
        self._waiting.update(dict.fromkeys(m for m in command.markets if m in self.wanted))


def _chunks(markets: Sequence[str], size: int) -> list[tuple[str, ...]]:
    return [tuple(markets[at : at + size]) for at in range(0, len(markets), size)]


def _encode(command_id: int, command: Command, *, yes_price: bool) -> str:
    """Encode a command.

    A subscription without markets is to all, which the book channel does not allow.
    `use_yes_price` is always sent because its default is about to change. With `skip_ticker_ack`
    the reply does not list the markets.
    """
    encoded: dict[str, object] = {"id": command_id}
    markets = [*command.markets]
    if command.kind == "probe":
        encoded |= {"cmd": "list_subscriptions"}
    elif command.kind in ("channel", "subscribe"):
        params: dict[str, object] = {"channels": [command.channel]}
        if markets:
            params["market_tickers"] = markets
        if command.channel == BOOKS:
            params["use_yes_price"] = yes_price
        encoded |= {"cmd": "subscribe", "params": params}
    else:
        params = {"sids": [command.sid], "action": _ACTIONS[command.kind]}
        params["market_tickers"] = markets
        if command.kind == "prove":
            params["skip_ticker_ack"] = True
        encoded |= {"cmd": "update_subscription", "params": params}
    return msgspec.json.encode(encoded).decode()
