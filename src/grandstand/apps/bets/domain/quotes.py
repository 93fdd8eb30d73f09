"""Bookmaker prices of a market in columns, and the board of latest prices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from grandstand.apps.bets.domain.odds import EVEN_MONEY, DevigMethod, devig_rows
from grandstand.apps.bets.domain.records import Fixture, PricedOutcome, Quote, slug, to_epoch_us
from grandstand.apps.bets.domain.selections import Side, market_sides
from grandstand.core.errors import InvalidInput

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Prices = npt.NDArray[np.int32]

DEFAULT_DEVIG: Final[DevigMethod] = "power"
_TEAM_MARKETS: Final = ("h2h", "h2h_3way", "spreads", "draw_no_bet")


def american_to_decimal_array(prices: Prices) -> Floats:
    american = prices.astype(np.float64)
    return 1.0 + np.where(american > 0, american / 100.0, 100.0 / np.abs(american))


@dataclass(frozen=True, eq=False)
class PriceBoard:
    """The latest price of each bookmaker in one market, as known at one time.

    Price columns are the sides of the market in order; `points` is the line of the first side.
    """

    market: str
    books: tuple[str, ...]
    prices: Prices
    points: Floats
    captured_at: Ints
    known_at: Ints
    _best: dict[tuple[int, float | None], tuple[str, int] | None] = field(default_factory=dict)

    @property
    def sides(self) -> tuple[Side, ...]:
        return market_sides(self.market)

    @cached_property
    def decimals(self) -> Floats:
        return american_to_decimal_array(self.prices)

    @cached_property
    def fair_rows(self) -> Floats:
        """Each bookmaker's probabilities without its margin."""
        return devig_rows(self.decimals, DEFAULT_DEVIG)

    def best(self, side: int, point: float | None = None) -> tuple[str, int] | None:
        """Return the bookmaker with the best price of a side, at a line if given, and the price."""
        if (side, point) not in self._best:
            self._best[side, point] = self._find_best(side, point)
        return self._best[side, point]

    def _find_best(self, side: int, point: float | None) -> tuple[str, int] | None:
        at_line = np.ones(len(self.books), dtype=bool) if point is None else self.points == point
        rows = np.flatnonzero(at_line)
        if not len(rows):
            return None
        row = int(rows[np.argmax(self.decimals[rows, side])])
        return self.books[row], int(self.prices[row, side])


@dataclass(frozen=True, eq=False)
class QuoteTable:
    """Prices of one market of a game, a row per price, ordered by when they became known.

    `book` indexes `books`. `prices` has a column per side in the order of `market_sides(market)`.
    `points` is the line of the first side: home in spreads (away has its negative), the total in
    totals and props, NaN in markets without a line. Times are microseconds since 1970.
    """

    game_id: str
    market: str
    participant: str | None
    books: tuple[str, ...]
    book: Ints
    captured_at: Ints
    known_at: Ints
    prices: Prices
    points: Floats

    @classmethod
    def of_book(
        cls,
        *,
        game_id: str,
        book: str,
        market: str,
        captured_at: Ints,
        known_at: Ints,
        prices: Prices,
        points: Floats,
        participant: str | None = None,
    ) -> QuoteTable:
        """Return the table of a single bookmaker."""
        numbers = np.zeros(len(known_at), dtype=np.int64)
        return cls(
            game_id, market, participant, (book,), numbers, captured_at, known_at, prices, points
        )

    @classmethod
    def join(cls, tables: Sequence[QuoteTable]) -> QuoteTable:
        """Return the rows of several tables of one market as one table."""
        first = tables[0]
        books = tuple(sorted({book for table in tables for book in table.books}))
        number = {book: index for index, book in enumerate(books)}
        known = np.concatenate([table.known_at for table in tables])
        captured = np.concatenate([table.captured_at for table in tables])
        book = np.concatenate(
            [np.array([number[name] for name in table.books])[table.book] for table in tables]
        )
        prices = np.concatenate([table.prices for table in tables])
        points = np.concatenate([table.points for table in tables])
        joined = cls(
            first.game_id,
            first.market,
            first.participant,
            books,
            book,
            captured,
            known,
            prices,
            points,
        )
        return joined.select(np.lexsort((book, captured, known)))

    def __len__(self) -> int:
        return len(self.known_at)

    def select(self, rows: slice | Ints | npt.NDArray[np.bool_]) -> QuoteTable:
        """Return some of the rows."""
        return replace(
            self,
            book=self.book[rows],
            captured_at=self.captured_at[rows],
            known_at=self.known_at[rows],
            prices=self.prices[rows],
            points=self.points[rows],
        )

    def until(self, at_us: int) -> QuoteTable:
        """Return the rows known at a time."""
        return self.select(slice(0, int(np.searchsorted(self.known_at, at_us, side="right"))))

    def before_start(self, start_us: int) -> QuoteTable:
        """Return the rows captured before the game started."""
        return self.select(self.captured_at < start_us)

    def latest(self, at_us: int) -> PriceBoard | None:
        """Return the last price of each bookmaker known at a time, None if there is none."""
        end = int(np.searchsorted(self.known_at, at_us, side="right"))
        if not end:
            return None
        last = np.full(len(self.books), -1, dtype=np.int64)
        np.maximum.at(last, self.book[:end], np.arange(end))
        present = np.flatnonzero(last >= 0)
        rows = last[present]
        return PriceBoard(
            self.market,
            tuple(self.books[index] for index in present),
            self.prices[rows],
            self.points[rows],
            self.captured_at[rows],
            self.known_at[rows],
        )

    def check(self) -> None:
        """Raise InvalidInput if columns differ in length, prices are invalid or rows unordered."""
        rows = len(self.known_at)
        shape = (rows, len(market_sides(self.market)))
        if self.prices.shape != shape or len(self.captured_at) != rows or len(self.points) != rows:
            raise self._invalid("columns differ in length")
        if rows and bool((np.abs(self.prices) < EVEN_MONEY).any()):
            raise self._invalid("a price is between -100 and 100")
        if rows and bool((np.diff(self.known_at) < 0).any()):
            raise self._invalid("rows are not in order")

    def _invalid(self, reason: str) -> InvalidInput:
        books = ", ".join(self.books)
        return InvalidInput(
            f"Invalid prices of {self.game_id} at {books} in {self.market}: {reason}."
        )


def quote_market(quote: Quote) -> str:
    """Return the market of a quote; h2h with a draw is three-way."""
    has_draw = any(slug(outcome.name) == "draw" for outcome in quote.outcomes)
    return "h2h_3way" if quote.market == "h2h" and has_draw else quote.market


def match_quote(quote: Quote, game: Fixture) -> QuoteTable:
    """Return a quote as a table of one row, its outcomes matched to sides by name.

    Raises InvalidInput if the outcomes are not the sides of the market.
    """
    market = quote_market(quote)
    by_side = _outcomes_by_side(quote, market, game)
    sides = market_sides(market)
    missing = [side for side in sides if side not in by_side]
    if missing:
        raise _invalid_quote(quote, f"it has no price for {' and '.join(missing)}")
    for outcome in quote.outcomes:
        if abs(outcome.price) < EVEN_MONEY:
            raise _invalid_quote(
                quote, f"{outcome.price} of {outcome.name!r} is not an American price"
            )
    first, second = by_side[sides[0]], by_side[sides[1]]
    return QuoteTable.of_book(
        game_id=quote.game_id,
        book=quote.book,
        market=market,
        captured_at=np.array([to_epoch_us(quote.captured_at)], dtype=np.int64),
        known_at=np.array([to_epoch_us(quote.known_at)], dtype=np.int64),
        prices=np.array([[by_side[side].price for side in sides]], dtype=np.int32),
        points=np.array([_point(quote, market, first, second)], dtype=np.float64),
        participant=quote.participant,
    )


def _outcomes_by_side(quote: Quote, market: str, game: Fixture) -> dict[str, PricedOutcome]:
    if market in _TEAM_MARKETS:
        names = {game.home: "home", game.away: "away", "draw": "draw"}
    else:
        names = {"over": "over", "under": "under"}
    by_side: dict[str, PricedOutcome] = {}
    for outcome in quote.outcomes:
        side = names.get(slug(outcome.name))
        if side is None:
            raise _invalid_quote(quote, f"{outcome.name!r} is none of {', '.join(names)}")
        if side in by_side:
            raise _invalid_quote(quote, f"{outcome.name!r} occurs twice")
        by_side[side] = outcome
    return by_side


def _point(quote: Quote, market: str, first: PricedOutcome, second: PricedOutcome) -> float:
    if market in {"h2h", "h2h_3way", "draw_no_bet"}:
        return math.nan
    if first.point is None or second.point is None:
        raise _invalid_quote(quote, "a side has no line")
    gap = first.point + second.point if market == "spreads" else first.point - second.point
    if gap != 0:
        raise _invalid_quote(quote, f"the lines {first.point} and {second.point} do not match")
    return float(first.point)


def _invalid_quote(quote: Quote, reason: str) -> InvalidInput:
    return InvalidInput(
        f"Invalid quote of {quote.game_id} at {quote.book} in {quote.market}: {reason}."
    )
