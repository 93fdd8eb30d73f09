"""Kept here: a game's prices book by book, the best of them, and what the models pick in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Final

from grandstand.apps.bets.model import PricedOutcome, slug
from grandstand.apps.bets.model.prices.odds import american_of, decimal_of
from grandstand.apps.bets.pages.words import tidy
from grandstand.apps.bets.service import ExchangePrice, GameSummary, Pick, Quoted

MARKETS: Final = ("h2h", "spreads", "totals")
EXCHANGE: Final = "exchange"
_WHOLE: Final = 10_000
_TWO: Final = 2
_FAMILY: Final = {"h2h_3way": "h2h", "h2h_3_way": "h2h"}


@dataclass(frozen=True, slots=True)
class Price:
    """One price of a bookmaker; `best` when no other pays more for the same line."""

    decimal: float
    american: int
    point: Decimal | None
    best: bool = False


@dataclass(frozen=True, slots=True)
class BookRow:
    """One bookmaker's prices, a place for each side; `old` when they may no longer be had."""

    bookmaker: str
    prices: tuple[Price | None, ...]
    captured_at: datetime
    age_seconds: int
    old: bool


@dataclass(frozen=True, slots=True)
class PriceSheet:
    """Every bookmaker's prices of one market; lines are signed where a side gives or takes."""

    market: str
    sides: tuple[str, ...]
    rows: tuple[BookRow, ...]
    signed: bool

    @property
    def newest(self) -> datetime | None:
        """When the newest of the bookmakers' was captured."""
        books = (row.captured_at for row in self.rows if row.bookmaker != EXCHANGE)
        return max(books, default=None)


@dataclass(frozen=True, slots=True)
class Agreed:
    """What some models pick alike: their names, the span of their chances, and the best return."""

    prediction: str
    models: tuple[str, ...]
    low: float
    high: float
    expected_return: float | None


def family(market_key: str) -> str:
    """Answer the market of the board a market belongs to; three-way ones are about the winner."""
    return _FAMILY.get(market_key, market_key)


def sides_of(market: str, game: GameSummary, quotes: Iterable[Quoted]) -> tuple[str, ...]:
    """Answer the names of a market's sides in the order they are shown."""
    if market == "totals":
        return ("Over", "Under")
    named = {slug(outcome.name) for quote in quotes for outcome in quote.outcomes}
    draw = ("Draw",) if "draw" in named else ()
    return (game.home_team, *draw, game.away_team)


def sheet_of(game: GameSummary, market: str, stale_seconds: int) -> PriceSheet:
    """Answer the prices of one market of a game, best prices marked, books by name.

    Of who wins the exchange has a price too; it comes last, before its fees, and is never best.
    """
    sheet = sheet_from(game, game.quotes, market, stale_seconds)
    if market != "h2h" or not sheet.rows or not game.exchange:
        return sheet
    prices = tuple(_exchanged(game.exchange, side, len(sheet.sides)) for side in sheet.sides)
    row = BookRow(EXCHANGE, prices, max(one.at for one in game.exchange), 0, old=False)
    return replace(sheet, rows=(*sheet.rows, row))


def sheet_from(
    game: GameSummary, quotes: Iterable[Quoted], market: str, stale_seconds: int
) -> PriceSheet:
    """Answer the same of any prices of a game, such as the closing ones."""
    held = [one for one in quotes if family(one.market_key) == market and one.player is None]
    sides = sides_of(market, game, held)
    rows = [
        BookRow(
            quote.bookmaker,
            tuple(_price(quote.outcomes, side) for side in sides),
            quote.captured_at,
            quote.age_seconds,
            quote.age_seconds > stale_seconds,
        )
        for quote in sorted(held, key=lambda one: one.bookmaker)
    ]
    best = [_best([row.prices[at] for row in rows if not row.old]) for at in range(len(sides))]
    return PriceSheet(market, sides, tuple(_marked(row, best) for row in rows), market == "spreads")


def agreed(picks: Iterable[Pick], market: str) -> tuple[Agreed, ...]:
    """Answer what models pick in one market of a game, the most agreed on first."""
    grouped: dict[str, list[Pick]] = {}
    for pick in picks:
        fits = family(pick.market_key) == market and pick.analysis_type == "game"
        if fits and not pick.is_inverse:
            grouped.setdefault(tidy(pick.prediction), []).append(pick)
    found = [_agreed(prediction, held) for prediction, held in grouped.items()]
    return tuple(sorted(found, key=lambda one: (-len(one.models), -one.high)))


def _agreed(prediction: str, held: Sequence[Pick]) -> Agreed:
    chances = [pick.probability for pick in held]
    returns = [pick.expected_return for pick in held if pick.expected_return is not None]
    names = tuple(dict.fromkeys(pick.model for pick in held))
    return Agreed(prediction, names, min(chances), max(chances), max(returns, default=None))


def _price(outcomes: Iterable[PricedOutcome], side: str) -> Price | None:
    found = next((one for one in outcomes if slug(one.name) == slug(side)), None)
    if found is None:
        return None
    return Price(decimal_of(found.price), found.price, found.point)


def _exchanged(offers: Iterable[ExchangePrice], side: str, sides: int) -> Price | None:
    """What a side pays on the exchange: by its yes, or of two sides by the other's no."""
    asked = [
        one.ask if slug(one.team) == slug(side) else _no(one) if sides == _TWO else None
        for one in offers
        if side != "Draw"
    ]
    known = [chance for chance in asked if chance is not None and 0 < chance < _WHOLE]
    if not known:
        return None
    decimal = _WHOLE / min(known)
    return Price(decimal, american_of(decimal), None)


def _no(offer: ExchangePrice) -> int | None:
    return None if offer.bid is None else _WHOLE - offer.bid


def _best(prices: Sequence[Price | None]) -> tuple[float, Decimal | None] | None:
    """The highest price at the line most bookmakers have; lines cannot be held against others."""
    known = [price for price in prices if price is not None]
    if not known:
        return None
    line = Counter(price.point for price in known).most_common(1)[0][0]
    return max(price.decimal for price in known if price.point == line), line


def _marked(row: BookRow, best: Sequence[tuple[float, Decimal | None] | None]) -> BookRow:
    prices = tuple(
        price
        if price is None or row.old or (price.decimal, price.point) != held
        else replace(price, best=True)
        for price, held in zip(row.prices, best, strict=True)
    )
    return replace(row, prices=prices)
