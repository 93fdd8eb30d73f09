"""Kept here: the gatherer's series, as specified, with what was found wrong put right."""

from datetime import timedelta
from typing import NamedTuple
from uuid import UUID

from grandstand.storage.series.declaration import Int16, Int32, Json, Series, SeriesIndex

_HOUR = timedelta(hours=1)
_DAY = timedelta(days=1)


class Trade(NamedTuple):
    """A trade; its size is in hundredths of a contract."""

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
    """A change of one price level; `ord` counts the identical ones before it at that instant."""

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
    """A market's summary; a repeat within a millisecond is one microsecond further on."""

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


class Gap(NamedTuple):
    """Messages that were missed; a second row says when the gap was closed."""

    detected_at: int
    gatherer: str
    conn: int
    sid: int
    expected_seq: int
    resolved: bool
    got_seq: int | None = None
    resolved_at: int | None = None


TRADES = Series(
    name="trades",
    row=Trade,
    time="exchange_ts",
    identity=("trade_id", "exchange_ts"),
    key="ticker",
    chunk=_DAY,
    compress_after=_DAY,
    indexes=(
        SeriesIndex("idx_trades_ticker", ("ticker", "-exchange_ts")),
        SeriesIndex("idx_trades_received", ("-received_at",)),
    ),
    purpose="executed trades",
)
DELTAS = Series(
    name="orderbook_deltas",
    row=OrderbookDelta,
    time="exchange_ts",
    identity=("exchange_ts", "ticker", "price", "side", "size_delta", "ord"),
    key="ticker",
    chunk=_HOUR,
    compress_after=_DAY,
    retain=timedelta(days=7),
    indexes=(
        SeriesIndex("idx_deltas_ticker_time", ("ticker", "-exchange_ts")),
        SeriesIndex("idx_deltas_received", ("-received_at",)),
    ),
    purpose="changes of price levels",
)
SNAPSHOTS = Series(
    name="orderbook_snapshots",
    row=OrderbookSnapshot,
    time="snapshot_ts",
    identity=("snapshot_ts", "ticker", "source"),
    key="ticker",
    chunk=_DAY,
    compress_after=_DAY,
    retain=timedelta(days=30),
    indexes=(SeriesIndex("idx_snapshots_ticker", ("ticker", "-snapshot_ts")),),
    purpose="whole books",
)
TICKERS = Series(
    name="tickers",
    row=Ticker,
    time="exchange_ts",
    identity=("exchange_ts", "ticker"),
    key="ticker",
    chunk=_HOUR,
    compress_after=_DAY,
    retain=timedelta(days=7),
    indexes=(
        SeriesIndex("idx_tickers_ticker_time", ("ticker", "-exchange_ts")),
        SeriesIndex("idx_tickers_received", ("-received_at",)),
    ),
    purpose="summaries of markets",
)
GAPS = Series(
    name="gaps",
    row=Gap,
    time="detected_at",
    identity=("detected_at", "gatherer", "conn", "sid", "expected_seq", "resolved"),
    key="gatherer",
    chunk=_DAY,
    compress_after=_DAY,
    purpose="messages that were missed",
)
SERIES = (TRADES, DELTAS, SNAPSHOTS, TICKERS, GAPS)
