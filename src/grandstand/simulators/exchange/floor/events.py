"""Kept here: what happens on the exchange, before it is written for anyone."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

LifecycleType: TypeAlias = Literal["market_lifecycle_v2", "event_lifecycle", "event_fee_update"]


class DeltaMade(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A price level changed by `size`; `yes` says on which side of the book."""

    at: int
    ticker: str
    market_id: str
    yes: bool
    price: int
    size: int


class TradeMade(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A trade at a price of the yes side; one that is a block never touched the book."""

    at: int
    trade_id: str
    ticker: str
    price: int
    size: int
    taker_yes: bool
    is_block: bool = False


class QuoteMade(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """The summary of a market at a moment; a side without bids has no price and no size."""

    at: int
    ticker: str
    market_id: str
    last: int | None
    yes_bid: int | None
    yes_ask: int | None
    yes_bid_size: int
    yes_ask_size: int
    last_size: int
    volume: int
    open_interest: int
    dollar_volume: int
    dollar_open_interest: int


class LifecycleMade(msgspec.Struct, frozen=True, array_like=True):
    """Something that became of a market or an event, in the words of the wire."""

    at: int
    type: LifecycleType
    body: dict[str, object]
    multivariate: bool = False


class BookReplaced(msgspec.Struct, frozen=True, array_like=True):
    """A whole book that was told again; it happens only where recordings are played."""

    at: int
    ticker: str
    yes: list[tuple[int, int]]
    no: list[tuple[int, int]]


Event: TypeAlias = DeltaMade | TradeMade | QuoteMade | LifecycleMade | BookReplaced
