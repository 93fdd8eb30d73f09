"""Decodes WebSocket frames into messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

from msgspec import MsgspecError, ValidationError, convert
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
from grandstand.apps.gatherer.sources.kalshi import ws_schema
from grandstand.apps.gatherer.sources.kalshi.ws_schema import DeltaFrame

T = TypeVar("T")

_SECOND_US: Final = 1_000_000
_MAX_CACHED: Final = 262_144
_MAX_REASON_CHARS: Final = 300
_UNREADABLE: Final = (MsgspecError, UnicodeError, RecursionError)
_INVALID: Final = (*_UNREADABLE, InvalidNumber)
_TIME_FIELDS: Final[dict[str, object]] = {
    "ts": ws_schema.Seconds | ws_schema.AwareTime | None,
    "time": ws_schema.AwareTime | None,
    "ts_ms": ws_schema.Milliseconds | None,
}
_EVENT_KINDS: Final = {
    ws_schema.EventFrame: "event_lifecycle",
    ws_schema.FeeFrame: "event_fee_update",
}


class FrameDecoder:
    """Decodes frames; numbers and tickers seen before are cached, up to a limit."""

    def __init__(self) -> None:
        self._decode = Decoder(ws_schema.Frame).decode
        self._decode_lifecycle = Decoder(ws_schema.LifecycleBody).decode
        self._prices = price_table()
        self._sizes: dict[str, int] = {}
        self._tickers: dict[str, str] = {}
        self._converters: dict[type[Any], Callable[[Any], Message]] = {
            ws_schema.DeltaFrame: self._delta,
            ws_schema.SnapshotFrame: self._snapshot,
            ws_schema.TradeFrame: self._trade,
            ws_schema.TickerFrame: self._ticker,
            ws_schema.LifecycleFrame: self._lifecycle,
            ws_schema.MultivariateLifecycleFrame: self._lifecycle,
            ws_schema.EventFrame: _event,
            ws_schema.FeeFrame: _event,
            ws_schema.SubscribedFrame: _subscribed,
            ws_schema.OkFrame: self._ok,
            ws_schema.UnsubscribedFrame: _unsubscribed,
            ws_schema.ErrorFrame: _error,
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
        if kind not in ws_schema.KINDS:
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

    def _delta(self, frame: ws_schema.DeltaFrame) -> DeltaMessage:
        body = frame.msg
        return DeltaMessage(
            sid=frame.sid,
            seq=frame.seq,
            ticker=self._ticker_name(body.market_ticker),
            side=body.side == "yes",
            price=self._price(body.price_dollars),
            size_delta=self._size(body.delta_fp),
            ts_ms=body.ts_ms,
            ts=body.ts,
        )

    def _snapshot(self, frame: ws_schema.SnapshotFrame) -> SnapshotMessage:
        body = frame.msg
        return SnapshotMessage(
            sid=frame.sid,
            seq=frame.seq,
            ticker=self._ticker_name(body.market_ticker),
            yes=self._levels(body.yes_dollars_fp),
            no=self._levels(body.no_dollars_fp),
            id=frame.id,
        )

    def _trade(self, frame: ws_schema.TradeFrame) -> TradeMessage:
        body = frame.msg
        return TradeMessage(
            sid=frame.sid,
            seq=frame.seq,
            trade_id=body.trade_id,
            ticker=self._ticker_name(body.market_ticker),
            price=self._price(body.yes_price_dollars),
            size=require_non_negative(self._size(body.count_fp)),
            taker_side=ws_schema.taker_is_yes(
                body.taker_outcome_side, body.taker_book_side, body.taker_side
            ),
            is_block=body.is_block_trade,
            exchange_ts=exchange_time_us(body.ts_ms, body.ts),
        )

    def _ticker(self, frame: ws_schema.TickerFrame) -> TickerMessage:
        body = frame.msg
        return TickerMessage(
            sid=frame.sid,
            seq=frame.seq,
            ticker=self._ticker_name(body.market_ticker),
            yes_bid=self._price_or_none(body.yes_bid_dollars),
            yes_ask=self._price_or_none(body.yes_ask_dollars),
            last_price=self._price_or_none(body.price_dollars),
            volume=None if body.volume_fp is None else self._size(body.volume_fp),
            open_interest=(
                None if body.open_interest_fp is None else self._size(body.open_interest_fp)
            ),
            dollar_volume=body.dollar_volume,
            dollar_open_interest=body.dollar_open_interest,
            exchange_ts=exchange_time_us(body.ts_ms, body.time if body.ts is None else body.ts),
        )

    def _lifecycle(self, frame: ws_schema.LifecycleFrame) -> LifecycleMessage:
        body = self._decode_lifecycle(frame.msg)
        more = body.additional_metadata or ws_schema.LifecycleMetadata()
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
            settlement_value=_optional_price(body.settlement_value),
            is_deactivated=body.is_deactivated,
            event_ticker=more.event_ticker,
            title=more.title,
        )

    def _ok(self, frame: ws_schema.OkFrame) -> OkReply:
        tickers: tuple[str, ...] | None = None
        subscriptions: tuple[tuple[str, int], ...] = ()
        if isinstance(frame.msg, ws_schema.OkBody) and frame.msg.market_tickers is not None:
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

    def _price_or_none(self, text: str | None) -> int | None:
        return self._price(text) if text else None

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


def _event(frame: ws_schema.EventFrame) -> EventMessage:
    body = decode(frame.msg, type=ws_schema.EventBody)
    return EventMessage(
        sid=frame.sid,
        seq=frame.seq,
        kind=_EVENT_KINDS[type(frame)],
        event_ticker=body.event_ticker,
        raw=_as_json_text(frame.msg),
        series_ticker=body.series_ticker,
        title=body.title,
        subtitle=body.subtitle,
    )


def _subscribed(frame: ws_schema.SubscribedFrame) -> SubscribedReply:
    return SubscribedReply(frame.id, frame.msg.channel, frame.msg.sid, frame.seq)


def _unsubscribed(frame: ws_schema.UnsubscribedFrame) -> UnsubscribedReply:
    return UnsubscribedReply(frame.id, frame.sid, frame.seq)


def _error(frame: ws_schema.ErrorFrame) -> ErrorMessage:
    return ErrorMessage(frame.id, frame.sid, frame.seq, frame.msg.code, frame.msg.msg)


def _microseconds(seconds: int | None) -> int | None:
    return None if seconds is None else seconds * _SECOND_US


def _optional_price(text: str | None) -> int | None:
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
        return convert(value, ws_schema.Number)
    except ValidationError:
        return None


def _reason(error: Exception) -> str:
    return str(error)[:_MAX_REASON_CHARS] or type(error).__name__
