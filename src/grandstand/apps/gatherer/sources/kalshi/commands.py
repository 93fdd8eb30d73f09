"""Kept here: what is said to the exchange over a socket."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

import msgspec

Channel: TypeAlias = Literal["orderbook_delta", "ticker", "trade", "market_lifecycle_v2"]
Action: TypeAlias = Literal["add_markets", "delete_markets", "get_snapshot"]

BOOKS: Final[Channel] = "orderbook_delta"
TRADES: Final[Channel] = "trade"
TICKERS: Final[Channel] = "ticker"
LIFECYCLE: Final[Channel] = "market_lifecycle_v2"


def subscribe(
    command_id: int, channels: Sequence[Channel], markets: Sequence[str] = (), *, yes_price: bool
) -> str:
    """Ask for channels; no markets means all of them, which books do not allow.

    `use_yes_price` is always said, because its default is about to change.
    """
    params: dict[str, object] = {"channels": [*channels]}
    if markets:
        params["market_tickers"] = [*markets]
    if BOOKS in channels:
        params["use_yes_price"] = yes_price
    return _command(command_id, "subscribe", params)


def update(
    command_id: int, sid: int, action: Action, markets: Sequence[str], *, short: bool = False
) -> str:
    """Add markets to a subscription, take some off, or ask for their books.

    A `short` answer does not list the markets.
    """
    params: dict[str, object] = {"sids": [sid], "action": action, "market_tickers": [*markets]}
    if short:
        params["skip_ticker_ack"] = True
    return _command(command_id, "update_subscription", params)


def unsubscribe(command_id: int, sids: Sequence[int]) -> str:
    """End subscriptions."""
    return _command(command_id, "unsubscribe", {"sids": [*sids]})


def list_subscriptions(command_id: int) -> str:
    """Ask what is subscribed: whoever answers is alive."""
    return msgspec.json.encode({"id": command_id, "cmd": "list_subscriptions"}).decode()


def _command(command_id: int, name: str, params: dict[str, object]) -> str:
    return msgspec.json.encode({"id": command_id, "cmd": name, "params": params}).decode()
