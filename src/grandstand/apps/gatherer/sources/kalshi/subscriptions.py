"""Kept here: which markets one connection follows, and the commands that bring that about."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final, Literal, TypeAlias

from grandstand.apps.gatherer.sources.kalshi import commands
from grandstand.apps.gatherer.sources.kalshi.commands import BOOKS, Channel

Kind: TypeAlias = Literal["channel", "subscribe", "add", "delete", "snapshot", "prove", "probe"]

_MARKET_LIMIT: Final = 26
_TOO_FAST: Final = 27
_TERMINAL: Final = frozenset({10, 17, 25})
_UNKNOWN_SID: Final = 7
_AGAIN: Final = frozenset({1, 18})
_FIRST_REST_SECONDS: Final = 0.1
_LONGEST_REST_SECONDS: Final = 10.0
_MOST_TRIES: Final = 8


@dataclass(frozen=True, slots=True)
class Terms:
    """How much is asked for at once: markets in a command and a subscription, commands in flight.

    A command that is not answered within `patience_seconds` ends the connection.
    """

    batch: int = 400
    per_subscription: int = 1000
    in_flight: int = 8
    patience_seconds: float = 15.0
    yes_price: bool = False


@dataclass(frozen=True, slots=True)
class Command:
    """One command: what it is about, and how often it was sent."""

    kind: Kind
    markets: tuple[str, ...] = ()
    sid: int = 0
    channel: Channel = BOOKS
    tries: int = 0


@dataclass(frozen=True, slots=True)
class Sent:
    """A command on its way, and when it was sent."""

    command: Command
    at: float


@dataclass(slots=True)
class Subscriptions:
    """The subscriptions of one connection; it is told of replies, and says what to send next.

    What is wanted outlives a connection; what was agreed on does not, see `begin`.
    """

    terms: Terms
    channels: tuple[Channel, ...] = ()
    wanted: set[str] = field(default_factory=set)
    refused: dict[str, int] = field(default_factory=dict)
    overflow: set[str] = field(default_factory=set)
    sids: dict[int, set[str]] = field(default_factory=dict)
    placed: dict[str, int] = field(default_factory=dict)
    told: dict[Channel, int] = field(default_factory=dict)
    _queue: deque[Command] = field(default_factory=deque)
    _sent: dict[int, Sent] = field(default_factory=dict)
    _waiting: dict[str, None] = field(default_factory=dict)
    _leaving: dict[str, int] = field(default_factory=dict)
    _full: set[int] = field(default_factory=set)
    _most: int = 0
    _last_id: int = 0
    _rest_until: float = 0.0
    _rest_seconds: float = 0.0

    def begin(self) -> None:
        """Forget the connection before: all that is wanted is to be asked for again."""
        held = (self.sids, self.placed, self.told, self._sent, self._waiting, self._leaving)
        for gone in held:
            gone.clear()
        self._queue.clear()
        self._full.clear()
        self._most = self._most or self.terms.batch
        self._last_id, self._rest_until, self._rest_seconds = 0, 0.0, 0.0
        self._queue.extend(Command("channel", channel=channel) for channel in self.channels)
        self._waiting.update(dict.fromkeys(sorted(self.wanted)))

    def want(self, markets: Iterable[str]) -> None:
        """Follow markets from now on."""
        for market in markets:
            if market not in self.wanted:
                self.wanted.add(market)
                self._waiting[market] = None

    def leave(self, markets: Iterable[str]) -> None:
        """Follow markets no more."""
        by_sid: dict[int, list[str]] = {}
        for market in markets:
            self.wanted.discard(market)
            self.overflow.discard(market)
            self.refused.pop(market, None)
            self._waiting.pop(market, None)
            sid = self.placed.pop(market, 0)
            if sid in self.sids:
                self.sids[sid].discard(market)
                by_sid.setdefault(sid, []).append(market)
        for sid, some in by_sid.items():
            self._leaving.update(dict.fromkeys(some, sid))
            last = self._queue[-1] if self._queue else Command("probe")
            again = (last.kind, last.sid) == ("delete", sid)
            gone = (*self._queue.pop().markets, *some) if again else some
            self._queue.extend(
                Command("delete", part, sid) for part in _parts(gone, self.terms.batch)
            )

    def lost(self, sid: int, listed: Collection[str] | None) -> None:
        """Take the word of what a subscription holds: what it should hold too is asked for again.

        Answers come in the order of commands, so it is about what was placed before. An answer
        that lists nothing says nothing.
        """
        if listed is None:
            return
        for market in self.sids.get(sid, set()) - {*listed}:
            self.sids[sid].discard(market)
            self.placed.pop(market, None)
            if market in self.wanted:
                self._waiting[market] = None

    def ask_snapshots(self, sid: int, markets: Collection[str]) -> None:
        """Ask for the books of markets of one subscription."""
        asked = [market for market in markets if market in self.wanted]
        self._queue.extend(
            Command("snapshot", part, sid) for part in _parts(asked, self.terms.batch)
        )

    def prove(self, sids: Iterable[int]) -> None:
        """Ask subscriptions for a numbered answer: it shows whether something before it is missing.

        Adding a market that is there already changes nothing.
        """
        asked = {command.sid for command in self._proofs}
        for sid in {*sids} - asked:
            if self.sids.get(sid):
                self._queue.append(Command("prove", (min(self.sids[sid]),), sid))

    @property
    def proving(self) -> bool:
        """Whether a numbered answer is waited for."""
        return bool(self._proofs)

    @property
    def _proofs(self) -> list[Command]:
        known = (*self._queue, *(sent.command for sent in self._sent.values()))
        return [command for command in known if command.kind == "prove"]

    def probe(self) -> None:
        """Ask for a sign of life; without a reply the connection is overdue."""
        self._queue.append(Command("probe"))

    def next(self, now: float) -> list[str]:
        """Answer the commands to send now."""
        found: list[str] = []
        while now >= self._rest_until and len(self._sent) < self.terms.in_flight:
            command = self._queue.popleft() if self._queue else self._fresh()
            if command is None:
                break
            self._last_id += 1
            self._sent[self._last_id] = Sent(command, now)
            found.append(_written(self._last_id, command, yes_price=self.terms.yes_price))
        return found

    def overdue(self, now: float) -> bool:
        """Tell whether a command has waited for its reply for too long.

        Books that were asked for may have no market any more, and then no reply: those are not
        waited for.
        """
        late = [
            (number, sent)
            for number, sent in self._sent.items()
            if now - sent.at > self.terms.patience_seconds
        ]
        for number, sent in late:
            if sent.command.kind == "snapshot":
                del self._sent[number]
        return any(sent.command.kind != "snapshot" for _, sent in late)

    @property
    def settled(self) -> bool:
        """Whether everything that is wanted was asked for and answered."""
        return not (self._queue or self._sent or self._waiting)

    def subscribed(self, command_id: int, channel: str, sid: int) -> None:
        """Take the reply that a subscription stands."""
        sent = self._sent.pop(command_id, None)
        if sent is None:
            return
        self._rest_seconds = 0.0
        if sent.command.kind == "channel":
            self.told[sent.command.channel] = sid
            return
        if channel == BOOKS:
            self._place(sid, sent.command.markets)

    def acknowledged(self, command_id: int) -> None:
        """Take the reply that a command was carried out, or the book that answers it."""
        sent = self._sent.pop(command_id, None)
        if sent is not None:
            self._rest_seconds = 0.0
            if sent.command.kind == "add":
                self._place(sent.command.sid, sent.command.markets)
            self._left(sent.command)

    def failed(self, command_id: int, code: int, now: float) -> int | None:
        """Take the reply that a command was not carried out.

        Answers the subscription that turned out not to be there, if so: `ended` is to be told.
        """
        sent = self._sent.pop(command_id, None)
        if sent is None:
            return None
        command = replace(sent.command, tries=sent.command.tries + 1)
        if code == _UNKNOWN_SID and command.sid:
            self._left(command)
            if command.kind == "add":
                self._not_placed(command, code)
            return command.sid
        if code == _TOO_FAST:
            self._rest(now)
            self._queue.appendleft(replace(command, tries=0))
        elif code in _AGAIN and command.tries < _MOST_TRIES:
            self._queue.append(command)
        elif command.kind in ("subscribe", "add"):
            self._not_placed(command, code)
        elif command.kind == "snapshot":
            half = len(command.markets) // 2
            parts = _parts(command.markets, half) if half else []
            self._queue.extend(replace(command, markets=part) for part in parts)
        elif command.kind in ("channel", "delete", "prove"):
            # Without a channel trades would be missing, and nobody would know.
            self._rest(now)
            self._queue.append(command)
        return None

    def _rest(self, now: float) -> None:
        grown = self._rest_seconds * 2 or _FIRST_REST_SECONDS
        self._rest_seconds = min(_LONGEST_REST_SECONDS, grown)
        self._rest_until = now + self._rest_seconds

    def _left(self, command: Command) -> None:
        if command.kind == "delete":
            for market in command.markets:
                self._leaving.pop(market, None)

    def ended(self, sid: int) -> bool:
        """Take the word that a subscription is over: what it held is asked for again.

        Answers whether it was known.
        """
        for channel, held in [*self.told.items()]:
            if held == sid:
                del self.told[channel]
                self._queue.append(Command("channel", channel=channel))
                return True
        self._queue = deque(command for command in self._queue if command.sid != sid)
        markets = self.sids.pop(sid, None)
        if markets is None:
            return False
        self._leaving = {market: held for market, held in self._leaving.items() if held != sid}
        for market in sorted(markets):
            self.placed.pop(market, None)
            if market in self.wanted:
                self._waiting[market] = None
        return True

    def _fresh(self) -> Command | None:
        """Answer a command for markets that were not asked for yet: into a subscription with room.

        One subscription is asked for at a time, so that the next markets find its room.
        """
        # What is not off its old subscription yet would be told twice.
        free = (market for market in self._waiting if market not in self._leaving)
        first = next(free, None)
        if first is None:
            return None
        sid = next((sid for sid in self.sids if self._room(sid) > 0), 0)
        if not sid and any(sent.command.kind == "subscribe" for sent in self._sent.values()):
            return None
        most = min(self._most, self._room(sid)) if sid else self._most
        markets = (first, *islice(free, most - 1))
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
        return self.terms.per_subscription - len(self.sids[sid]) - asked

    def _place(self, sid: int, markets: Sequence[str]) -> None:
        held = self.sids.setdefault(sid, set())
        unwanted = [market for market in markets if market not in self.wanted]
        for market in markets:
            held.add(market)
            self.placed[market] = sid
        if unwanted:
            self.leave(unwanted)

    def _not_placed(self, command: Command, code: int) -> None:
        """Ask for fewer at once, into another subscription, or give a market up that is refused."""
        if command.kind == "add" and code in (_MARKET_LIMIT, _UNKNOWN_SID):
            self._full.add(command.sid)
        elif len(command.markets) > 1:
            half = max(1, len(command.markets) // 2)
            if code == _MARKET_LIMIT:
                self._most = min(self._most, half)
            else:
                kind, sid = command.kind, command.sid
                self._queue.extend(
                    Command(kind, part, sid) for part in _parts(command.markets, half)
                )
                return
        elif code == _MARKET_LIMIT:
            self.overflow.update(command.markets)
            self.wanted.difference_update(command.markets)
            return
        else:
            self.refused.update(dict.fromkeys(command.markets, code))
            self.wanted.difference_update(command.markets)
            return
        self._waiting.update(dict.fromkeys(m for m in command.markets if m in self.wanted))


def terminal(code: int) -> bool:
    """Tell whether an error ends the subscription it is about."""
    return code in _TERMINAL


def _parts(markets: Sequence[str], most: int) -> list[tuple[str, ...]]:
    return [tuple(markets[at : at + most]) for at in range(0, len(markets), most)]


def _written(command_id: int, command: Command, *, yes_price: bool) -> str:
    if command.kind == "channel":
        return commands.subscribe(command_id, [command.channel], yes_price=yes_price)
    if command.kind == "subscribe":
        return commands.subscribe(command_id, [BOOKS], command.markets, yes_price=yes_price)
    if command.kind == "probe":
        return commands.list_subscriptions(command_id)
    action: commands.Action = "get_snapshot"
    if command.kind == "prove":
        action = "add_markets"
        return commands.update(command_id, command.sid, action, command.markets, short=True)
    if command.kind == "add":
        action = "add_markets"
    elif command.kind == "delete":
        action = "delete_markets"
    return commands.update(command_id, command.sid, action, command.markets)
