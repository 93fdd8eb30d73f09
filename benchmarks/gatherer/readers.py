"""Who reads a stream into books: our decoder and feed, and cryptofeed's handlers."""

import asyncio
from collections.abc import Sequence
from importlib import import_module
from typing import Any, Literal

from benchmarks.gatherer.streams import ticker
from grandstand.apps.gatherer.domain.feed import Feed
from grandstand.apps.gatherer.domain.order_book import DOLLAR, OrderBook
from grandstand.apps.gatherer.sources.kalshi.ws_decode import FrameDecoder

Best = tuple[int, int]


class Ours:
    """Our decoder and one feed."""

    def __init__(self, markets: int) -> None:
        self._parse = FrameDecoder().parse
        self.feed = Feed(gatherer="bench", conn=1)
        self._markets = markets
        self._at = 0
        self._books: dict[str, OrderBook] = {}

    def begin(self, frames: Sequence[bytes]) -> None:
        """Take snapshots, and whatever else comes before what is measured."""
        self.record(frames)
        names = [ticker(market) for market in range(self._markets)]
        self._books = {name: book for name in names if (book := self.feed.book(name))}

    def follow(self, frames: Sequence[bytes]) -> None:
        """Decode, check the sequence, change the book, read both best prices."""
        parse, follow, books = self._parse, self.feed.follow, self._books
        for frame in frames:
            message = parse(frame)
            assert not follow(message, 0)
            book = books[message.ticker]  # type: ignore[union-attr, index] # only deltas are measured
            _best = (book.yes.best, book.no.best)

    def record(self, frames: Sequence[bytes]) -> None:
        """Decode, check the sequence, change the book, and make the row to append."""
        parse, take, at = self._parse, self.feed.handle, self._at
        for frame in frames:
            at += 1
            outcome = take(parse(frame), at)
            assert outcome.row is not None
        self._at = at

    def best(self, market: int) -> Best:
        """The best bid and ask, in 0.00001 of a dollar."""
        book = self._books[ticker(market)]
        return book.best_yes_bid or 0, book.best_yes_ask or 0


class Cryptofeed:
    """One of cryptofeed's exchanges, told frames as its socket would tell them."""

    def __init__(self, exchange: Literal["Coinbase", "KrakenFutures"], markets: int) -> None:
        defines: Any = import_module("cryptofeed.defines")
        kind: Any = getattr(import_module("cryptofeed.exchanges"), exchange)
        names = {_STANDARD[exchange] % at: _OWN[exchange] % at for at in range(markets)}
        import_module("cryptofeed.symbols").Symbols.set(kind.id, names, {"instrument_type": {}})
        self._names = list(names)
        self._books: dict[str, Any] = {}
        self._feed: Any = kind(
            symbols=self._names[:1],
            channels=[defines.L2_BOOK],
            callbacks={defines.L2_BOOK: self._told},
        )
        # What a handler does when it subscribes, without the command it would send.
        self._reset: Any = getattr(self._feed, f"_{exchange}__reset")
        self._reads = False

    def begin(self, frames: Sequence[str]) -> None:
        """Take snapshots, and whatever else comes before what is measured."""
        self._reset()
        self._reads = False
        asyncio.run(self._handle(frames))
        self._reads = True

    def follow(self, frames: Sequence[str]) -> None:
        """Let the handler decode and change the book; its callback reads both best prices."""
        asyncio.run(self._handle(frames))

    def best(self, market: int) -> Best:
        """The best bid and ask, in 0.00001 of a dollar."""
        book = self._books[self._names[market]].book
        return int(book.bids.index(0)[0] * DOLLAR), int(book.asks.index(0)[0] * DOLLAR)

    async def _handle(self, frames: Sequence[str]) -> None:
        handle = self._feed.message_handler
        for frame in frames:
            await handle(frame, None, 0.0)

    async def _told(self, book: Any, _receipt: float) -> None:
        if self._reads:
            _best = (book.book.bids.index(0), book.book.asks.index(0))
        else:
            self._books[book.symbol] = book


_STANDARD = {"Coinbase": "BTC%d-USD", "KrakenFutures": "XBT%d-USD-PERP"}
_OWN = {"Coinbase": "BTC%d-USD", "KrakenFutures": "pi_xbt%dusd"}
