"""Kept here: the four series of the specification and the gaps, with what was wrong put right."""

from datetime import timedelta
from typing import NamedTuple

import msgspec

from grandstand.apps.gatherer.model.rows import OrderbookDelta, OrderbookSnapshot, Ticker, Trade
from grandstand.storage.series.declaration import Json, Series, SeriesIndex

_HOUR = timedelta(hours=1)
_DAY = timedelta(days=1)
_names = msgspec.json.Decoder(tuple[str, ...])


class Gap(NamedTuple):
    """Messages that were missed; a second row says when the gap was closed.

    `tickers` is a JSON list of the markets it made stale; None when it is not known which, and with
    `conn` 0 of all there are: nobody listened. `from_ts` and `to_ts` are the exchange times between
    which something was missed, where they are known.
    """

    detected_at: int
    gatherer: str
    conn: int
    sid: int
    expected_seq: int
    resolved: bool
    got_seq: int | None = None
    resolved_at: int | None = None
    channel: str | None = None
    reason: str | None = None
    tickers: Json | None = None
    from_ts: int | None = None
    to_ts: int | None = None

    @property
    def place(self) -> tuple[str, int, int, int, int]:
        """What the rows that open and close one gap have in common."""
        return self.gatherer, self.detected_at, self.conn, self.sid, self.expected_seq

    @property
    def named(self) -> tuple[str, ...] | None:
        """The markets it made stale; None when it is not known which."""
        return None if self.tickers is None else _names.decode(self.tickers)


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
