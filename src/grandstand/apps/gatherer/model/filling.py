"""Kept here: what an order would have got from a book, had it come at that instant."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from grandstand.apps.gatherer.model.book import WHOLE, Book
from grandstand.apps.gatherer.model.errors import OrderImpossible


@dataclass(frozen=True, slots=True)
class Order:
    """A wish to buy or sell yes (`side` True) or no, at `limit` or better; None takes any price.

    The limit is in hundred-thousandths of a dollar, the size in hundredths of a contract.
    """

    side: bool
    buys: bool
    size: int
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Filled:
    """The levels an order would have taken, the best first, and what would have been left."""

    taken: tuple[tuple[int, int], ...]
    left: int

    @property
    def size(self) -> int:
        """How much would have been filled, in hundredths of a contract."""
        return sum(size for _, size in self.taken)

    @property
    def whole(self) -> bool:
        """Whether all of the order would have been filled."""
        return not self.left

    @property
    def average(self) -> Fraction | None:
        """The mean price in hundred-thousandths of a dollar; None when nothing was filled."""
        size = self.size
        return Fraction(sum(price * size for price, size in self.taken), size) if size else None

    @property
    def paid(self) -> Fraction:
        """The dollars that would have changed hands, before fees."""
        return Fraction(sum(price * size for price, size in self.taken), WHOLE * 100)


def fill(book: Book, order: Order) -> Filled:
    """Answer what a book gives an order; it stands alone, ahead of nobody and behind nobody.

    Raises OrderImpossible when the size is not positive or the limit is no price.
    """
    if order.size <= 0:
        raise OrderImpossible("An order must be for more than nothing.")
    if order.limit is not None and not 0 <= order.limit <= WHOLE:
        raise OrderImpossible("A limit must be between 0 and 1 dollar.")
    left, taken = order.size, []
    for price, size in _offers(book, order):
        if not left or _worse(price, order):
            break
        got = min(size, left)
        taken.append((price, got))
        left -= got
    return Filled(tuple(taken), left)


def _offers(book: Book, order: Order) -> list[tuple[int, int]]:
    yes, no = book.levels()
    own, other = (yes, no) if order.side else (no, yes)
    if order.buys:
        return [(WHOLE - price, size) for price, size in reversed(other)]
    return list(reversed(own))


def _worse(price: int, order: Order) -> bool:
    if order.limit is None:
        return False
    return price > order.limit if order.buys else price < order.limit
