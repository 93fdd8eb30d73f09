"""REST API of the simulated exchange."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterable, Sequence
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


def make_candles(
    trades: Iterable[TradeEvent], seconds: int, begin: int, end: int
) -> list[dict[str, object]]:
    """Return the candles of trades, the oldest first, that end between two seconds."""
    periods: dict[int, list[TradeEvent]] = {}
    for trade in trades:
        closes = (trade.at // SECOND // seconds + 1) * seconds
        if begin <= closes <= end:
            periods.setdefault(closes, []).append(trade)
    return [_candle(closes, made) for closes, made in sorted(periods.items())]


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


QueryParams: TypeAlias = dict[str, list[str]]

_TIME_FILTERS: Final[tuple[tuple[str, Callable[[Market], int]], ...]] = (
    ("created", lambda market: market.created_at),
    ("close", lambda market: market.closes_at),
    ("settled", lambda market: market.settled_at),
    ("updated", lambda market: market.updated_at or market.created_at),
)


def market_filter(query: QueryParams, now: int) -> Callable[[Market], bool]:
    """Return what keeps the markets a question is about; raise InvalidInput for nonsense."""
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
    for name, moment_of in _TIME_FILTERS:
        if name in used:
            least = int_param(query, f"min_{name}_ts", 0) * SECOND
            most = int_param(query, f"max_{name}_ts", 1 << 40) * SECOND
            tests.append(_between(moment_of, least, most))
    return tests


def _between(moment_of: Callable[[Market], int], least: int, most: int) -> Callable[[Market], bool]:
    return lambda market: least <= moment_of(market) <= most


def text_param(query: QueryParams, name: str) -> str | None:
    """Return the first value of a parameter, None if it is not given."""
    found = query.get(name)
    return found[0] if found else None


def int_param(query: QueryParams, name: str, usual: int) -> int:
    """Return a parameter that is a number; raise InvalidInput when it is none."""
    text = text_param(query, name)
    if text is None:
        return usual
    if not text.isdecimal():
        raise InvalidInput(f"{name}: a number is required")
    return int(text)


def encode_cursor(place: int) -> str:
    """Return the cursor of a place in a list."""
    return base64.urlsafe_b64encode(f"at/{place}".encode()).decode().rstrip("=")


def decode_cursor(cursor: str) -> int:
    """Return the place of a cursor; raise InvalidInput when it is none of ours."""
    if not cursor:
        return 0
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
    except (binascii.Error, UnicodeDecodeError):
        text = ""
    if not text.removeprefix("at/").isdecimal():
        raise InvalidInput("cursor: not one of ours")
    return int(text.removeprefix("at/"))


Thing = TypeVar("Thing")
RestResponse: TypeAlias = tuple[int, object]

_MOST_MARKETS: Final = 1000
_MOST_EVENTS: Final = 200
_MOST_BOOKS: Final = 100
_MOST_DEPTH: Final = 100
_DAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


@dataclass(frozen=True, slots=True)
class RequestBudget:
    """The tokens of an account: how many come each second, and what a request costs."""

    read_per_second: int = 200
    write_per_second: int = 100
    cost: int = 10
    tier: str = "basic"


@dataclass
class RestApi:
    """Answers questions about a floor.

    With `cursor_loops` a list never ends: its cursor leads back. Books are told as they were up to
    `stale_seconds` ago.
    """

    floor: MarketSource
    budget: RequestBudget = field(default_factory=RequestBudget)
    stale_seconds: float = 0.0
    cursor_loops: bool = False
    exchange_active: bool = True
    trading_active: bool = True
    resumes_at: int | None = None
    _cached: dict[str, tuple[int, Book]] = field(default_factory=dict)

    def answer(self, path: str, query: QueryParams) -> RestResponse:
        """Return a question; a path begins after the version."""
        if not self.exchange_active:
            return self._exchange("status")
        try:
            return self._route(path.strip("/").split("/"), query)
        except InvalidInput as fault:
            return 400, _error("invalid_parameters", str(fault))

    def _route(self, parts: list[str], query: QueryParams) -> RestResponse:
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

    def _of_markets(self, parts: list[str], query: QueryParams) -> RestResponse:
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

    def _historical(self, parts: list[str], query: QueryParams) -> RestResponse:
        match parts:
            case ["cutoff"]:
                at = format_time_seconds(self.floor.now_us() - 90 * 86_400 * SECOND)
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

    def _exchange(self, what: str) -> RestResponse:
        match what:
            case "status":
                told: dict[str, object] = {
                    "exchange_active": self.exchange_active,
                    "trading_active": self.trading_active,
                    "exchange_estimated_resume_time": (
                        None if self.resumes_at is None else format_time_seconds(self.resumes_at)
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
        return _found(None)

    def _markets(self, query: QueryParams) -> object:
        now = self.floor.now_us()
        keep = market_filter(query, now)
        listed = [market for market in self.floor.listed if keep(market)]
        page, cursor = self._page(listed, query, 100, _MOST_MARKETS)
        return {"markets": [self._told(market) for market in page], "cursor": cursor}

    def _books(self, query: QueryParams) -> object:
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

    def _one_book(self, ticker: str, query: QueryParams) -> RestResponse:
        depth = int_param(query, "depth", 0)
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

    def _trades(self, query: QueryParams) -> object:
        ticker = text_param(query, "ticker")
        least = int_param(query, "min_ts", 0) * SECOND
        most = (int_param(query, "max_ts", 1 << 40) + 1) * SECOND
        block = text_param(query, "is_block_trade")
        listed = [
            trade
            for trade in reversed(self.floor.trades)
            if (ticker is None or trade.ticker == ticker)
            and least <= trade.at < most
            and (block is None or trade.is_block == (block == "true"))
        ]
        page, cursor = self._page(listed, query, 100, _MOST_MARKETS)
        return {"trades": [_trade_told(trade) for trade in page], "cursor": cursor}

    def _candles(self, query: QueryParams) -> object:
        tickers = [it for text in query.get("market_tickers", []) for it in text.split(",")]
        if not tickers or len(tickers) > _MOST_BOOKS:
            raise InvalidInput(f"market_tickers: 1 to {_MOST_BOOKS} are required")
        told = [
            {"market_ticker": it, "candlesticks": self._candlesticks(it, query)} for it in tickers
        ]
        return {"markets": told}

    def _candles_of(self, ticker: str, query: QueryParams) -> RestResponse:
        if self.floor.market(ticker) is None:
            return _found(None)
        return 200, {"ticker": ticker, "candlesticks": self._candlesticks(ticker, query)}

    def _candlesticks(self, ticker: str, query: QueryParams) -> list[dict[str, object]]:
        minutes = int_param(query, "period_interval", 60)
        if minutes not in {1, 60, 1440}:
            raise InvalidInput("period_interval: 1, 60 or 1440")
        begin, end = int_param(query, "start_ts", 0), int_param(query, "end_ts", 1 << 40)
        trades = [trade for trade in self.floor.trades if trade.ticker == ticker]
        return make_candles(trades, minutes * 60, begin, end)

    def _events(self, rest: list[str], query: QueryParams) -> RestResponse:
        listed = self._events_listed(query)
        if rest and rest != ["multivariate"]:
            event = next((it for it in listed if [it.ticker] == rest), None)
            return _found(event and {"event": _event_told(event), "markets": self._of(event)})
        combos = rest == ["multivariate"]
        chosen = [event for event in listed if event.multivariate == combos]
        page, cursor = self._page(chosen, query, _MOST_EVENTS, _MOST_EVENTS)
        told = [_event_told(event) for event in page]
        if text_param(query, "with_nested_markets") == "true":
            told = [one | {"markets": self._of(it)} for one, it in zip(told, page, strict=True)]
        return 200, {"events": told, "cursor": cursor}

    def _events_listed(self, query: QueryParams) -> list[ListedEvent]:
        now = self.floor.now_us()
        narrowed: QueryParams = {it: query[it] for it in ("status", "series_ticker") if it in query}
        keep = market_filter(narrowed, now)
        events = {it.event.ticker: it.event for it in self.floor.listed if keep(it)}
        return list(events.values())

    def _of(self, event: ListedEvent) -> list[dict[str, object]]:
        return [self._told(it) for it in self.floor.listed if it.event is event]

    def _series(self, rest: list[str]) -> RestResponse:
        if not rest:
            return 200, {"series": [_series_told(series) for series in self.floor.series]}
        if rest == ["fee_changes"]:
            return 200, {"series_fee_change_arr": []}
        series = next((it for it in self.floor.series if [it.ticker] == rest), None)
        return _found(series and {"series": _series_told(series)})

    def _page(
        self, listed: Sequence[Thing], query: QueryParams, usual: int, most: int
    ) -> tuple[Sequence[Thing], str]:
        limit = int_param(query, "limit", usual)
        if not 1 <= limit <= most:
            raise InvalidInput(f"limit: 1 to {most}")
        start = decode_cursor(text_param(query, "cursor") or "")
        page, end = listed[start : start + limit], start + limit
        if self.cursor_loops:
            return page, encode_cursor(start or limit)
        return page, encode_cursor(end) if end < len(listed) else ""


def _found(told: object) -> RestResponse:
    return (404, _error("not_found", "not found")) if told is None else (200, told)


def _error(code: str, message: str) -> dict[str, object]:
    return {"error": {"code": code, "message": message, "service": "exchange"}}


def _book_told(book: Book, depth: int) -> dict[str, object]:
    """Tell a book, the lowest price first; a depth keeps the best."""
    return {
        "yes_dollars": format_levels(book.levels(yes=True)[-depth:]),
        "no_dollars": format_levels(book.levels(yes=False)[-depth:]),
    }


def _trade_told(trade: TradeEvent) -> dict[str, object]:
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


def _event_told(event: ListedEvent) -> dict[str, object]:
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


def _series_told(series: ListedSeries) -> dict[str, object]:
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
