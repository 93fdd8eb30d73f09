"""Kept here: the prices of one market of one game, every book's rows in columns and in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from grandstand.apps.bets.model.prices.devig import Method, devig_rows
from grandstand.apps.bets.model.prices.paths import QuotePath, sides_of

METHOD: Final[Method] = "power"

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def decimals_of(prices: npt.NDArray[np.int32]) -> Floats:
    """American prices as decimal ones, for whole arrays."""
    american = prices.astype(np.float64)
    return 1.0 + np.where(american > 0, american / 100.0, 100.0 / np.abs(american))


@dataclass(frozen=True, eq=False)
class Board:
    """The latest price of each book in one market, as known at one moment.

    Columns of prices are the sides in order; points are the line of the first side.
    """

    market: str
    books: tuple[str, ...]
    prices: npt.NDArray[np.int32]
    points: Floats
    captured_at: Ints
    known_at: Ints
    _best: dict[tuple[int, float | None], tuple[str, int] | None] = field(default_factory=dict)

    @property
    def sides(self) -> tuple[str, ...]:
        """The sides of the market, in the order of the columns."""
        return sides_of(self.market)

    @cached_property
    def decimals(self) -> Floats:
        """The prices as decimal odds."""
        return decimals_of(self.prices)

    def best(self, side: int, point: float | None = None) -> tuple[str, int] | None:
        """The book with the highest price of a side, at a line if there is one, and its price."""
        if (side, point) not in self._best:
            self._best[side, point] = self._find_best(side, point)
        return self._best[side, point]

    def _find_best(self, side: int, point: float | None) -> tuple[str, int] | None:
        fits = np.ones(len(self.books), dtype=bool) if point is None else self.points == point
        rows = np.flatnonzero(fits)
        if not len(rows):
            return None
        row = int(rows[np.argmax(self.decimals[rows, side])])
        return self.books[row], int(self.prices[row, side])

    @cached_property
    def fair_rows(self) -> Floats:
        """Each book's probabilities without its margin."""
        return devig_rows(self.decimals, METHOD)


@dataclass(frozen=True, eq=False)
class Columns:
    """Every price of one market of one game, in the order in which they became known."""

    market: str
    books: tuple[str, ...]
    book: Ints
    captured_at: Ints
    known_at: Ints
    prices: npt.NDArray[np.int32]
    points: Floats

    @classmethod
    def joined(cls, market: str, paths: Sequence[QuotePath]) -> Columns:
        """The rows of several paths as one, ordered by when they became known."""
        books = tuple(sorted({path.book for path in paths}))
        number = {book: index for index, book in enumerate(books)}
        known = np.concatenate([path.known_at for path in paths])
        captured = np.concatenate([path.captured_at for path in paths])
        book = np.repeat(
            np.array([number[path.book] for path in paths], dtype=np.int64),
            [len(path.known_at) for path in paths],
        )
        order = np.lexsort((book, captured, known))
        prices = np.concatenate([path.prices for path in paths])
        points = np.concatenate([path.points for path in paths])
        return cls(
            market, books, book[order], captured[order], known[order], prices[order], points[order]
        )

    def until(self, stamp: int) -> Columns:
        """The rows known at a moment."""
        end = int(np.searchsorted(self.known_at, stamp, side="right"))
        return Columns(
            self.market,
            self.books,
            self.book[:end],
            self.captured_at[:end],
            self.known_at[:end],
            self.prices[:end],
            self.points[:end],
        )

    def before_start(self, start: int) -> Columns:
        """The rows captured before the game began."""
        kept = self.captured_at < start
        return Columns(
            self.market,
            self.books,
            self.book[kept],
            self.captured_at[kept],
            self.known_at[kept],
            self.prices[kept],
            self.points[kept],
        )

    def latest(self, stamp: int) -> Board | None:
        """The last row of each book known at a moment, or None when there is none."""
        end = int(np.searchsorted(self.known_at, stamp, side="right"))
        if not end:
            return None
        last = np.full(len(self.books), -1, dtype=np.int64)
        np.maximum.at(last, self.book[:end], np.arange(end))
        present = np.flatnonzero(last >= 0)
        rows = last[present]
        books = tuple(self.books[index] for index in present)
        return Board(
            self.market,
            books,
            self.prices[rows],
            self.points[rows],
            self.captured_at[rows],
            self.known_at[rows],
        )

    def of_book(self, book: str) -> Columns | None:
        """The rows of one book, or None when it has none."""
        if book not in self.books:
            return None
        kept = self.book == self.books.index(book)
        if not kept.any():
            return None
        return Columns(
            self.market,
            (book,),
            np.zeros(int(kept.sum()), dtype=np.int64),
            self.captured_at[kept],
            self.known_at[kept],
            self.prices[kept],
            self.points[kept],
        )
