"""Kalshi REST client: listings, books and trades."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final, Generic, TypeVar
from uuid import UUID

import msgspec

from grandstand.apps.gatherer.domain.messages import TradeMessage
from grandstand.apps.gatherer.domain.order_book import (
    InvalidNumber,
    OrderBook,
    parse_price,
    parse_size,
    require_non_negative,
)
from grandstand.apps.gatherer.sources.kalshi.signing import KeyRejected, Signer
from grandstand.apps.gatherer.sources.kalshi.ws_decode import taker_is_yes
from grandstand.core.clock import Clock
from grandstand.core.errors import SourceFailed
from grandstand.net.client import Credentials, Params, Response, SourceRegistry
from grandstand.net.errors import SourceRefused, SourceServerError
from grandstand.net.rate_limits import RateLimit
from grandstand.net.retry import RetryPolicy

T = TypeVar("T")

NAME: Final = "exchange"
MAX_BOOKS_PER_REQUEST: Final = 100
_MARKETS_PER_PAGE: Final = 1000
_TRADES_PER_PAGE: Final = 1000
_EVENTS_PER_PAGE: Final = 200
_MAX_PAGES: Final = 10_000
# Longer ones fit into no URL.
_MAX_CURSOR_CHARS: Final = 4096
_KEY_STATUSES: Final = frozenset({401, 403})
# The basic tier: 200 tokens per second, ten per request; a share is left for other programs.
_BASIC_PER_SECOND: Final = 20.0
_RATE_SHARE: Final = 0.9
_MAX_BYTES: Final = 64 * 1024 * 1024
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICRO: Final = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class ListingPage(Generic[T]):
    """A page of a list; `cursor` is "" at the end, `rejected` counts unreadable items."""

    items: tuple[T, ...]
    cursor: str = ""
    rejected: int = 0


@dataclass(frozen=True, slots=True)
class ExchangeStatus:
    """Whether the exchange is open, and when it reopens if not."""

    exchange_active: bool
    trading_active: bool
    resumes_at: datetime | None


@dataclass(frozen=True, slots=True)
class ReadLimit:
    """The read limit of the account."""

    tier: str
    per_second: float


@dataclass(frozen=True, slots=True)
class ListedMarket:
    """A listed market; times are in microseconds, sizes in hundredths of a contract."""

    ticker: str
    event_ticker: str
    series_ticker: str
    status: str
    title: str
    subtitle: str | None
    market_type: str | None
    result: str | None
    open_ts: int | None
    close_ts: int | None
    volume: int | None
    volume_24h: int | None
    open_interest: int | None
    raw: str


class ListedEvent(msgspec.Struct, frozen=True):
    """A listed event."""

    event_ticker: str
    series_ticker: str
    title: str = ""
    sub_title: str | None = None
    category: str | None = None
    mutually_exclusive: bool | None = None


class ListedSeries(msgspec.Struct, frozen=True):
    """A listed series."""

    ticker: str
    title: str = ""
    category: str | None = None
    frequency: str | None = None
    tags: tuple[str, ...] | None = None


class StatusBody(msgspec.Struct):
    """The body of /exchange/status."""

    exchange_active: bool
    trading_active: bool
    exchange_estimated_resume_time: datetime | None = None


class _Bucket(msgspec.Struct):
    refill_rate: float = 0.0


class LimitsBody(msgspec.Struct):
    """The body of /account/limits."""

    usage_tier: str = ""
    read_limit: float | None = None
    read: _Bucket | None = None


class CostsBody(msgspec.Struct):
    """The body of /account/endpoint_costs."""

    default_cost: float = 10.0


class ListingBody(msgspec.Struct, kw_only=True):
    """A list of items; subclasses have its name in each response."""

    items: list[msgspec.Raw]
    cursor: str | None = None


class MarketsBody(ListingBody):
    """A page of /markets."""

    items: list[msgspec.Raw] = msgspec.field(name="markets")


class BooksBody(ListingBody):
    """The body of /markets/orderbooks."""

    items: list[msgspec.Raw] = msgspec.field(name="orderbooks")


class TradesBody(ListingBody):
    """A page of /markets/trades."""

    items: list[msgspec.Raw] = msgspec.field(name="trades")


class EventsBody(ListingBody):
    """A page of /events."""

    items: list[msgspec.Raw] = msgspec.field(name="events")


class SeriesBody(ListingBody):
    """The body of /series."""

    items: list[msgspec.Raw] = msgspec.field(name="series")


class _Market(msgspec.Struct):
    ticker: str
    event_ticker: str
    status: str
    series_ticker: str | None = None
    title: str = ""
    subtitle: str | None = None
    yes_sub_title: str | None = None
    market_type: str | None = None
    result: str | None = None
    open_time: datetime | None = None
    close_time: datetime | None = None
    volume_fp: str | None = None
    volume_24h_fp: str | None = None
    open_interest_fp: str | None = None


class _Levels(msgspec.Struct):
    yes_dollars: list[tuple[str, str]] | None = None
    no_dollars: list[tuple[str, str]] | None = None


class _Book(msgspec.Struct):
    ticker: str
    orderbook_fp: _Levels


class _Trade(msgspec.Struct):
    trade_id: UUID
    ticker: str
    yes_price_dollars: str
    count_fp: str
    created_time: datetime
    taker_outcome_side: str | None = None
    taker_book_side: str | None = None
    taker_side: str | None = None
    is_block_trade: bool = False


_markets: Final = msgspec.json.Decoder(_Market)
_books: Final = msgspec.json.Decoder(_Book)
_trades: Final = msgspec.json.Decoder(_Trade)
_events: Final = msgspec.json.Decoder(ListedEvent)
_series: Final = msgspec.json.Decoder(ListedSeries)


def parse_items(body: ListingBody, parse: Callable[[msgspec.Raw], T]) -> ListingPage[T]:
    """Parse a list; unreadable items are counted and skipped."""
    items, rejected = [], 0
    for raw in body.items:
        try:
            items.append(parse(raw))
        except (msgspec.DecodeError, InvalidNumber, ValueError):
            rejected += 1
    return ListingPage(tuple(items), body.cursor or "", rejected)


def parse_market(raw: msgspec.Raw) -> ListedMarket:
    """Parse a market.

    Raises msgspec.DecodeError and InvalidNumber.
    """
    listed = _markets.decode(raw)
    return ListedMarket(
        ticker=listed.ticker,
        event_ticker=listed.event_ticker,
        # Event tickers start with the series ticker, up to the first dash.
        series_ticker=listed.series_ticker or listed.event_ticker.partition("-")[0],
        status=listed.status,
        title=listed.title,
        subtitle=listed.yes_sub_title or listed.subtitle,
        market_type=listed.market_type,
        result=listed.result or None,
        open_ts=_micros(listed.open_time),
        close_ts=_micros(listed.close_time),
        volume=_size(listed.volume_fp),
        volume_24h=_size(listed.volume_24h_fp),
        open_interest=_size(listed.open_interest_fp),
        raw=bytes(raw).decode("utf-8", "replace"),
    )


def parse_book(raw: msgspec.Raw) -> tuple[str, OrderBook]:
    """Parse the book of a market.

    Raises msgspec.DecodeError and InvalidNumber.
    """
    listed = _books.decode(raw)
    levels = listed.orderbook_fp
    return listed.ticker, OrderBook(_levels(levels.yes_dollars), _levels(levels.no_dollars))


def parse_trade(raw: msgspec.Raw) -> TradeMessage:
    """Parse a trade as the stream would send it.

    The stream has milliseconds, REST microseconds: the same trade must get the same time. Raises
    msgspec.DecodeError and InvalidNumber.
    """
    listed = _trades.decode(raw)
    at = _micros(listed.created_time) or 0
    return TradeMessage(
        sid=0,
        seq=None,
        trade_id=listed.trade_id,
        ticker=listed.ticker,
        price=parse_price(listed.yes_price_dollars),
        size=require_non_negative(parse_size(listed.count_fp)),
        taker_side=taker_is_yes(
            listed.taker_outcome_side, listed.taker_book_side, listed.taker_side
        ),
        is_block=listed.is_block_trade,
        exchange_ts=at - at % 1000,  # Whole milliseconds.
    )


def _levels(levels: list[tuple[str, str]] | None) -> list[tuple[int, int]]:
    return [
        (parse_price(price), require_non_negative(parse_size(size))) for price, size in levels or ()
    ]


def _micros(moment: datetime | None) -> int | None:
    if moment is None:
        return None
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return (aware - _EPOCH) // _MICRO


def _size(text: str | None) -> int | None:
    return None if text is None else parse_size(text)


class KalshiClient:
    """REST client of the exchange, signed if there is a key, at the rate the account may use.

    Every method raises KeyRejected if the exchange does not accept the key, and the errors of
    `net`. Unreadable items are counted in `rejected`.
    """

    def __init__(
        self,
        web: SourceRegistry,
        base_url: str,
        *,
        signer: Signer | None,
        clock: Clock,
        per_second: float = _BASIC_PER_SECOND,
        timeout_seconds: float = 30.0,
        name: str = NAME,
    ) -> None:
        self.rejected = 0
        self.signed = signer is not None
        self._web = web
        self._base_url = base_url
        self._credentials = Credentials(sign=None if signer is None else signer.headers)
        self._clock = clock
        self._timeout_seconds = timeout_seconds
        self._name = name
        self._declare(per_second)

    async def status(self) -> ExchangeStatus:
        """Fetch whether the exchange is open; a closed one may reply with status 503."""
        try:
            body = (await self._get("exchange/status")).json(StatusBody)
        except SourceServerError as error:
            if error.response_status != 503:
                raise
            return ExchangeStatus(
                exchange_active=False,
                trading_active=False,
                resumes_at=_resume_time(error.response_text),
            )
        return ExchangeStatus(
            body.exchange_active, body.trading_active, body.exchange_estimated_resume_time
        )

    async def clock_offset(self) -> timedelta | None:
        """Return how far the exchange's clock is ahead, to the second; None if it sends no date."""
        before = self._clock.now()
        response = await self._get("exchange/status")
        after = self._clock.now()
        text = _date(response.headers.get("date", ""))
        return None if text is None else text - (before + (after - before) / 2)

    async def limits(self) -> ReadLimit | None:
        """Fetch the read limit of the account and apply it; None without a key."""
        if not self.signed:
            return None
        body = (await self._get("account/limits")).json(LimitsBody)
        tokens = body.read.refill_rate if body.read is not None else (body.read_limit or 0.0)
        try:
            cost = (await self._get("account/endpoint_costs")).json(CostsBody).default_cost
        except SourceRefused:
            cost = CostsBody().default_cost
        if tokens <= 0 or cost <= 0:
            return None
        per_second = tokens / cost
        self._web.drop(self._name)
        self._declare(per_second)
        return ReadLimit(body.usage_tier, per_second)

    def markets(
        self, *, status: str | None = None, series_ticker: str | None = None
    ) -> AsyncIterator[ListingPage[ListedMarket]]:
        """Yield markets page by page; `status` is a filter value of the exchange."""
        params: dict[str, str | int] = {"limit": _MARKETS_PER_PAGE}
        if status is not None:
            params["status"] = status
        if series_ticker is not None:
            params["series_ticker"] = series_ticker
        return self._pages("markets", params, MarketsBody, parse_market)

    async def markets_named(self, tickers: Sequence[str]) -> tuple[ListedMarket, ...]:
        """Fetch markets by their tickers, in batches."""
        markets: list[ListedMarket] = []
        for at in range(0, len(tickers), MAX_BOOKS_PER_REQUEST):
            batch = ",".join(tickers[at : at + MAX_BOOKS_PER_REQUEST])
            params: dict[str, str | int] = {"tickers": batch, "limit": _MARKETS_PER_PAGE}
            async for page in self._pages("markets", params, MarketsBody, parse_market):
                markets += page.items
        return tuple(markets)

    async def books(self, tickers: Sequence[str]) -> dict[str, OrderBook]:
        """Fetch the books of at most 100 markets; unknown markets are left out."""
        response = await self._get("markets/orderbooks", {"tickers": [*tickers]})
        return dict(self._parse(response.json(BooksBody), parse_book).items)

    def trades(
        self, *, start_s: int, end_s: int, ticker: str | None = None
    ) -> AsyncIterator[ListingPage[TradeMessage]]:
        """Yield trades page by page, from one second to another, both included."""
        params: dict[str, str | int] = {
            "limit": _TRADES_PER_PAGE,
            "min_ts": start_s,
            "max_ts": end_s,
        }
        if ticker is not None:
            params["ticker"] = ticker
        return self._pages("markets/trades", params, TradesBody, parse_trade)

    def events(self, *, status: str | None = None) -> AsyncIterator[ListingPage[ListedEvent]]:
        """Yield events page by page, without multivariate ones."""
        params: dict[str, str | int] = {"limit": _EVENTS_PER_PAGE}
        if status is not None:
            params["status"] = status
        return self._pages("events", params, EventsBody, _events.decode)

    async def series(self) -> tuple[ListedSeries, ...]:
        """Fetch all series."""
        return self._parse((await self._get("series")).json(SeriesBody), _series.decode).items

    async def _pages(
        self,
        path: str,
        params: dict[str, str | int],
        body: type[ListingBody],
        parse: Callable[[msgspec.Raw], T],
    ) -> AsyncIterator[ListingPage[T]]:
        cursors: set[str] = set()
        cursor = ""
        for _ in range(_MAX_PAGES):
            query = {**params, "cursor": cursor} if cursor else params
            page = self._parse((await self._get(path, query)).json(body), parse)
            yield page
            cursor = page.cursor
            if not cursor:
                return
            if cursor in cursors or len(cursor) > _MAX_CURSOR_CHARS:
                break
            cursors.add(cursor)
        raise SourceFailed(f"{self._name} repeats pages of {path}. Try again later.")

    async def _get(self, path: str, params: Params | None = None) -> Response:
        try:
            return await self._source.get(path, params=params)
        except SourceRefused as error:
            if error.response_status not in _KEY_STATUSES:
                raise
            raise KeyRejected(
                f"{self._name} rejected {path} with status {error.response_status}. Check the "
                "key ID, the private key and this machine's clock (`grandstand gatherer check`)."
            ) from error

    def _parse(self, body: ListingBody, parse: Callable[[msgspec.Raw], T]) -> ListingPage[T]:
        page = parse_items(body, parse)
        self.rejected += page.rejected
        return page

    def _declare(self, per_second: float) -> None:
        rate = RateLimit(per_second=per_second * _RATE_SHARE, burst=max(1, int(per_second / 4)))
        self._source = self._web.source(
            self._name,
            base_url=self._base_url,
            rate=rate,
            timeout_seconds=self._timeout_seconds,
            credentials=self._credentials,
            retries=RetryPolicy(tries=5, first_seconds=0.3, within_seconds=90.0),
            most_bytes=_MAX_BYTES,
        )


def _resume_time(text: str) -> datetime | None:
    try:
        return msgspec.json.decode(text, type=StatusBody).exchange_estimated_resume_time
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def _date(text: str) -> datetime | None:
    try:
        return parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
