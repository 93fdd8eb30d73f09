"""Markets, order books and events of the simulated exchange."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final, Literal, Protocol, TypeAlias, get_args
from uuid import NAMESPACE_URL, uuid5

import msgspec

DOLLAR: Final = 100_000
CONTRACT: Final = 100
SECOND: Final = 1_000_000
MILLISECOND: Final = 1_000


@lru_cache(maxsize=1 << 15)
def format_dollars(price: int) -> str:
    """Format a price with four decimals, or five if needed."""
    whole, part = divmod(price, DOLLAR)
    fifth = part % 10
    return f"{whole}.{part:05d}" if fifth else f"{whole}.{part // 10:04d}"


@lru_cache(maxsize=1 << 15)
def format_contracts(size: int) -> str:
    """Format a size, or a change of one, with two decimals."""
    whole, part = divmod(abs(size), CONTRACT)
    return f"{'-' if size < 0 else ''}{whole}.{part:02d}"


def format_time(at: int) -> str:
    """Format a time to the microsecond, as in deltas."""
    seconds, micros = divmod(at, SECOND)
    return f"{_second(seconds)}.{micros:06d}Z"


def format_time_seconds(at: int) -> str:
    """Format a time to the second, as in markets."""
    return f"{_second(at // SECOND)}Z"


@lru_cache(maxsize=4096)
def _second(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")


Levels: TypeAlias = list[tuple[int, int]]


@dataclass(slots=True)
class Book:
    """The yes bids and the no bids, size by price; the best price of an empty side is None."""

    yes: dict[int, int] = field(default_factory=dict)
    no: dict[int, int] = field(default_factory=dict)
    best_yes: int | None = None
    best_no: int | None = None

    @classmethod
    def of(cls, yes: Levels, no: Levels) -> Book:
        return cls(dict(yes), dict(no), max(dict(yes), default=None), max(dict(no), default=None))

    def change(self, price: int, size: int, *, yes: bool) -> int:
        """Change a level and return its new size; a level of size 0 is removed."""
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
        """The lowest yes ask: a dollar less the best no bid."""
        return None if self.best_no is None else DOLLAR - self.best_no

    def levels(self, *, yes: bool) -> Levels:
        """Return the levels of a side, lowest price first."""
        return sorted((self.yes if yes else self.no).items())

    def copy(self) -> Book:
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
# The statuses that each value of the status filter matches.
FILTERS: Final[dict[str, frozenset[str]]] = {
    "unopened": frozenset({"initialized"}),
    "open": frozenset({"active"}),
    "paused": frozenset({"inactive"}),
    "closed": frozenset({"closed", "determined", "disputed", "amended"}),
    "settled": frozenset({"finalized"}),
}


@dataclass(frozen=True, slots=True)
class ListedSeries:
    """A series: recurring events of one kind."""

    ticker: str
    title: str
    category: str
    frequency: str
    tags: tuple[str, ...]
    fee_multiplier: int = 1


@dataclass(slots=True)
class ListedEvent:
    """An event: a question with one or more markets."""

    ticker: str
    series: ListedSeries
    title: str
    sub_title: str
    multivariate: bool = False
    fee_type_override: str | None = None
    fee_multiplier_override: int | None = None


@dataclass(slots=True)
class Market:
    """A market; `decided` is the status that the exchange set, if any."""

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
    last_quote: QuoteEvent | None = field(default=None, repr=False)

    @property
    def tick(self) -> int:
        """The step between two prices."""
        return TICKS[self.structure]

    @property
    def price_ranges(self) -> list[dict[str, str]]:
        """The valid prices, as REST and lifecycle events list them."""
        step = format_dollars(self.tick)
        return [{"start": format_dollars(0), "end": format_dollars(DOLLAR), "step": step}]

    def status(self, now: int) -> Status:
        """Return the status at a time: markets open and close by the clock."""
        if self.decided in {"determined", "disputed", "amended", "finalized"}:
            return self.decided
        if now >= self.closes_at:
            return "closed"
        if self.decided == "inactive":
            return "inactive"
        return "initialized" if now < self.opens_at else "active"

    def to_json(self, now: int) -> dict[str, object]:
        """Return the market as in REST responses."""
        book = self.book or Book()
        bid, ask = book.best_yes, book.best_ask
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
            "yes_bid_dollars": format_dollars(bid or 0),
            "yes_bid_size_fp": format_contracts(book.yes[bid] if bid is not None else 0),
            "yes_ask_dollars": format_dollars(DOLLAR if ask is None else ask),
            "yes_ask_size_fp": format_contracts(0 if ask is None else book.no[DOLLAR - ask]),
            "no_bid_dollars": format_dollars(book.best_no or 0),
            "no_ask_dollars": format_dollars(DOLLAR - (bid or 0)),
            "last_price_dollars": format_dollars(self.last or 0),
            "volume_fp": format_contracts(self.volume),
            "volume_24h_fp": format_contracts(self.volume_day),
            "open_interest_fp": format_contracts(self.open_interest),
            "notional_value_dollars": format_dollars(DOLLAR),
            "can_close_early": True,
            "fractional_trading_enabled": True,
            "price_level_structure": self.structure,
            "price_ranges": self.price_ranges,
            "exchange_index": 0,
            "rules_primary": f"Settles yes if this happens: {self.title}",
            "rules_secondary": "",
        }


LifecycleType: TypeAlias = Literal["market_lifecycle_v2", "event_lifecycle", "event_fee_update"]


class DeltaEvent(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A level of the yes or the no bids changed by `size`."""

    at: int
    ticker: str
    market_id: str
    yes: bool
    price: int
    size: int


class TradeEvent(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A trade at a yes price; a block trade does not touch the book."""

    at: int
    trade_id: str
    ticker: str
    price: int
    size: int
    taker_yes: bool
    is_block: bool = False


class QuoteEvent(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A ticker of a market; an empty side has no price, and size 0."""

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
    """A lifecycle event of a market or event; `body` is the `msg` on the wire."""

    at: int
    type: LifecycleType
    body: dict[str, object]
    multivariate: bool = False


class BookReplaced(msgspec.Struct, frozen=True, array_like=True):
    """A new snapshot of a book; only in replays."""

    at: int
    ticker: str
    yes: list[tuple[int, int]]
    no: list[tuple[int, int]]


ExchangeEvent: TypeAlias = DeltaEvent | TradeEvent | QuoteEvent | LifecycleEvent | BookReplaced


class MarketSource(Protocol):
    """Markets with their books and trades: a simulated world, or a recording."""

    def now_us(self) -> int:
        """Return the time of the exchange."""
        ...

    @property
    def markets(self) -> Mapping[str, Market]:
        """All markets by ticker, in the order they were listed."""
        ...

    @property
    def series(self) -> Sequence[ListedSeries]:
        """All series."""
        ...

    @property
    def trades(self) -> Sequence[TradeEvent]:
        """The trades, oldest first."""
        ...

    def book(self, ticker: str) -> Book | None:
        """Return the current book of a market; None if there is none."""
        ...

    def quote(self, ticker: str) -> QuoteEvent | None:
        """Return the current ticker of a market; None if there is none."""
        ...


class RecordedMarkets:
    """Markets that are filled from a recording.

    `events` are those added since they were last taken. A market that is not listed first is known
    by its ticker only.
    """

    def __init__(self) -> None:
        self.at = 0
        self.markets: dict[str, Market] = {}
        self.trades: deque[TradeEvent] = deque(maxlen=10_000)
        self.events: list[ExchangeEvent] = []
        self._series: dict[str, ListedSeries] = {}

    def now_us(self) -> int:
        return self.at

    @property
    def series(self) -> Sequence[ListedSeries]:
        return list(self._series.values())

    def book(self, ticker: str) -> Book | None:
        market = self.markets.get(ticker)
        return None if market is None else market.book

    def quote(self, ticker: str) -> QuoteEvent | None:
        market = self.markets.get(ticker)
        return None if market is None else market.last_quote

    def list_market(
        self,
        ticker: str,
        *,
        title: str = "",
        event_ticker: str = "",
        series_ticker: str = "",
        category: str = "",
    ) -> Market:
        """Add a market; it is always open."""
        parts = ticker.split("-")
        name = series_ticker or parts[0]
        series = self._series.setdefault(name, ListedSeries(name, name, category, "custom", ()))
        event_ticker = event_ticker or "-".join(parts[:-1]) or ticker
        market = self.markets[ticker] = Market(
            ticker=ticker,
            market_id=str(uuid5(NAMESPACE_URL, ticker)),
            event=ListedEvent(event_ticker, series, event_ticker, ""),
            title=title or ticker,
            subtitle="",
            created_at=0,
            opens_at=0,
            closes_at=4_000_000_000 * SECOND,
        )
        return market

    def replace_book(self, at: int, ticker: str, yes: Levels, no: Levels) -> None:
        """Replace a book; nothing is sent if it is unchanged."""
        market, book = self._market(ticker), Book.of(yes, no)
        if market.book != book:
            market.book = book
            self.events.append(BookReplaced(at, ticker, yes, no))

    def change_level(self, at: int, ticker: str, *, yes: bool, price: int, size: int) -> bool:
        """Change a level, and return False, with no effect, if there is no book yet."""
        market = self.markets.get(ticker)
        if market is None or market.book is None:
            return False
        market.book.change(price, size, yes=yes)
        self.events.append(DeltaEvent(at, ticker, market.market_id, yes, price, size))
        return True

    def add_trade(
        self,
        at: int,
        trade_id: str,
        ticker: str,
        price: int,
        size: int,
        *,
        taker_yes: bool,
        is_block: bool,
    ) -> None:
        market = self._market(ticker)
        market.last, market.last_size = price, size
        market.volume += size
        trade = TradeEvent(at, trade_id, ticker, price, size, taker_yes, is_block)
        self.trades.append(trade)
        self.events.append(trade)

    def add_quote(
        self,
        at: int,
        ticker: str,
        *,
        last: int | None,
        yes_bid: int | None,
        yes_ask: int | None,
        volume: int,
        open_interest: int,
        dollar_volume: int,
        dollar_open_interest: int,
    ) -> None:
        market = self._market(ticker)
        book = market.book or Book()
        market.last_quote = QuoteEvent(
            at,
            ticker,
            market.market_id,
            last,
            yes_bid,
            yes_ask,
            0 if yes_bid is None else book.yes.get(yes_bid, 0),
            0 if yes_ask is None else book.no.get(DOLLAR - yes_ask, 0),
            market.last_size,
            volume,
            open_interest,
            dollar_volume,
            dollar_open_interest,
        )
        self.events.append(market.last_quote)

    def _market(self, ticker: str) -> Market:
        return self.markets.get(ticker) or self.list_market(ticker)


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
    """A change of a market; its closing time is relative to now."""

    event_type: ChangeKind
    closes_in_seconds: float = 3600.0
    result: Result = "yes"
    structure: Structure = "deci_cent"
    title: str = "Another title"


def apply_change(market: Market, change: LifecycleChange, at: int) -> LifecycleEvent:
    """Change a market, and return the event, which has only the fields of its kind."""
    market.updated_at = at
    fields: dict[str, object] = {}
    match change.event_type:
        case "created":
            fields = {
                "open_ts": market.opens_at // SECOND,
                "close_ts": market.closes_at // SECOND,
                "exchange_index": 0,
                "price_level_structure": market.structure,
                "additional_metadata": _metadata(market),
            }
        case "activated":
            market.decided = ""
            fields = {"is_deactivated": False}
        case "deactivated":
            market.decided = "inactive"
            fields = {"is_deactivated": True}
        case "close_date_updated":
            market.closes_at = at + int(change.closes_in_seconds * SECOND)
            fields = {"close_ts": market.closes_at // SECOND}
        case "determined":
            market.decided, market.result = "determined", change.result
            fields = {
                "result": market.result,
                "determination_ts": at // SECOND,
                "settlement_value": format_dollars(DOLLAR if market.result == "yes" else 0),
            }
        case "settled":
            market.decided, market.settled_at = "finalized", at
            fields = {"settled_ts": at // SECOND}
        case "price_level_structure_updated":
            market.structure = change.structure
            fields = {
                "price_level_structure": change.structure,
                "price_ranges": market.price_ranges,
            }
        case "metadata_updated":
            market.title = change.title
            fields = {"additional_metadata": _metadata(market)}
    body = {"event_type": change.event_type, "market_ticker": market.ticker, **fields}
    return LifecycleEvent(at, "market_lifecycle_v2", body, market.event.multivariate)


def _metadata(market: Market) -> dict[str, object]:
    return {
        "event_ticker": market.event.ticker,
        "title": market.title,
        "yes_sub_title": market.subtitle,
        "name": market.subtitle,
        "rules_primary": f"Settles yes if this happens: {market.title}",
    }
