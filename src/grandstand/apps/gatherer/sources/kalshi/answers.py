"""Kept here: what the exchange answers over REST, read item by item into exact values."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Generic, TypeVar
from uuid import UUID

import msgspec

from grandstand.apps.gatherer.model.book import Book
from grandstand.apps.gatherer.model.errors import NumberRefused
from grandstand.apps.gatherer.model.messages import TradeTold
from grandstand.apps.gatherer.model.numbers import not_negative, parse_price, parse_size
from grandstand.apps.gatherer.sources.kalshi.shapes import taker_is_yes

T = TypeVar("T")

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICRO: Final = timedelta(microseconds=1)
_MILLI_US: Final = 1000


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some of a list, where the next are ("" at the end), and how many could not be read."""

    items: tuple[T, ...]
    cursor: str = ""
    refused: int = 0


@dataclass(frozen=True, slots=True)
class Status:
    """Whether the exchange is open, and when it means to be if it is not."""

    exchange_active: bool
    trading_active: bool
    resumes_at: datetime | None


@dataclass(frozen=True, slots=True)
class ReadLimit:
    """How many requests a second an account may read with."""

    tier: str
    per_second: float


@dataclass(frozen=True, slots=True)
class MarketListed:
    """A market as REST lists it; moments are microseconds, sizes hundredths of a contract."""

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
    said: str


@dataclass(frozen=True, slots=True)
class EventListed:
    """An event as REST lists it."""

    event_ticker: str
    series_ticker: str
    title: str
    sub_title: str | None
    category: str | None
    mutually_exclusive: bool | None


@dataclass(frozen=True, slots=True)
class SeriesListed:
    """A series as REST lists it."""

    ticker: str
    title: str
    category: str | None
    frequency: str | None
    tags: tuple[str, ...]


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


class MarketsBody(msgspec.Struct):
    """A page of /markets."""

    markets: list[msgspec.Raw]
    cursor: str | None = None


class BooksBody(msgspec.Struct):
    """The body of /markets/orderbooks."""

    orderbooks: list[msgspec.Raw]


class TradesBody(msgspec.Struct):
    """A page of /markets/trades."""

    trades: list[msgspec.Raw]
    cursor: str | None = None


class EventsBody(msgspec.Struct):
    """A page of /events."""

    events: list[msgspec.Raw]
    cursor: str | None = None


class SeriesBody(msgspec.Struct):
    """The body of /series."""

    series: list[msgspec.Raw]


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


class _Event(msgspec.Struct):
    event_ticker: str
    series_ticker: str
    title: str = ""
    sub_title: str | None = None
    category: str | None = None
    mutually_exclusive: bool | None = None


class _Series(msgspec.Struct):
    ticker: str
    title: str = ""
    category: str | None = None
    frequency: str | None = None
    tags: list[str] | None = None


_markets: Final = msgspec.json.Decoder(_Market)
_books: Final = msgspec.json.Decoder(_Book)
_trades: Final = msgspec.json.Decoder(_Trade)
_events: Final = msgspec.json.Decoder(_Event)
_series: Final = msgspec.json.Decoder(_Series)


def read_items(
    raws: Iterable[msgspec.Raw], parse: Callable[[msgspec.Raw], T], cursor: str | None = None
) -> Page[T]:
    """Answer what can be read of a list; what cannot is counted and costs nothing else."""
    found, refused = [], 0
    for raw in raws:
        try:
            found.append(parse(raw))
        except (msgspec.DecodeError, NumberRefused, ValueError):
            refused += 1
    return Page(tuple(found), cursor or "", refused)


def parse_market(raw: msgspec.Raw) -> MarketListed:
    """Answer a market; raises msgspec.DecodeError and NumberRefused."""
    told = _markets.decode(raw)
    return MarketListed(
        ticker=told.ticker,
        event_ticker=told.event_ticker,
        # The exchange names events after their series: what is before the first dash.
        series_ticker=told.series_ticker or told.event_ticker.partition("-")[0],
        status=told.status,
        title=told.title,
        subtitle=told.yes_sub_title or told.subtitle,
        market_type=told.market_type,
        result=told.result or None,
        open_ts=_micros(told.open_time),
        close_ts=_micros(told.close_time),
        volume=_size(told.volume_fp),
        volume_24h=_size(told.volume_24h_fp),
        open_interest=_size(told.open_interest_fp),
        said=bytes(raw).decode("utf-8", "replace"),
    )


def parse_book(raw: msgspec.Raw) -> tuple[str, Book]:
    """Answer a market's book; raises msgspec.DecodeError and NumberRefused."""
    told = _books.decode(raw)
    levels = told.orderbook_fp
    return told.ticker, Book(_levels(levels.yes_dollars), _levels(levels.no_dollars))


def parse_trade(raw: msgspec.Raw) -> TradeTold:
    """Answer a trade as the stream would tell it; raises msgspec.DecodeError and NumberRefused.

    The stream tells milliseconds, REST microseconds: the same trade must get the same instant.
    """
    told = _trades.decode(raw)
    at = _micros(told.created_time) or 0
    return TradeTold(
        sid=0,
        seq=None,
        trade_id=told.trade_id,
        ticker=told.ticker,
        price=parse_price(told.yes_price_dollars),
        size=not_negative(parse_size(told.count_fp)),
        taker_side=taker_is_yes(told.taker_outcome_side, told.taker_book_side, told.taker_side),
        is_block=told.is_block_trade,
        exchange_ts=at - at % _MILLI_US,
    )


def parse_event(raw: msgspec.Raw) -> EventListed:
    """Answer an event; raises msgspec.DecodeError."""
    told = _events.decode(raw)
    return EventListed(
        event_ticker=told.event_ticker,
        series_ticker=told.series_ticker,
        title=told.title,
        sub_title=told.sub_title,
        category=told.category,
        mutually_exclusive=told.mutually_exclusive,
    )


def parse_series(raw: msgspec.Raw) -> SeriesListed:
    """Answer a series; raises msgspec.DecodeError."""
    told = _series.decode(raw)
    return SeriesListed(
        ticker=told.ticker,
        title=told.title,
        category=told.category,
        frequency=told.frequency,
        tags=tuple(told.tags or ()),
    )


def _levels(levels: list[tuple[str, str]] | None) -> list[tuple[int, int]]:
    return [(parse_price(price), not_negative(parse_size(size))) for price, size in levels or ()]


def _micros(moment: datetime | None) -> int | None:
    if moment is None:
        return None
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return (aware - _EPOCH) // _MICRO


def _size(text: str | None) -> int | None:
    return None if text is None else parse_size(text)
