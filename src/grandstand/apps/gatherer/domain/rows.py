"""Rows of the recorded series."""

from __future__ import annotations

from typing import Annotated, NamedTuple, TypeAlias
from uuid import UUID

# Column widths, in the words of the series declarations, which domain code does not import.
Int32: TypeAlias = Annotated[int, "int32"]
Int16: TypeAlias = Annotated[int, "int16"]
Json: TypeAlias = Annotated[str, "json"]


class Trade(NamedTuple):
    """A trade; the size is in hundredths of a contract."""

    trade_id: UUID
    exchange_ts: int
    received_at: int
    ticker: str
    price: Int32
    size: int
    taker_side: bool
    sid: int | None = None
    is_block: bool = False
    gatherer: str | None = None
    conn: int | None = None


class OrderbookDelta(NamedTuple):
    """A change of one price level; `ord` numbers identical ones of the same instant."""

    exchange_ts: int
    received_at: int
    ticker: str
    side: bool
    price: Int32
    size_delta: int
    seq: int | None = None
    sid: int | None = None
    ord: Int16 = 0
    gatherer: str | None = None
    conn: int | None = None


class OrderbookSnapshot(NamedTuple):
    """A whole book; an empty side has no best price."""

    snapshot_ts: int
    exchange_ts: int | None
    ticker: str
    source: str
    yes_bids: Json
    yes_asks: Json
    no_bids: Json
    no_asks: Json
    best_yes_bid: Int32 | None = None
    best_yes_ask: Int32 | None = None
    spread: Int32 | None = None
    sid: int | None = None
    seq: int | None = None
    gatherer: str | None = None
    conn: int | None = None


class Ticker(NamedTuple):
    """A ticker; a second one within a millisecond is stored one microsecond later."""

    exchange_ts: int
    received_at: int
    ticker: str
    yes_bid: Int32 | None = None
    yes_ask: Int32 | None = None
    last_price: Int32 | None = None
    volume: int | None = None
    open_interest: int | None = None
    dollar_volume: int | None = None
    dollar_open_interest: int | None = None
    sid: int | None = None
    gatherer: str | None = None
    conn: int | None = None


Row: TypeAlias = OrderbookDelta | Trade | OrderbookSnapshot | Ticker
