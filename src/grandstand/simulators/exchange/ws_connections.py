"""WebSocket connections, subscriptions, frames and faults."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final, Literal, Protocol, TypeAlias, TypeVar

import msgspec
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from grandstand.simulators.exchange.market import (
    DOLLAR,
    MILLISECOND,
    SECOND,
    Book,
    BookReplaced,
    DeltaEvent,
    ExchangeEvent,
    Levels,
    LifecycleEvent,
    Market,
    MarketSource,
    QuoteEvent,
    TradeEvent,
    format_contracts,
    format_dollars,
    format_time,
    format_time_seconds,
)

T = TypeVar("T")
_SIDES: Final = ("no", "yes")


def encode_frame(payload: bytes) -> bytes:
    """Encode a text as one unmasked frame of RFC 6455."""
    size = len(payload)
    if size < 126:
        return b"\x81" + bytes((size,)) + payload
    if size < 1 << 16:
        return b"\x81\x7e" + size.to_bytes(2, "big") + payload
    return b"\x81\x7f" + size.to_bytes(8, "big") + payload


def delta_body(delta: DeltaEvent, *, yes_price: bool, stamped: bool = True) -> bytes:
    """Encode a delta; with `yes_price` a no bid has the price of the yes ask it is."""
    price = DOLLAR - delta.price if yes_price and not delta.yes else delta.price
    milliseconds = f',"ts_ms":{delta.at // MILLISECOND}' if stamped else ""
    return (
        f'{{"market_ticker":"{delta.ticker}","market_id":"{delta.market_id}"'
        f',"price_dollars":"{format_dollars(price)}","delta_fp":"{format_contracts(delta.size)}"'
        f',"side":"{_SIDES[delta.yes]}","ts":"{format_time(delta.at)}"{milliseconds}}}'
    ).encode()


def trade_body(trade: TradeEvent) -> bytes:
    side, book_side = ("yes", "bid") if trade.taker_yes else ("no", "ask")
    return (
        f'{{"trade_id":"{trade.trade_id}","market_ticker":"{trade.ticker}"'
        f',"yes_price_dollars":"{format_dollars(trade.price)}"'
        f',"no_price_dollars":"{format_dollars(DOLLAR - trade.price)}"'
        f',"count_fp":"{format_contracts(trade.size)}","taker_side":"{side}"'
        f',"taker_outcome_side":"{side}","taker_book_side":"{book_side}"'
        f',"is_block_trade":{"true" if trade.is_block else "false"}'
        f',"ts":{trade.at // SECOND},"ts_ms":{trade.at // MILLISECOND}}}'
    ).encode()


def quote_body(quote: QuoteEvent) -> bytes:
    """Encode a ticker; missing values are 0, a missing ask is one dollar."""
    ask = DOLLAR if quote.yes_ask is None else quote.yes_ask
    return (
        f'{{"market_ticker":"{quote.ticker}","market_id":"{quote.market_id}"'
        f',"price_dollars":"{format_dollars(quote.last or 0)}"'
        f',"yes_bid_dollars":"{format_dollars(quote.yes_bid or 0)}"'
        f',"yes_ask_dollars":"{format_dollars(ask)}"'
        f',"yes_bid_size_fp":"{format_contracts(quote.yes_bid_size)}"'
        f',"yes_ask_size_fp":"{format_contracts(quote.yes_ask_size)}"'
        f',"last_trade_size_fp":"{format_contracts(quote.last_size)}"'
        f',"volume_fp":"{format_contracts(quote.volume)}"'
        f',"open_interest_fp":"{format_contracts(quote.open_interest)}"'
        f',"dollar_volume":{quote.dollar_volume}'
        f',"dollar_open_interest":{quote.dollar_open_interest}'
        f',"ts":{quote.at // SECOND},"ts_ms":{quote.at // MILLISECOND}'
        f',"time":"{format_time_seconds(quote.at)}"}}'
    ).encode()


def snapshot_body(market: Market, book: Book, *, yes_price: bool) -> bytes:
    """Encode a book, lowest price first; an empty side is left out."""
    body: dict[str, object] = {"market_ticker": market.ticker, "market_id": market.market_id}
    if book.yes:
        body["yes_dollars_fp"] = format_levels(book.levels(yes=True))
    if book.no:
        levels = book.levels(yes=False)
        if yes_price:
            levels = [(DOLLAR - price, size) for price, size in reversed(levels)]
        body["no_dollars_fp"] = format_levels(levels)
    return msgspec.json.encode(body)


def format_levels(levels: Levels) -> list[tuple[str, str]]:
    return [(format_dollars(price), format_contracts(size)) for price, size in levels]


STREAM_FAULTS_PATH: Final = "/simulator/stream-faults"

FaultKind: TypeAlias = Literal[
    "drop", "duplicate", "reorder", "stall", "disconnect", "malformed", "error"
]
# An error with one of these codes ends a subscription; any other replies to a command.
TERMINAL: Final = frozenset({10, 25})


class StreamFault(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A fault of data frames, or of commands for most errors.

    It hits a random `share` of the frames, at most `times` times, and only those of `channel` if
    given. `seconds` is the length of a stall. `code` is that of an error, or the close code of a
    disconnect: 0 aborts the connection.
    """

    kind: FaultKind
    share: float = 1.0
    times: int | None = None
    channel: str | None = None
    seconds: float = 1.0
    code: int = 0


class FaultHit(msgspec.Struct, frozen=True, array_like=True):
    """A fault that happened, and the frame it hit."""

    kind: FaultKind
    connection: int
    sid: int
    seq: int
    type: str


@dataclass
class StreamFaults:
    """The current fault rules, and the faults that happened."""

    random: Random
    rules: list[StreamFault] = field(default_factory=list)
    struck: list[FaultHit] = field(default_factory=list)
    _left: list[int] = field(default_factory=list)

    def ask_for(self, *rules: StreamFault) -> None:
        """Replace the rules."""
        self.rules = [*rules]
        self._left = [-1 if rule.times is None else rule.times for rule in rules]

    def on_frame(self, channel: str) -> StreamFault | None:
        """Return the fault of the next data frame; None if there is none."""
        for at, rule in enumerate(self.rules):
            for_commands = rule.kind == "error" and rule.code not in TERMINAL
            if not for_commands and rule.channel in {None, channel} and self._hits(at, rule):
                return rule
        return None

    def on_command(self) -> int | None:
        """Return the error code for the next command; None if there is none."""
        for at, rule in enumerate(self.rules):
            if rule.kind == "error" and rule.code not in TERMINAL and self._hits(at, rule):
                return rule.code
        return None

    def _hits(self, at: int, rule: StreamFault) -> bool:
        if self._left[at] == 0 or self.random.random() >= rule.share:
            return False
        self._left[at] -= self._left[at] > 0
        return True

    def garble(self, payload: bytes) -> bytes:
        """Return an invalid variant of a frame."""
        half = payload[: len(payload) // 2]
        forms = (
            half,
            b"",
            b"[]",
            b"null",
            b'{"type":"orderbook_delta"}',
            payload.replace(b'_dollars":"0.', b'_dollars":"0.0000001'),
            payload.replace(b'"msg":{', b'"msg":[{', 1),
            payload.replace(b'_ticker":"', b'_ticker":7,"was":"', 1),
            b"\xe2\x98\x83" + half,
        )
        chosen = self.random.choice(forms)
        return half if chosen == payload else chosen


UNNUMBERED = frozenset({"ticker"})


class Transport(Protocol):
    """The socket of a connection."""

    def write(self, data: bytes) -> None:
        """Send encoded frames without waiting."""
        ...

    def waiting_bytes(self) -> int:
        """Return the number of bytes the client has not read yet."""
        ...

    def close(self, code: int) -> None:
        """Close the connection with a code; 0 aborts it."""
        ...


@dataclass(slots=True)
class Subscription:
    """A subscription to one channel; `markets` is None for all markets."""

    sid: int
    channel: str
    connection: Connection
    markets: dict[str, None] | None = None
    yes_price: bool = False
    seq: int = 0

    def send(self, kind: str, body: bytes, command_id: int | None = None) -> None:
        """Send a data frame, with the next sequence number if the channel has them."""
        head = b"" if command_id is None else b'"id":%d,' % command_id
        seq = b""
        if self.channel not in UNNUMBERED:
            self.seq += 1
            seq = b',"seq":%d' % self.seq
        payload = b'{%s"type":"%s","sid":%d%s,"msg":%s}' % (
            head,
            kind.encode(),
            self.sid,
            seq,
            body,
        )
        connection = self.connection
        if connection.faults.rules or connection.held is not None:
            connection.send_faulty(self, kind, payload)
        else:
            connection.out.append(encode_frame(payload))

    def reply(self, kind: str, command_id: int | None, msg: object = None) -> None:
        """Send a reply about this subscription; replies are numbered like data frames."""
        fields: dict[str, object] = {"type": kind, "sid": self.sid}
        if self.channel not in UNNUMBERED:
            self.seq += 1
            fields["seq"] = self.seq
        if msg is not None:
            fields["msg"] = msg
        self.connection.send(command_id, fields)


@dataclass(slots=True, eq=False)
class Connection:
    """A client; frames are sent when it is flushed, unless it is stalled."""

    number: int
    transport: Transport
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

    def send(self, command_id: int | None, fields: dict[str, object]) -> None:
        """Send a reply, which faults do not touch."""
        head: dict[str, object] = {} if command_id is None else {"id": command_id}
        self.out.append(encode_frame(msgspec.json.encode(head | fields)))

    def send_faulty(self, subscription: Subscription, kind: str, payload: bytes) -> None:
        """Send a data frame, or apply the next fault to it."""
        fault = None if self.ended else self.faults.on_frame(subscription.channel)
        if fault is None:
            self.out.append(encode_frame(payload))
            self._release()
            return
        sid, seq = subscription.sid, subscription.seq
        self.faults.struck.append(FaultHit(fault.kind, self.number, sid, seq, kind))
        self._strike(subscription, fault, payload)

    def _strike(self, subscription: Subscription, fault: StreamFault, payload: bytes) -> None:
        match fault.kind:
            case "drop":
                pass
            case "duplicate":
                self.out += (encode_frame(payload), encode_frame(payload))
            case "reorder":
                self._release()
                self.held = payload
            case "malformed":
                self.out.append(encode_frame(self.faults.garble(payload)))
            case "stall":
                self.out.append(encode_frame(payload))
                self.stalled_until = self.now + fault.seconds
            case "disconnect":
                self.out.append(encode_frame(payload))
                self.flush(self.now)
                self.ended = True
                self.transport.close(fault.code)
            case "error":
                self.out.append(encode_frame(payload))
                self.terminal.append((subscription, fault.code))

    def _release(self) -> None:
        if self.held is not None:
            self.out.append(encode_frame(self.held))
            self.held = None

    def flush(self, now: float) -> None:
        """Send waiting frames, unless the connection is stalled."""
        self.now = now
        if self.out and not self.ended and now >= self.stalled_until:
            self.transport.write(b"".join(self.out))
            self.out.clear()


BOOK, TICKER, TRADE = "orderbook_delta", "ticker", "trade"
LIFECYCLE, COMBOS = "market_lifecycle_v2", "multivariate_market_lifecycle"


@dataclass
class _Listeners:
    """The subscriptions to one channel: of all markets, and by ticker."""

    to_all: list[Subscription] = field(default_factory=list)
    to_some: dict[str, list[Subscription]] = field(default_factory=dict)

    def of(self, ticker: str) -> Sequence[Subscription]:
        some = self.to_some.get(ticker)
        if some is None:
            return self.to_all
        return [*self.to_all, *some] if self.to_all else some


class Hub:
    """Sends events to the subscriptions; each event is encoded once."""

    def __init__(self, source: MarketSource, *, unstamped_every: int = 0) -> None:
        self._source = source
        self._unstamped_every = unstamped_every
        self._deltas = 0
        self._listeners: dict[str, _Listeners] = {}
        self.connections: dict[int, Connection] = {}

    def listen(self, subscription: Subscription, tickers: Iterable[str] | None) -> None:
        """Add markets to a subscription; None for all."""
        listeners = self._listeners.setdefault(subscription.channel, _Listeners())
        if tickers is None:
            listeners.to_all.append(subscription)
            return
        for ticker in tickers:
            listeners.to_some.setdefault(ticker, []).append(subscription)

    def ignore(self, subscription: Subscription, tickers: Iterable[str] | None) -> None:
        """Remove markets from a subscription; None for all."""
        listeners = self._listeners[subscription.channel]
        if tickers is None:
            listeners.to_all.remove(subscription)
            return
        for ticker in tickers:
            listeners.to_some[ticker].remove(subscription)
            if not listeners.to_some[ticker]:
                del listeners.to_some[ticker]

    def end(self, subscription: Subscription) -> None:
        if subscription.connection.subscriptions.pop(subscription.sid, None) is not None:
            self.ignore(subscription, subscription.markets)

    def leave(self, connection: Connection) -> None:
        """Remove a connection and its subscriptions."""
        connection.ended = True
        for subscription in [*connection.subscriptions.values()]:
            self.end(subscription)
        self.connections.pop(connection.number, None)

    def snapshot(
        self,
        subscription: Subscription,
        ticker: str,
        command_id: int | None = None,
        book: Book | None = None,
    ) -> None:
        """Send a book, the current one by default; nothing if there is no such market."""
        book = book or self._source.book(ticker)
        market = self._source.markets.get(ticker)
        if book is not None and market is not None:
            body = snapshot_body(market, book, yes_price=subscription.yes_price)
            subscription.send("orderbook_snapshot", body, command_id)

    def publish(self, events: Iterable[ExchangeEvent]) -> None:
        """Queue events for all subscriptions; they are sent when connections are flushed."""
        for event in events:
            if type(event) is DeltaEvent:
                self._delta(event)
            elif type(event) is TradeEvent:
                self._send(TRADE, event.ticker, "trade", trade_body, event)
            elif type(event) is QuoteEvent:
                self._send(TICKER, event.ticker, "ticker", quote_body, event)
            elif type(event) is LifecycleEvent:
                channel = COMBOS if event.multivariate else LIFECYCLE
                combo = event.multivariate and event.type == LIFECYCLE
                kind = COMBOS if combo else event.type
                self._send(channel, "", kind, msgspec.json.encode, event.body)
            elif type(event) is BookReplaced:
                book = Book.of(event.yes, event.no)
                for subscription in self._subscriptions(BOOK, event.ticker):
                    self.snapshot(subscription, event.ticker, book=book)

    def _subscriptions(self, channel: str, ticker: str) -> Sequence[Subscription]:
        listeners = self._listeners.get(channel)
        return () if listeners is None else listeners.of(ticker)

    def _delta(self, delta: DeltaEvent) -> None:
        self._deltas += 1
        every = self._unstamped_every
        stamped = not every or self._deltas % every != 0
        bodies: dict[bool, bytes] = {}
        for subscription in self._subscriptions(BOOK, delta.ticker):
            yes_price = subscription.yes_price
            body = bodies.get(yes_price)
            if body is None:
                body = bodies[yes_price] = delta_body(delta, yes_price=yes_price, stamped=stamped)
            subscription.send(BOOK, body)

    def _send(
        self, channel: str, ticker: str, kind: str, encode: Callable[[T], bytes], event: T
    ) -> None:
        subscriptions = self._subscriptions(channel, ticker)
        if subscriptions:
            body = encode(event)
            for subscription in subscriptions:
                subscription.send(kind, body)


TRANSPORT_EXTENSION: Final = "grandstand.transport"
_HEARTBEAT: Final = b"heartbeat"


class StreamProtocol(WebSocketsSansIOProtocol):
    """Gives the application direct access to the socket, and pings as the exchange does."""

    def handle_connect(self, event: Any) -> None:  # noqa: ANN401 - a type of another library
        """Add the transport to the ASGI scope."""
        super().handle_connect(event)
        if self.response.status_code == 101:
            self.scope["extensions"][TRANSPORT_EXTENSION] = {"transport": _ProtocolTransport(self)}

    def send_keepalive_ping(self) -> None:
        """Ping with the exchange's payload instead of a random one."""
        self.ping_timer = None
        if self.close_sent or self.transport.is_closing():
            return
        self.pending_ping_payload = _HEARTBEAT
        self.ping_sent_at = self.loop.time()
        self.conn.send_ping(_HEARTBEAT)
        self.transport.write(b"".join(self.conn.data_to_send()))
        if self.ping_timeout is not None:
            self.pong_timer = self.loop.call_later(self.ping_timeout, self.keepalive_timeout)


class _ProtocolTransport:
    """Writes encoded frames to the socket, bypassing the protocol, which does not compress."""

    def __init__(self, protocol: StreamProtocol) -> None:
        self._protocol = protocol

    def write(self, data: bytes) -> None:
        transport = self._protocol.transport
        if not self._protocol.close_sent and not transport.is_closing():
            transport.write(data)

    def waiting_bytes(self) -> int:
        return self._protocol.transport.get_write_buffer_size()

    def close(self, code: int) -> None:
        protocol = self._protocol
        if not code:
            protocol.transport.abort()
        elif not protocol.close_sent and not protocol.transport.is_closing():
            protocol.conn.send_close(code)
            protocol.transport.write(b"".join(protocol.conn.data_to_send()))
            protocol.close_sent = True
            protocol.transport.close()
