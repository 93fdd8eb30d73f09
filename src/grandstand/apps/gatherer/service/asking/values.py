"""Kept here: what is answered to whoever asks about recorded markets."""

from __future__ import annotations

from dataclasses import dataclass

from grandstand.apps.gatherer.model.book import WHOLE, Book
from grandstand.apps.gatherer.model.filling import Filled
from grandstand.apps.gatherer.model.messages import Levels


@dataclass(frozen=True, slots=True)
class BadLevel:
    """A level whose size comes out below nothing: something was missed, or counted twice."""

    side: bool
    price: int
    size: int


@dataclass(frozen=True, slots=True)
class BookAt:
    """A book at an instant of exchange time; `at_us` None means after the last change kept.

    Levels are price and size, the lowest price first. It is `exact` when nothing is known that
    puts it in doubt; else `doubt` names the gap or the stop. `base_us` is where it was begun from,
    and `deltas` how many changes were added to that.
    """

    ticker: str
    at_us: int | None
    yes: Levels
    no: Levels
    doubt: str | None = None
    bad: tuple[BadLevel, ...] = ()
    base_us: int | None = None
    deltas: int = 0

    @property
    def exact(self) -> bool:
        """Whether nothing is known that puts it in doubt."""
        return self.doubt is None

    @property
    def best_yes_bid(self) -> int | None:
        """The highest yes bid; None when there is none."""
        return self.yes[-1][0] if self.yes else None

    @property
    def best_yes_ask(self) -> int | None:
        """The lowest price at which yes is offered; None when nobody bids for no."""
        return WHOLE - self.no[-1][0] if self.no else None

    @property
    def spread(self) -> int | None:
        """The lowest yes ask less the highest yes bid; None when a side is empty."""
        bid, ask = self.best_yes_bid, self.best_yes_ask
        return None if bid is None or ask is None else ask - bid

    def book(self) -> Book:
        """Answer it as a book that can be changed."""
        return Book(self.yes, self.no)


@dataclass(frozen=True, slots=True)
class FillAt:
    """What an order would have got from a book at an instant."""

    book: BookAt
    filled: Filled


@dataclass(frozen=True, slots=True)
class DepthPoint:
    """The top of a book at an instant: best prices, and how much lies near them.

    Depths are sizes within so much of the best price, on the yes bids and on the yes asks.
    """

    at_us: int
    best_yes_bid: int | None
    best_yes_ask: int | None
    bid_depth: int
    ask_depth: int

    @property
    def spread(self) -> int | None:
        """The lowest yes ask less the highest yes bid; None when a side is empty."""
        if self.best_yes_bid is None or self.best_yes_ask is None:
            return None
        return self.best_yes_ask - self.best_yes_bid


@dataclass(frozen=True, slots=True)
class Volume:
    """How much of a market was traded: how many trades, and their sizes added up."""

    ticker: str
    trades: int
    size: int


@dataclass(frozen=True, slots=True)
class Candle:
    """The trades of one stretch: first, highest, lowest and last price, count and size."""

    start_us: int
    open: int
    high: int
    low: int
    close: int
    trades: int
    size: int
