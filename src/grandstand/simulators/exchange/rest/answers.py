"""Kept here: the exchange's REST, as values: a question in, a status and a body out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias, TypeVar

from grandstand.base.errors import InvalidInput
from grandstand.simulators.exchange.floor.book import Book
from grandstand.simulators.exchange.floor.events import TradeMade
from grandstand.simulators.exchange.floor.market import EventListed, Market, SeriesListed
from grandstand.simulators.exchange.floor.numbers import (
    DOLLAR,
    SECOND,
    contracts,
    dollars,
    moment,
    whole_moment,
)
from grandstand.simulators.exchange.floor.protocol import Floor
from grandstand.simulators.exchange.rest.candles import candles
from grandstand.simulators.exchange.rest.questions import (
    Query,
    cursor_of,
    market_filter,
    number_of,
    place_of,
    text_of,
)
from grandstand.simulators.exchange.stream.frames import levels_told

Thing = TypeVar("Thing")
Answer: TypeAlias = tuple[int, object]

_MOST_MARKETS: Final = 1000
_MOST_EVENTS: Final = 200
_MOST_BOOKS: Final = 100
_MOST_DEPTH: Final = 100
_DAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


@dataclass(frozen=True, slots=True)
class Budget:
    """The tokens of an account: how many come each second, and what a request costs."""

    read_per_second: int = 200
    write_per_second: int = 100
    cost: int = 10
    tier: str = "basic"


@dataclass
class Rest:
    """Answers questions about a floor.

    With `cursor_loops` a list never ends: its cursor leads back. Books are told as they were up to
    `stale_seconds` ago.
    """

    floor: Floor
    budget: Budget = field(default_factory=Budget)
    stale_seconds: float = 0.0
    cursor_loops: bool = False
    exchange_active: bool = True
    trading_active: bool = True
    resumes_at: int | None = None
    _cached: dict[str, tuple[int, Book]] = field(default_factory=dict)

    def answer(self, path: str, query: Query) -> Answer:
        """Answer a question; a path begins after the version."""
        if not self.exchange_active:
            return self._exchange("status")
        try:
            return self._route(path.strip("/").split("/"), query)
        except InvalidInput as fault:
            return 400, _error("invalid_parameters", str(fault))

    def _route(self, parts: list[str], query: Query) -> Answer:
        match parts:
            case ["exchange", what]:
                return self._exchange(what)
            case ["account", what]:
                return self._account(what)
            case ["markets", *rest]:
                return self._of_markets(rest, query)
            case ["historical", *rest]:
                return self._historical(rest, query)
            case ["events", *rest]:
                return self._events(rest, query)
            case ["series", _, "markets", ticker, "candlesticks"]:
                return self._candles_of(ticker, query)
            case ["series", *rest]:
                return self._series(rest)
        return _found(None)

    def _of_markets(self, parts: list[str], query: Query) -> Answer:
        match parts:
            case []:
                return 200, self._markets(query)
            case ["orderbooks"]:
                return 200, self._books(query)
            case ["trades"]:
                return 200, self._trades(query)
            case ["candlesticks"]:
                return 200, self._candles(query)
            case [ticker, "orderbook"]:
                return self._one_book(ticker, query)
            case [ticker]:
                market = self.floor.market(ticker)
                return _found(market and {"market": self._told(market)})
        return _found(None)

    def _historical(self, parts: list[str], query: Query) -> Answer:
        match parts:
            case ["cutoff"]:
                at = whole_moment(self.floor.now_us() - 90 * 86_400 * SECOND)
                names = ("market_settled_ts", "trades_created_ts", "orders_updated_ts")
                return 200, dict.fromkeys(names, at)
            case ["markets"]:
                return 200, {"markets": [], "cursor": ""}
            case ["trades"]:
                return 200, self._trades(query)
        return _found(None)

    def _told(self, market: Market) -> dict[str, object]:
        self.floor.book(market.ticker)
        return market.told(self.floor.now_us())

    def _exchange(self, what: str) -> Answer:
        match what:
            case "status":
                told: dict[str, object] = {
                    "exchange_active": self.exchange_active,
                    "trading_active": self.trading_active,
                    "exchange_estimated_resume_time": (
                        None if self.resumes_at is None else whole_moment(self.resumes_at)
                    ),
                }
                return 200 if self.exchange_active else 503, told
            case "schedule":
                hours = [{"open_time": "00:00", "close_time": "00:00"}]
                week = dict.fromkeys(_DAYS, hours)
                told = {"standard_hours": [week], "maintenance_windows": []}
                return 200, {"schedule": told}
            case "announcements":
                return 200, {"announcements": []}
        return _found(None)

    def _account(self, what: str) -> Answer:
        budget = self.budget
        if what == "limits":
            read, write = budget.read_per_second, budget.write_per_second
            return 200, {
                "usage_tier": budget.tier,
                "read_limit": read,
                "write_limit": write,
                "read": {"refill_rate": read, "bucket_capacity": read},
                "write": {"refill_rate": write, "bucket_capacity": write},
            }
        if what == "endpoint_costs":
            return 200, {"default_cost": budget.cost, "endpoint_costs": []}
        return _found(None)

    def _markets(self, query: Query) -> object:
        now = self.floor.now_us()
        keep = market_filter(query, now)
        listed = [market for market in self.floor.listed if keep(market)]
        page, cursor = self._page(listed, query, 100, _MOST_MARKETS)
        return {"markets": [self._told(market) for market in page], "cursor": cursor}

    def _books(self, query: Query) -> object:
        tickers = [ticker for text in query.get("tickers", []) for ticker in text.split(",")]
        if not tickers or len(tickers) > _MOST_BOOKS:
            raise InvalidInput(f"tickers: 1 to {_MOST_BOOKS} are required")
        found = ((ticker, self._book(ticker)) for ticker in tickers)
        return {
            "orderbooks": [
                {"ticker": ticker, "orderbook_fp": _book_told(book, 0)}
                for ticker, book in found
                if book is not None
            ]
        }

    def _one_book(self, ticker: str, query: Query) -> Answer:
        depth = number_of(query, "depth", 0)
        if not 0 <= depth <= _MOST_DEPTH:
            raise InvalidInput("depth: 0 to 100")
        book = self._book(ticker)
        return _found(book and {"orderbook_fp": _book_told(book, depth)})

    def _book(self, ticker: str) -> Book | None:
        book = self.floor.book(ticker)
        if book is None or not self.stale_seconds:
            return book
        now = self.floor.now_us()
        made_at, cached = self._cached.get(ticker, (0, book))
        if now - made_at <= self.stale_seconds * SECOND:
            return cached
        self._cached[ticker] = (now, book.copy())
        return book

    def _trades(self, query: Query) -> object:
        ticker = text_of(query, "ticker")
        least = number_of(query, "min_ts", 0) * SECOND
        most = (number_of(query, "max_ts", 1 << 40) + 1) * SECOND
        block = text_of(query, "is_block_trade")
        listed = [
            trade
            for trade in reversed(self.floor.trades)
            if (ticker is None or trade.ticker == ticker)
            and least <= trade.at < most
            and (block is None or trade.is_block == (block == "true"))
        ]
        page, cursor = self._page(listed, query, 100, _MOST_MARKETS)
        return {"trades": [_trade_told(trade) for trade in page], "cursor": cursor}

    def _candles(self, query: Query) -> object:
        tickers = [it for text in query.get("market_tickers", []) for it in text.split(",")]
        if not tickers or len(tickers) > _MOST_BOOKS:
            raise InvalidInput(f"market_tickers: 1 to {_MOST_BOOKS} are required")
        told = [
            {"market_ticker": it, "candlesticks": self._candlesticks(it, query)} for it in tickers
        ]
        return {"markets": told}

    def _candles_of(self, ticker: str, query: Query) -> Answer:
        if self.floor.market(ticker) is None:
            return _found(None)
        return 200, {"ticker": ticker, "candlesticks": self._candlesticks(ticker, query)}

    def _candlesticks(self, ticker: str, query: Query) -> list[dict[str, object]]:
        minutes = number_of(query, "period_interval", 60)
        if minutes not in {1, 60, 1440}:
            raise InvalidInput("period_interval: 1, 60 or 1440")
        begin, end = number_of(query, "start_ts", 0), number_of(query, "end_ts", 1 << 40)
        trades = [trade for trade in self.floor.trades if trade.ticker == ticker]
        return candles(trades, minutes * 60, begin, end)

    def _events(self, rest: list[str], query: Query) -> Answer:
        listed = self._events_listed(query)
        if rest and rest != ["multivariate"]:
            event = next((it for it in listed if [it.ticker] == rest), None)
            return _found(event and {"event": _event_told(event), "markets": self._of(event)})
        combos = rest == ["multivariate"]
        chosen = [event for event in listed if event.multivariate == combos]
        page, cursor = self._page(chosen, query, _MOST_EVENTS, _MOST_EVENTS)
        told = [_event_told(event) for event in page]
        if text_of(query, "with_nested_markets") == "true":
            told = [one | {"markets": self._of(it)} for one, it in zip(told, page, strict=True)]
        return 200, {"events": told, "cursor": cursor}

    def _events_listed(self, query: Query) -> list[EventListed]:
        now = self.floor.now_us()
        narrowed: Query = {it: query[it] for it in ("status", "series_ticker") if it in query}
        keep = market_filter(narrowed, now)
        events = {it.event.ticker: it.event for it in self.floor.listed if keep(it)}
        return list(events.values())

    def _of(self, event: EventListed) -> list[dict[str, object]]:
        return [self._told(it) for it in self.floor.listed if it.event is event]

    def _series(self, rest: list[str]) -> Answer:
        if not rest:
            return 200, {"series": [_series_told(series) for series in self.floor.series]}
        if rest == ["fee_changes"]:
            return 200, {"series_fee_change_arr": []}
        series = next((it for it in self.floor.series if [it.ticker] == rest), None)
        return _found(series and {"series": _series_told(series)})

    def _page(
        self, listed: Sequence[Thing], query: Query, usual: int, most: int
    ) -> tuple[Sequence[Thing], str]:
        limit = number_of(query, "limit", usual)
        if not 1 <= limit <= most:
            raise InvalidInput(f"limit: 1 to {most}")
        start = place_of(text_of(query, "cursor") or "")
        page, end = listed[start : start + limit], start + limit
        if self.cursor_loops:
            return page, cursor_of(start or limit)
        return page, cursor_of(end) if end < len(listed) else ""


def _found(told: object) -> Answer:
    return (404, _error("not_found", "not found")) if told is None else (200, told)


def _error(code: str, message: str) -> dict[str, object]:
    return {"error": {"code": code, "message": message, "service": "exchange"}}


def _book_told(book: Book, depth: int) -> dict[str, object]:
    """Tell a book, the lowest price first; a depth keeps the best."""
    return {
        "yes_dollars": levels_told(book.levels(yes=True)[-depth:]),
        "no_dollars": levels_told(book.levels(yes=False)[-depth:]),
    }


def _trade_told(trade: TradeMade) -> dict[str, object]:
    side, book_side = ("yes", "bid") if trade.taker_yes else ("no", "ask")
    return {
        "trade_id": trade.trade_id,
        "ticker": trade.ticker,
        "yes_price_dollars": dollars(trade.price),
        "no_price_dollars": dollars(DOLLAR - trade.price),
        "count_fp": contracts(trade.size),
        "taker_side": side,
        "taker_outcome_side": side,
        "taker_book_side": book_side,
        "is_block_trade": trade.is_block,
        "created_time": moment(trade.at),
    }


def _event_told(event: EventListed) -> dict[str, object]:
    return {
        "event_ticker": event.ticker,
        "series_ticker": event.series.ticker,
        "title": event.title,
        "sub_title": event.sub_title,
        "category": event.series.category,
        "mutually_exclusive": True,
        "collateral_return_type": "",
        "fee_type_override": event.fee_type_override,
        "fee_multiplier_override": event.fee_multiplier_override,
    }


def _series_told(series: SeriesListed) -> dict[str, object]:
    return {
        "ticker": series.ticker,
        "title": series.title,
        "category": series.category,
        "frequency": series.frequency,
        "tags": series.tags,
        "settlement_sources": [{"name": "The simulator", "url": "http://127.0.0.1/"}],
        "fee_type": "quadratic",
        "fee_multiplier": series.fee_multiplier,
    }
