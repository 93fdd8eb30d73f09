"""Kept here: what one frame of the exchange means, in exact integers."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final, TypeAlias
from uuid import UUID

from msgspec import Struct

# Prices are hundred-thousandths of a dollar, sizes hundredths of a contract, instants
# microseconds since 1970. `side` and `taker_side` are True for yes. `exchange_ts` is None when
# the frame says no time that can be used. Structs are made in a third of a dataclass's time.

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_DAY: Final = 86_400
_SECOND: Final = 1_000_000
_MILLISECOND: Final = 1000

Levels: TypeAlias = tuple[tuple[int, int], ...]
"""Price and size of each level, in no promised order."""


class Delta(Struct, frozen=True, gc=False):
    """One price level changed by so much; when, is worked out only if it is asked for."""

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
        """The microsecond of it, as `instant` says."""
        return instant(self.ts_ms, self.ts)


class Snapshot(Struct, frozen=True):
    """A whole book: the bids of both sides; `id` is that of the command it answers, if any."""

    sid: int
    seq: int
    ticker: str
    yes: Levels
    no: Levels
    id: int | None = None


class TradeTold(Struct, frozen=True):
    """A trade; `seq` is None where the exchange numbers none."""

    sid: int
    seq: int | None
    trade_id: UUID
    ticker: str
    price: int
    size: int
    taker_side: bool
    is_block: bool
    exchange_ts: int | None


class TickerTold(Struct, frozen=True):
    """A market's summary; what it does not say is None. The exchange does not number these."""

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


class Lifecycle(Struct, frozen=True):
    """Something happened to a market; `said` is the frame's `msg` as JSON, for the journal."""

    sid: int
    seq: int | None
    ticker: str
    event_type: str
    said: str
    open_ts: int | None = None
    close_ts: int | None = None
    determination_ts: int | None = None
    settled_ts: int | None = None
    result: str | None = None
    settlement_value: int | None = None
    is_deactivated: bool | None = None
    event_ticker: str | None = None
    title: str | None = None


class EventTold(Struct, frozen=True):
    """Something happened to an event: `kind` is event_lifecycle or event_fee_update."""

    sid: int
    seq: int | None
    kind: str
    event_ticker: str
    said: str
    series_ticker: str | None = None
    title: str | None = None
    subtitle: str | None = None


class Subscribed(Struct, frozen=True):
    """A channel was granted under a sid; a command for two channels is answered twice."""

    id: int | None
    channel: str
    sid: int
    seq: int | None = None


class Ok(Struct, frozen=True):
    """A command was carried out.

    `tickers` is the whole set of markets of the subscription after it, None when not said;
    `subscriptions` are the (channel, sid) of a list that was asked for.
    """

    id: int | None
    sid: int | None
    seq: int | None
    tickers: tuple[str, ...] | None = None
    subscriptions: tuple[tuple[str, int], ...] = ()


class Unsubscribed(Struct, frozen=True):
    """A subscription ended because we asked."""

    id: int | None
    sid: int
    seq: int | None


class ErrorTold(Struct, frozen=True):
    """The exchange refused a command (`id`), or ended a subscription (`sid`, codes 10 and 25)."""

    id: int | None
    sid: int | None
    seq: int | None
    code: int
    text: str


class Unknown(Struct, frozen=True):
    """A frame of a kind we do not know; it counts in the sequence like any other."""

    kind: str
    sid: int | None = None
    seq: int | None = None


class Refused(Struct, frozen=True):
    """A frame that cannot be taken exactly: not JSON, a field missing, a number too fine.

    What of it could be understood is kept, so that the sequence goes on and the market, if it
    was named, is known to be wrong. `kind` is empty when not even that could be read.
    """

    reason: str
    kind: str = ""
    sid: int | None = None
    seq: int | None = None
    ticker: str | None = None


Message: TypeAlias = (
    Delta
    | Snapshot
    | TradeTold
    | TickerTold
    | Lifecycle
    | EventTold
    | Subscribed
    | Ok
    | Unsubscribed
    | ErrorTold
    | Unknown
    | Refused
)


def instant(ts_ms: int | None, ts: datetime | int | None) -> int | None:
    """Answer the microsecond an exchange means by its milliseconds and its older `ts`.

    That is `ts`, an aware moment or whole seconds, when both agree or there is no `ts_ms`; else
    the beginning of the millisecond; None when neither says anything.
    """
    if type(ts) is datetime:
        since = ts - _EPOCH
        exact = (since.days * _DAY + since.seconds) * _SECOND + since.microseconds
        if exact // _MILLISECOND == ts_ms:
            return exact
        if ts_ms is None:
            return exact if exact >= 0 else None
    elif isinstance(ts, int) and ts_ms is None:
        return ts * _SECOND
    return None if ts_ms is None else ts_ms * _MILLISECOND
