"""Kept here: the bids for yes and for no of one market, with the best of each at hand."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from grandstand.simulators.exchange.floor.numbers import DOLLAR

Levels: TypeAlias = list[tuple[int, int]]


@dataclass(slots=True)
class Book:
    """Two sides of bids, price to size; the best price of an empty side is None."""

    yes: dict[int, int] = field(default_factory=dict)
    no: dict[int, int] = field(default_factory=dict)
    best_yes: int | None = None
    best_no: int | None = None

    @classmethod
    def of(cls, yes: Levels, no: Levels) -> Book:
        """Answer a book with these levels."""
        return cls(dict(yes), dict(no), max(dict(yes), default=None), max(dict(no), default=None))

    def change(self, price: int, size: int, *, yes: bool) -> int:
        """Add to a level, which goes when nothing is left; answer what it holds then."""
        side = self.yes if yes else self.no
        left = side.get(price, 0) + size
        best = self.best_yes if yes else self.best_no
        if left:
            side[price] = left
            if best is None or price > best:
                best = price
        else:
            side.pop(price, None)
            if price == best:
                best = max(side, default=None)
        if yes:
            self.best_yes = best
        else:
            self.best_no = best
        return left

    @property
    def best_ask(self) -> int | None:
        """The price at which yes can be bought: what the best bid for no leaves of a dollar."""
        return None if self.best_no is None else DOLLAR - self.best_no

    def levels(self, *, yes: bool) -> Levels:
        """Answer the levels of a side, the lowest price first."""
        return sorted((self.yes if yes else self.no).items())

    def copy(self) -> Book:
        """Answer a book that goes its own way."""
        return Book(dict(self.yes), dict(self.no), self.best_yes, self.best_no)
