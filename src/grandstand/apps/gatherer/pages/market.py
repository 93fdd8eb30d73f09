"""Kept here: the page of one market: its book now and at any time, its trades, its prices."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Final

from fastapi import Path
from starlette.requests import Request
from starlette.responses import Response

from grandstand.apps.gatherer.model.book import WHOLE
from grandstand.apps.gatherer.model.messages import Levels
from grandstand.apps.gatherer.pages.listing import state_of
from grandstand.apps.gatherer.pages.part import PagesPart, cents, cents_text, contracts, moment
from grandstand.apps.gatherer.pages.plots import depth_chart, price_chart, resting_chart
from grandstand.apps.gatherer.service import MarketNotFound, MarketView, Trade
from grandstand.apps.gatherer.service.asking import BookAt
from grandstand.apps.gatherer.service.watching import RUNGS
from grandstand.base.errors import GrandstandError
from grandstand.kit.pages import shown
from grandstand.kit.pages.table import Cell, Column, DataTable, Row
from grandstand.kit.routes import Who, page

Ticker = Annotated[str, Path(pattern=r"^[A-Za-z0-9._:@=-]{1,100}$")]

HOURS: Final = (1, 6, 24)
_HOUR_US: Final = 3_600_000_000
_MILLI_US: Final = 1000
_POINTS: Final = 240
# What was received so long ago is kept by now, and proven to be.
_SETTLED_US: Final = 5_000_000
_TAPE: Final = 20
_TRADES: Final = 500
_COLUMNS: Final = (
    Column("when", "When", "time"),
    Column("price", "Price", "number"),
    Column("size", "Contracts", "number"),
    Column("taker", "Taker"),
)


@dataclass(frozen=True, slots=True)
class Named:
    """What is known of a market by name, also when it is over."""

    ticker: str
    title: str
    market: MarketView | None


class OneMarketPages(PagesPart):
    """One market: the ladder as it changes, the tape, the charts, and the book at any time."""

    @page("/markets/{ticker}")
    async def market(self, request: Request, who: Who, ticker: Ticker) -> Response:
        """A market that is open or was recorded; raises MarketNotFound."""
        gatherer, asking = self._gatherer, self._gatherer.asking
        named = await self._named(ticker)
        gatherer.watching.watch(ticker)
        hours, now = _hours(request.query_params), gatherer.now_us()
        start = await self._known_since(ticker, now - hours * _HOUR_US)
        at = _instant(request.query_params, start, now)
        then = await asking.book(ticker, at)
        book = await self._book(ticker)
        trades = await asking.recent_trades(ticker, _TRADES)
        every = max((now - start) // _POINTS, _MILLI_US)
        points = await asking.depth(ticker, start, now, every)
        recent = [one for one in trades if one.exchange_ts >= start]
        return self._render(
            request,
            "market",
            here="markets",
            named=named,
            state=None if named.market is None else state_of(named.market),
            closes=moment(None if named.market is None else named.market.close_ts),
            book=book,
            spread=cents_text(book.spread),
            bids=rungs_of(book.yes),
            asks=rungs_of(_asks(book.no)),
            price=price_chart(ticker, points, recent, hours),
            depth=depth_chart(book.yes, book.no),
            resting=resting_chart(points),
            tape=_tape(trades[:_TAPE], who.preferences.time_zone),
            last=trades[0] if trades else None,
            last_price=cents_text(trades[0].price if trades else None),
            then=_then(then),
            slider=Slider(-(-start // _MILLI_US), now // _MILLI_US, at // _MILLI_US),
            hours=hours,
            choices=HOURS,
            chosen={(one.kind, one.name): one.recorded for one in await gatherer.choices()},
        )

    async def _named(self, ticker: str) -> Named:
        try:
            market = await self._gatherer.market(ticker)
        except GrandstandError as fault:
            told = await self._gatherer.asking.history(ticker)
            if not told and not await self._gatherer.asking.recent_trades(ticker, 1):
                raise MarketNotFound(f"Nothing is known of a market {ticker}: {fault}") from fault
            title = next((one.title for one in told if one.title), ticker)
            return Named(ticker, title, None)
        return Named(ticker, market.title or ticker, market)

    async def _known_since(self, ticker: str, start: int) -> int:
        """Answer from when on a book is known, not before the start."""
        base, _ = await asyncio.to_thread(self._gatherer.asking.books.begun, ticker, start)
        return start if base is None else max(start, base.at)

    async def _book(self, ticker: str) -> BookAt:
        live = self._gatherer.book(ticker)
        if live is not None:
            return BookAt(ticker, None, *live.levels())
        return await self._gatherer.asking.book(ticker)


@dataclass(frozen=True, slots=True)
class Slider:
    """A choice of an instant, in milliseconds since 1970."""

    least: int
    most: int
    value: int


@dataclass(frozen=True, slots=True)
class Then:
    """A book as it was, for the ladder beside the slider."""

    book: BookAt
    when: object
    base: object
    bids: list[tuple[object, object]]
    asks: list[tuple[object, object]]


def _then(found: BookAt) -> Then:
    return Then(
        found,
        moment(found.at_us),
        moment(found.base_us),
        rungs_of(found.yes),
        rungs_of(_asks(found.no)),
    )


def rungs_of(levels: Levels) -> list[tuple[object, object]]:
    """Answer the best levels, of those given the worst first, in cents and contracts."""
    return [(cents(price), contracts(size)) for price, size in reversed(levels[-RUNGS:])]


def _asks(no: Levels) -> Levels:
    return tuple((WHOLE - price, size) for price, size in no)


def _hours(query: Mapping[str, str]) -> int:
    asked = query.get("hours", "")
    return int(asked) if asked in {str(hours) for hours in HOURS} else HOURS[0]


def _instant(query: Mapping[str, str], start: int, now: int) -> int:
    asked = query.get("at", "")
    known = asked.isascii() and asked.isdigit() and len(asked) <= len(str(now))
    wanted = int(asked) * _MILLI_US if known else now - _SETTLED_US
    return min(max(wanted, start), now)


def _tape(trades: tuple[Trade, ...], zone: str) -> DataTable:
    rows = tuple(
        Row(
            str(one.trade_id),
            (
                Cell(shown.time_tag(moment(one.exchange_ts), zone, "second"), one.exchange_ts),
                Cell(cents_text(one.price), one.price),
                Cell(shown.number(contracts(one.size)), one.size),
                Cell(
                    "yes" if one.taker_side else "no",
                    tone="good" if one.taker_side else "bad",
                ),
            ),
        )
        for one in trades
    )
    return DataTable("tape", "Last trades", _COLUMNS, rows)
