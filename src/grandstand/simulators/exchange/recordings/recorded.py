"""Kept here: rows that somebody recorded, whatever their type, as events of the exchange."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

import msgspec

from grandstand.simulators.exchange.floor.book import Levels


class RecordedDelta(Protocol):
    """A change of a level; `side` is True for yes."""

    @property
    def exchange_ts(self) -> int:
        """When, in microseconds."""
        ...

    @property
    def ticker(self) -> str:
        """In which market."""
        ...

    @property
    def side(self) -> bool:
        """On which side."""
        ...

    @property
    def price(self) -> int:
        """At which price, in hundred-thousandths."""
        ...

    @property
    def size_delta(self) -> int:
        """By how much, in hundredths."""
        ...


class RecordedTrade(Protocol):
    """A trade; `taker_side` is True for yes."""

    @property
    def trade_id(self) -> object:
        """Its id."""
        ...

    @property
    def exchange_ts(self) -> int:
        """When, in microseconds."""
        ...

    @property
    def ticker(self) -> str:
        """In which market."""
        ...

    @property
    def price(self) -> int:
        """The price of yes, in hundred-thousandths."""
        ...

    @property
    def size(self) -> int:
        """How much, in hundredths."""
        ...

    @property
    def taker_side(self) -> bool:
        """Who came to the other."""
        ...

    @property
    def is_block(self) -> bool:
        """Whether it was made away from the book."""
        ...


class RecordedQuote(Protocol):
    """A market's summary."""

    @property
    def exchange_ts(self) -> int:
        """When, in microseconds."""
        ...

    @property
    def ticker(self) -> str:
        """Of which market."""
        ...

    @property
    def yes_bid(self) -> int | None:
        """The best bid."""
        ...

    @property
    def yes_ask(self) -> int | None:
        """The best ask."""
        ...

    @property
    def last_price(self) -> int | None:
        """The price of the last trade."""
        ...

    @property
    def volume(self) -> int | None:
        """How much was traded."""
        ...

    @property
    def open_interest(self) -> int | None:
        """How much is held."""
        ...

    @property
    def dollar_volume(self) -> int | None:
        """What was paid."""
        ...

    @property
    def dollar_open_interest(self) -> int | None:
        """What is held, in dollars."""
        ...


class RecordedBook(Protocol):
    """A whole book; a side is the JSON of pairs of a price and a size."""

    @property
    def snapshot_ts(self) -> int:
        """When, in microseconds."""
        ...

    @property
    def ticker(self) -> str:
        """Of which market."""
        ...

    @property
    def yes_bids(self) -> str:
        """The bids for yes."""
        ...

    @property
    def no_bids(self) -> str:
        """The bids for no."""
        ...


RecordedRow: TypeAlias = RecordedDelta | RecordedTrade | RecordedQuote | RecordedBook
# When a row is to be played, in microseconds, and the row.
Recorded: TypeAlias = tuple[int, RecordedRow]

_MARKS: Final = (
    ("size_delta", "delta"),
    ("trade_id", "trade"),
    ("yes_bids", "book"),
    ("last_price", "quote"),
)


class RecordedListing(Protocol):
    """What somebody knows of a market whose recording is played; an empty text is not known."""

    @property
    def ticker(self) -> str:
        """Its own name."""
        ...

    @property
    def title(self) -> str:
        """What it is about."""
        ...

    @property
    def event_ticker(self) -> str:
        """The event it belongs to."""
        ...

    @property
    def series_ticker(self) -> str:
        """The series of that event."""
        ...

    @property
    def category(self) -> str:
        """The kind of that series."""
        ...


@dataclass(frozen=True, slots=True)
class Listing:
    """A market of which there may be nothing more to say than its name."""

    ticker: str
    title: str = ""
    event_ticker: str = ""
    series_ticker: str = ""
    category: str = ""


def kind_of(row: object) -> str:
    """Answer what a row records, by the columns it has: delta, trade, book or quote."""
    return next((kind for mark, kind in _MARKS if hasattr(row, mark)), "")


def levels_of(text: str) -> Levels:
    """Parse the levels of a side."""
    return msgspec.json.decode(text, type=list[tuple[int, int]])
