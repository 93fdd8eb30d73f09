"""Kept here: what really happened on the exchange, to compare with what somebody recorded."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from grandstand.simulators.exchange.floor.book import Book
from grandstand.simulators.exchange.floor.events import (
    DeltaMade,
    LifecycleMade,
    QuoteMade,
    TradeMade,
)


@dataclass(slots=True)
class _Journal:
    """The deltas of one market since its base; a side and a price are one number."""

    market_id: str
    base: Book
    at: array[int] = field(default_factory=lambda: array("q"))
    where: array[int] = field(default_factory=lambda: array("q"))
    size: array[int] = field(default_factory=lambda: array("q"))

    def forget(self, count: int) -> None:
        for place in range(count):
            where = self.where[place]
            self.base.change(where >> 1, self.size[place], yes=bool(where & 1))
        del self.at[:count], self.where[:count], self.size[:count]


class Truth:
    """Every delta, trade, quote and lifecycle message that was meant to be sent.

    With `most` only so many of a kind are kept (of a market, for deltas): the oldest are folded
    into the base of the book. A moment before a market's base has no book.
    """

    def __init__(self, most: int | None = None) -> None:
        self._most = most
        self._journals: dict[str, _Journal] = {}
        self.trades: list[TradeMade] = []
        self.quotes: list[QuoteMade] = []
        self.lifecycle: list[LifecycleMade] = []
        self.deltas_made = 0

    def begin(self, ticker: str, market_id: str, book: Book) -> None:
        """Note the book a market began with."""
        self._journals[ticker] = _Journal(market_id, book.copy())

    def end(self, ticker: str) -> None:
        """Forget the book of a market."""
        self._journals.pop(ticker, None)

    def note(self, event: object) -> None:
        """Note what happened; what is not known is passed over."""
        if type(event) is DeltaMade:
            journal = self._journals[event.ticker]
            journal.at.append(event.at)
            journal.where.append(event.price << 1 | event.yes)
            journal.size.append(event.size)
            self.deltas_made += 1
            if self._most is not None and len(journal.at) >= 2 * self._most:
                journal.forget(self._most)
        elif type(event) is TradeMade:
            self.trades.append(event)
            self._trim(self.trades)
        elif type(event) is QuoteMade:
            self.quotes.append(event)
            self._trim(self.quotes)
        elif type(event) is LifecycleMade:
            self.lifecycle.append(event)
            self._trim(self.lifecycle)

    def _trim(self, kept: list[TradeMade] | list[QuoteMade] | list[LifecycleMade]) -> None:
        if self._most is not None and len(kept) >= 2 * self._most:
            del kept[: self._most]

    @property
    def tickers(self) -> Sequence[str]:
        """The markets that have a book."""
        return list(self._journals)

    def deltas(self, ticker: str, after: int = 0) -> Iterator[DeltaMade]:
        """Walk over a market's deltas in their order, from the one numbered `after`, from 0."""
        journal = self._journals.get(ticker)
        if journal is None:
            return
        for place in range(after, len(journal.at)):
            where = journal.where[place]
            yield DeltaMade(
                journal.at[place],
                ticker,
                journal.market_id,
                bool(where & 1),
                where >> 1,
                journal.size[place],
            )

    def book_at(self, ticker: str, at: int) -> Book | None:
        """Answer a market's book after everything that happened up to and at a moment."""
        return next(self.books_at(ticker, (at,)), None)

    def books_at(self, ticker: str, moments: Iterable[int]) -> Iterator[Book]:
        """Answer a market's book at each of some moments, given in their order, in one walk."""
        journal = self._journals.get(ticker)
        if journal is None:
            return
        book, done = journal.base.copy(), 0
        for at in moments:
            upto = bisect_right(journal.at, at)
            for place in range(done, upto):
                where = journal.where[place]
                book.change(where >> 1, journal.size[place], yes=bool(where & 1))
            done = max(done, upto)
            yield book.copy()
