"""Kept here: how the exchange writes prices, sizes and moments; inside they are integers.

A price is in hundred-thousandths of a dollar, a size in hundredths of a contract, a moment in
microseconds since 1970.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

DOLLAR: Final = 100_000
CONTRACT: Final = 100
SECOND: Final = 1_000_000
MILLISECOND: Final = 1_000


@lru_cache(maxsize=1 << 15)
def dollars(price: int) -> str:
    """Write a price with four decimals, five where it needs them."""
    whole, part = divmod(price, DOLLAR)
    fifth = part % 10
    return f"{whole}.{part:05d}" if fifth else f"{whole}.{part // 10:04d}"


@lru_cache(maxsize=1 << 15)
def contracts(size: int) -> str:
    """Write a size or a change of one with two decimals."""
    whole, part = divmod(abs(size), CONTRACT)
    return f"{'-' if size < 0 else ''}{whole}.{part:02d}"


def moment(at: int) -> str:
    """Write a moment as the exchange writes the stamps of deltas, to the microsecond."""
    seconds, micros = divmod(at, SECOND)
    return f"{_second(seconds)}.{micros:06d}Z"


def whole_moment(at: int) -> str:
    """Write a moment to the second, as markets have them."""
    return f"{_second(at // SECOND)}Z"


@lru_cache(maxsize=4096)
def _second(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
