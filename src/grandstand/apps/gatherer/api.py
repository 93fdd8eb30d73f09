"""HTTP API of the gatherer: prices and sizes are decimal strings, times ISO 8601."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, Final, Literal
from uuid import UUID

from fastapi import Path, Query
from pydantic import AwareDatetime, BeforeValidator, ConfigDict, Field

from grandstand.apps.gatherer.domain.messages import datetime_from_us, us_from_datetime
from grandstand.apps.gatherer.domain.order_book import (
    DOLLAR,
    Order,
    format_price,
    format_size,
    parse_price,
    parse_size,
)
from grandstand.apps.gatherer.services import Gatherer
from grandstand.apps.gatherer.services.diagnostics import CheckResult
from grandstand.apps.gatherer.services.markets import MarketNotFound, MarketView, StorageEstimate
from grandstand.apps.gatherer.services.queries.books import HistoricalBook, HistoricalFill
from grandstand.apps.gatherer.services.queries.prices import TooManyPoints
from grandstand.apps.gatherer.services.recording.status import RecorderStatus
from grandstand.core.errors import SourceFailed
from grandstand.kit.routes import WRITTEN, CurrentCaller, StrictModel, delete, get, post, put

_HOUR_US: Final = 3_600_000_000
_DAY_US: Final = 24 * _HOUR_US
_MAX_DAYS: Final = 31
_MICRO: Final = 1_000_000

ChoiceKind = Literal["market", "event", "series", "category"]
Ticker = Annotated[
    str, Path(pattern=r"^[A-Za-z0-9._:@=-]{1,100}$", examples=["KXBTCD-26NOV1617-T97500"])
]
Name = Annotated[str, Path(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f/*]+$")]
Limit = Annotated[int, Query(ge=1, le=1000, examples=[100])]
Interval = Annotated[int, Query(ge=1, le=31 * 86_400, examples=[60])]
Text = Annotated[str, Query(max_length=200)]
Cursor = Annotated[str | None, Query(max_length=4000)]
Time = Annotated[AwareDatetime | None, Query(examples=["2026-11-16T12:00:00Z"]), WRITTEN]
_DECIMAL: Final = r"^[0-9]{1,12}(\.[0-9]{1,5})?$"


def _format_price(value: object) -> object:
    return format_price(value) if isinstance(value, int) else value


def _format_size(value: object) -> object:
    return format_size(value) if isinstance(value, int) else value


def _to_datetime(value: object) -> object:
    return datetime_from_us(value) if isinstance(value, int) else value


def _format_side(value: object) -> object:
    return ("yes" if value else "no") if isinstance(value, bool) else value


Price = Annotated[str, BeforeValidator(_format_price), Field(examples=["0.5255"])]
Size = Annotated[str, BeforeValidator(_format_size), Field(examples=["12.50"])]
Timestamp = Annotated[datetime, BeforeValidator(_to_datetime)]
Side = Annotated[Literal["yes", "no"], BeforeValidator(_format_side)]


class ApiResponse(StrictModel):
    """A response that is validated from a service's record."""

    model_config = ConfigDict(from_attributes=True)


class ChoiceRequest(StrictModel):
    """Whether to record it."""

    recorded: bool = True


class RecordingRequest(StrictModel):
    """Whether to record."""

    recording: bool


class MarketResponse(ApiResponse):
    """A market; prices are set while its book is followed here."""

    ticker: str
    event_ticker: str
    series_ticker: str
    category: str
    title: str
    status: str
    volume: Size
    volume_24h: Size
    open_ts: Timestamp | None
    close_ts: Timestamp | None
    chosen: bool
    followed: bool
    stale: bool
    best_yes_bid: Price | None
    best_yes_ask: Price | None
    spread: Price | None


class MarketPage(ApiResponse):
    """Markets, the most traded first."""

    markets: tuple[MarketResponse, ...]
    cursor: str | None


class LevelResponse(ApiResponse):
    """A price level."""

    price: Price
    size: Size


class BookResponse(ApiResponse):
    """An order book: yes bids and yes asks, best first; a no bid at p is a yes ask at 1 - p."""

    ticker: str
    at: Timestamp | None
    live: bool
    exact: bool
    doubt: str | None
    bids: tuple[LevelResponse, ...]
    asks: tuple[LevelResponse, ...]
    best_yes_bid: Price | None
    best_yes_ask: Price | None
    spread: Price | None
    base_ts: Timestamp | None
    deltas: int


class TradeResponse(ApiResponse):
    """A trade; the price is that of yes."""

    trade_id: UUID
    exchange_ts: Timestamp
    received_at: Timestamp
    ticker: str
    price: Price
    size: Size
    taker_side: Side
    is_block: bool


class TradeList(ApiResponse):
    """Trades, newest first."""

    trades: tuple[TradeResponse, ...]


class CandleResponse(ApiResponse):
    """A candle."""

    start_us: Annotated[Timestamp, Field(serialization_alias="start")]
    open: Price
    high: Price
    low: Price
    close: Price
    trades: int
    size: Size


class CandleList(ApiResponse):
    """Candles that contain trades, oldest first."""

    candles: tuple[CandleResponse, ...]


class DepthPointResponse(ApiResponse):
    """Best prices and depth at an instant."""

    at_us: Annotated[Timestamp, Field(serialization_alias="at")]
    best_yes_bid: Price | None
    best_yes_ask: Price | None
    spread: Price | None
    bid_depth: Size
    ask_depth: Size


class DepthList(ApiResponse):
    """Best prices and depth over time."""

    points: tuple[DepthPointResponse, ...]


class FillResponse(ApiResponse):
    """A simulated fill: the levels it takes, and the size left unfilled."""

    exact: bool
    doubt: str | None
    complete: bool
    levels: tuple[LevelResponse, ...]
    filled: Size
    unfilled: Size
    average_price: Annotated[str | None, Field(examples=["0.532"])]
    dollars: Annotated[str, Field(examples=["79.8"])]


class VolumeResponse(ApiResponse):
    """The trades of a market."""

    ticker: str
    trades: int
    size: Size


class VolumeList(ApiResponse):
    """Markets by volume, largest first."""

    volumes: tuple[VolumeResponse, ...]


class MarketEventResponse(ApiResponse):
    """A lifecycle event."""

    received_at: Timestamp
    ticker: str
    kind: str
    source: str
    status: str | None
    title: str | None
    open_ts: Timestamp | None
    close_ts: Timestamp | None
    result: str | None


class MarketEventList(ApiResponse):
    """Lifecycle events, newest first."""

    events: tuple[MarketEventResponse, ...]


class CoverageResponse(ApiResponse):
    """Coverage of one market in one hour; a gap counts in the hour it started."""

    ticker: str
    hour: Timestamp
    expected_us: int
    seen_us: int
    gaps: int
    closed: int
    audited: int
    differed: int
    complete: bool


class CoverageList(ApiResponse):
    """Coverage by market and hour."""

    hours: tuple[CoverageResponse, ...]


class GapResponse(ApiResponse):
    """A gap, and when it was closed."""

    detected_at: Timestamp
    resolved_at: Timestamp | None
    gatherer: str
    conn: int
    sid: int
    expected_seq: int
    got_seq: int | None
    reason: str | None
    channel: str | None


class GapList(ApiResponse):
    """Gaps, oldest first."""

    gaps: tuple[GapResponse, ...]


class ReportResponse(ApiResponse):
    """Coverage of all markets in a period."""

    start_us: Annotated[Timestamp, Field(serialization_alias="start")]
    end_us: Annotated[Timestamp, Field(serialization_alias="end")]
    markets: int
    expected_us: int
    seen_us: int
    gaps: int
    closed: int
    audited: int
    differed: int
    complete: bool


class ChoiceResponse(ApiResponse):
    """A choice of what to record."""

    kind: ChoiceKind
    name: str
    recorded: bool
    chosen_us: Annotated[Timestamp, Field(serialization_alias="chosen_at")]


class ChoiceList(ApiResponse):
    """All choices, and whether recording is on."""

    recording: bool
    choices: tuple[ChoiceResponse, ...]


class CheckList(ApiResponse):
    """Whether recording could start now."""

    ok: bool
    checks: tuple[CheckResult, ...]


_AT: Final = "2026-11-16T12:00:00Z"
_TICKER: Final = "KXBTCD-26NOV1617-T97500"
_MARKET: Final[dict[str, Any]] = {
    "ticker": _TICKER,
    "event_ticker": "KXBTCD-26NOV1617",
    "series_ticker": "KXBTCD",
    "category": "Crypto",
    "title": "Bitcoin above $97,500 at 5 pm?",
    "status": "active",
    "volume": "120500.00",
    "volume_24h": "45000.00",
    "open_ts": _AT,
    "close_ts": "2026-11-16T22:00:00Z",
    "chosen": True,
    "followed": True,
    "stale": False,
    "best_yes_bid": "0.5200",
    "best_yes_ask": "0.5300",
    "spread": "0.0100",
}


class GathererApi:
    """Routes of the gatherer."""

    def __init__(self, gatherer: Gatherer) -> None:
        self._gatherer = gatherer
        self._history = gatherer.recordings.history
        self._cursors = gatherer.cursors

    @get(
        "/markets",
        summary="List unfinished markets",
        problems=(SourceFailed,),
        example={"markets": [_MARKET], "cursor": None},
    )
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
        position = _parse_position(self._cursors.read(caller, query, cursor))
        words = search.casefold().split()
        markets = sorted(
            (
                market
                for market in await self._gatherer.markets.list()
                if series in ("", market.series_ticker)
                and category in ("", market.category)
                and chosen in (None, market.chosen)
                and all(word in f"{market.ticker} {market.title}".casefold() for word in words)
                and (position is None or _rank(market) > position)
            ),
            key=_rank,
        )
        last = markets[limit - 1] if len(markets) > limit else None
        after = None if last is None else f"{last.volume_24h} {last.ticker}"
        return MarketPage(
            markets=tuple(map(MarketResponse.model_validate, markets[:limit])),
            cursor=self._cursors.write(caller, query, after),
        )

    @get(
        "/markets/{ticker}",
        summary="Get a market",
        problems=(MarketNotFound, SourceFailed),
        example=_MARKET,
    )
    async def market(self, ticker: Ticker) -> MarketResponse:
        """An unfinished market."""
        return MarketResponse.model_validate(await self._gatherer.markets.get(ticker))

    @get("/markets/{ticker}/book", summary="Get an order book, live or at an instant")
    async def book(self, ticker: Ticker, at: Time = None) -> BookResponse:
        """The current book, or the book after every change up to an instant."""
        live = None if at is not None else self._gatherer.recording.book(ticker)
        if live is not None:
            return _book_response(HistoricalBook(ticker, None, *live.levels()), live=True)
        at_us = None if at is None else us_from_datetime(at)
        return _book_response(await self._history.book(ticker, at_us), live=False)

    @get("/markets/{ticker}/trades", summary="List recent trades")
    async def trades(self, ticker: Ticker, limit: Limit = 100, before: Time = None) -> TradeList:
        """The newest trades, or those before a time, newest first."""
        if before is None:
            trades = await self._history.recent_trades(ticker, limit)
        else:
            trades = await self._history.recent_trades(ticker, limit, us_from_datetime(before))
        return TradeList(trades=tuple(map(TradeResponse.model_validate, trades)))

    @get("/markets/{ticker}/candles", summary="Get candles", problems=(TooManyPoints,))
    async def candles(
        self, ticker: Ticker, start: Time = None, end: Time = None, interval_seconds: Interval = 60
    ) -> CandleList:
        """Open, high, low and close of each interval that contains trades."""
        period = self._period(start, end)
        candles = await self._history.candles(ticker, *period, interval_seconds * _MICRO)
        return CandleList(candles=tuple(map(CandleResponse.model_validate, candles)))

    @get("/markets/{ticker}/depth", summary="Get spread and depth", problems=(TooManyPoints,))
    async def depth(
        self, ticker: Ticker, start: Time = None, end: Time = None, interval_seconds: Interval = 60
    ) -> DepthList:
        """Best prices and total depth at regular instants."""
        period = self._period(start, end)
        points = await self._history.depth(ticker, *period, interval_seconds * _MICRO)
        return DepthList(points=tuple(map(DepthPointResponse.model_validate, points)))

    @get("/markets/{ticker}/fill", summary="Simulate an order")
    async def fill(
        self,
        ticker: Ticker,
        *,
        size: Annotated[str, Query(pattern=_DECIMAL, examples=["150.00"])],
        side: Literal["yes", "no"] = "yes",
        action: Literal["buy", "sell"] = "buy",
        limit: Annotated[str | None, Query(pattern=_DECIMAL, examples=["0.5400"])] = None,
        at: Time = None,
    ) -> FillResponse:
        """How the book would have filled an order at an instant."""
        order = Order(
            side=side == "yes",
            is_buy=action == "buy",
            size=parse_size(size),
            limit=None if limit is None else parse_price(limit),
        )
        at_us = None if at is None else us_from_datetime(at)
        return _fill_response(await self._history.simulate_fill(ticker, order, at_us))

    @get("/markets/{ticker}/events", summary="List lifecycle events of a market")
    async def events(self, ticker: Ticker, limit: Limit = 100) -> MarketEventList:
        """The lifecycle events of a market or event, newest first."""
        events = await self._history.events(ticker, limit)
        return MarketEventList(events=tuple(map(MarketEventResponse.model_validate, events)))

    @get("/volumes", summary="List the most traded markets")
    async def volumes(
        self, hours: Annotated[int, Query(ge=1, le=744)] = 24, limit: Limit = 100
    ) -> VolumeList:
        """Recorded volume of the last hours by market, without block trades."""
        now, period_us = self._gatherer.now_us(), hours * _HOUR_US
        volumes = await self._history.volumes(now, limit, period_us=period_us)
        return VolumeList(volumes=tuple(map(VolumeResponse.model_validate, volumes)))

    @get("/coverage", summary="Get the coverage of the recording", problems=(TooManyPoints,))
    async def coverage(
        self,
        start: Time = None,
        end: Time = None,
        ticker: Annotated[str | None, Query(max_length=100)] = None,
    ) -> CoverageList:
        """Expected and recorded time, gaps and audits of each market and hour."""
        period = self._period(start, end, _DAY_US)
        hours = await self._gatherer.coverage.hours(*period, ticker=ticker)
        return CoverageList(hours=tuple(map(CoverageResponse.model_validate, hours)))

    @get("/gaps", summary="List gaps", problems=(TooManyPoints,))
    async def gaps(self, start: Time = None, end: Time = None) -> GapList:
        """The gaps found in a period, each with the time it was closed."""
        gaps = await self._gatherer.coverage.gaps(*self._period(start, end, _DAY_US))
        return GapList(gaps=tuple(map(GapResponse.model_validate, gaps)))

    @get("/report", summary="Get the coverage report of a period", problems=(TooManyPoints,))
    async def report(self, start: Time = None, end: Time = None) -> ReportResponse:
        """The coverage of all markets, of the last 24 hours by default."""
        period = self._period(start, end, _DAY_US)
        return ReportResponse.model_validate(await self._gatherer.coverage.report(*period))

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
        choices = await self._gatherer.markets.choices()
        return ChoiceList(
            recording=await self._gatherer.recording.is_requested(),
            choices=tuple(map(ChoiceResponse.model_validate, choices)),
        )

    def _period(self, start: Time, end: Time, default_us: int = _HOUR_US) -> tuple[int, int]:
        """Return a period that ends now and has the default length unless given."""
        until = self._gatherer.now_us() if end is None else us_from_datetime(end)
        since = max(0, until - default_us) if start is None else us_from_datetime(start)
        if not 0 <= until - since <= _MAX_DAYS * _DAY_US:
            raise TooManyPoints(f"Use a period of at most {_MAX_DAYS} days, start before end.")
        return since, until


def _rank(market: MarketView) -> tuple[int, str]:
    return -market.volume_24h, market.ticker


def _parse_position(position: str | None) -> tuple[int, str] | None:
    if position is None:
        return None
    volume, _, ticker = position.partition(" ")
    return -int(volume), ticker


def _book_response(book: HistoricalBook, *, live: bool) -> BookResponse:
    return BookResponse.model_validate(
        {
            "ticker": book.ticker,
            "at": book.at_us,
            "live": live,
            "exact": book.exact,
            "doubt": book.doubt,
            "bids": _levels(reversed(book.yes)),
            "asks": _levels((DOLLAR - price, size) for price, size in reversed(book.no)),
            "best_yes_bid": book.best_yes_bid,
            "best_yes_ask": book.best_yes_ask,
            "spread": book.spread,
            "base_ts": book.base_us,
            "deltas": book.deltas,
        }
    )


def _fill_response(result: HistoricalFill) -> FillResponse:
    fill, average = result.fill, result.fill.average
    return FillResponse(
        exact=result.book.exact,
        doubt=result.book.doubt,
        complete=fill.complete,
        levels=_levels(fill.levels),
        filled=format_size(fill.size),
        unfilled=format_size(fill.unfilled),
        average_price=None if average is None else _format_dollars(average / DOLLAR),
        dollars=_format_dollars(fill.paid),
    )


def _levels(levels: Iterable[tuple[int, int]]) -> tuple[LevelResponse, ...]:
    return tuple(
        LevelResponse(price=format_price(price), size=format_size(size)) for price, size in levels
    )


def _format_dollars(amount: Fraction) -> str:
    """Format dollars with at most six decimals, rounded half to even."""
    return f"{Decimal(amount.numerator) / Decimal(amount.denominator):.6f}".rstrip("0").rstrip(".")
