"""Kept here: trades drawn together into candles."""

from __future__ import annotations

from collections.abc import Iterable

from grandstand.simulators.exchange.floor.events import TradeMade
from grandstand.simulators.exchange.floor.numbers import SECOND, contracts, dollars


def candles(
    trades: Iterable[TradeMade], seconds: int, begin: int, end: int
) -> list[dict[str, object]]:
    """Answer the candles of trades, the oldest first, that end between two seconds."""
    periods: dict[int, list[TradeMade]] = {}
    for trade in trades:
        closes = (trade.at // SECOND // seconds + 1) * seconds
        if begin <= closes <= end:
            periods.setdefault(closes, []).append(trade)
    return [_candle(closes, made) for closes, made in sorted(periods.items())]


def _candle(closes: int, trades: list[TradeMade]) -> dict[str, object]:
    prices = [trade.price for trade in trades]
    return {
        "end_period_ts": closes,
        "price": {
            "open_dollars": dollars(prices[0]),
            "high_dollars": dollars(max(prices)),
            "low_dollars": dollars(min(prices)),
            "close_dollars": dollars(prices[-1]),
        },
        "volume_fp": contracts(sum(trade.size for trade in trades)),
    }
