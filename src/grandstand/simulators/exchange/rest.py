"""REST API of the simulated exchange."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias, TypeVar

from grandstand.core.errors import InvalidInput
from grandstand.simulators.exchange.market import (
    DOLLAR,
    FILTERS,
    SECOND,
    Book,
    ListedEvent,
    ListedSeries,
    Market,
    MarketSource,
    TradeEvent,
    format_contracts,
    format_dollars,
    format_time,
    format_time_seconds,
)
from grandstand.simulators.exchange.ws_connections import format_levels

QueryParams: TypeAlias = dict[str, list[str]]

_TIME_FILTERS: Final[tuple[tuple[str, Callable[[Market], int]], ...]] = (
    ("created", lambda market: market.created_at),
    ("close", lambda market: market.closes_at),
    ("settled", lambda market: market.settled_at),
    ("updated", lambda market: market.updated_at or market.created_at),
)


def _candle(closes: int, trades: list[TradeEvent]) -> dict[str, object]:
    prices = [trade.price for trade in trades]
    return {
        "end_period_ts": closes,
        "price": {
            "open_dollars": format_dollars(prices[0]),
            "high_dollars": format_dollars(max(prices)),
            "low_dollars": format_dollars(min(prices)),
            "close_dollars": format_dollars(prices[-1]),
        },
        "volume_fp": format_contracts(sum(trade.size for trade in trades)),
    }


def market_filter(query: QueryParams, now: int) -> Callable[[Market], bool]:
    """Return the filter of a query.

    Raises InvalidInput.
    """
    tests: list[Callable[[Market], bool]] = []
    if (status := text_param(query, "status")) is not None:
        if status not in FILTERS:
            raise InvalidInput("status: one of unopened, open, paused, closed, settled")
        tests.append(lambda market: market.status(now) in FILTERS[status])
    if "tickers" in query:
        wanted = {ticker for text in query["tickers"] for ticker in text.split(",")}
        tests.append(lambda market: market.ticker in wanted)
    if (event := text_param(query, "event_ticker")) is not None:
        tests.append(lambda market: market.event.ticker == event)
    if (series := text_param(query, "series_ticker")) is not None:
        tests.append(lambda market: market.event.series.ticker == series)
    if (combos := text_param(query, "mve_filter")) is not None:
        if combos not in {"only", "exclude"}:
            raise InvalidInput("mve_filter: only or exclude")
        tests.append(lambda market: market.event.multivariate == (combos == "only"))
    tests += _time_tests(query)
    return lambda market: all(test(market) for test in tests)


def _time_tests(query: QueryParams) -> list[Callable[[Market], bool]]:
    used = [
        name for name, _ in _TIME_FILTERS if query.keys() & {f"min_{name}_ts", f"max_{name}_ts"}
    ]
    if len(used) > 1:
        raise InvalidInput("filters by time: only one of them at once")
    others = query.keys() - {"min_updated_ts", "mve_filter", "limit", "cursor"}
    if used == ["updated"] and (others or query.get("mve_filter", ["exclude"]) != ["exclude"]):
        raise InvalidInput("min_updated_ts: only with mve_filter=exclude")
    tests: list[Callable[[Market], bool]] = []
    for name, time_of in _TIME_FILTERS:
        if name in used:
            start = int_param(query, f"min_{name}_ts", 0) * SECOND
            end = int_param(query, f"max_{name}_ts", 1 << 40) * SECOND
            tests.append(_between(time_of, start, end))
    return tests


def _between(time_of: Callable[[Market], int], start: int, end: int) -> Callable[[Market], bool]:
    return lambda market: start <= time_of(market) <= end


def text_param(query: QueryParams, name: str) -> str | None:
    """Return the first value of a parameter; None if it is not given."""
    values = query.get(name)
    return values[0] if values else None


def int_param(query: QueryParams, name: str, default: int) -> int:
    """Return a number.

    Raises InvalidInput.
    """
    text = text_param(query, name)
    if text is None:
        return default
    if not text.isdecimal():
        raise InvalidInput(f"{name}: a number is required")
    return int(text)


def encode_cursor(position: int) -> str:
    return base64.urlsafe_b64encode(f"at/{position}".encode()).decode().rstrip("=")


def decode_cursor(cursor: str) -> int:
    """Return the position of a cursor.

    Raises InvalidInput.
    """
    if not cursor:
        return 0
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
    except (binascii.Error, UnicodeDecodeError):
        text = ""
    if not text.removeprefix("at/").isdecimal():
        raise InvalidInput("cursor: invalid")
    return int(text.removeprefix("at/"))


T = TypeVar("T")
RestResponse: TypeAlias = tuple[int, object]

_MAX_MARKETS: Final = 1000
_MAX_EVENTS: Final = 200
_MAX_BOOKS: Final = 100
_DAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


@dataclass(frozen=True, slots=True)
class RequestBudget:
    """The tokens of an account per second, and the cost of a request."""

    read_per_second: int = 200
    write_per_second: int = 100
    cost: int = 10
    tier: str = "basic"


@dataclass
class RestApi:
    """REST responses for a market source.

    With `cursor_loops` cursors repeat, so that a list never ends. Books can be up to
    `stale_seconds` old.
    """

    source: MarketSource
    budget: RequestBudget = field(default_factory=RequestBudget)
    stale_seconds: float = 0.0
    cursor_loops: bool = False
    exchange_active: bool = True
    trading_active: bool = True
    resumes_at: int | None = None
    _cached: dict[str, tuple[int, Book]] = field(default_factory=dict)

    def respond(self, path: str, query: QueryParams) -> RestResponse:
        """Return the response to a GET of a path, without the version."""
        if not self.exchange_active:
            return self._exchange("status")
        try:
            return self._route(path.strip("/").split("/"), query)
        except InvalidInput as error:
            return 400, _error("invalid_parameters", str(error))

    def _route(self, parts: list[str], query: QueryParams) -> RestResponse:
        match parts:
            case ["exchange", what]:
                return self._exchange(what)
            case ["account", what]:
                return self._account(what)
            case ["markets", *rest]:
                return self._market_routes(rest, query)
            case ["historical", *rest]:
                return self._historical(rest, query)
            case ["events", *rest]:
                return self._events(rest, query)
            case ["series", _, "markets", ticker, "candlesticks"] if ticker in self.source.markets:
                return 200, {"ticker": ticker, "candlesticks": self._candlesticks(ticker, query)}
            case ["series", *rest]:
                return self._series(rest)
        return _ok_or_404(None)

    def _market_routes(self, parts: list[str], query: QueryParams) -> RestResponse:
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
                depth = int_param(query, "depth", 0)
                if not 0 <= depth <= 100:
                    raise InvalidInput("depth: 0 to 100")
                book = self._book(ticker)
                return _ok_or_404(book and {"orderbook_fp": _book_json(book, depth)})
            case [ticker]:
                market = self.source.markets.get(ticker)
                return _ok_or_404(market and {"market": self._market_json(market)})
        return _ok_or_404(None)

    def _historical(self, parts: list[str], query: QueryParams) -> RestResponse:
        match parts:
            case ["cutoff"]:
                at = format_time_seconds(self.source.now_us() - 90 * 86_400 * SECOND)
                names = ("market_settled_ts", "trades_created_ts", "orders_updated_ts")
                return 200, dict.fromkeys(names, at)
            case ["markets"]:
                return 200, {"markets": [], "cursor": ""}
            case ["trades"]:
                return 200, self._trades(query)
        return _ok_or_404(None)

    def _market_json(self, market: Market) -> dict[str, object]:
        self.source.book(market.ticker)  # creates the book of a market nobody subscribed to yet
        return market.to_json(self.source.now_us())

    def _exchange(self, what: str) -> RestResponse:
        match what:
            case "status":
                return 200 if self.exchange_active else 503, {
                    "exchange_active": self.exchange_active,
                    "trading_active": self.trading_active,
                    "exchange_estimated_resume_time": (
                        None if self.resumes_at is None else format_time_seconds(self.resumes_at)
                    ),
                }
            case "schedule":
                hours = [{"open_time": "00:00", "close_time": "00:00"}]
                week = dict.fromkeys(_DAYS, hours)
                schedule = {"standard_hours": [week], "maintenance_windows": []}
                return 200, {"schedule": schedule}
            case "announcements":
                return 200, {"announcements": []}
        return _ok_or_404(None)

    def _account(self, what: str) -> RestResponse:
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
        return _ok_or_404(None)

    def _markets(self, query: QueryParams) -> object:
        matches = market_filter(query, self.source.now_us())
        listed = [market for market in self.source.markets.values() if matches(market)]
        page, cursor = self._page(listed, query, 100, _MAX_MARKETS)
        return {"markets": [self._market_json(market) for market in page], "cursor": cursor}

    def _books(self, query: QueryParams) -> object:
        books = ((ticker, self._book(ticker)) for ticker in _tickers(query, "tickers"))
        return {
            "orderbooks": [
                {"ticker": ticker, "orderbook_fp": _book_json(book, 0)}
                for ticker, book in books
                if book is not None
            ]
        }

    def _book(self, ticker: str) -> Book | None:
        book = self.source.book(ticker)
        if book is None or not self.stale_seconds:
            return book
        now = self.source.now_us()
        cached_at, cached = self._cached.get(ticker, (0, book))
        if now - cached_at <= self.stale_seconds * SECOND:
            return cached
        self._cached[ticker] = (now, book.copy())
        return book

    def _trades(self, query: QueryParams) -> object:
        ticker = text_param(query, "ticker")
        start = int_param(query, "min_ts", 0) * SECOND
        end = (int_param(query, "max_ts", 1 << 40) + 1) * SECOND
        block = text_param(query, "is_block_trade")
        listed = [
            trade
            for trade in reversed(self.source.trades)
            if (ticker is None or trade.ticker == ticker)
            and start <= trade.at < end
            and (block is None or trade.is_block == (block == "true"))
        ]
        page, cursor = self._page(listed, query, 100, _MAX_MARKETS)
        return {"trades": [_trade_json(trade) for trade in page], "cursor": cursor}

    def _candles(self, query: QueryParams) -> object:
        return {
            "markets": [
                {"market_ticker": ticker, "candlesticks": self._candlesticks(ticker, query)}
                for ticker in _tickers(query, "market_tickers")
            ]
        }

    def _candlesticks(self, ticker: str, query: QueryParams) -> list[dict[str, object]]:
        """Return the candles of a market that close in a period, oldest first."""
        minutes = int_param(query, "period_interval", 60)
        if minutes not in {1, 60, 1440}:
            raise InvalidInput("period_interval: 1, 60 or 1440")
        start, end = int_param(query, "start_ts", 0), int_param(query, "end_ts", 1 << 40)
        seconds, periods = minutes * 60, dict[int, list[TradeEvent]]()
        for trade in self.source.trades:
            closes = (trade.at // SECOND // seconds + 1) * seconds
            if trade.ticker == ticker and start <= closes <= end:
                periods.setdefault(closes, []).append(trade)
        return [_candle(closes, trades) for closes, trades in sorted(periods.items())]

    def _events(self, rest: list[str], query: QueryParams) -> RestResponse:
        filters: QueryParams = {
            name: query[name] for name in ("status", "series_ticker") if name in query
        }
        matches = market_filter(filters, self.source.now_us())
        listed: dict[str, ListedEvent] = {
            market.event.ticker: market.event
            for market in self.source.markets.values()
            if matches(market)
        }
        if rest and rest != ["multivariate"]:
            event = listed.get("/".join(rest))
            return _ok_or_404(
                event and {"event": _event_json(event), "markets": self._markets_of(event)}
            )
        combos = rest == ["multivariate"]
        selected = [event for event in listed.values() if event.multivariate == combos]
        page, cursor = self._page(selected, query, _MAX_EVENTS, _MAX_EVENTS)
        nested = text_param(query, "with_nested_markets") == "true"
        events = [
            _event_json(event) | ({"markets": self._markets_of(event)} if nested else {})
            for event in page
        ]
        return 200, {"events": events, "cursor": cursor}

    def _markets_of(self, event: ListedEvent) -> list[dict[str, object]]:
        return [
            self._market_json(market)
            for market in self.source.markets.values()
            if market.event is event
        ]

    def _series(self, rest: list[str]) -> RestResponse:
        if rest == ["fee_changes"]:
            return 200, {"series_fee_change_arr": []}
        listed = {series.ticker: _series_json(series) for series in self.source.series}
        if not rest:
            return 200, {"series": [*listed.values()]}
        series = listed.get("/".join(rest))
        return _ok_or_404(series and {"series": series})

    def _page(
        self, listed: Sequence[T], query: QueryParams, default: int, maximum: int
    ) -> tuple[Sequence[T], str]:
        limit = int_param(query, "limit", default)
        if not 1 <= limit <= maximum:
            raise InvalidInput(f"limit: 1 to {maximum}")
        start = decode_cursor(text_param(query, "cursor") or "")
        page, end = listed[start : start + limit], start + limit
        if self.cursor_loops:
            return page, encode_cursor(start or limit)
        return page, encode_cursor(end) if end < len(listed) else ""


def _tickers(query: QueryParams, name: str) -> list[str]:
    tickers = [ticker for text in query.get(name, []) for ticker in text.split(",")]
    if not tickers or len(tickers) > _MAX_BOOKS:
        raise InvalidInput(f"{name}: 1 to {_MAX_BOOKS} are required")
    return tickers


def _ok_or_404(body: object) -> RestResponse:
    return (404, _error("not_found", "not found")) if body is None else (200, body)


def _error(code: str, message: str) -> dict[str, object]:
    return {"error": {"code": code, "message": message, "service": "exchange"}}


def _book_json(book: Book, depth: int) -> dict[str, object]:
    """Return the best levels of a book, lowest price first; depth 0 means all."""
    return {
        "yes_dollars": format_levels(book.levels(yes=True)[-depth:]),
        "no_dollars": format_levels(book.levels(yes=False)[-depth:]),
    }


def _trade_json(trade: TradeEvent) -> dict[str, object]:
    side, book_side = ("yes", "bid") if trade.taker_yes else ("no", "ask")
    return {
        "trade_id": trade.trade_id,
        "ticker": trade.ticker,
        "yes_price_dollars": format_dollars(trade.price),
        "no_price_dollars": format_dollars(DOLLAR - trade.price),
        "count_fp": format_contracts(trade.size),
        "taker_side": side,
        "taker_outcome_side": side,
        "taker_book_side": book_side,
        "is_block_trade": trade.is_block,
        "created_time": format_time(trade.at),
    }


def _event_json(event: ListedEvent) -> dict[str, object]:
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


def _series_json(series: ListedSeries) -> dict[str, object]:
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
