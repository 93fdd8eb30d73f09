"""Kept here: how a question to the exchange's REST is read: filters, numbers and cursors."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from typing import Final, TypeAlias

from grandstand.base.errors import InvalidInput
from grandstand.simulators.exchange.floor.market import FILTERS, Market
from grandstand.simulators.exchange.floor.numbers import SECOND

Query: TypeAlias = dict[str, list[str]]

_TIME_FILTERS: Final[tuple[tuple[str, Callable[[Market], int]], ...]] = (
    ("created", lambda market: market.created_at),
    ("close", lambda market: market.closes_at),
    ("settled", lambda market: market.settled_at),
    ("updated", lambda market: market.updated_at or market.created_at),
)


def market_filter(query: Query, now: int) -> Callable[[Market], bool]:
    """Answer what keeps the markets a question is about; raise InvalidInput for nonsense."""
    tests: list[Callable[[Market], bool]] = []
    if (status := text_of(query, "status")) is not None:
        if status not in FILTERS:
            raise InvalidInput("status: one of unopened, open, paused, closed, settled")
        tests.append(lambda market: market.status(now) in FILTERS[status])
    if "tickers" in query:
        wanted = {ticker for text in query["tickers"] for ticker in text.split(",")}
        tests.append(lambda market: market.ticker in wanted)
    if (event := text_of(query, "event_ticker")) is not None:
        tests.append(lambda market: market.event.ticker == event)
    if (series := text_of(query, "series_ticker")) is not None:
        tests.append(lambda market: market.event.series.ticker == series)
    if (combos := text_of(query, "mve_filter")) is not None:
        if combos not in {"only", "exclude"}:
            raise InvalidInput("mve_filter: only or exclude")
        tests.append(lambda market: market.event.multivariate == (combos == "only"))
    tests += _time_tests(query)
    return lambda market: all(test(market) for test in tests)


def _time_tests(query: Query) -> list[Callable[[Market], bool]]:
    used = [
        name for name, _ in _TIME_FILTERS if query.keys() & {f"min_{name}_ts", f"max_{name}_ts"}
    ]
    if len(used) > 1:
        raise InvalidInput("filters by time: only one of them at once")
    others = query.keys() - {"min_updated_ts", "mve_filter", "limit", "cursor"}
    if used == ["updated"] and (others or query.get("mve_filter", ["exclude"]) != ["exclude"]):
        raise InvalidInput("min_updated_ts: only with mve_filter=exclude")
    tests: list[Callable[[Market], bool]] = []
    for name, moment_of in _TIME_FILTERS:
        if name in used:
            least = number_of(query, f"min_{name}_ts", 0) * SECOND
            most = number_of(query, f"max_{name}_ts", 1 << 40) * SECOND
            tests.append(_between(moment_of, least, most))
    return tests


def _between(moment_of: Callable[[Market], int], least: int, most: int) -> Callable[[Market], bool]:
    return lambda market: least <= moment_of(market) <= most


def text_of(query: Query, name: str) -> str | None:
    """Answer the first value of a parameter, None if it is not given."""
    found = query.get(name)
    return found[0] if found else None


def number_of(query: Query, name: str, usual: int) -> int:
    """Answer a parameter that is a number; raise InvalidInput when it is none."""
    text = text_of(query, name)
    if text is None:
        return usual
    if not text.isdecimal():
        raise InvalidInput(f"{name}: a number is required")
    return int(text)


def cursor_of(place: int) -> str:
    """Answer the cursor of a place in a list."""
    return base64.urlsafe_b64encode(f"at/{place}".encode()).decode().rstrip("=")


def place_of(cursor: str) -> int:
    """Answer the place of a cursor; raise InvalidInput when it is none of ours."""
    if not cursor:
        return 0
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
    except (binascii.Error, UnicodeDecodeError):
        text = ""
    if not text.removeprefix("at/").isdecimal():
        raise InvalidInput("cursor: not one of ours")
    return int(text.removeprefix("at/"))
