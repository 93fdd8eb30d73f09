"""Kept here: turning one frame of the exchange's stream into a message, exactly or not at all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

from msgspec import MsgspecError, ValidationError, convert
from msgspec.json import Decoder, decode, encode

from grandstand.apps.gatherer.model.errors import NumberRefused
from grandstand.apps.gatherer.model.messages import (
    Delta,
    ErrorTold,
    EventTold,
    Levels,
    Lifecycle,
    Message,
    Ok,
    Refused,
    Snapshot,
    Subscribed,
    TickerTold,
    TradeTold,
    Unknown,
    Unsubscribed,
    instant,
)
from grandstand.apps.gatherer.model.numbers import (
    four_decimals,
    not_negative,
    parse_price,
    parse_size,
)
from grandstand.apps.gatherer.sources.kalshi import shapes
from grandstand.apps.gatherer.sources.kalshi.shapes import DeltaFrame

T = TypeVar("T")

_SECOND: Final = 1_000_000
_MOST_REMEMBERED: Final = 262_144
_LONGEST_REASON: Final = 300
_UNREADABLE: Final = (MsgspecError, UnicodeError, RecursionError)
_NOT_TAKEN: Final = (*_UNREADABLE, NumberRefused)
_TIMES: Final[dict[str, object]] = {
    "ts": shapes.Seconds | shapes.Moment | None,
    "time": shapes.Moment | None,
    "ts_ms": shapes.Milliseconds | None,
}
_EVENT_KINDS: Final = {
    shapes.EventFrame: "event_lifecycle",
    shapes.FeeFrame: "event_fee_update",
}


class FrameDecoder:
    """Reads frames; texts of numbers and tickers seen before are remembered, up to a limit."""

    def __init__(self) -> None:
        self._decode = Decoder(shapes.Frame).decode
        self._said = Decoder(shapes.LifecycleSaid).decode
        self._prices = four_decimals()
        self._sizes: dict[str, int] = {}
        self._tickers: dict[str, str] = {}
        self._ways: dict[type[Any], Callable[[Any], Message]] = {
            shapes.DeltaFrame: self._delta,
            shapes.SnapshotFrame: self._snapshot,
            shapes.TradeFrame: self._trade,
            shapes.TickerFrame: self._ticker,
            shapes.LifecycleFrame: self._lifecycle,
            shapes.ManyLifecycleFrame: self._lifecycle,
            shapes.EventFrame: _event,
            shapes.FeeFrame: _event,
            shapes.SubscribedFrame: _subscribed,
            shapes.OkFrame: self._ok,
            shapes.UnsubscribedFrame: _unsubscribed,
            shapes.ErrorFrame: _error,
        }

    def parse(self, raw: bytes | str) -> Message:
        """Answer what a frame means; never raises.

        Unknown fields are passed over. A frame of an unknown kind is Unknown; one that is not
        JSON, lacks a field, or has a number we cannot keep exactly is Refused.
        """
        try:
            frame = self._decode(raw)
            if type(frame) is not DeltaFrame:
                return self._ways[type(frame)](frame)
            said = frame.msg
            return Delta(
                frame.sid,
                frame.seq,
                self._tickers[said.market_ticker],
                said.side == "yes",
                self._prices[said.price_dollars],
                self._sizes[said.delta_fp],
                said.ts_ms,
                said.ts,
            )
        except KeyError:
            return self._first(raw)
        except _NOT_TAKEN as fault:
            return self._again(raw, fault)

    def _first(self, raw: bytes | str) -> Message:
        try:
            frame = self._decode(raw)
            return self._ways[type(frame)](frame)
        except _NOT_TAKEN as fault:
            return self._again(raw, fault)

    def _again(self, raw: bytes | str, fault: Exception) -> Message:
        try:
            loose = decode(raw)
        except _UNREADABLE as unreadable:
            return Refused(_reason(unreadable))
        if not isinstance(loose, dict):
            return Refused("A frame must be a JSON object.")
        kind = loose.get("type")
        sid, seq = _number(loose.get("sid")), _number(loose.get("seq"))
        if not isinstance(kind, str):
            return Refused("The frame has no type.", "", sid, seq)
        if kind not in shapes.KINDS:
            return Unknown(kind[:_LONGEST_REASON], sid, seq)
        said = loose.get("msg")
        if not isinstance(said, dict):
            return Refused(_reason(fault), kind, sid, seq)
        timeless = _without_bad_times(said)
        if timeless != said:
            return self.parse(encode(loose | {"msg": timeless}))
        ticker = said.get("market_ticker")
        return Refused(_reason(fault), kind, sid, seq, ticker if isinstance(ticker, str) else None)

    def _delta(self, frame: shapes.DeltaFrame) -> Delta:
        said = frame.msg
        return Delta(
            sid=frame.sid,
            seq=frame.seq,
            ticker=self._name(said.market_ticker),
            side=said.side == "yes",
            price=self._price(said.price_dollars),
            size_delta=self._size(said.delta_fp),
            ts_ms=said.ts_ms,
            ts=said.ts,
        )

    def _snapshot(self, frame: shapes.SnapshotFrame) -> Snapshot:
        said = frame.msg
        return Snapshot(
            sid=frame.sid,
            seq=frame.seq,
            ticker=self._name(said.market_ticker),
            yes=self._levels(said.yes_dollars_fp),
            no=self._levels(said.no_dollars_fp),
            id=frame.id,
        )

    def _trade(self, frame: shapes.TradeFrame) -> TradeTold:
        said = frame.msg
        return TradeTold(
            sid=frame.sid,
            seq=frame.seq,
            trade_id=said.trade_id,
            ticker=self._name(said.market_ticker),
            price=self._price(said.yes_price_dollars),
            size=not_negative(self._size(said.count_fp)),
            taker_side=shapes.taker_is_yes(
                said.taker_outcome_side, said.taker_book_side, said.taker_side
            ),
            is_block=said.is_block_trade,
            exchange_ts=instant(said.ts_ms, said.ts),
        )

    def _ticker(self, frame: shapes.TickerFrame) -> TickerTold:
        said = frame.msg
        return TickerTold(
            sid=frame.sid,
            seq=frame.seq,
            ticker=self._name(said.market_ticker),
            yes_bid=self._price_or_none(said.yes_bid_dollars),
            yes_ask=self._price_or_none(said.yes_ask_dollars),
            last_price=self._price_or_none(said.price_dollars),
            volume=None if said.volume_fp is None else self._size(said.volume_fp),
            open_interest=(
                None if said.open_interest_fp is None else self._size(said.open_interest_fp)
            ),
            dollar_volume=said.dollar_volume,
            dollar_open_interest=said.dollar_open_interest,
            exchange_ts=instant(said.ts_ms, said.time if said.ts is None else said.ts),
        )

    def _lifecycle(self, frame: shapes.LifecycleFrame) -> Lifecycle:
        said = self._said(frame.msg)
        more = said.additional_metadata or shapes.MoreSaid()
        return Lifecycle(
            sid=frame.sid,
            seq=frame.seq,
            ticker=self._name(said.market_ticker),
            event_type=said.event_type,
            said=_journalled(frame.msg),
            open_ts=_microseconds(said.open_ts),
            close_ts=_microseconds(said.close_ts),
            determination_ts=_microseconds(said.determination_ts),
            settled_ts=_microseconds(said.settled_ts),
            result=said.result,
            settlement_value=_price_told(said.settlement_value),
            is_deactivated=said.is_deactivated,
            event_ticker=more.event_ticker,
            title=more.title,
        )

    def _ok(self, frame: shapes.OkFrame) -> Ok:
        tickers: tuple[str, ...] | None = None
        granted: tuple[tuple[str, int], ...] = ()
        if isinstance(frame.msg, shapes.Markets) and frame.msg.market_tickers is not None:
            tickers = tuple(self._name(each) for each in frame.msg.market_tickers)
        elif isinstance(frame.msg, list):
            granted = tuple((each.channel, each.sid) for each in frame.msg)
        return Ok(frame.id, frame.sid, frame.seq, tickers, granted)

    def _levels(self, told: list[tuple[str, str]]) -> Levels:
        levels = tuple((self._price(price), not_negative(self._size(size))) for price, size in told)
        if len(dict(levels)) != len(levels):
            raise ValidationError("A price occurs twice on one side of a book.")
        return levels

    def _price(self, text: str) -> int:
        price = self._prices.get(text)
        return _remember(self._prices, text, parse_price(text)) if price is None else price

    def _price_or_none(self, text: str | None) -> int | None:
        return self._price(text) if text else None

    def _size(self, text: str) -> int:
        size = self._sizes.get(text)
        return _remember(self._sizes, text, parse_size(text)) if size is None else size

    def _name(self, text: str) -> str:
        name = self._tickers.get(text)
        if name is not None:
            return name
        if not (text.isascii() and text.isprintable()):
            raise ValidationError(f"{text[:40]!r} is not a ticker.")
        return _remember(self._tickers, text, text)


def _event(frame: shapes.EventFrame) -> EventTold:
    said = decode(frame.msg, type=shapes.EventSaid)
    return EventTold(
        sid=frame.sid,
        seq=frame.seq,
        kind=_EVENT_KINDS[type(frame)],
        event_ticker=said.event_ticker,
        said=_journalled(frame.msg),
        series_ticker=said.series_ticker,
        title=said.title,
        subtitle=said.subtitle,
    )


def _subscribed(frame: shapes.SubscribedFrame) -> Subscribed:
    return Subscribed(frame.id, frame.msg.channel, frame.msg.sid, frame.seq)


def _unsubscribed(frame: shapes.UnsubscribedFrame) -> Unsubscribed:
    return Unsubscribed(frame.id, frame.sid, frame.seq)


def _error(frame: shapes.ErrorFrame) -> ErrorTold:
    return ErrorTold(frame.id, frame.sid, frame.seq, frame.msg.code, frame.msg.msg)


def _microseconds(seconds: int | None) -> int | None:
    return None if seconds is None else seconds * _SECOND


def _price_told(text: str | None) -> int | None:
    try:
        return parse_price(text) if text else None
    except NumberRefused:
        return None


def _journalled(said: bytes | memoryview) -> str:
    text = encode(decode(said)).decode()
    # PostgreSQL keeps no NUL in JSON or text.
    if "\\u0000" in text:
        raise ValidationError("A text holds a NUL character.")
    return text


def _remember(known: dict[str, T], text: str, value: T) -> T:
    if len(known) < _MOST_REMEMBERED:
        known[text] = value
    return value


def _without_bad_times(said: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value
        for name, value in said.items()
        if name not in _TIMES or _is_time(value, _TIMES[name])
    }


def _is_time(value: object, kind: object) -> bool:
    try:
        convert(value, kind)
    except ValidationError:
        return False
    return True


def _number(value: object) -> int | None:
    try:
        return convert(value, shapes.Number)
    except ValidationError:
        return None


def _reason(fault: Exception) -> str:
    return str(fault)[:_LONGEST_REASON] or type(fault).__name__
