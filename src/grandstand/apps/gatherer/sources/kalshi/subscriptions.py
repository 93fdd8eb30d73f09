"""Subscriptions of one connection: which markets it follows, and the commands for that."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final, Literal, TypeAlias

import msgspec

Channel: TypeAlias = Literal["orderbook_delta", "ticker", "trade", "market_lifecycle_v2"]
Action: TypeAlias = Literal["add_markets", "delete_markets", "get_snapshot"]

BOOKS: Final[Channel] = "orderbook_delta"
TRADES: Final[Channel] = "trade"
TICKERS: Final[Channel] = "ticker"
LIFECYCLE: Final[Channel] = "market_lifecycle_v2"
CommandKind: TypeAlias = Literal[
    "channel", "subscribe", "add", "delete", "snapshot", "prove", "probe"
]

_MARKET_LIMIT: Final = 26
_RATE_LIMITED: Final = 27
_TERMINAL: Final = frozenset({10, 17, 25})
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
    """One command, and how often it was sent."""

    kind: CommandKind
    markets: tuple[str, ...] = ()
    sid: int = 0
    channel: Channel = BOOKS
    attempts: int = 0


@dataclass(frozen=True, slots=True)
class SentCommand:
    """A command that awaits its reply."""

    command: Command
    at: float


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
    _sent: dict[int, SentCommand] = field(default_factory=dict)
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
        asked = [market for market in markets if market in self.wanted]
        self._queue.extend(
            Command("snapshot", part, sid) for part in _chunks(asked, self.limits.batch)
        )

    def request_proof(self, sids: Iterable[int]) -> None:
        """Request numbered replies, which reveal whether anything before them is missing.

        Adding a market that is already there has no effect.
        """
        asked = {command.sid for command in self._proof_commands}
        for sid in {*sids} - asked:
            if self.sids.get(sid):
                self._queue.append(Command("prove", (min(self.sids[sid]),), sid))

    @property
    def awaits_proof(self) -> bool:
        """Whether a requested proof is outstanding."""
        return bool(self._proof_commands)

    @property
    def _proof_commands(self) -> list[Command]:
        known = (*self._queue, *(sent.command for sent in self._sent.values()))
        return [command for command in known if command.kind == "prove"]

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
            self._sent[self._last_id] = SentCommand(command, now)
            found.append(_encode(self._last_id, command, yes_price=self.limits.yes_price))
        return found

    def overdue(self, now: float) -> bool:
        """Return whether a reply is overdue.

        Snapshot requests do not count: if the market is gone there is no reply.
        """
        late = [
            (number, sent)
            for number, sent in self._sent.items()
            if now - sent.at > self.limits.timeout_seconds
        ]
        for number, sent in late:
            if sent.command.kind == "snapshot":
                del self._sent[number]
        return any(sent.command.kind != "snapshot" for _, sent in late)

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
        if sent.command.kind == "channel":
            self.channel_sids[sent.command.channel] = sid
            return
        if channel == BOOKS:
            self._place(sid, sent.command.markets)

    def on_acknowledged(self, command_id: int) -> None:
        """Handle the confirmation of a command, or the snapshot that answers it."""
        sent = self._sent.pop(command_id, None)
        if sent is not None:
            self._backoff_seconds = 0.0
            if sent.command.kind == "add":
                self._place(sent.command.sid, sent.command.markets)
            self._on_deleted(sent.command)

    def on_error(self, command_id: int, code: int, now: float) -> int | None:
        """Handle the rejection of a command.

        Returns the subscription if it turned out not to exist: `on_ended` is to be called.
        """
        sent = self._sent.pop(command_id, None)
        if sent is None:
            return None
        command = replace(sent.command, attempts=sent.command.attempts + 1)
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
        if not sid and any(sent.command.kind == "subscribe" for sent in self._sent.values()):
            return None
        count = min(self._max_batch, self._room(sid)) if sid else self._max_batch
        markets = (first, *islice(free, count - 1))
        for market in markets:
            del self._waiting[market]
        return Command("add" if sid else "subscribe", markets, sid)

    def _room(self, sid: int) -> int:
        if sid in self._full:
            return 0
        asked = sum(
            len(sent.command.markets)
            for sent in self._sent.values()
            if sent.command.kind == "add" and sent.command.sid == sid
        )
        return self.limits.per_subscription - len(self.sids[sid]) - asked

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


def is_terminal(code: int) -> bool:
    """Return whether an error code ends its subscription."""
    return code in _TERMINAL


def _chunks(markets: Sequence[str], size: int) -> list[tuple[str, ...]]:
    return [tuple(markets[at : at + size]) for at in range(0, len(markets), size)]


def _encode(command_id: int, command: Command, *, yes_price: bool) -> str:
    if command.kind == "channel":
        return _subscribe_command(command_id, [command.channel], yes_price=yes_price)
    if command.kind == "subscribe":
        return _subscribe_command(command_id, [BOOKS], command.markets, yes_price=yes_price)
    if command.kind == "probe":
        return _list_command(command_id)
    action: Action = "get_snapshot"
    if command.kind == "prove":
        action = "add_markets"
        return _update_command(command_id, command.sid, action, command.markets, short=True)
    if command.kind == "add":
        action = "add_markets"
    elif command.kind == "delete":
        action = "delete_markets"
    return _update_command(command_id, command.sid, action, command.markets)


def _subscribe_command(
    command_id: int, channels: Sequence[Channel], markets: Sequence[str] = (), *, yes_price: bool
) -> str:
    """Encode a subscription; no markets means all, which the book channel does not allow.

    `use_yes_price` is always sent because its default is about to change.
    """
    params: dict[str, object] = {"channels": [*channels]}
    if markets:
        params["market_tickers"] = [*markets]
    if BOOKS in channels:
        params["use_yes_price"] = yes_price
    return _encode_command(command_id, "subscribe", params)


def _update_command(
    command_id: int, sid: int, action: Action, markets: Sequence[str], *, short: bool = False
) -> str:
    """Encode an update of a subscription; with `short` the reply does not list the markets."""
    params: dict[str, object] = {"sids": [sid], "action": action, "market_tickers": [*markets]}
    if short:
        params["skip_ticker_ack"] = True
    return _encode_command(command_id, "update_subscription", params)


def _list_command(command_id: int) -> str:
    return msgspec.json.encode({"id": command_id, "cmd": "list_subscriptions"}).decode()


def _encode_command(command_id: int, name: str, params: dict[str, object]) -> str:
    return msgspec.json.encode({"id": command_id, "cmd": name, "params": params}).decode()
