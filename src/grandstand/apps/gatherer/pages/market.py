"""The page of one market: its order book live and at any time, trades and charts."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Final

from fastapi import Path
from starlette.requests import Request
from starlette.responses import Response

from grandstand.apps.gatherer.domain.messages import Levels
from grandstand.apps.gatherer.domain.order_book import DOLLAR
from grandstand.apps.gatherer.domain.rows import Trade
from grandstand.apps.gatherer.pages.markets import (
    GathererPageGroup,
    cents,
    contracts,
    format_cents,
    recording_state,
    to_datetime,
)
from grandstand.apps.gatherer.services.live_updates import LADDER_LEVELS, trade_point
from grandstand.apps.gatherer.services.markets import MarketNotFound, MarketView
from grandstand.apps.gatherer.services.queries.books import HistoricalBook
from grandstand.apps.gatherer.services.queries.prices import DepthPoint
from grandstand.core import formatting
from grandstand.core.errors import GrandstandError
from grandstand.kit.charts import Axis, Chart, Plot
from grandstand.kit.charts import Row as ChartRow
from grandstand.kit.pages.rendering import time_tag
from grandstand.kit.pages.table import Cell, Column, DataTable, Row
from grandstand.kit.routes import CurrentCaller, page

Ticker = Annotated[str, Path(pattern=r"^[A-Za-z0-9._:@=-]{1,100}$")]

HOURS: Final = (1, 6, 24)
_HOUR_US: Final = 3_600_000_000
_MICRO: Final = 1_000_000
_CENT: Final = 1000
_CONTRACT: Final = 100
_DEPTH_POINTS: Final = 240
# What was received this long ago is covered by a watermark.
_COVERED_US: Final = 5_000_000
_TIME_AXIS: Final = Axis("Time", "time")
_COLUMNS: Final = (
    Column("when", "Time", "time"),
    Column("price", "Price", "number"),
    Column("size", "Contracts", "number"),
    Column("taker", "Taker"),
)


class MarketPages(GathererPageGroup):
    """One market: the live ladder, trades, charts, and the book at any time."""

    @page("/markets/{ticker}")
    async def market(self, request: Request, caller: CurrentCaller, ticker: Ticker) -> Response:
        """A market that is open or was recorded."""
        gatherer, history = self._gatherer, self._gatherer.recordings.history
        title, listed = await self._find_market(ticker)
        gatherer.live_updates.subscribe(ticker)
        hours, now = _hours(request.query_params), gatherer.now_us()
        start = await self._first_book_at(ticker, now - hours * _HOUR_US)
        at = _instant(request.query_params, start, now)
        past = await history.book(ticker, at)
        book = await self._current_book(ticker)
        trades = await history.recent_trades(ticker, limit=500)
        interval = max((now - start) // _DEPTH_POINTS, 1000)
        points = await history.depth(ticker, start, now, interval)
        recent = [trade for trade in trades if trade.exchange_ts >= start]
        choices = await gatherer.markets.choices()
        return self._render(
            request,
            "market",
            here="markets",
            ticker=ticker,
            title=title,
            market=listed,
            state=None if listed is None else recording_state(listed),
            closes=to_datetime(None if listed is None else listed.close_ts),
            book=book,
            spread=format_cents(book.spread),
            bids=ladder_rows(book.yes),
            asks=ladder_rows(book.asks),
            price=price_chart(ticker, points, recent, hours),
            depth=depth_chart(book.yes, book.no),
            resting=resting_chart(points),
            trades=_trade_table(trades[:20], caller.preferences.time_zone),
            last=trades[0] if trades else None,
            last_price=format_cents(trades[0].price if trades else None),
            past={
                "book": past,
                "at": to_datetime(past.at_us),
                "base": to_datetime(past.base_us),
                "bids": ladder_rows(past.yes),
                "asks": ladder_rows(past.asks),
            },
            # In milliseconds since 1970.
            slider={"min": -(-start // 1000), "max": now // 1000, "value": at // 1000},
            hours=hours,
            hour_options=HOURS,
            chosen={(choice.kind, choice.name): choice.recorded for choice in choices},
        )

    async def _find_market(self, ticker: str) -> tuple[str, MarketView | None]:
        """Return the title of a market, and the market; None if it is finished."""
        history = self._gatherer.recordings.history
        try:
            market = await self._gatherer.markets.get(ticker)
        except GrandstandError as error:
            events = await history.events(ticker)
            if not events and not await history.recent_trades(ticker, 1):
                raise MarketNotFound(f"Unknown market {ticker}: {error}") from error
            title = next((event.title for event in events if event.title), ticker)
            return title, None
        return market.title or ticker, market

    async def _first_book_at(self, ticker: str, start: int) -> int:
        """Return the time of the first known book, not before the start."""
        books = self._gatherer.recordings.history.books
        base, _ = await asyncio.to_thread(books.base_for, ticker, start)
        return start if base is None else max(start, base.at)

    async def _current_book(self, ticker: str) -> HistoricalBook:
        live = self._gatherer.recording.book(ticker)
        if live is not None:
            return HistoricalBook(ticker, None, *live.levels())
        return await self._gatherer.recordings.history.book(ticker)


def ladder_rows(levels: Levels) -> list[tuple[object, object]]:
    """Return the best levels in cents and contracts, best first."""
    return [(cents(price), contracts(size)) for price, size in reversed(levels[-LADDER_LEVELS:])]


def price_chart(
    ticker: str, points: Sequence[DepthPoint], trades: Iterable[Trade], hours: int
) -> Chart:
    """Best prices and trades; open pages append to it."""
    bids = tuple(_price(point, point.best_yes_bid) for point in points)
    asks = tuple(_price(point, point.best_yes_ask) for point in points)
    trade_points = tuple(sorted(trade_point(trade) for trade in trades))
    return Chart(
        title="Yes price",
        note="Best bid, best ask, and trades.",
        x=_TIME_AXIS,
        y=Axis("Price", unit="¢", digits=1),
        plots=(
            Plot("Bid", "step", bids, "good"),
            Plot("Ask", "step", asks, "bad"),
            Plot("Trades", "scatter", trade_points, "1"),
        ),
        topic=f"gatherer/price/{ticker}",
        keep_seconds=hours * 3600.0,
        height=320,
    )


def depth_chart(yes: Levels, no: Levels) -> Chart:
    """Cumulative size up to each price, on both sides of a book."""
    asks = _cumulative((DOLLAR - price, size) for price, size in reversed(no))
    return Chart(
        title="Depth",
        note="Cumulative contracts up to each price.",
        x=Axis("Price", unit="¢", digits=1),
        y=Axis("Contracts", digits=0),
        plots=(
            Plot("Bids", "area", _cumulative(reversed(yes))[::-1], "good"),
            Plot("Asks", "area", asks, "bad"),
        ),
        height=260,
    )


def resting_chart(points: Sequence[DepthPoint]) -> Chart:
    """Total bids and asks over time."""
    return Chart(
        title="Resting orders",
        note="Total contracts bid and offered.",
        x=_TIME_AXIS,
        y=Axis("Contracts", digits=0),
        plots=(
            Plot("Bids", "step", tuple(_size(point, point.bid_depth) for point in points), "good"),
            Plot("Asks", "step", tuple(_size(point, point.ask_depth) for point in points), "bad"),
        ),
        height=260,
    )


def rate_chart(now: float, per_second: float) -> Chart:
    """Messages per second from now on."""
    return Chart(
        title="Messages per second",
        note="Since this page was opened, at most ten minutes.",
        x=_TIME_AXIS,
        y=Axis("Messages", digits=0),
        plots=(Plot("Messages", "area", ((now, round(per_second)),), "1"),),
        keep_seconds=600.0,
        height=220,
    )


def _price(point: DepthPoint, price: int | None) -> ChartRow:
    return point.at_us / _MICRO, None if price is None else price / _CENT


def _size(point: DepthPoint, size: int) -> ChartRow:
    return point.at_us / _MICRO, size / _CONTRACT


def _cumulative(levels: Iterable[tuple[int, int]]) -> tuple[ChartRow, ...]:
    rows: list[ChartRow] = []
    total = 0
    for price, size in levels:
        total += size
        rows.append((price / _CENT, total / _CONTRACT))
    return tuple(rows)


def _hours(params: Mapping[str, str]) -> int:
    value = params.get("hours", "")
    return int(value) if value in {str(hours) for hours in HOURS} else HOURS[0]


def _instant(params: Mapping[str, str], start: int, now: int) -> int:
    value = params.get("at", "")
    valid = value.isascii() and value.isdigit() and len(value) <= len(str(now))
    at = int(value) * 1000 if valid else now - _COVERED_US
    return min(max(at, start), now)


def _trade_table(trades: tuple[Trade, ...], zone: str) -> DataTable:
    rows = tuple(
        Row(
            str(trade.trade_id),
            (
                Cell(time_tag(to_datetime(trade.exchange_ts), zone, "second"), trade.exchange_ts),
                Cell(format_cents(trade.price), trade.price),
                Cell(formatting.format_number(contracts(trade.size)), trade.size),
                Cell(
                    "yes" if trade.taker_side else "no",
                    tone="good" if trade.taker_side else "bad",
                ),
            ),
        )
        for trade in trades
    )
    return DataTable("trades", "Trades", _COLUMNS, rows)
