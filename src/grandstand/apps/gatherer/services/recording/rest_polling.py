"""REST polling beside the stream: snapshots, audits and backfill of missed trades."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from random import Random
from typing import Final, TypeVar

import msgspec

from grandstand.apps.gatherer import store
from grandstand.apps.gatherer.domain.feed_events import Gap
from grandstand.apps.gatherer.domain.order_book import OrderBook
from grandstand.apps.gatherer.domain.subscriptions import LIFECYCLE, TRADES, book_row, trade_row
from grandstand.apps.gatherer.services.recording.connections import Connection, ConnectionPool
from grandstand.apps.gatherer.services.recording.writer import Writer
from grandstand.apps.gatherer.sources.kalshi.rest import MAX_BOOKS_PER_REQUEST, KalshiClient
from grandstand.core.errors import GrandstandError, LimitReached, SourceFailed, Unavailable
from grandstand.net.retry import backoff_seconds, retry

T = TypeVar("T")

TRANSIENT_ERRORS: Final = (SourceFailed, Unavailable, LimitReached)
_POLL_SECONDS: Final = 0.05
_MICRO: Final = 1_000_000
# Trades can be published a little before or after their timestamp, and clocks differ.
_MARGIN_SECONDS: Final = 120


class RestPoller:
    """Fetches books and trades over REST."""

    def __init__(
        self,
        client: KalshiClient,
        pool: ConnectionPool,
        writer: Writer,
        *,
        gatherer: str,
        stamp: Callable[[], int],
        is_wanted: Callable[[str], bool],
        random: Random,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._client = client
        self._pool = pool
        self._writer = writer
        self._gatherer = gatherer
        self._stamp = stamp
        self._is_wanted = is_wanted
        self._random = random
        self._sleep = sleep

    async def snapshots(self, slot_us: int) -> int:
        """Store the books of all followed markets as of a slot, and return their number.

        The slot is the same for every gatherer, so that their rows are identical.
        """
        count, followed = 0, sorted(self._pool.followed)
        for at in range(0, len(followed), MAX_BOOKS_PER_REQUEST):
            books = await self._client.books(followed[at : at + MAX_BOOKS_PER_REQUEST])
            for ticker, book in books.items():
                row = book_row(ticker, book, slot_us, source="rest", gatherer=self._gatherer)
                self._writer.add(store.SNAPSHOTS, row)
                count += 1
        return count

    async def audit(self, limit: int, recheck_seconds: float) -> dict[str, str]:
        """Compare up to `limit` random books with REST, and return the outcome of each.

        REST can be some seconds behind: a book is "different" only if REST returns the same twice
        and the book did not change in between. A book that keeps changing is "unsettled".
        """
        followed = sorted(self._pool.followed)
        sample = self._random.sample(followed, min(limit, MAX_BOOKS_PER_REQUEST, len(followed)))
        if not sample:
            return {}
        before = self._current_books(sample)
        first = await self._client.books(sample)
        current = self._current_books(sample)
        outcomes = {
            ticker: "equal"
            for ticker in sample
            if ticker in first and first[ticker] in (before.get(ticker), current.get(ticker))
        }
        unequal = [ticker for ticker in sample if ticker in current and ticker not in outcomes]
        if unequal:
            await self._sleep(recheck_seconds)
            outcomes |= await self._recheck(unequal, first, current)
        for ticker, outcome in outcomes.items():
            self._record_audit(ticker, outcome, first.get(ticker))
        return outcomes

    async def trades(self, since_us: int, until_us: int) -> int:
        """Store the trades of a period, and return their number; known trades stay as they are."""
        start = max(0, since_us // _MICRO - _MARGIN_SECONDS)
        end = until_us // _MICRO + _MARGIN_SECONDS
        count = 0
        async for page in self._client.trades(start_s=start, end_s=end):
            for trade in page.items:
                if self._is_wanted(trade.ticker):
                    row = trade_row(trade, self._stamp(), gatherer=self._gatherer)
                    self._writer.add(store.TRADES, row)
                    count += 1
        return count

    async def _recheck(
        self, unequal: Sequence[str], first: dict[str, OrderBook], before: dict[str, OrderBook]
    ) -> dict[str, str]:
        second = await self._client.books(unequal)
        now = self._current_books(unequal)
        outcomes: dict[str, str] = {}
        for ticker in second.keys() & now.keys():
            unchanged = now[ticker] == before[ticker]
            confirmed = ticker in first and second[ticker] == first[ticker]
            if second[ticker] in (before[ticker], now[ticker]):
                outcomes[ticker] = "equal"
            else:
                outcomes[ticker] = "different" if unchanged and confirmed else "unsettled"
        return outcomes

    def _current_books(self, tickers: Iterable[str]) -> dict[str, OrderBook]:
        books = ((ticker, self._pool.book(ticker)) for ticker in tickers)
        return {ticker: book.copy() for ticker, book in books if book is not None}

    def _record_audit(self, ticker: str, outcome: str, rest_book: OrderBook | None) -> None:
        at, difference = self._stamp(), None
        book = self._pool.book(ticker)
        if outcome == "different" and rest_book is not None and book is not None:
            levels = {"ours": book.levels(), "theirs": rest_book.levels()}
            difference = msgspec.json.encode(levels).decode()
        audit = store.Audit(
            audited_at=at,
            ticker=ticker,
            gatherer=self._gatherer,
            against="rest",
            outcome=outcome,
            difference=difference,
        )
        self._writer.add(store.AUDITS, audit)
        connection = self._pool.by_market.get(ticker)
        if outcome == "different" and connection is not None:
            connection.mark_suspect(ticker, at)


async def retry_transient(
    work: Callable[[], Awaitable[T]],
    on_error: Callable[[GrandstandError], None] = lambda _: None,
) -> T:
    """Call `work` until it succeeds, with exponential backoff after transient errors."""

    def wait_seconds(error: Exception, failures: int) -> float | None:
        if not isinstance(error, TRANSIENT_ERRORS) or not error.retry:
            return None
        on_error(error)
        return backoff_seconds(failures, 0.5, 60.0)

    return await retry(work, wait_seconds)


class Backfill:
    """Fills the gaps of channels without books, one after the other."""

    def __init__(
        self,
        poller: RestPoller,
        sync: Callable[[], Awaitable[None]],
        stamp: Callable[[], int],
        on_error: Callable[[GrandstandError], None],
    ) -> None:
        self.fetched_at = 0
        self._poller = poller
        self._sync = sync
        self._stamp = stamp
        self._on_error = on_error
        self._gaps: asyncio.Queue[tuple[Connection, Gap]] = asyncio.Queue()
        self._pending = 0

    def add(self, connection: Connection, gap: Gap) -> None:
        self._pending += 1
        self._gaps.put_nowait((connection, gap))

    async def run(self) -> None:
        """Fill the gaps once the stream has the channel again, until cancelled."""
        while True:
            connection, gap = await self._gaps.get()
            while gap.channel not in connection.subscriptions.channel_sids:  # noqa: ASYNC110 - there is no event
                await asyncio.sleep(_POLL_SECONDS)
            if gap.channel == TRADES:
                await retry_transient(partial(self._fetch_trades, gap), self._on_error)
            elif gap.channel == LIFECYCLE:
                await retry_transient(self._sync, self._on_error)
            connection.close_gap(gap, self._stamp())
            self._pending -= 1

    async def poll_trades(self) -> None:
        """Fetch the trades since the last call: a loss at the end of the stream is not detected."""
        at = self._stamp()
        await self._poller.trades(self.fetched_at, at)
        self.fetched_at = at

    async def finish(self) -> None:
        """Wait until all gaps are filled, then fetch the newest trades."""
        while self._pending:  # noqa: ASYNC110 - there is no event
            await asyncio.sleep(_POLL_SECONDS)
        await self.poll_trades()

    async def _fetch_trades(self, gap: Gap) -> None:
        since = gap.detected_at if gap.from_ts is None else min(gap.from_ts, gap.detected_at)
        await self._poller.trades(since, self._stamp())
