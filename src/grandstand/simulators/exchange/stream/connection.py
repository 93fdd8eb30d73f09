"""Kept here: one reader of the stream: its subscriptions, and the frames on their way to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import msgspec

from grandstand.simulators.exchange.stream.faults import StreamFault, StreamFaults, Struck
from grandstand.simulators.exchange.stream.frames import framed

UNNUMBERED = frozenset({"ticker"})


class Line(Protocol):
    """The socket under a connection."""

    def write(self, data: bytes) -> None:
        """Take frames to be sent; return at once."""
        ...

    def waiting_bytes(self) -> int:
        """Answer how much the reader has not taken yet."""
        ...

    def close(self, code: int) -> None:
        """End the connection with a code; 0 cuts it."""
        ...


@dataclass(slots=True)
class Subscription:
    """A channel a connection listens to; `markets` is None for all of them."""

    sid: int
    channel: str
    connection: Connection
    markets: dict[str, None] | None = None
    yes_price: bool = False
    seq: int = 0

    def tell(self, kind: str, body: bytes, command_id: int | None = None) -> None:
        """Send a data frame, with the next number where the channel has numbers."""
        told = b"" if command_id is None else b'"id":%d,' % command_id
        if self.channel in UNNUMBERED:
            payload = b'{%s"type":"%s","sid":%d,"msg":%s}' % (
                told,
                kind.encode(),
                self.sid,
                body,
            )
        else:
            self.seq += 1
            payload = b'{%s"type":"%s","sid":%d,"seq":%d,"msg":%s}' % (
                told,
                kind.encode(),
                self.sid,
                self.seq,
                body,
            )
        connection = self.connection
        if connection.faults.rules or connection.held is not None:
            connection.send_faulty(self, kind, payload)
        else:
            connection.out.append(framed(payload))

    def reply(self, kind: str, command_id: int | None, msg: object = None) -> None:
        """Send a reply about this subscription; it takes a number like any frame."""
        told: dict[str, object] = {} if command_id is None else {"id": command_id}
        told |= {"type": kind, "sid": self.sid}
        if self.channel not in UNNUMBERED:
            self.seq += 1
            told["seq"] = self.seq
        if msg is not None:
            told["msg"] = msg
        self.connection.send(told)


@dataclass(slots=True, eq=False)
class Connection:
    """A reader; what is said to it goes out when it is flushed, unless it is stalled."""

    number: int
    line: Line
    faults: StreamFaults
    signed: bool = True
    subscriptions: dict[int, Subscription] = field(default_factory=dict)
    out: list[bytes] = field(default_factory=list)
    held: bytes | None = None
    stalled_until: float = 0.0
    now: float = 0.0
    ended: bool = False
    sids: int = 0
    commands_second: int = 0
    commands_count: int = 0
    terminal: list[tuple[Subscription, int]] = field(default_factory=list)

    def send(self, told: dict[str, object]) -> None:
        """Send something that is no data, which no fault touches."""
        self.out.append(framed(msgspec.json.encode(told)))

    def send_faulty(self, subscription: Subscription, kind: str, payload: bytes) -> None:
        """Send a data frame, or let happen to it what is to go wrong."""
        fault = None if self.ended else self.faults.on_frame(subscription.channel)
        if fault is None:
            self.out.append(framed(payload))
            self._release()
            return
        sid, seq = subscription.sid, subscription.seq
        self.faults.struck.append(Struck(fault.kind, self.number, sid, seq, kind))
        self._strike(subscription, fault, payload)

    def _strike(self, subscription: Subscription, fault: StreamFault, payload: bytes) -> None:
        match fault.kind:
            case "drop":
                pass
            case "duplicate":
                self.out += (framed(payload), framed(payload))
            case "reorder":
                self._release()
                self.held = payload
            case "malformed":
                self.out.append(framed(self.faults.garbled(payload)))
            case "stall":
                self.out.append(framed(payload))
                self.stalled_until = self.now + fault.seconds
            case "disconnect":
                self.out.append(framed(payload))
                self.flush(self.now)
                self.ended = True
                self.line.close(fault.code)
            case "error":
                self.out.append(framed(payload))
                self.terminal.append((subscription, fault.code))

    def _release(self) -> None:
        if self.held is not None:
            self.out.append(framed(self.held))
            self.held = None

    def flush(self, now: float) -> None:
        """Hand over what waits, unless the reader is being kept waiting."""
        self.now = now
        if self.out and not self.ended and now >= self.stalled_until:
            self.line.write(b"".join(self.out))
            self.out.clear()
