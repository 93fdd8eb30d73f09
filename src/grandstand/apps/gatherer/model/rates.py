"""Kept here: how much a choice of markets is likely to write in a day."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

DAY: Final = 86_400_000_000

# From a public account of the whole exchange in July 2026: about 95 summaries a second over all
# markets, a market's book changing some 60 times for each; the rest is measured here.
_CONTRACTS_A_TRADE: Final = 40
_SUMMARIES_A_TRADE: Final = 3
_DELTAS_A_SUMMARY: Final = 60
_LEAST_DELTAS: Final = 200
_REST_SNAPSHOTS: Final = 96

_BAKED_BYTES: Final = {"delta": 10, "trade": 40, "ticker": 14, "snapshot": 400}
_HOT_BYTES: Final = {"delta": 70, "trade": 130, "ticker": 90, "snapshot": 2000}
_TAPE_BYTES: Final = 26


@dataclass(frozen=True, slots=True)
class Rates:
    """Rows a day of each kind."""

    deltas: int = 0
    trades: int = 0
    tickers: int = 0
    snapshots: int = 0

    @property
    def frames(self) -> int:
        """Frames a day on the stream."""
        return self.deltas + self.trades + self.tickers

    def baked_bytes(self, *, tape: bool) -> int:
        """Answer the bytes a day adds for good, with the tape of raw frames or without."""
        return self._bytes(_BAKED_BYTES) + self.frames * _TAPE_BYTES * tape

    def hot_bytes(self) -> int:
        """Answer the bytes a day takes before it is baked."""
        return self._bytes(_HOT_BYTES)

    def _bytes(self, each: dict[str, int]) -> int:
        return (
            self.deltas * each["delta"]
            + self.trades * each["trade"]
            + self.tickers * each["ticker"]
            + self.snapshots * each["snapshot"]
        )


def estimated(volumes_24h: Iterable[int]) -> Rates:
    """Answer what markets with these volumes (hundredths of a contract) will likely write."""
    deltas = trades = markets = 0
    for volume in volumes_24h:
        traded = volume // (100 * _CONTRACTS_A_TRADE)
        deltas += _LEAST_DELTAS + traded * _SUMMARIES_A_TRADE * _DELTAS_A_SUMMARY
        trades += traded
        markets += 1
    return Rates(
        deltas=deltas,
        trades=trades,
        tickers=trades * _SUMMARIES_A_TRADE,
        snapshots=markets * (_REST_SNAPSHOTS + 1),
    )


def bytes_a_day(written: int, over_us: int) -> int:
    """Answer what a measured stretch comes to in a day; 0 when nothing was measured."""
    return written * DAY // over_us if over_us > 0 else 0


def days_left(free_bytes: int, daily_bytes: int) -> int | None:
    """Answer how many whole days the space will do; None when nothing is written."""
    return free_bytes // daily_bytes if daily_bytes > 0 else None
