"""Kept here: what is fetched over REST beside the stream: whole books, audits, missed trades."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from random import Random
from typing import Final

import msgspec

from grandstand.apps.gatherer import store
from grandstand.apps.gatherer.model.book import Book
from grandstand.apps.gatherer.model.incidents import Gap
from grandstand.apps.gatherer.model.lines import level_columns
from grandstand.apps.gatherer.model.messages import TradeTold
from grandstand.apps.gatherer.service.recording.pool import Pool
from grandstand.apps.gatherer.service.recording.writing import Writer
from grandstand.apps.gatherer.sources.kalshi.rest import BOOKS_AT_ONCE, Exchange

_MICRO: Final = 1_000_000
# Trades may be told a little before or after they are stamped, and clocks differ.
_MARGIN_SECONDS: Final = 120


class Rounds:
    """The fetching that goes on beside the stream of one gatherer."""

    def __init__(
        self,
        exchange: Exchange,
        pool: Pool,
        writer: Writer,
        *,
        gatherer: str,
        stamp: Callable[[], int],
        wants: Callable[[str], bool],
        random: Random,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._exchange = exchange
        self._pool = pool
        self._writer = writer
        self._gatherer = gatherer
        self._stamp = stamp
        self._wants = wants
        self._random = random
        self._sleep = sleep

    async def snapshots(self, slot_us: int) -> int:
        """Fetch and keep the books of all markets followed, as of one slot; answer how many.

        The slot is the same for every gatherer, so that their rows are the same too.
        """
        found = 0
        for some in _batches(sorted(self._pool.followed)):
            for ticker, book in (await self._exchange.books(some)).items():
                self._writer.add(store.SNAPSHOTS, self._row(ticker, book, slot_us))
                found += 1
        return found

    async def audit(self, most: int, again_seconds: float) -> dict[str, str]:
        """Compare some books with what REST says of them; answer the outcome of each.

        REST may be some seconds behind: a book differs only if REST says the same twice and the
        book did not change in between. One that moves all the time is `unsettled`.
        """
        followed = sorted(self._pool.followed)
        chosen = self._random.sample(followed, min(most, BOOKS_AT_ONCE, len(followed)))
        if not chosen:
            return {}
        before = self._held(chosen)
        first = await self._exchange.books(chosen)
        held = self._held(chosen)
        outcomes = {
            ticker: "equal"
            for ticker in chosen
            if ticker in first and first[ticker] in (before.get(ticker), held.get(ticker))
        }
        doubtful = [ticker for ticker in chosen if ticker in held and ticker not in outcomes]
        if doubtful:
            await self._sleep(again_seconds)
            outcomes |= await self._second(doubtful, first, held)
        for ticker, outcome in outcomes.items():
            self._note(ticker, outcome, first.get(ticker))
        return outcomes

    async def backfill(self, gap: Gap, until_us: int) -> int:
        """Fetch the trades of a gap and keep them; answer how many there were."""
        since = gap.detected_at if gap.from_ts is None else min(gap.from_ts, gap.detected_at)
        return await self.trades(since, until_us)

    async def trades(self, since_us: int, until_us: int) -> int:
        """Fetch the trades of a stretch of time and keep them; answer how many there were.

        Those that are kept already stay as they are.
        """
        start = max(0, since_us // _MICRO - _MARGIN_SECONDS)
        end = until_us // _MICRO + _MARGIN_SECONDS
        count = 0
        async for page in self._exchange.trades(start_s=start, end_s=end):
            for told in page.items:
                if self._wants(told.ticker):
                    self._writer.add(store.TRADES, self._trade(told))
                    count += 1
        return count

    async def _second(
        self, doubtful: Sequence[str], first: dict[str, Book], held: dict[str, Book]
    ) -> dict[str, str]:
        second = await self._exchange.books(doubtful)
        now = self._held(doubtful)
        found: dict[str, str] = {}
        for ticker in doubtful:
            if ticker not in second or ticker not in now:
                continue
            still = now[ticker] == held[ticker]
            agreed = ticker in first and second[ticker] == first[ticker]
            if second[ticker] in (held[ticker], now[ticker]):
                found[ticker] = "equal"
            else:
                found[ticker] = "different" if still and agreed else "unsettled"
        return found

    def _held(self, tickers: Iterable[str]) -> dict[str, Book]:
        books = ((ticker, self._pool.book(ticker)) for ticker in tickers)
        return {ticker: book.copy() for ticker, book in books if book is not None}

    def _note(self, ticker: str, outcome: str, theirs: Book | None) -> None:
        at, difference = self._stamp(), None
        book = self._pool.book(ticker)
        if outcome == "different" and theirs is not None and book is not None:
            said = {"ours": book.levels(), "theirs": theirs.levels()}
            difference = msgspec.json.encode(said).decode()
        audit = store.Audit(
            audited_at=at,
            ticker=ticker,
            gatherer=self._gatherer,
            against="rest",
            outcome=outcome,
            difference=difference,
        )
        self._writer.add(store.AUDITS, audit)
        connection = self._pool.connection_of(ticker)
        if outcome == "different" and connection is not None:
            connection.distrust(ticker, at)

    def _row(self, ticker: str, book: Book, slot_us: int) -> store.OrderbookSnapshot:
        columns = level_columns(*book.levels())
        return store.OrderbookSnapshot(
            snapshot_ts=slot_us,
            exchange_ts=None,
            ticker=ticker,
            source="rest",
            yes_bids=columns["yes_bids"],
            yes_asks=columns["yes_asks"],
            no_bids=columns["no_bids"],
            no_asks=columns["no_asks"],
            best_yes_bid=book.best_yes_bid,
            best_yes_ask=book.best_yes_ask,
            spread=book.spread,
            gatherer=self._gatherer,
        )

    def _trade(self, told: TradeTold) -> store.Trade:
        at = self._stamp()
        return store.Trade(
            trade_id=told.trade_id,
            exchange_ts=told.exchange_ts if told.exchange_ts is not None else at,
            received_at=at,
            ticker=told.ticker,
            price=told.price,
            size=told.size,
            taker_side=told.taker_side,
            is_block=told.is_block,
            gatherer=self._gatherer,
        )


def _batches(tickers: Sequence[str]) -> list[Sequence[str]]:
    return [tickers[at : at + BOOKS_AT_ONCE] for at in range(0, len(tickers), BOOKS_AT_ONCE)]
