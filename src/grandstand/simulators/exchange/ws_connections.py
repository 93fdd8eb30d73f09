"""WebSocket connections, subscriptions, frames and faults."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final, Literal, Protocol, TypeAlias

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

_SHORT: Final = 126
_LONG: Final = 1 << 16
_SIDES: Final = ("no", "yes")


def encode_frame(payload: bytes) -> bytes:
    """Put a text into a frame of RFC 6455, as a server sends it: whole and unmasked."""
    size = len(payload)
    if size < _SHORT:
        return b"\x81" + bytes((size,)) + payload
    if size < _LONG:
        return b"\x81\x7e" + size.to_bytes(2, "big") + payload
    return b"\x81\x7f" + size.to_bytes(8, "big") + payload


def delta_body(delta: DeltaEvent, *, yes_price: bool, stamped: bool = True) -> bytes:
    """Write a change of a level; by `yes_price` a bid for no is told as the ask it is for yes."""
    price = DOLLAR - delta.price if yes_price and not delta.yes else delta.price
    milliseconds = f',"ts_ms":{delta.at // MILLISECOND}' if stamped else ""
    return (
        f'{{"market_ticker":"{delta.ticker}","market_id":"{delta.market_id}"'
        f',"price_dollars":"{format_dollars(price)}","delta_fp":"{format_contracts(delta.size)}"'
        f',"side":"{_SIDES[delta.yes]}","ts":"{format_time(delta.at)}"{milliseconds}}}'
    ).encode()


def trade_body(trade: TradeEvent) -> bytes:
    """Write a trade."""
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
    """Write a market's summary; what it has not got is a zero, and an ask a whole dollar."""
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


def lifecycle_body(news: LifecycleEvent) -> bytes:
    """Write news of a market or an event."""
    return msgspec.json.encode(news.body)


def snapshot_body(market: Market, book: Book, *, yes_price: bool) -> bytes:
    """Write a whole book, the lowest price first; a side without bids is left out."""
    told: dict[str, object] = {"market_ticker": market.ticker, "market_id": market.market_id}
    if book.yes:
        told["yes_dollars_fp"] = format_levels(book.levels(yes=True))
    if book.no:
        levels = book.levels(yes=False)
        if yes_price:
            levels = [(DOLLAR - price, size) for price, size in reversed(levels)]
        told["no_dollars_fp"] = format_levels(levels)
    return msgspec.json.encode(told)


def format_levels(levels: Levels | Iterable[tuple[int, int]]) -> list[tuple[str, str]]:
    """Write levels as pairs of a price and a size."""
    return [(format_dollars(price), format_contracts(size)) for price, size in levels]


STREAM_FAULTS_PATH: Final = "/simulator/stream-faults"

FaultKind: TypeAlias = Literal[
    "drop", "duplicate", "reorder", "stall", "disconnect", "malformed", "error"
]
# An error with one of these codes ends a subscription; any other answers a command.
TERMINAL: Final = frozenset({10, 25})
_NEVER: Final = -1


class StreamFault(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One thing that goes wrong with data frames, or with commands for most errors.

    `share` is the part of frames that are hit, `times` ends it, None never. `channel` limits it to
    the subscriptions of one. `seconds` is the length of a stall; `code` is that of an error, or
    of the close a disconnect ends with: 0 cuts the connection without a word.
    """

    kind: FaultKind
    share: float = 1.0
    times: int | None = None
    channel: str | None = None
    seconds: float = 1.0
    code: int = 0


class FaultHit(msgspec.Struct, frozen=True, array_like=True):
    """A fault that happened: what, on which connection, and to which frame."""

    kind: FaultKind
    connection: int
    sid: int
    seq: int
    type: str


@dataclass
class StreamFaults:
    """The faults asked for at present, and a list of those that struck."""

    random: Random
    rules: list[StreamFault] = field(default_factory=list)
    struck: list[FaultHit] = field(default_factory=list)
    _left: list[int] = field(default_factory=list)

    def ask_for(self, *rules: StreamFault) -> None:
        """Let these faults happen from now on, in place of those before."""
        self.rules = [*rules]
        self._left = [_NEVER if rule.times is None else rule.times for rule in rules]

    def on_frame(self, channel: str) -> StreamFault | None:
        """Return the fault that hits a data frame now, None when all goes well."""
        for at, rule in enumerate(self.rules):
            for_commands = rule.kind == "error" and rule.code not in TERMINAL
            if not for_commands and rule.channel in {None, channel} and self._hits(at, rule):
                return rule
        return None

    def on_command(self) -> int | None:
        """Return the code of the error a command gets now, None when all goes well."""
        for at, rule in enumerate(self.rules):
            if rule.kind == "error" and rule.code not in TERMINAL and self._hits(at, rule):
                return rule.code
        return None

    def _hits(self, at: int, rule: StreamFault) -> bool:
        if self._left[at] == 0 or self.random.random() >= rule.share:
            return False
        self._left[at] -= self._left[at] > 0
        return True

    def garbled(self, payload: bytes) -> bytes:
        """Return something in place of a frame that no reader can use as it is."""
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
    """The socket under a connection."""

    def write(self, data: bytes) -> None:
        """Take frames to be sent; return at once."""
        ...

    def waiting_bytes(self) -> int:
        """Return how much the reader has not taken yet."""
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
            connection.out.append(encode_frame(payload))

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
    line: Transport
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
        self.out.append(encode_frame(msgspec.json.encode(told)))

    def send_faulty(self, subscription: Subscription, kind: str, payload: bytes) -> None:
        """Send a data frame, or let happen to it what is to go wrong."""
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
                self.out.append(encode_frame(self.faults.garbled(payload)))
            case "stall":
                self.out.append(encode_frame(payload))
                self.stalled_until = self.now + fault.seconds
            case "disconnect":
                self.out.append(encode_frame(payload))
                self.flush(self.now)
                self.ended = True
                self.line.close(fault.code)
            case "error":
                self.out.append(encode_frame(payload))
                self.terminal.append((subscription, fault.code))

    def _release(self) -> None:
        if self.held is not None:
            self.out.append(encode_frame(self.held))
            self.held = None

    def flush(self, now: float) -> None:
        """Hand over what waits, unless the reader is being kept waiting."""
        self.now = now
        if self.out and not self.ended and now >= self.stalled_until:
            self.line.write(b"".join(self.out))
            self.out.clear()


BOOK, TICKER, TRADE = "orderbook_delta", "ticker", "trade"
LIFECYCLE, COMBOS = "market_lifecycle_v2", "multivariate_market_lifecycle"


@dataclass
class _Listeners:
    """The subscriptions of one channel: to all markets, or to some."""

    to_all: list[Subscription] = field(default_factory=list)
    to_some: dict[str, list[Subscription]] = field(default_factory=dict)

    def of(self, ticker: str) -> Sequence[Subscription]:
        some = self.to_some.get(ticker)
        if some is None:
            return self.to_all
        return [*self.to_all, *some] if self.to_all else some


class Hub:
    """Tells connections what happens, each frame written once for all who hear it."""

    def __init__(self, floor: MarketSource, *, unstamped_every: int = 0) -> None:
        self._floor = floor
        self._unstamped_every = unstamped_every
        self._deltas = 0
        self._listeners: dict[str, _Listeners] = {}
        self.connections: dict[int, Connection] = {}

    @property
    def listening(self) -> bool:
        """Whether anybody listens to anything."""
        return any(connection.subscriptions for connection in self.connections.values())

    def listen(self, subscription: Subscription, tickers: Iterable[str] | None) -> None:
        """Let a subscription hear of these markets too, of all where that is None."""
        listeners = self._listeners.setdefault(subscription.channel, _Listeners())
        if tickers is None:
            listeners.to_all.append(subscription)
            return
        for ticker in tickers:
            listeners.to_some.setdefault(ticker, []).append(subscription)

    def ignore(self, subscription: Subscription, tickers: Iterable[str] | None) -> None:
        """Let a subscription hear no more of these markets, of none where that is None."""
        listeners = self._listeners[subscription.channel]
        if tickers is None:
            listeners.to_all.remove(subscription)
            return
        for ticker in tickers:
            listeners.to_some[ticker].remove(subscription)
            if not listeners.to_some[ticker]:
                del listeners.to_some[ticker]

    def end(self, subscription: Subscription) -> None:
        """End a subscription."""
        if subscription.connection.subscriptions.pop(subscription.sid, None) is not None:
            self.ignore(subscription, subscription.markets)

    def leave(self, connection: Connection) -> None:
        """Forget a connection and all it listened to."""
        connection.ended = True
        for subscription in [*connection.subscriptions.values()]:
            self.end(subscription)
        self.connections.pop(connection.number, None)

    def snapshot(self, subscription: Subscription, ticker: str, command_id: int | None) -> bool:
        """Send a market's whole book; answer whether there is such a market."""
        book = self._floor.book(ticker)
        return book is not None and self._whole(subscription, ticker, book, command_id)

    def _whole(
        self, subscription: Subscription, ticker: str, book: Book, command_id: int | None
    ) -> bool:
        market = self._floor.market(ticker)
        if market is None:
            return False
        body = snapshot_body(market, book, yes_price=subscription.yes_price)
        subscription.tell("orderbook_snapshot", body, command_id)
        return True

    def tell(self, events: Iterable[ExchangeEvent]) -> None:
        """Tell everyone who listens what happened; it goes out when they are flushed."""
        for event in events:
            if type(event) is DeltaEvent:
                self._delta(event)
            elif type(event) is TradeEvent:
                self._same(self._of(TRADE, event.ticker), "trade", event)
            elif type(event) is QuoteEvent:
                self._same(self._of(TICKER, event.ticker), "ticker", event)
            elif type(event) is LifecycleEvent:
                channel = COMBOS if event.multivariate else LIFECYCLE
                combo = event.multivariate and event.type == LIFECYCLE
                self._same(self._of(channel, ""), COMBOS if combo else event.type, event)
            elif type(event) is BookReplaced:
                book = Book.of(event.yes, event.no)
                for subscription in self._of(BOOK, event.ticker):
                    self._whole(subscription, event.ticker, book, None)

    def _of(self, channel: str, ticker: str) -> Sequence[Subscription]:
        listeners = self._listeners.get(channel)
        return () if listeners is None else listeners.of(ticker)

    def _delta(self, delta: DeltaEvent) -> None:
        self._deltas += 1
        every = self._unstamped_every
        stamped = not every or self._deltas % every != 0
        plain = turned = b""
        for subscription in self._of(BOOK, delta.ticker):
            if subscription.yes_price:
                turned = turned or delta_body(delta, yes_price=True, stamped=stamped)
                subscription.tell(BOOK, turned)
            else:
                plain = plain or delta_body(delta, yes_price=False, stamped=stamped)
                subscription.tell(BOOK, plain)

    @staticmethod
    def _same(
        listeners: Sequence[Subscription],
        kind: str,
        event: TradeEvent | QuoteEvent | LifecycleEvent,
    ) -> None:
        if not listeners:
            return
        if isinstance(event, TradeEvent):
            body = trade_body(event)
        elif isinstance(event, QuoteEvent):
            body = quote_body(event)
        else:
            body = lifecycle_body(event)
        for subscription in listeners:
            subscription.tell(kind, body)


TRANSPORT_EXTENSION: Final = "grandstand.line"
_HEARTBEAT: Final = b"heartbeat"


class StreamProtocol(WebSocketsSansIOProtocol):
    """Hands the application its own line, and pings as the exchange does."""

    def handle_connect(self, event: Any) -> None:  # noqa: ANN401 - a type of another library
        """Begin, with the line among what the application is told."""
        super().handle_connect(event)
        if self.response.status_code == 101:
            self.scope["extensions"][TRANSPORT_EXTENSION] = {"line": _TransportLine(self)}

    def send_keepalive_ping(self) -> None:
        """Ping with the exchange's word in place of a random one."""
        self.ping_timer = None
        if self.close_sent or self.transport.is_closing():
            return
        self.pending_ping_payload = _HEARTBEAT
        self.ping_sent_at = self.loop.time()
        self.conn.send_ping(_HEARTBEAT)
        self.transport.write(b"".join(self.conn.data_to_send()))
        if self.ping_timeout is not None:
            self.pong_timer = self.loop.call_later(self.ping_timeout, self.keepalive_timeout)


class _TransportLine:
    """Writes frames that are made already; there is no compression they would have to go by."""

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
