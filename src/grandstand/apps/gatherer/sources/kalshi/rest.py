"""Kept here: asking the exchange over REST, within what it allows an account."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final, TypeVar

import msgspec

from grandstand.apps.gatherer.model.book import Book
from grandstand.apps.gatherer.model.messages import TradeTold
from grandstand.apps.gatherer.sources.kalshi.answers import (
    BooksBody,
    CostsBody,
    EventListed,
    EventsBody,
    LimitsBody,
    MarketListed,
    MarketsBody,
    Page,
    ReadLimit,
    SeriesBody,
    SeriesListed,
    Status,
    StatusBody,
    TradesBody,
    parse_book,
    parse_event,
    parse_market,
    parse_series,
    parse_trade,
    read_items,
)
from grandstand.apps.gatherer.sources.kalshi.errors import CursorLoops, KeyRefused
from grandstand.apps.gatherer.sources.kalshi.signing import Signer
from grandstand.base.clock import Clock
from grandstand.wire.addressing import Params
from grandstand.wire.answer import Answer
from grandstand.wire.errors import SourceFaulted, SourceRefused
from grandstand.wire.web import Credentials, Rate, Retries, Web

T = TypeVar("T")
B = TypeVar("B", MarketsBody, TradesBody, EventsBody)

NAME: Final = "exchange"
BOOKS_AT_ONCE: Final = 100
_MARKETS_A_PAGE: Final = 1000
_TRADES_A_PAGE: Final = 1000
_EVENTS_A_PAGE: Final = 200
_MOST_PAGES: Final = 10_000
# Longer ones fit into no address.
_LONGEST_CURSOR: Final = 4096
_KEYS: Final = frozenset({401, 403})
_CLOSED: Final = 503
# What every account may do: 200 tokens a second, ten for a request; a little is left for others.
_BASIC_PER_SECOND: Final = 20.0
_SHARE: Final = 0.9
_MOST_BYTES: Final = 64 * 1024 * 1024


class Exchange:
    """The exchange's REST: signed where there is a key, at the rate the account may ask.

    Every method raises KeyRefused when the exchange does not accept the key, and what `wire`
    raises of a source that cannot be asked. Items that cannot be read are counted in `refused`.
    """

    def __init__(
        self,
        web: Web,
        base_url: str,
        *,
        signer: Signer | None,
        clock: Clock,
        per_second: float = _BASIC_PER_SECOND,
        timeout_seconds: float = 30.0,
        name: str = NAME,
    ) -> None:
        self.refused = 0
        self.signed = signer is not None
        self._web = web
        self._base_url = base_url
        self._credentials = Credentials(sign=None if signer is None else signer.headers)
        self._clock = clock
        self._timeout_seconds = timeout_seconds
        self._name = name
        self._declare(per_second)

    async def status(self) -> Status:
        """Fetch whether the exchange is open; one that is closed may answer with a failure."""
        try:
            body = (await self._get("exchange/status")).json(StatusBody)
        except SourceFaulted as faulted:
            if faulted.answered != _CLOSED:
                raise
            return Status(
                exchange_active=False, trading_active=False, resumes_at=_resumes(faulted.said)
            )
        return Status(
            body.exchange_active, body.trading_active, body.exchange_estimated_resume_time
        )

    async def clock_offset(self) -> timedelta | None:
        """Fetch how far the exchange's clock is ahead of ours, to the second; None if not said."""
        before = self._clock.now()
        answer = await self._get("exchange/status")
        after = self._clock.now()
        said = _date(answer.headers.get("date", ""))
        return None if said is None else said - (before + (after - before) / 2)

    async def limits(self) -> ReadLimit | None:
        """Fetch how often this account may read, and keep to it from now on; None without a key."""
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
    ) -> AsyncIterator[Page[MarketListed]]:
        """Fetch markets page by page; `status` is a word of the exchange's filter."""
        params: dict[str, str | int] = {"limit": _MARKETS_A_PAGE}
        if status is not None:
            params["status"] = status
        if series_ticker is not None:
            params["series_ticker"] = series_ticker
        return self._pages("markets", params, MarketsBody, lambda body: body.markets, parse_market)

    async def markets_named(self, tickers: Sequence[str]) -> tuple[MarketListed, ...]:
        """Fetch some markets by their tickers."""
        found: list[MarketListed] = []
        for at in range(0, len(tickers), BOOKS_AT_ONCE):
            some = ",".join(tickers[at : at + BOOKS_AT_ONCE])
            params: dict[str, str | int] = {"tickers": some, "limit": _MARKETS_A_PAGE}
            pages = self._pages(
                "markets", params, MarketsBody, lambda body: body.markets, parse_market
            )
            async for page in pages:
                found += page.items
        return tuple(found)

    async def books(self, tickers: Sequence[str]) -> dict[str, Book]:
        """Fetch the books of at most a hundred markets; those there are not are left out."""
        answer = await self._get("markets/orderbooks", {"tickers": [*tickers]})
        page = self._counted(read_items(answer.json(BooksBody).orderbooks, parse_book))
        return dict(page.items)

    def trades(
        self, *, start_s: int, end_s: int, ticker: str | None = None
    ) -> AsyncIterator[Page[TradeTold]]:
        """Fetch trades page by page, from one second to another, both included."""
        params: dict[str, str | int] = {"limit": _TRADES_A_PAGE, "min_ts": start_s, "max_ts": end_s}
        if ticker is not None:
            params["ticker"] = ticker
        return self._pages(
            "markets/trades", params, TradesBody, lambda body: body.trades, parse_trade
        )

    def events(self, *, status: str | None = None) -> AsyncIterator[Page[EventListed]]:
        """Fetch events page by page; those of several markets at once are listed elsewhere."""
        params: dict[str, str | int] = {"limit": _EVENTS_A_PAGE}
        if status is not None:
            params["status"] = status
        return self._pages("events", params, EventsBody, lambda body: body.events, parse_event)

    async def series(self) -> tuple[SeriesListed, ...]:
        """Fetch all series."""
        answer = await self._get("series")
        return self._counted(read_items(answer.json(SeriesBody).series, parse_series)).items

    async def _pages(
        self,
        path: str,
        params: dict[str, str | int],
        body_of: type[B],
        items_of: Callable[[B], list[msgspec.Raw]],
        parse: Callable[[msgspec.Raw], T],
    ) -> AsyncIterator[Page[T]]:
        cursors: set[str] = set()
        cursor = ""
        for _ in range(_MOST_PAGES):
            asked = {**params, "cursor": cursor} if cursor else params
            body = (await self._get(path, asked)).json(body_of)
            page = self._counted(read_items(items_of(body), parse, body.cursor))
            yield page
            cursor = page.cursor
            if not cursor:
                return
            if cursor in cursors or len(cursor) > _LONGEST_CURSOR:
                break
            cursors.add(cursor)
        raise CursorLoops(f"{self._name} answers pages of {path} without end: try again later")

    async def _get(self, path: str, params: Params | None = None) -> Answer:
        try:
            return await self._source.get(path, params=params)
        except SourceRefused as refused:
            if refused.answered not in _KEYS:
                raise
            message = (
                f"{self._name} refused {path} with {refused.answered}: check the key id, the "
                "private key and this machine's clock (`grandstand gatherer check`)"
            )
            raise KeyRefused(message) from refused

    def _counted(self, page: Page[T]) -> Page[T]:
        self.refused += page.refused
        return page

    def _declare(self, per_second: float) -> None:
        rate = Rate(per_second=per_second * _SHARE, burst=max(1, int(per_second / 4)))
        self._source = self._web.source(
            self._name,
            base_url=self._base_url,
            rate=rate,
            timeout_seconds=self._timeout_seconds,
            credentials=self._credentials,
            retries=Retries(tries=5, first_seconds=0.3, within_seconds=90.0),
            most_bytes=_MOST_BYTES,
        )


def _resumes(said: str) -> datetime | None:
    try:
        return msgspec.json.decode(said, type=StatusBody).exchange_estimated_resume_time
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def _date(text: str) -> datetime | None:
    try:
        return parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
