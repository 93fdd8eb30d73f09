"""Kept here: what traders do in one market: bids come and go, and some meet."""

from __future__ import annotations

from random import Random
from typing import Final

from grandstand.simulators.exchange.floor.book import Book
from grandstand.simulators.exchange.floor.events import DeltaMade, Event, QuoteMade, TradeMade
from grandstand.simulators.exchange.floor.market import Market
from grandstand.simulators.exchange.floor.numbers import CONTRACT, DOLLAR

_SIZES: Final = (100, 100, 200, 500, 1000, 1000, 2500, 5000, 10_000, 25_000, 50, 1250, 33, 1)
_PLACE: Final = 0.50
_CANCEL: Final = 0.93
_TRADE: Final = 0.985
_FLICKER: Final = 0.995
_MOVES: Final = 0.04
_TOLD: Final = 0.15
_WIDTH: Final = 4.0
_FEWEST: Final = 3
_SWEPT: Final = 3
_LEVEL_GONE: Final = 0.6
_NEAR_TICKS: Final = 2
_LOWEST_FAIR: Final = DOLLAR // 20


def first_book(market: Market, depth: int, draw: Random) -> Book:
    """Answer the book a market opens with: bids below its fair price on both sides."""
    book, tick = Book(), market.tick
    for yes in (True, False):
        top = (market.fair if yes else DOLLAR - market.fair) - tick
        top -= top % tick
        spread = draw.randrange(1, 3)
        for step in range(draw.randrange(_FEWEST, max(_FEWEST + 1, depth))):
            price = top - (spread + step) * tick
            if price <= 0:
                break
            book.change(price, draw.choice(_SIZES) * draw.randrange(1, 20), yes=yes)
    return book


class Traders:
    """Act in markets and say what came of it; every draw is from one source of chance."""

    def __init__(self, draw: Random, depth: int) -> None:
        self._draw = draw
        self._depth = depth

    def act(self, market: Market, book: Book, at: int) -> list[Event]:
        """Let one thing happen in a market, and answer it; a book is never crossed by it."""
        random = self._draw.random
        if random() < _MOVES:
            self._move(market)
        top = book.best_yes, book.best_no
        events: list[Event] = []
        what = random()
        if what < _PLACE:
            self._place(market, book, at, events)
        elif what < _CANCEL:
            self._cancel(market, book, at, events)
        elif what < _TRADE:
            self._trade(market, book, at, events)
        elif what < _FLICKER:
            self._flicker(market, book, at, events)
        else:
            self._block(market, at, events)
        traded = any(type(event) is TradeMade for event in events)
        if traded or ((book.best_yes, book.best_no) != top and random() < _TOLD):
            events.append(quote(market, book, at))
        return events

    def reprice(self, market: Market, book: Book, fair: int, at: int) -> list[Event]:
        """Take away the bids a new fair price leaves too high, and bid beside it on both sides."""
        market.fair = min(max(fair, _LOWEST_FAIR), DOLLAR - _LOWEST_FAIR)
        events: list[Event] = []
        for yes in (True, False):
            top = (market.fair if yes else DOLLAR - market.fair) - market.tick
            top -= top % market.tick
            side = book.yes if yes else book.no
            for price in [price for price in side if price > top]:
                self._change(market, book, at, events, (yes, price, -side[price]))
        for yes in (True, False):
            top = (market.fair if yes else DOLLAR - market.fair) - market.tick
            top -= top % market.tick
            best = book.best_yes if yes else book.best_no
            if best is None or top - best > _NEAR_TICKS * market.tick:
                self._change(market, book, at, events, (yes, top, self._draw.choice(_SIZES) * 5))
        return [*events, quote(market, book, at)] if events else events

    def _move(self, market: Market) -> None:
        step = market.tick * self._draw.choice((-2, -1, 1, 2))
        market.fair = min(max(market.fair + step, _LOWEST_FAIR), DOLLAR - _LOWEST_FAIR)

    def _place(self, market: Market, book: Book, at: int, events: list[Event]) -> None:
        draw = self._draw
        yes = draw.random() < 0.5  # noqa: PLR2004 - even chances
        side = book.yes if yes else book.no
        price = self._price(market, book, yes=yes)
        if len(side) >= self._depth and price not in side:
            self._cancel(market, book, at, events)
            return
        self._change(market, book, at, events, (yes, price, draw.choice(_SIZES)))

    def _price(self, market: Market, book: Book, *, yes: bool) -> int:
        """Answer a price near the top of a side that leaves a tick to the other."""
        tick = market.tick
        other = book.best_no if yes else book.best_yes
        limit = DOLLAR - tick - (other or 0)
        top = min(limit, (market.fair if yes else DOLLAR - market.fair) - tick)
        price = top - tick * int(self._draw.expovariate(1.0 / _WIDTH))
        return max(price - price % tick, tick)

    def _cancel(self, market: Market, book: Book, at: int, events: list[Event]) -> None:
        yes = self._draw.random() < 0.5  # noqa: PLR2004 - even chances
        side = book.yes if yes else book.no
        best = book.best_yes if yes else book.best_no
        if best is None:
            self._place(market, book, at, events)
            return
        price = self._price(market, book, yes=yes)
        if price not in side:
            price = best
        size = side[price]
        if self._draw.random() >= _LEVEL_GONE and size > 1:
            size = self._draw.randrange(1, size)
        self._change(market, book, at, events, (yes, price, -size))

    def _trade(self, market: Market, book: Book, at: int, events: list[Event]) -> None:
        draw = self._draw
        taker_yes = draw.random() < 0.5  # noqa: PLR2004 - even chances
        wanted = draw.choice(_SIZES)
        for _ in range(_SWEPT):
            best = book.best_no if taker_yes else book.best_yes
            if best is None or not wanted:
                return
            size = min(wanted, (book.no if taker_yes else book.yes)[best])
            price = DOLLAR - best if taker_yes else best
            events.append(self._traded(market, at, price, size, taker_yes=taker_yes))
            self._change(market, book, at, events, (not taker_yes, best, -size))
            wanted -= size

    def _flicker(self, market: Market, book: Book, at: int, events: list[Event]) -> None:
        """Put the same bid twice and take it away twice, all at one instant."""
        yes = self._draw.random() < 0.5  # noqa: PLR2004 - even chances
        price, size = self._price(market, book, yes=yes), self._draw.choice(_SIZES)
        for change in (size, size, -size, -size):
            self._change(market, book, at, events, (yes, price, change))

    def _block(self, market: Market, at: int, events: list[Event]) -> None:
        price = market.fair - market.fair % market.tick
        taker_yes = self._draw.random() < 0.5  # noqa: PLR2004 - even chances
        size = 100_000 * self._draw.randrange(1, 9)
        made = self._traded(market, at, price, size, taker_yes=taker_yes, is_block=True)
        events.append(made)

    def _traded(
        self,
        market: Market,
        at: int,
        price: int,
        size: int,
        *,
        taker_yes: bool,
        is_block: bool = False,
    ) -> TradeMade:
        market.last, market.last_size = price, size
        market.volume += size
        market.volume_day += size
        market.open_interest += size // 2
        market.traded += size * price
        bits = f"{self._draw.getrandbits(128):032x}"
        trade_id = f"{bits[:8]}-{bits[8:12]}-{bits[12:16]}-{bits[16:20]}-{bits[20:]}"
        return TradeMade(at, trade_id, market.ticker, price, size, taker_yes, is_block)

    @staticmethod
    def _change(
        market: Market,
        book: Book,
        at: int,
        events: list[Event],
        change: tuple[bool, int, int],
    ) -> None:
        yes, price, size = change
        book.change(price, size, yes=yes)
        events.append(DeltaMade(at, market.ticker, market.market_id, yes, price, size))


def quote(market: Market, book: Book, at: int) -> QuoteMade:
    """Answer the summary of a market."""
    bid, ask = book.best_yes, book.best_ask
    last = market.last
    return QuoteMade(
        at,
        market.ticker,
        market.market_id,
        last,
        bid,
        ask,
        0 if bid is None else book.yes[bid],
        0 if ask is None else book.no[DOLLAR - ask],
        market.last_size,
        market.volume,
        market.open_interest,
        market.traded // (DOLLAR * CONTRACT),
        market.open_interest * (last or 0) // (DOLLAR * CONTRACT),
    )
