"""Kept here: how a quote's outcomes find their sides: by name, never by their place in a list."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from grandstand.apps.bets.model import PricedOutcome, slug
from grandstand.apps.bets.model.known.facts import Fixture, Quote, micros
from grandstand.apps.bets.model.prices.paths import QuotePath, sides_of
from grandstand.apps.bets.model.refusals import UnmatchedOutcome

_LEAST_AMERICAN: Final = 100
_TEAM_MARKETS: Final = ("h2h", "h2h_3way", "spreads", "draw_no_bet")


def market_of(quote: Quote) -> str:
    """The market a quote belongs to: h2h with a draw is three-way."""
    draws = any(slug(outcome.name) == "draw" for outcome in quote.outcomes)
    return "h2h_3way" if quote.market == "h2h" and draws else quote.market


def matched(quote: Quote, game: Fixture) -> QuotePath:
    """A quote as one row of columns; raises UnmatchedOutcome with the reason it cannot be one."""
    market = market_of(quote)
    found = _by_side(quote, market, game)
    sides = sides_of(market)
    missing = [side for side in sides if side not in found]
    if missing:
        raise _refused(quote, f"it has no price for {' and '.join(missing)}")
    _check_prices(quote)
    first, second = found[sides[0]], found[sides[1]]
    return QuotePath(
        game_id=quote.game_id,
        book=quote.book,
        market=market,
        captured_at=np.array([micros(quote.captured_at)], dtype=np.int64),
        known_at=np.array([micros(quote.known_at)], dtype=np.int64),
        prices=np.array([[found[side].price for side in sides]], dtype=np.int32),
        points=np.array([_point(quote, market, first, second)], dtype=np.float64),
        participant=quote.participant,
    )


def _by_side(quote: Quote, market: str, game: Fixture) -> dict[str, PricedOutcome]:
    if market in _TEAM_MARKETS:
        names = {game.home: "home", game.away: "away", "draw": "draw"}
    else:
        names = {"over": "over", "under": "under"}
    found: dict[str, PricedOutcome] = {}
    for outcome in quote.outcomes:
        side = names.get(slug(outcome.name))
        if side is None:
            raise _refused(quote, f"{outcome.name!r} is none of {', '.join(names)}")
        if side in found:
            raise _refused(quote, f"{outcome.name!r} stands in it twice")
        found[side] = outcome
    return found


def _check_prices(quote: Quote) -> None:
    for outcome in quote.outcomes:
        if abs(outcome.price) < _LEAST_AMERICAN:
            raise _refused(quote, f"{outcome.price} of {outcome.name!r} is no American price")


def _point(quote: Quote, market: str, first: PricedOutcome, second: PricedOutcome) -> float:
    if market in {"h2h", "h2h_3way", "draw_no_bet"}:
        return math.nan
    if first.point is None or second.point is None:
        raise _refused(quote, "a side has no line")
    apart = first.point + second.point if market == "spreads" else first.point - second.point
    if apart != 0:
        raise _refused(quote, f"the lines {first.point} and {second.point} are of two markets")
    return float(first.point)


def _refused(quote: Quote, why: str) -> UnmatchedOutcome:
    return UnmatchedOutcome(quote.game_id, quote.book, quote.market, why)
