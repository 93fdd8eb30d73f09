"""Messages of the exchange's stream, with exact integers."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated, Final, TypeAlias
from uuid import UUID

from msgspec import Struct
from pydantic import PlainSerializer

# Prices are hundred-thousandths of a dollar, sizes hundredths of a contract, times microseconds
# since 1970. `side` and `taker_side` are True for yes. `exchange_ts` is None if the frame has no
# usable time. Structs are created in a third of the time of a dataclass.

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

Levels: TypeAlias = tuple[tuple[int, int], ...]
"""Price and size of each level, in no particular order."""


class DeltaMessage(Struct, frozen=True, gc=False):
    """A change of one price level; `exchange_ts` is computed only if needed."""

    sid: int
    seq: int
    ticker: str
    side: bool
    price: int
    size_delta: int
    ts_ms: int | None = None
    ts: datetime | int | None = None

    @property
    def exchange_ts(self) -> int | None:
        return exchange_time_us(self.ts_ms, self.ts)


class SnapshotMessage(Struct, frozen=True):
    """A whole book; `id` is that of the command it replies to, if any."""

    sid: int
    seq: int
    ticker: str
    yes: Levels
    no: Levels
    id: int | None = None


class TradeMessage(Struct, frozen=True):
    """A trade; `seq` is None where the exchange sends none."""

    sid: int
    seq: int | None
    trade_id: UUID
    ticker: str
    price: int
    size: int
    taker_side: bool
    is_block: bool
    exchange_ts: int | None


class TickerMessage(Struct, frozen=True):
    """A ticker of a market; fields it does not carry are None. Tickers have no sequence numbers."""

    sid: int
    seq: int | None
    ticker: str
    yes_bid: int | None
    yes_ask: int | None
    last_price: int | None
    volume: int | None
    open_interest: int | None
    dollar_volume: int | None
    dollar_open_interest: int | None
    exchange_ts: int | None


class LifecycleMessage(Struct, frozen=True):
    """A lifecycle event of a market; `raw` is the frame's `msg` as JSON."""

    sid: int
    seq: int | None
    ticker: str
    event_type: str
    raw: str
    open_ts: int | None = None
    close_ts: int | None = None
    determination_ts: int | None = None
    settled_ts: int | None = None
    result: str | None = None
    settlement_value: int | None = None
    is_deactivated: bool | None = None
    event_ticker: str | None = None
    title: str | None = None


class EventMessage(Struct, frozen=True):
    """An event of an event: `kind` is event_lifecycle or event_fee_update."""

    sid: int
    seq: int | None
    kind: str
    event_ticker: str
    raw: str
    series_ticker: str | None = None
    title: str | None = None
    subtitle: str | None = None


class SubscribedReply(Struct, frozen=True):
    """A subscription to one channel; a command for two channels gets two replies."""

    id: int | None
    channel: str
    sid: int
    seq: int | None = None


class OkReply(Struct, frozen=True):
    """A command succeeded.

    `tickers` are all markets of the subscription after it, None if not listed; `subscriptions` are
    the (channel, sid) pairs of a requested list.
    """

    id: int | None
    sid: int | None
    seq: int | None
    tickers: tuple[str, ...] | None = None
    subscriptions: tuple[tuple[str, int], ...] = ()


class UnsubscribedReply(Struct, frozen=True):
    """A subscription ended on request."""

    id: int | None
    sid: int
    seq: int | None


class ErrorMessage(Struct, frozen=True):
    """The exchange rejected a command (`id`), or ended a subscription (`sid`, codes 10 and 25)."""

    id: int | None
    sid: int | None
    seq: int | None
    code: int
    text: str


class UnknownMessage(Struct, frozen=True):
    """A frame of an unknown type; it counts in the sequence like any other."""

    kind: str
    sid: int | None = None
    seq: int | None = None


class InvalidMessage(Struct, frozen=True):
    """A frame that cannot be decoded exactly: not JSON, a missing field, too many decimals.

    The fields that could be read keep the sequence intact and mark the market, if known, as stale.
    `kind` is empty if not even the type could be read.
    """

    reason: str
    kind: str = ""
    sid: int | None = None
    seq: int | None = None
    ticker: str | None = None


Message: TypeAlias = (
    DeltaMessage
    | SnapshotMessage
    | TradeMessage
    | TickerMessage
    | LifecycleMessage
    | EventMessage
    | SubscribedReply
    | OkReply
    | UnsubscribedReply
    | ErrorMessage
    | UnknownMessage
    | InvalidMessage
)


def exchange_time_us(ts_ms: int | None, ts: datetime | int | None) -> int | None:
    """Return the exchange time in microseconds from `ts_ms` and the older field `ts`.

    `ts`, a datetime or whole seconds, is used if it agrees with `ts_ms` or there is no `ts_ms`;
    otherwise the start of the millisecond. None if there is neither.
    """
    if type(ts) is datetime:
        since = ts - _EPOCH
        exact = (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
        if exact // 1000 == ts_ms:
            return exact
        if ts_ms is None:
            return exact if exact >= 0 else None
    elif isinstance(ts, int) and ts_ms is None:
        return ts * 1_000_000
    return None if ts_ms is None else ts_ms * 1000


def datetime_from_us(at_us: int) -> datetime:
    """Convert microseconds since 1970."""
    return _EPOCH + timedelta(microseconds=at_us)


def us_from_datetime(moment: datetime) -> int:
    """Convert to microseconds since 1970; earlier times become 0."""
    return max(0, (moment - _EPOCH) // timedelta(microseconds=1))


# Microseconds since 1970 that API responses contain as ISO 8601.
Time: TypeAlias = Annotated[int, PlainSerializer(datetime_from_us, return_type=datetime)]
