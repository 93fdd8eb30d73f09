"""Kept here: what the desks of the exchange need to know of the floor where trading goes on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from grandstand.simulators.exchange.floor.book import Book
from grandstand.simulators.exchange.floor.events import QuoteMade, TradeMade
from grandstand.simulators.exchange.floor.market import Market, SeriesListed


class Floor(Protocol):
    """Markets, their books, and the trades made in them: a world of its own, or a recording."""

    def now_us(self) -> int:
        """Answer the exchange's own moment."""
        ...

    @property
    def listed(self) -> Sequence[Market]:
        """Every market, in the order they were made."""
        ...

    @property
    def series(self) -> Sequence[SeriesListed]:
        """Every series."""
        ...

    @property
    def trades(self) -> Sequence[TradeMade]:
        """The trades there were, the oldest first."""
        ...

    def market(self, ticker: str) -> Market | None:
        """Answer a market, None if there is none."""
        ...

    def book(self, ticker: str) -> Book | None:
        """Answer the present book of a market, None if there is no such market."""
        ...

    def quote(self, ticker: str) -> QuoteMade | None:
        """Answer the present summary of a market, None if there is no such market."""
        ...
