"""Kept here: a market of the exchange: what it is about, and what has become of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from grandstand.simulators.exchange.floor.book import Book
from grandstand.simulators.exchange.floor.numbers import (
    DOLLAR,
    SECOND,
    contracts,
    dollars,
    whole_moment,
)

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
class SeriesListed:
    """A kind of event that comes again."""

    ticker: str
    title: str
    category: str
    frequency: str
    tags: tuple[str, ...]
    fee_multiplier: int = 1


@dataclass(slots=True)
class EventListed:
    """Something that will be known one day, on which markets are made."""

    ticker: str
    series: SeriesListed
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
    event: EventListed
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
        return [{"start": dollars(0), "end": dollars(DOLLAR), "step": dollars(self.tick)}]

    def status(self, now: int) -> Status:
        """Answer what the market is at a moment: opening and closing are the clock's doing."""
        if self.decided in {"determined", "disputed", "amended", "finalized"}:
            return self.decided
        if now >= self.closes_at:
            return "closed"
        if self.decided == "inactive":
            return "inactive"
        return "initialized" if now < self.opens_at else "active"

    def told(self, now: int) -> dict[str, object]:
        """Answer the market as REST tells it."""
        return {
            "ticker": self.ticker,
            "event_ticker": self.event.ticker,
            "series_ticker": self.event.series.ticker,
            "market_type": "binary",
            "title": self.title,
            "subtitle": self.subtitle,
            "yes_sub_title": self.subtitle,
            "no_sub_title": f"Not {self.subtitle}",
            "created_time": whole_moment(self.created_at),
            "updated_time": whole_moment(self.updated_at or self.created_at),
            "open_time": whole_moment(self.opens_at),
            "close_time": whole_moment(self.closes_at),
            "latest_expiration_time": whole_moment(self.closes_at + 86_400 * SECOND),
            "settlement_timer_seconds": 1800,
            "status": self.status(now),
            "result": self.result,
            **self._quoted(),
            "volume_fp": contracts(self.volume),
            "volume_24h_fp": contracts(self.volume_day),
            "open_interest_fp": contracts(self.open_interest),
            "notional_value_dollars": dollars(DOLLAR),
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
            "yes_bid_dollars": dollars(bid or 0),
            "yes_bid_size_fp": contracts(book.yes[bid] if bid is not None else 0),
            "yes_ask_dollars": dollars(DOLLAR if ask is None else ask),
            "yes_ask_size_fp": contracts(0 if ask is None else book.no[DOLLAR - ask]),
            "no_bid_dollars": dollars(book.best_no or 0),
            "no_ask_dollars": dollars(DOLLAR - (bid or 0)),
            "last_price_dollars": dollars(self.last or 0),
        }
