"""Kept here: what the gatherer's routes answer, by example."""

from __future__ import annotations

from typing import Any, Final

_AT: Final = "2026-11-16T12:00:00Z"
_TICKER: Final = "KXBTCD-26NOV1617-T97500"

MARKET: Final[dict[str, Any]] = {
    "ticker": _TICKER,
    "event_ticker": "KXBTCD-26NOV1617",
    "series_ticker": "KXBTCD",
    "category": "Crypto",
    "title": "Bitcoin above 97,500 dollars at 5 pm?",
    "status": "active",
    "volume": "120500.00",
    "volume_24h": "45000.00",
    "open_ts": _AT,
    "close_ts": "2026-11-16T22:00:00Z",
    "chosen": True,
    "followed": True,
    "stale": False,
    "best_yes_bid": "0.5200",
    "best_yes_ask": "0.5300",
    "spread": "0.0100",
}
BOOK: Final[dict[str, Any]] = {
    "ticker": _TICKER,
    "at": _AT,
    "live": False,
    "exact": True,
    "doubt": None,
    "bids": [{"price": "0.5200", "size": "310.00"}],
    "asks": [{"price": "0.5300", "size": "120.00"}],
    "best_yes_bid": "0.5200",
    "best_yes_ask": "0.5300",
    "spread": "0.0100",
    "base_ts": _AT,
    "deltas": 431,
}
TRADE: Final[dict[str, Any]] = {
    "trade_id": "8d7e3c1a-0b52-4ac6-9a5e-2f0c4d1b7e90",
    "exchange_ts": _AT,
    "received_at": _AT,
    "ticker": _TICKER,
    "price": "0.5300",
    "size": "25.00",
    "taker_side": "yes",
    "is_block": False,
}
FILL: Final[dict[str, Any]] = {
    "exact": True,
    "doubt": None,
    "whole": True,
    "taken": [{"price": "0.5300", "size": "120.00"}, {"price": "0.5400", "size": "30.00"}],
    "filled": "150.00",
    "left": "0.00",
    "average_price": "0.532",
    "dollars": "79.8",
}
COVERED: Final[dict[str, Any]] = {
    "ticker": _TICKER,
    "hour": _AT,
    "expected_us": 3_600_000_000,
    "seen_us": 3_599_700_000,
    "gaps": 1,
    "healed": 1,
    "audited": 2,
    "differed": 0,
    "whole": False,
}
ESTIMATE: Final[dict[str, Any]] = {
    "markets": 120,
    "rates": {"deltas": 9_000_000, "trades": 50_000, "tickers": 150_000, "snapshots": 11_640},
    "bytes_a_day": 98_756_000,
    "hot_bytes": 673_280_000,
    "free_bytes": 220_000_000_000,
    "days_left": 2220,
}
