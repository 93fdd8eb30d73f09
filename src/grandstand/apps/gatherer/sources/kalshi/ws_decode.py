"""WebSocket frames: their wire format, and decoding into messages."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any, Final, Literal, TypeAlias, TypeVar, get_args
from uuid import UUID

from msgspec import Meta, MsgspecError, Raw, Struct, ValidationError, convert, field
from msgspec.json import Decoder, decode, encode

from grandstand.apps.gatherer.domain.messages import (
    DeltaMessage,
    ErrorMessage,
    EventMessage,
    InvalidMessage,
    Levels,
    LifecycleMessage,
    Message,
    OkReply,
    SnapshotMessage,
    SubscribedReply,
    TickerMessage,
    TradeMessage,
    UnknownMessage,
    UnsubscribedReply,
    exchange_time_us,
)
from grandstand.apps.gatherer.domain.order_book import (
    InvalidNumber,
    parse_price,
    parse_size,
    price_table,
    require_non_negative,
)

# Unused fields are not declared, and so are skipped without being decoded.

Side: TypeAlias = Literal["yes", "no"]
Number: TypeAlias = Annotated[int, Meta(ge=0, le=2**53)]
Integer: TypeAlias = Annotated[int, Meta(ge=-(2**62), le=2**62)]
Seconds: TypeAlias = Annotated[int, Meta(ge=0, le=2**42)]
Milliseconds: TypeAlias = Annotated[int, Meta(ge=0, le=2**52)]
AwareTime: TypeAlias = Annotated[datetime, Meta(tz=True)]
Name: TypeAlias = Annotated[str, Meta(min_length=1, max_length=200)]


_TAKER_SIDES: Final = {"yes": True, "no": False, "bid": True, "ask": False}


def taker_is_yes(outcome_side: str | None, book_side: str | None, side: str | None) -> bool:
    """Return whether the taker bought yes, from the newest of three field names.

    Raises msgspec.ValidationError if none is set.
    """
    taker = outcome_side or book_side or side
    if taker not in _TAKER_SIDES:
        raise ValidationError(f"The taker's side is {taker!r}.")
    return _TAKER_SIDES[taker]


class DeltaBody(Struct, gc=False):
    """The `msg` of an orderbook_delta; microseconds are only in `ts`, which may be removed."""

    market_ticker: Name
    price_dollars: str
    delta_fp: str
    side: Side
    ts: Seconds | AwareTime | None = None
    ts_ms: Milliseconds | None = None


class DeltaFrame(Struct, tag_field="type", tag="orderbook_delta", gc=False):
    """One price level changed."""

    sid: Number
    seq: Number
    msg: DeltaBody


class SnapshotBody(Struct):
    """The `msg` of an orderbook_snapshot; an empty side is left out."""

    market_ticker: Name
    yes_dollars_fp: list[tuple[str, str]] = field(default_factory=list)
    no_dollars_fp: list[tuple[str, str]] = field(default_factory=list)


class SnapshotFrame(Struct, tag_field="type", tag="orderbook_snapshot"):
    """A whole book."""

    sid: Number
    seq: Number
    msg: SnapshotBody
    id: Number | None = None


class TradeBody(Struct):
    """The `msg` of a trade; the taker's side has three names, the newest first."""

    trade_id: UUID
    market_ticker: Name
    yes_price_dollars: str
    count_fp: str
    taker_outcome_side: str | None = None
    taker_book_side: str | None = None
    taker_side: str | None = None
    is_block_trade: bool = False
    ts_ms: Milliseconds | None = None
    ts: Seconds | AwareTime | None = None


class TradeFrame(Struct, tag_field="type", tag="trade"):
    """A trade."""

    sid: Number
    msg: TradeBody
    seq: Number | None = None


class TickerBody(Struct):
    """The `msg` of a ticker."""

    market_ticker: Name
    price_dollars: str | None = None
    yes_bid_dollars: str | None = None
    yes_ask_dollars: str | None = None
    volume_fp: str | None = None
    open_interest_fp: str | None = None
    dollar_volume: Integer | None = None
    dollar_open_interest: Integer | None = None
    ts_ms: Milliseconds | None = None
    ts: Seconds | AwareTime | None = None
    time: AwareTime | None = None


class TickerFrame(Struct, tag_field="type", tag="ticker"):
    """A ticker; without sequence number."""

    sid: Number
    msg: TickerBody
    seq: Number | None = None


class LifecycleMetadata(Struct):
    """The used fields of `additional_metadata` of a new market."""

    event_ticker: str | None = None
    title: str | None = None


class LifecycleBody(Struct):
    """The `msg` of market_lifecycle_v2; times are whole seconds."""

    event_type: str
    market_ticker: Name
    open_ts: Seconds | None = None
    close_ts: Seconds | None = None
    determination_ts: Seconds | None = None
    settled_ts: Seconds | None = None
    result: str | None = None
    settlement_value: str | None = None
    is_deactivated: bool | None = None
    additional_metadata: LifecycleMetadata | None = None


class LifecycleFrame(Struct, tag_field="type", tag="market_lifecycle_v2"):
    """A lifecycle event of a market; its `msg` is kept as received."""

    sid: Number
    msg: Raw
    seq: Number | None = None


class MultivariateLifecycleFrame(
    LifecycleFrame, tag_field="type", tag="multivariate_market_lifecycle"
):
    """A lifecycle event of a multivariate market."""


class EventBody(Struct):
    """The `msg` of event_lifecycle and event_fee_update."""

    event_ticker: Name
    series_ticker: str | None = None
    title: str | None = None
    subtitle: str | None = None


class EventFrame(Struct, tag_field="type", tag="event_lifecycle"):
    """A lifecycle event of an event; its `msg` is kept as received."""

    sid: Number
    msg: Raw
    seq: Number | None = None


class FeeFrame(EventFrame, tag_field="type", tag="event_fee_update"):
    """The fees of an event changed."""


class SubscribedBody(Struct):
    """A channel and its sid."""

    channel: str
    sid: Number


class SubscribedFrame(Struct, tag_field="type", tag="subscribed"):
    """A new subscription."""

    msg: SubscribedBody
    id: Number | None = None
    sid: Number | None = None
    seq: Number | None = None


class OkBody(Struct):
    """The markets of a subscription after a change; absent in a short acknowledgement."""

    market_tickers: list[str] | None = None


class OkFrame(Struct, tag_field="type", tag="ok"):
    """A command succeeded; for a list of subscriptions `msg` is an array."""

    id: Number | None = None
    sid: Number | None = None
    seq: Number | None = None
    msg: list[SubscribedBody] | OkBody | None = None


class UnsubscribedFrame(Struct, tag_field="type", tag="unsubscribed"):
    """A subscription ended."""

    sid: Number
    id: Number | None = None
    seq: Number | None = None


class ErrorBody(Struct):
    """The `msg` of an error."""

    code: int
    msg: str = ""


class ErrorFrame(Struct, tag_field="type", tag="error"):
    """A command was rejected, or a subscription ended."""

    msg: ErrorBody
    id: Number | None = None
    sid: Number | None = None
    seq: Number | None = None


Frame: TypeAlias = (
    DeltaFrame
    | SnapshotFrame
    | TradeFrame
    | TickerFrame
    | LifecycleFrame
    | MultivariateLifecycleFrame
    | EventFrame
    | FeeFrame
    | SubscribedFrame
    | OkFrame
    | UnsubscribedFrame
    | ErrorFrame
)

KINDS: Final = frozenset(frame.__struct_config__.tag for frame in get_args(Frame))

T = TypeVar("T")

_MAX_CACHED: Final = 262_144
_MAX_REASON_CHARS: Final = 300
_UNREADABLE: Final = (MsgspecError, UnicodeError, RecursionError)
_INVALID: Final = (*_UNREADABLE, InvalidNumber)
_TIME_FIELDS: Final[dict[str, object]] = {
    "ts": Seconds | AwareTime | None,
    "time": AwareTime | None,
    "ts_ms": Milliseconds | None,
}


class FrameDecoder:
    """Decodes frames; numbers and tickers seen before are cached, up to a limit."""

    def __init__(self) -> None:
        self._decode = Decoder(Frame).decode
        self._decode_lifecycle = Decoder(LifecycleBody).decode
        self._prices = price_table()
        self._sizes: dict[str, int] = {}
        self._tickers: dict[str, str] = {}
        self._converters: dict[type[Any], Callable[[Any], Message]] = {
            DeltaFrame: self._delta,
            SnapshotFrame: self._snapshot,
            TradeFrame: self._trade,
            TickerFrame: self._ticker,
            LifecycleFrame: self._lifecycle,
            MultivariateLifecycleFrame: self._lifecycle,
            EventFrame: _event,
            FeeFrame: _event,
            SubscribedFrame: lambda frame: SubscribedReply(
                frame.id, frame.msg.channel, frame.msg.sid, frame.seq
            ),
            OkFrame: self._ok,
            UnsubscribedFrame: lambda frame: UnsubscribedReply(frame.id, frame.sid, frame.seq),
            ErrorFrame: lambda frame: ErrorMessage(
                frame.id, frame.sid, frame.seq, frame.msg.code, frame.msg.msg
            ),
        }

    def parse(self, raw: bytes | str) -> Message:
        """Decode a frame; never raises.

        A frame of an unknown type becomes an UnknownMessage; one that is not JSON, lacks a field or
        has a number that cannot be stored exactly becomes an InvalidMessage.
        """
        try:
            frame = self._decode(raw)
            if type(frame) is not DeltaFrame:
                return self._converters[type(frame)](frame)
            body = frame.msg
            return DeltaMessage(
                frame.sid,
                frame.seq,
                self._tickers[body.market_ticker],
                body.side == "yes",
                self._prices[body.price_dollars],
                self._sizes[body.delta_fp],
                body.ts_ms,
                body.ts,
            )
        except KeyError:
            return self._convert(raw)
        except _INVALID as error:
            return self._explain(raw, error)

    def _convert(self, raw: bytes | str) -> Message:
        try:
            frame = self._decode(raw)
            return self._converters[type(frame)](frame)
        except _INVALID as error:
            return self._explain(raw, error)

    def _explain(self, raw: bytes | str, error: Exception) -> Message:
        try:
            fields = decode(raw)
        except _UNREADABLE as unreadable:
            return InvalidMessage(_reason(unreadable))
        if not isinstance(fields, dict):
            return InvalidMessage("A frame must be a JSON object.")
        kind = fields.get("type")
        sid, seq = _number(fields.get("sid")), _number(fields.get("seq"))
        if not isinstance(kind, str):
            return InvalidMessage("The frame has no type.", "", sid, seq)
        if kind not in KINDS:
            return UnknownMessage(kind[:_MAX_REASON_CHARS], sid, seq)
        body = fields.get("msg")
        if not isinstance(body, dict):
            return InvalidMessage(_reason(error), kind, sid, seq)
        valid = _without_bad_times(body)
        if valid != body:
            return self.parse(encode(fields | {"msg": valid}))
        ticker = body.get("market_ticker")
        return InvalidMessage(
            _reason(error), kind, sid, seq, ticker if isinstance(ticker, str) else None
        )

    def _delta(self, frame: DeltaFrame) -> DeltaMessage:
        body = frame.msg
        ticker, side = self._ticker_name(body.market_ticker), body.side == "yes"
        price, size = self._price(body.price_dollars), self._size(body.delta_fp)
        return DeltaMessage(frame.sid, frame.seq, ticker, side, price, size, body.ts_ms, body.ts)

    def _snapshot(self, frame: SnapshotFrame) -> SnapshotMessage:
        body = frame.msg
        return SnapshotMessage(
            sid=frame.sid,
            seq=frame.seq,
            ticker=self._ticker_name(body.market_ticker),
            yes=self._levels(body.yes_dollars_fp),
            no=self._levels(body.no_dollars_fp),
            id=frame.id,
        )

    def _trade(self, frame: TradeFrame) -> TradeMessage:
        body = frame.msg
        return TradeMessage(
            sid=frame.sid,
            seq=frame.seq,
            trade_id=body.trade_id,
            ticker=self._ticker_name(body.market_ticker),
            price=self._price(body.yes_price_dollars),
            size=require_non_negative(self._size(body.count_fp)),
            taker_side=taker_is_yes(body.taker_outcome_side, body.taker_book_side, body.taker_side),
            is_block=body.is_block_trade,
            exchange_ts=exchange_time_us(body.ts_ms, body.ts),
        )

    def _ticker(self, frame: TickerFrame) -> TickerMessage:
        body = frame.msg
        return TickerMessage(
            sid=frame.sid,
            seq=frame.seq,
            ticker=self._ticker_name(body.market_ticker),
            yes_bid=self._optional_price(body.yes_bid_dollars),
            yes_ask=self._optional_price(body.yes_ask_dollars),
            last_price=self._optional_price(body.price_dollars),
            volume=self._optional_size(body.volume_fp),
            open_interest=self._optional_size(body.open_interest_fp),
            dollar_volume=body.dollar_volume,
            dollar_open_interest=body.dollar_open_interest,
            exchange_ts=exchange_time_us(body.ts_ms, body.time if body.ts is None else body.ts),
        )

    def _lifecycle(self, frame: LifecycleFrame) -> LifecycleMessage:
        body = self._decode_lifecycle(frame.msg)
        more = body.additional_metadata or LifecycleMetadata()
        return LifecycleMessage(
            sid=frame.sid,
            seq=frame.seq,
            ticker=self._ticker_name(body.market_ticker),
            event_type=body.event_type,
            raw=_as_json_text(frame.msg),
            open_ts=_microseconds(body.open_ts),
            close_ts=_microseconds(body.close_ts),
            determination_ts=_microseconds(body.determination_ts),
            settled_ts=_microseconds(body.settled_ts),
            result=body.result,
            settlement_value=_price_or_none(body.settlement_value),
            is_deactivated=body.is_deactivated,
            event_ticker=more.event_ticker,
            title=more.title,
        )

    def _ok(self, frame: OkFrame) -> OkReply:
        tickers: tuple[str, ...] | None = None
        subscriptions: tuple[tuple[str, int], ...] = ()
        if isinstance(frame.msg, OkBody) and frame.msg.market_tickers is not None:
            tickers = tuple(self._ticker_name(ticker) for ticker in frame.msg.market_tickers)
        elif isinstance(frame.msg, list):
            subscriptions = tuple((body.channel, body.sid) for body in frame.msg)
        return OkReply(frame.id, frame.sid, frame.seq, tickers, subscriptions)

    def _levels(self, pairs: list[tuple[str, str]]) -> Levels:
        levels = tuple(
            (self._price(price), require_non_negative(self._size(size))) for price, size in pairs
        )
        if len(dict(levels)) != len(levels):
            raise ValidationError("A price occurs twice on one side of a book.")
        return levels

    def _price(self, text: str) -> int:
        price = self._prices.get(text)
        return _cache(self._prices, text, parse_price(text)) if price is None else price

    def _optional_price(self, text: str | None) -> int | None:
        return self._price(text) if text else None

    def _optional_size(self, text: str | None) -> int | None:
        return None if text is None else self._size(text)

    def _size(self, text: str) -> int:
        size = self._sizes.get(text)
        return _cache(self._sizes, text, parse_size(text)) if size is None else size

    def _ticker_name(self, text: str) -> str:
        name = self._tickers.get(text)
        if name is not None:
            return name
        if not (text.isascii() and text.isprintable()):
            raise ValidationError(f"{text[:40]!r} is not a ticker.")
        return _cache(self._tickers, text, text)


def _event(frame: EventFrame) -> EventMessage:
    body = decode(frame.msg, type=EventBody)
    return EventMessage(
        sid=frame.sid,
        seq=frame.seq,
        kind=str(frame.__struct_config__.tag),
        event_ticker=body.event_ticker,
        raw=_as_json_text(frame.msg),
        series_ticker=body.series_ticker,
        title=body.title,
        subtitle=body.subtitle,
    )


def _microseconds(seconds: int | None) -> int | None:
    return None if seconds is None else seconds * 1_000_000


def _price_or_none(text: str | None) -> int | None:
    try:
        return parse_price(text) if text else None
    except InvalidNumber:
        return None


def _as_json_text(body: bytes | memoryview) -> str:
    text = encode(decode(body)).decode()
    # PostgreSQL stores no NUL in JSON or text.
    if "\\u0000" in text:
        raise ValidationError("A text contains a NUL character.")
    return text


def _cache(known: dict[str, T], text: str, value: T) -> T:
    if len(known) < _MAX_CACHED:
        known[text] = value
    return value


def _without_bad_times(body: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value
        for name, value in body.items()
        if name not in _TIME_FIELDS or _is_time(value, _TIME_FIELDS[name])
    }


def _is_time(value: object, kind: object) -> bool:
    try:
        convert(value, kind)
    except ValidationError:
        return False
    return True


def _number(value: object) -> int | None:
    try:
        return convert(value, Number)
    except ValidationError:
        return None


def _reason(error: Exception) -> str:
    return str(error)[:_MAX_REASON_CHARS] or type(error).__name__
