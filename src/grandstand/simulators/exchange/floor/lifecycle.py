"""Kept here: what can become of a market, and the news that is told of it."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, get_args

import msgspec

from grandstand.simulators.exchange.floor.events import LifecycleMade
from grandstand.simulators.exchange.floor.market import Market, Result, Structure
from grandstand.simulators.exchange.floor.numbers import DOLLAR, SECOND, dollars

Change: TypeAlias = Literal[
    "created",
    "activated",
    "deactivated",
    "close_date_updated",
    "determined",
    "settled",
    "price_level_structure_updated",
    "metadata_updated",
]
CHANGES: Final[tuple[Change, ...]] = get_args(Change)


class Becoming(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is to become of a market; a moment of closing is counted from now."""

    event_type: Change
    closes_in_seconds: float = 3600.0
    result: Result = "yes"
    structure: Structure = "deci_cent"
    title: str = "Another title"


def became(market: Market, becoming: Becoming, at: int) -> LifecycleMade:
    """Change a market and answer the news of it, with only the fields of its kind."""
    market.updated_at = at
    told: dict[str, object] = {}
    match becoming.event_type:
        case "created":
            told = _created(market)
        case "activated":
            market.decided = ""
            told = {"is_deactivated": False}
        case "deactivated":
            market.decided = "inactive"
            told = {"is_deactivated": True}
        case "close_date_updated":
            market.closes_at = at + int(becoming.closes_in_seconds * SECOND)
            told = {"close_ts": market.closes_at // SECOND}
        case "determined":
            market.decided, market.result = "determined", becoming.result
            told = _determined(market, at)
        case "settled":
            market.decided, market.settled_at = "finalized", at
            told = {"settled_ts": at // SECOND}
        case "price_level_structure_updated":
            told = _restructured(market, becoming.structure)
        case "metadata_updated":
            market.title = becoming.title
            told = {"additional_metadata": _metadata(market)}
    body = {"event_type": becoming.event_type, "market_ticker": market.ticker, **told}
    return LifecycleMade(at, "market_lifecycle_v2", body, market.event.multivariate)


def _created(market: Market) -> dict[str, object]:
    return {
        "open_ts": market.opens_at // SECOND,
        "close_ts": market.closes_at // SECOND,
        "exchange_index": 0,
        "price_level_structure": market.structure,
        "additional_metadata": _metadata(market),
    }


def _determined(market: Market, at: int) -> dict[str, object]:
    value = DOLLAR if market.result == "yes" else 0
    return {
        "result": market.result,
        "determination_ts": at // SECOND,
        "settlement_value": dollars(value),
    }


def _restructured(market: Market, structure: Structure) -> dict[str, object]:
    market.structure = structure
    return {"price_level_structure": structure, "price_ranges": market.price_ranges}


def _metadata(market: Market) -> dict[str, object]:
    return {
        "event_ticker": market.event.ticker,
        "title": market.title,
        "yes_sub_title": market.subtitle,
        "name": market.subtitle,
        "rules_primary": f"Settles Yes if it comes so: {market.title}",
    }
