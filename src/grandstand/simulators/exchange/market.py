"""Markets, order books and events of the simulated exchange."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final, Literal, Protocol, TypeAlias, get_args

import msgspec

DOLLAR: Final = 100_000
CONTRACT: Final = 100
SECOND: Final = 1_000_000
MILLISECOND: Final = 1_000


@lru_cache(maxsize=1 << 15)
def format_dollars(price: int) -> str:
    """Write a price with four decimals, five where it needs them."""
    whole, part = divmod(price, DOLLAR)
    fifth = part % 10
    return f"{whole}.{part:05d}" if fifth else f"{whole}.{part // 10:04d}"


@lru_cache(maxsize=1 << 15)
def format_contracts(size: int) -> str:
    """Write a size or a change of one with two decimals."""
    whole, part = divmod(abs(size), CONTRACT)
    return f"{'-' if size < 0 else ''}{whole}.{part:02d}"


def format_time(at: int) -> str:
    """Write a moment as the exchange writes the stamps of deltas, to the microsecond."""
    seconds, micros = divmod(at, SECOND)
    return f"{_second(seconds)}.{micros:06d}Z"


def format_time_seconds(at: int) -> str:
    """Write a moment to the second, as markets have them."""
    return f"{_second(at // SECOND)}Z"


@lru_cache(maxsize=4096)
def _second(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")


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
        """Return a book with these levels."""
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
        """Return the levels of a side, the lowest price first."""
        return sorted((self.yes if yes else self.no).items())

    def copy(self) -> Book:
        """Return a book that goes its own way."""
        return Book(dict(self.yes), dict(self.no), self.best_yes, self.best_no)


Structure: TypeAlias = Literal["linear_cent", "half_cent", "deci_cent", "centi_cent"]
Status: TypeAlias = Literal[
    "initialized",
    "active",
    "inactive",
    "closed",
    "determined",
    "disputed",
    "amended",
    "finalized",
]
Result: TypeAlias = Literal["yes", "no", ""]

TICKS: Final[dict[Structure, int]] = {
    "linear_cent": 1_000,
    "half_cent": 500,
    "deci_cent": 100,
    "centi_cent": 10,
}
# Which of the words of a filter a status answers to.
FILTERS: Final[dict[str, frozenset[str]]] = {
    "unopened": frozenset({"initialized"}),
    "open": frozenset({"active"}),
    "paused": frozenset({"inactive"}),
    "closed": frozenset({"closed", "determined", "disputed", "amended"}),
    "settled": frozenset({"finalized"}),
}


@dataclass(frozen=True, slots=True)
class ListedSeries:
    """A kind of event that comes again."""

    ticker: str
    title: str
    category: str
    frequency: str
    tags: tuple[str, ...]
    fee_multiplier: int = 1


@dataclass(slots=True)
class ListedEvent:
    """Something that will be known one day, on which markets are made."""

    ticker: str
    series: ListedSeries
    title: str
    sub_title: str
    multivariate: bool = False
    fee_type_override: str | None = None
    fee_multiplier_override: int | None = None


@dataclass(slots=True)
class Market:
    """One question with two answers; `decided` is what has been done to it by the exchange."""

    ticker: str
    market_id: str
    event: ListedEvent
    title: str
    subtitle: str
    created_at: int
    opens_at: int
    closes_at: int
    structure: Structure = "linear_cent"
    decided: Literal["", "inactive", "determined", "disputed", "amended", "finalized"] = ""
    result: Result = ""
    updated_at: int = 0
    settled_at: int = 0
    fair: int = DOLLAR // 2
    last: int | None = None
    last_size: int = 0
    volume: int = 0
    volume_day: int = 0
    open_interest: int = 0
    traded: int = 0
    book: Book | None = field(default=None, repr=False)

    @property
    def tick(self) -> int:
        """The step between two prices."""
        return TICKS[self.structure]

    @property
    def price_ranges(self) -> list[dict[str, str]]:
        """The prices there are, as the exchange tells them."""
        return [
            {
                "start": format_dollars(0),
                "end": format_dollars(DOLLAR),
                "step": format_dollars(self.tick),
            }
        ]

    def status(self, now: int) -> Status:
        """Return what the market is at a moment: opening and closing are the clock's doing."""
        if self.decided in {"determined", "disputed", "amended", "finalized"}:
            return self.decided
        if now >= self.closes_at:
            return "closed"
        if self.decided == "inactive":
            return "inactive"
        return "initialized" if now < self.opens_at else "active"

    def told(self, now: int) -> dict[str, object]:
        """Return the market as REST tells it."""
        return {
            "ticker": self.ticker,
            "event_ticker": self.event.ticker,
            "series_ticker": self.event.series.ticker,
            "market_type": "binary",
            "title": self.title,
            "subtitle": self.subtitle,
            "yes_sub_title": self.subtitle,
            "no_sub_title": f"Not {self.subtitle}",
            "created_time": format_time_seconds(self.created_at),
            "updated_time": format_time_seconds(self.updated_at or self.created_at),
            "open_time": format_time_seconds(self.opens_at),
            "close_time": format_time_seconds(self.closes_at),
            "latest_expiration_time": format_time_seconds(self.closes_at + 86_400 * SECOND),
            "settlement_timer_seconds": 1800,
            "status": self.status(now),
            "result": self.result,
            **self._quoted(),
            "volume_fp": format_contracts(self.volume),
            "volume_24h_fp": format_contracts(self.volume_day),
            "open_interest_fp": format_contracts(self.open_interest),
            "notional_value_dollars": format_dollars(DOLLAR),
            "can_close_early": True,
            "fractional_trading_enabled": True,
            "price_level_structure": self.structure,
            "price_ranges": self.price_ranges,
            "exchange_index": 0,
            "rules_primary": f"Settles Yes if it comes so: {self.title}",
            "rules_secondary": "",
        }

    def _quoted(self) -> dict[str, str]:
        book = self.book or Book()
        bid, ask = book.best_yes, book.best_ask
        return {
            "yes_bid_dollars": format_dollars(bid or 0),
            "yes_bid_size_fp": format_contracts(book.yes[bid] if bid is not None else 0),
            "yes_ask_dollars": format_dollars(DOLLAR if ask is None else ask),
            "yes_ask_size_fp": format_contracts(0 if ask is None else book.no[DOLLAR - ask]),
            "no_bid_dollars": format_dollars(book.best_no or 0),
            "no_ask_dollars": format_dollars(DOLLAR - (bid or 0)),
            "last_price_dollars": format_dollars(self.last or 0),
        }


LifecycleType: TypeAlias = Literal["market_lifecycle_v2", "event_lifecycle", "event_fee_update"]


class DeltaEvent(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A price level changed by `size`; `yes` says on which side of the book."""

    at: int
    ticker: str
    market_id: str
    yes: bool
    price: int
    size: int


class TradeEvent(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A trade at a price of the yes side; one that is a block never touched the book."""

    at: int
    trade_id: str
    ticker: str
    price: int
    size: int
    taker_yes: bool
    is_block: bool = False


class QuoteEvent(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """The summary of a market at a moment; a side without bids has no price and no size."""

    at: int
    ticker: str
    market_id: str
    last: int | None
    yes_bid: int | None
    yes_ask: int | None
    yes_bid_size: int
    yes_ask_size: int
    last_size: int
    volume: int
    open_interest: int
    dollar_volume: int
    dollar_open_interest: int


class LifecycleEvent(msgspec.Struct, frozen=True, array_like=True):
    """Something that became of a market or an event, in the words of the wire."""

    at: int
    type: LifecycleType
    body: dict[str, object]
    multivariate: bool = False


class BookReplaced(msgspec.Struct, frozen=True, array_like=True):
    """A whole book that was told again; it happens only where recordings are played."""

    at: int
    ticker: str
    yes: list[tuple[int, int]]
    no: list[tuple[int, int]]


ExchangeEvent: TypeAlias = DeltaEvent | TradeEvent | QuoteEvent | LifecycleEvent | BookReplaced


class MarketSource(Protocol):
    """Markets, their books, and the trades made in them: a world of its own, or a recording."""

    def now_us(self) -> int:
        """Return the exchange's own moment."""
        ...

    @property
    def listed(self) -> Sequence[Market]:
        """Every market, in the order they were made."""
        ...

    @property
    def series(self) -> Sequence[ListedSeries]:
        """Every series."""
        ...

    @property
    def trades(self) -> Sequence[TradeEvent]:
        """The trades there were, the oldest first."""
        ...

    def market(self, ticker: str) -> Market | None:
        """Return a market, None if there is none."""
        ...

    def book(self, ticker: str) -> Book | None:
        """Return the present book of a market, None if there is no such market."""
        ...

    def quote(self, ticker: str) -> QuoteEvent | None:
        """Return the present summary of a market, None if there is no such market."""
        ...


ChangeKind: TypeAlias = Literal[
    "created",
    "activated",
    "deactivated",
    "close_date_updated",
    "determined",
    "settled",
    "price_level_structure_updated",
    "metadata_updated",
]
CHANGE_KINDS: Final[tuple[ChangeKind, ...]] = get_args(ChangeKind)


class LifecycleChange(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is to become of a market; a moment of closing is counted from now."""

    event_type: ChangeKind
    closes_in_seconds: float = 3600.0
    result: Result = "yes"
    structure: Structure = "deci_cent"
    title: str = "Another title"


def apply_change(market: Market, becoming: LifecycleChange, at: int) -> LifecycleEvent:
    """Change a market and answer the news of it, with only the fields of its kind."""
    market.updated_at = at
    told: dict[str, object] = {}
    match becoming.event_type:
        case "created":
            told = _created(market)
        case "activated":
            market.decided = ""
            told = {"is_deactivated": False}
        case "deactivated":
            market.decided = "inactive"
            told = {"is_deactivated": True}
        case "close_date_updated":
            market.closes_at = at + int(becoming.closes_in_seconds * SECOND)
            told = {"close_ts": market.closes_at // SECOND}
        case "determined":
            market.decided, market.result = "determined", becoming.result
            told = _determined(market, at)
        case "settled":
            market.decided, market.settled_at = "finalized", at
            told = {"settled_ts": at // SECOND}
        case "price_level_structure_updated":
            told = _restructured(market, becoming.structure)
        case "metadata_updated":
            market.title = becoming.title
            told = {"additional_metadata": _metadata(market)}
    body = {"event_type": becoming.event_type, "market_ticker": market.ticker, **told}
    return LifecycleEvent(at, "market_lifecycle_v2", body, market.event.multivariate)


def _created(market: Market) -> dict[str, object]:
    return {
        "open_ts": market.opens_at // SECOND,
        "close_ts": market.closes_at // SECOND,
        "exchange_index": 0,
        "price_level_structure": market.structure,
        "additional_metadata": _metadata(market),
    }


def _determined(market: Market, at: int) -> dict[str, object]:
    value = DOLLAR if market.result == "yes" else 0
    return {
        "result": market.result,
        "determination_ts": at // SECOND,
        "settlement_value": format_dollars(value),
    }


def _restructured(market: Market, structure: Structure) -> dict[str, object]:
    market.structure = structure
    return {"price_level_structure": structure, "price_ranges": market.price_ranges}


def _metadata(market: Market) -> dict[str, object]:
    return {
        "event_ticker": market.event.ticker,
        "title": market.title,
        "yes_sub_title": market.subtitle,
        "name": market.subtitle,
        "rules_primary": f"Settles Yes if it comes so: {market.title}",
    }
