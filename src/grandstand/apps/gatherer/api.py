"""HTTP API of the gatherer: prices and sizes are decimal strings, times ISO 8601."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Final, Literal
from uuid import UUID

from fastapi import Path, Query
from pydantic import AwareDatetime, BeforeValidator, ConfigDict

from grandstand.apps.gatherer.domain import order_book
from grandstand.apps.gatherer.domain.coverage import CoverageReport, HourCoverage
from grandstand.apps.gatherer.domain.messages import Time, us_from_datetime
from grandstand.apps.gatherer.services import Gatherer
from grandstand.apps.gatherer.services.coverage import RecordingGap
from grandstand.apps.gatherer.services.diagnostics import CheckResult
from grandstand.apps.gatherer.services.markets import (
    Choice,
    MarketNotFound,
    MarketView,
    StorageEstimate,
)
from grandstand.apps.gatherer.services.queries.books import HistoricalBook
from grandstand.apps.gatherer.services.queries.prices import (
    Candle,
    DepthPoint,
    TooManyPoints,
    Volume,
)
from grandstand.apps.gatherer.services.recording.status import RecorderStatus
from grandstand.core.errors import SourceFailed
from grandstand.kit.routes import WRITTEN, CurrentCaller, StrictModel, delete, get, post, put

_HOUR_US: Final = 3_600_000_000
_DAY_US: Final = 24 * _HOUR_US
_MAX_DAYS: Final = 31
_DECIMAL: Final = r"^[0-9]{1,12}(\.[0-9]{1,5})?$"

ChoiceKind = Literal["market", "event", "series", "category"]
Ticker = Annotated[
    str, Path(pattern=r"^[A-Za-z0-9._:@=-]{1,100}$", examples=["KXBTCD-26NOV1617-T97500"])
]
Name = Annotated[str, Path(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f/*]+$")]
Limit = Annotated[int, Query(ge=1, le=1000, examples=[100])]
Interval = Annotated[int, Query(ge=1, le=31 * 86_400, examples=[60])]
Text = Annotated[str, Query(max_length=200)]
Cursor = Annotated[str | None, Query(max_length=4000)]
Instant = Annotated[AwareDatetime | None, Query(examples=["2026-11-16T12:00:00Z"]), WRITTEN]
Side = Annotated[Literal["yes", "no"], BeforeValidator(lambda side: "yes" if side else "no")]


class ChoiceRequest(StrictModel):
    recorded: bool = True


class RecordingRequest(StrictModel):
    recording: bool


class TradeResponse(StrictModel):
    """A trade; the price is that of yes."""

    model_config = ConfigDict(from_attributes=True)

    trade_id: UUID
    exchange_ts: Time
    received_at: Time
    ticker: str
    price: order_book.Price
    size: order_book.Size
    taker_side: Side
    is_block: bool


class MarketEventResponse(StrictModel):
    """A lifecycle event."""

    model_config = ConfigDict(from_attributes=True)

    received_at: Time
    ticker: str
    kind: str
    source: str
    status: str | None
    title: str | None
    open_ts: Time | None
    close_ts: Time | None
    result: str | None


@dataclass(frozen=True, slots=True)
class Level:
    price: order_book.Price
    size: order_book.Size


@dataclass(frozen=True, slots=True)
class BookResponse:
    """An order book: yes bids and yes asks, best first; a no bid at p is a yes ask at 1 - p."""

    ticker: str
    at: Time | None
    live: bool
    exact: bool
    doubt: str | None
    bids: tuple[Level, ...]
    asks: tuple[Level, ...]
    best_yes_bid: order_book.Price | None
    best_yes_ask: order_book.Price | None
    spread: order_book.Price | None
    base_ts: Time | None
    deltas: int


@dataclass(frozen=True, slots=True)
class FillResponse:
    """A simulated fill: the levels it takes, and the size left unfilled."""

    exact: bool
    doubt: str | None
    complete: bool
    levels: tuple[Level, ...]
    filled: order_book.Size
    unfilled: order_book.Size
    average_price: str | None
    dollars: str


@dataclass(frozen=True, slots=True)
class MarketPage:
    markets: tuple[MarketView, ...]
    cursor: str | None


@dataclass(frozen=True, slots=True)
class TradeList:
    trades: tuple[TradeResponse, ...]


@dataclass(frozen=True, slots=True)
class CandleList:
    candles: tuple[Candle, ...]


@dataclass(frozen=True, slots=True)
class DepthList:
    points: tuple[DepthPoint, ...]


@dataclass(frozen=True, slots=True)
class VolumeList:
    volumes: tuple[Volume, ...]


@dataclass(frozen=True, slots=True)
class MarketEventList:
    events: tuple[MarketEventResponse, ...]


@dataclass(frozen=True, slots=True)
class CoverageList:
    hours: tuple[HourCoverage, ...]


@dataclass(frozen=True, slots=True)
class GapList:
    gaps: tuple[RecordingGap, ...]


@dataclass(frozen=True, slots=True)
class ChoiceList:
    """All choices, and whether recording is on."""

    recording: bool
    choices: tuple[Choice, ...]


@dataclass(frozen=True, slots=True)
class CheckList:
    ok: bool
    checks: tuple[CheckResult, ...]


class GathererApi:
    """Routes of the gatherer."""

    def __init__(self, gatherer: Gatherer) -> None:
        self._gatherer = gatherer
        self._history = gatherer.recordings.history
        self._cursors = gatherer.cursors

    @get("/markets", summary="List unfinished markets", problems=(SourceFailed,))
    async def markets(
        self,
        caller: CurrentCaller,
        *,
        search: Text = "",
        series: Text = "",
        category: Text = "",
        chosen: bool | None = None,
        limit: Limit = 100,
        cursor: Cursor = None,
    ) -> MarketPage:
        """The markets, the most traded first; `search` matches words of tickers and titles."""
        query = f"gatherer.markets/{search}/{series}/{category}/{chosen}"
        position = self._cursors.read(caller, query, cursor)
        markets = [
            market
            for market in sorted(await self._gatherer.markets.list(), key=_rank)
            if chosen in (None, market.chosen)
            and market.matches(search, series=series, category=category)
        ]
        if position is not None:
            volume, _, ticker = position.partition(" ")
            after = -int(volume), ticker
            markets = [market for market in markets if _rank(market) > after]
        last = markets[limit - 1] if len(markets) > limit else None
        position = None if last is None else f"{last.volume_24h} {last.ticker}"
        return MarketPage(
            markets=tuple(markets[:limit]), cursor=self._cursors.write(caller, query, position)
        )

    @get("/markets/{ticker}", summary="Get a market", problems=(MarketNotFound, SourceFailed))
    async def market(self, ticker: Ticker) -> MarketView:
        """An unfinished market."""
        return await self._gatherer.markets.get(ticker)

    @get("/markets/{ticker}/book", summary="Get an order book, live or at an instant")
    async def book(self, ticker: Ticker, at: Instant = None) -> BookResponse:
        """The current book, or the book after every change up to an instant."""
        live = None if at is not None else self._gatherer.recording.book(ticker)
        if live is not None:
            return _book_response(HistoricalBook(ticker, None, *live.levels()), live=True)
        return _book_response(await self._history.book(ticker, _to_us(at)), live=False)

    @get("/markets/{ticker}/trades", summary="List recent trades")
    async def trades(self, ticker: Ticker, limit: Limit = 100, before: Instant = None) -> TradeList:
        """The newest trades, or those before a time, newest first."""
        trades = await self._history.recent_trades(ticker, limit, _to_us(before))
        return TradeList(tuple(map(TradeResponse.model_validate, trades)))

    @get("/markets/{ticker}/candles", summary="Get candles", problems=(TooManyPoints,))
    async def candles(
        self,
        ticker: Ticker,
        start: Instant = None,
        end: Instant = None,
        interval_seconds: Interval = 60,
    ) -> CandleList:
        """Open, high, low and close of each interval that contains trades."""
        period = self._period(start, end)
        return CandleList(
            await self._history.candles(ticker, *period, interval_seconds * 1_000_000)
        )

    @get("/markets/{ticker}/depth", summary="Get spread and depth", problems=(TooManyPoints,))
    async def depth(
        self,
        ticker: Ticker,
        start: Instant = None,
        end: Instant = None,
        interval_seconds: Interval = 60,
    ) -> DepthList:
        """Best prices and total depth at regular instants."""
        period = self._period(start, end)
        return DepthList(await self._history.depth(ticker, *period, interval_seconds * 1_000_000))

    @get("/markets/{ticker}/fill", summary="Simulate an order")
    async def fill(
        self,
        ticker: Ticker,
        *,
        size: Annotated[str, Query(pattern=_DECIMAL, examples=["150.00"])],
        side: Literal["yes", "no"] = "yes",
        action: Literal["buy", "sell"] = "buy",
        limit: Annotated[str | None, Query(pattern=_DECIMAL, examples=["0.5400"])] = None,
        at: Instant = None,
    ) -> FillResponse:
        """How the book would have filled an order at an instant."""
        order = order_book.Order(
            side=side == "yes",
            is_buy=action == "buy",
            size=order_book.parse_size(size),
            limit=None if limit is None else order_book.parse_price(limit),
        )
        book, fill = await self._history.simulate_fill(ticker, order, _to_us(at))
        return FillResponse(
            exact=book.exact,
            doubt=book.doubt,
            complete=fill.complete,
            levels=_levels(fill.levels),
            filled=fill.size,
            unfilled=fill.unfilled,
            average_price=None
            if fill.average is None
            else _format_dollars(fill.average / order_book.DOLLAR),
            dollars=_format_dollars(fill.paid),
        )

    @get("/markets/{ticker}/events", summary="List lifecycle events of a market")
    async def events(self, ticker: Ticker, limit: Limit = 100) -> MarketEventList:
        """The lifecycle events of a market or event, newest first."""
        events = await self._history.events(ticker, limit)
        return MarketEventList(tuple(map(MarketEventResponse.model_validate, events)))

    @get("/volumes", summary="List the most traded markets")
    async def volumes(
        self, hours: Annotated[int, Query(ge=1, le=744)] = 24, limit: Limit = 100
    ) -> VolumeList:
        """Recorded volume of the last hours by market, without block trades."""
        now, period_us = self._gatherer.now_us(), hours * _HOUR_US
        return VolumeList(await self._history.volumes(now, limit, period_us=period_us))

    @get("/coverage", summary="Get the coverage of the recording", problems=(TooManyPoints,))
    async def coverage(
        self,
        start: Instant = None,
        end: Instant = None,
        ticker: Annotated[str | None, Query(max_length=100)] = None,
    ) -> CoverageList:
        """Expected and recorded time, gaps and audits of each market and hour."""
        period = self._period(start, end, _DAY_US)
        return CoverageList(await self._gatherer.coverage.hours(*period, ticker=ticker))

    @get("/gaps", summary="List gaps", problems=(TooManyPoints,))
    async def gaps(self, start: Instant = None, end: Instant = None) -> GapList:
        """The gaps found in a period, each with the time it was closed."""
        return GapList(await self._gatherer.coverage.gaps(*self._period(start, end, _DAY_US)))

    @get("/report", summary="Get the coverage report of a period", problems=(TooManyPoints,))
    async def report(self, start: Instant = None, end: Instant = None) -> CoverageReport:
        """The coverage of all markets, of the last 24 hours by default."""
        return await self._gatherer.coverage.report(*self._period(start, end, _DAY_US))

    @get("/recording", summary="Get the recorder status")
    async def recording(self) -> RecorderStatus:
        """Counters since the start, latency and connections."""
        return await self._gatherer.recording.status()

    @get("/estimate", summary="Estimate disk usage", problems=(SourceFailed,))
    async def estimate(self) -> StorageEstimate:
        """Rows and bytes per day of the chosen markets, and how many days the disk lasts."""
        return await self._gatherer.markets.estimate()

    @get("/choices", summary="List what to record")
    async def choices(self) -> ChoiceList:
        """All choices, and whether recording is on."""
        return await self._choices()

    @put("/choices/{kind}/{name}", summary="Choose what to record", access="admin")
    async def choose(self, kind: ChoiceKind, name: Name, request: ChoiceRequest) -> ChoiceList:
        """All choices after the change."""
        await self._gatherer.markets.choose(kind, name, recorded=request.recorded)
        return await self._choices()

    @delete("/choices/{kind}/{name}", summary="Delete a choice", access="admin")
    async def clear_choice(self, kind: ChoiceKind, name: Name) -> None:
        """Deleted: other choices decide now."""
        await self._gatherer.markets.clear_choice(kind, name)

    @post("/recording", summary="Start or stop recording", access="admin")
    async def request_recording(self, request: RecordingRequest) -> ChoiceList:
        """The new request; the recorder follows within seconds."""
        await self._gatherer.recording.request(recording=request.recording)
        return await self._choices()

    @post("/check", summary="Check whether recording could start", access="admin")
    async def check(self) -> CheckList:
        """The results for the exchange, the clock, the key, the stream and the disk."""
        checks = await self._gatherer.diagnostics.run()
        return CheckList(ok=all(check.ok for check in checks), checks=checks)

    async def _choices(self) -> ChoiceList:
        return ChoiceList(
            recording=await self._gatherer.recording.is_requested(),
            choices=await self._gatherer.markets.choices(),
        )

    def _period(self, start: Instant, end: Instant, default_us: int = _HOUR_US) -> tuple[int, int]:
        """Return a period that ends now and has the default length unless given."""
        until = self._gatherer.now_us() if end is None else us_from_datetime(end)
        since = max(0, until - default_us) if start is None else us_from_datetime(start)
        if not 0 <= until - since <= _MAX_DAYS * _DAY_US:
            raise TooManyPoints(f"Use a period of at most {_MAX_DAYS} days, start before end.")
        return since, until


def _rank(market: MarketView) -> tuple[int, str]:
    return -market.volume_24h, market.ticker


def _to_us(time: Instant) -> int | None:
    return None if time is None else us_from_datetime(time)


def _book_response(book: HistoricalBook, *, live: bool) -> BookResponse:
    return BookResponse(
        ticker=book.ticker,
        at=book.at_us,
        live=live,
        exact=book.exact,
        doubt=book.doubt,
        bids=_levels(reversed(book.yes)),
        asks=_levels(reversed(book.asks)),
        best_yes_bid=book.best_yes_bid,
        best_yes_ask=book.best_yes_ask,
        spread=book.spread,
        base_ts=book.base_us,
        deltas=book.deltas,
    )


def _levels(levels: Iterable[tuple[int, int]]) -> tuple[Level, ...]:
    return tuple(Level(price, size) for price, size in levels)


def _format_dollars(amount: Fraction) -> str:
    """Format dollars with at most six decimals, rounded half to even."""
    return f"{Decimal(amount.numerator) / Decimal(amount.denominator):.6f}".rstrip("0").rstrip(".")
