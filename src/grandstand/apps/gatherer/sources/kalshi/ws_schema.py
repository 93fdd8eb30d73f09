"""Wire format of the WebSocket frames."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Final, Literal, TypeAlias
from uuid import UUID

from msgspec import Meta, Raw, Struct, ValidationError, field

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

KINDS: Final = frozenset(
    {
        "orderbook_delta",
        "orderbook_snapshot",
        "trade",
        "ticker",
        "market_lifecycle_v2",
        "multivariate_market_lifecycle",
        "event_lifecycle",
        "event_fee_update",
        "subscribed",
        "ok",
        "unsubscribed",
        "error",
    }
)
