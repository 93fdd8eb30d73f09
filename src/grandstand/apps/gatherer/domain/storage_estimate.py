"""Estimates how much a choice of markets writes per day."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

DAY_US: Final = 86_400_000_000

# From a public report on the whole exchange in July 2026: about 95 tickers per second over all
# markets, and some 60 book changes per ticker. The other figures were measured.
_CONTRACTS_PER_TRADE: Final = 40
_TICKERS_PER_TRADE: Final = 3
_DELTAS_PER_TICKER: Final = 60
_MIN_DELTAS: Final = 200
_REST_SNAPSHOTS: Final = 96

_COMPACTED_BYTES: Final = {"delta": 10, "trade": 40, "ticker": 14, "snapshot": 400}
_HOT_BYTES: Final = {"delta": 70, "trade": 130, "ticker": 90, "snapshot": 2000}
_RAW_LOG_BYTES: Final = 26


@dataclass(frozen=True, slots=True)
class DailyRows:
    """Rows per day of each kind."""

    deltas: int = 0
    trades: int = 0
    tickers: int = 0
    snapshots: int = 0

    @property
    def frames(self) -> int:
        """Frames per day on the stream."""
        return self.deltas + self.trades + self.tickers

    def compacted_bytes(self, *, raw_log: bool) -> int:
        """Return the bytes per day after compaction, with or without the raw log."""
        return self._bytes(_COMPACTED_BYTES) + self.frames * _RAW_LOG_BYTES * raw_log

    def hot_bytes(self) -> int:
        """Return the bytes per day before compaction."""
        return self._bytes(_HOT_BYTES)

    def _bytes(self, row_bytes: dict[str, int]) -> int:
        return (
            self.deltas * row_bytes["delta"]
            + self.trades * row_bytes["trade"]
            + self.tickers * row_bytes["ticker"]
            + self.snapshots * row_bytes["snapshot"]
        )


def estimate_daily_rows(volumes_24h: Iterable[int]) -> DailyRows:
    """Estimate the rows of markets with these volumes, in hundredths of a contract."""
    deltas = trades = markets = 0
    for volume in volumes_24h:
        traded = volume // (100 * _CONTRACTS_PER_TRADE)
        deltas += _MIN_DELTAS + traded * _TICKERS_PER_TRADE * _DELTAS_PER_TICKER
        trades += traded
        markets += 1
    return DailyRows(
        deltas=deltas,
        trades=trades,
        tickers=trades * _TICKERS_PER_TRADE,
        snapshots=markets * (_REST_SNAPSHOTS + 1),
    )


def bytes_per_day(written: int, period_us: int) -> int:
    """Extrapolate a measured period to a day; 0 if nothing was measured."""
    return written * DAY_US // period_us if period_us > 0 else 0


def days_left(free_bytes: int, daily_bytes: int) -> int | None:
    """Return how many whole days the space lasts; None if nothing is written."""
    return free_bytes // daily_bytes if daily_bytes > 0 else None
