"""Replays recorded rows in order, or over the exchange's protocol."""

from __future__ import annotations

import asyncio
import heapq
from bisect import bisect_left, bisect_right
from collections.abc import (
    AsyncIterator,
    Callable,
    Coroutine,
    Generator,
    Iterable,
    Iterator,
    Sequence,
)
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing
from dataclasses import asdict, dataclass
from itertools import chain, groupby, islice, pairwise, repeat
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, TypeAlias, TypeVar
from uuid import UUID

from grandstand.apps.gatherer import store
from grandstand.apps.gatherer.domain.rows import (
    OrderbookDelta,
    OrderbookSnapshot,
    Row,
    Ticker,
    Trade,
)
from grandstand.apps.gatherer.domain.subscriptions import book_row
from grandstand.apps.gatherer.services.queries.books import BookHistory
from grandstand.core.clock import Clock
from grandstand.storage.series.declaration import Series
from grandstand.storage.series.engines.chunks.engine import ChunkEngine
from grandstand.storage.series.engines.protocol import SeriesEngine
from grandstand.storage.series.query import Window

if TYPE_CHECKING:
    import pyarrow as pa

R = TypeVar("R", bound=tuple[Any, ...])

_BATCH_ROWS: Final = 8192
# Measured: batches this small are freed before garbage collection runs, which saves a third.
_TYPED_ROWS: Final = 512
_FORMATS: Final[dict[str, Literal["b", "h", "i", "q", "Q"]]] = {
    "int8": "b",
    "int16": "h",
    "int32": "i",
    "int64": "q",
    "uint64": "Q",
}


def batches(engine: SeriesEngine, window: Window[R]) -> Iterator[list[R]]:
    """Yield the rows of a window in its order, in batches.

    Compacted chunks are read as columns, which is twice as fast.
    """
    for part, columnar in _split_by_layout(engine, window):
        if columnar:
            with closing(engine.tables(part)) as tables:  # type: ignore[type-var]
                for table in tables:
                    yield from _typed_rows(table, part)
            continue
        yield from _row_lists(engine, part)


def batches_by(
    engine: SeriesEngine, window: Window[R], by: str, max_behind_us: int
) -> Iterator[list[R]]:
    """Yield the rows of a window in the order of the column `by`, in batches.

    `by` is at most `max_behind_us` before the time of the series.
    """
    time = itemgetter(window.series.fields.index(window.series.time))
    position = itemgetter(window.series.fields.index(by))
    pending: list[R] = []
    threshold = _TYPED_ROWS
    for part, columnar in _split_by_layout(engine, window):
        if columnar and not pending:
            pending = yield from _columns_by(engine, part, by, max_behind_us)
            continue
        for rows in _row_lists(engine, part):
            pending += rows
            if len(pending) >= threshold:
                pending.sort(key=position)
                cut = bisect_left(pending, time(rows[-1]) - max_behind_us, key=position)
                yield pending[:cut]
                del pending[:cut]
                threshold = max(_TYPED_ROWS, 2 * len(pending))
    yield sorted(pending, key=position)


def _columns_by(
    engine: SeriesEngine, window: Window[R], by: str, max_behind_us: int
) -> Generator[list[R], None, list[R]]:
    """Yield rows as `batches_by`, sorted as columns; return those still pending at the end."""
    import pyarrow as pa
    import pyarrow.compute as pc

    time = window.series.time
    pending: pa.Table | None = None
    for table in engine.tables(window):
        last = table[time][-1].as_py()
        whole = table if pending is None else pa.concat_tables([pending, table])
        whole = whole.unify_dictionaries().combine_chunks()
        whole = whole.take(pc.sort_indices(whole[by]))
        early = pc.sum(pc.less(whole[by], pa.scalar(last - max_behind_us, pa.int64()))).as_py() or 0
        yield from _typed_rows(whole.slice(0, early), window)
        pending = whole.slice(early)
    return [] if pending is None else [row for rows in _typed_rows(pending, window) for row in rows]


def _row_lists(engine: SeriesEngine, window: Window[R]) -> Iterator[list[R]]:
    if isinstance(engine, ChunkEngine):
        yield from engine.lists(window)
        return
    rows = engine.read(window)
    while batch := [*islice(rows, _BATCH_ROWS)]:
        yield batch


def _split_by_layout(engine: SeriesEngine, window: Window[R]) -> Iterator[tuple[Window[R], bool]]:
    """Split a window by whether its chunks are compacted."""
    if not isinstance(engine, ChunkEngine):
        yield window, False
        return
    compacted = {
        (chunk.start, chunk.end)
        for chunk in engine.status(window.series).chunks
        if chunk.state == "compressed" and not chunk.late
    }
    edges = {edge for span in compacted for edge in span if window.start < edge < window.end}
    spans = pairwise(sorted({window.start, window.end, *edges}))
    marked = (
        (start, end, any(first <= start and end <= last for first, last in compacted))
        for start, end in spans
    )
    for columnar, members in groupby(marked, key=itemgetter(2)):
        along = [*members]
        start, end = along[0][0], along[-1][1]
        yield Window(window.series, start, end, window.keys, window.order), columnar


def _typed_rows(table: pa.Table, window: Window[R]) -> Iterator[list[R]]:
    row: Any = window.series.row
    kinds = {column.name: column.kind for column in window.series.columns}
    for batch in table.unify_dictionaries().to_batches(max_chunksize=_TYPED_ROWS):
        columns = [
            _decode_column(array, kinds[name])
            for name, array in zip(batch.schema.names, batch.columns, strict=True)
        ]
        # As the named tuple's `_make`, without a Python call per row.
        yield [*map(tuple.__new__, repeat(row), zip(*columns, strict=True))]


def _decode_column(array: pa.Array, kind: str) -> list[Any]:
    if kind == "text":
        meanings = [*array.dictionary.to_pylist(), None]
        codes = _decode_numbers(array.indices.fill_null(len(meanings) - 1))
        return [*map(meanings.__getitem__, codes)]
    if kind == "uuid":
        return [None if value is None else UUID(bytes=value) for value in array.to_pylist()]
    if kind == "bool" and not array.null_count:
        return [*map(bool, _decode_numbers(array.cast("int8")))]
    if kind in ("json", "bool") or len(array) == array.null_count:
        return list(array.to_pylist())
    if not array.null_count:
        return _decode_numbers(array)
    import pyarrow.compute as pc

    numbers = _decode_numbers(array.fill_null(0))
    for at in _decode_numbers(pc.indices_nonzero(array.is_null())):
        numbers[at] = None
    return numbers


def _decode_numbers(array: pa.Array) -> list[Any]:
    # Measured: four times as fast as to_pylist.
    values = array.buffers()[1]
    if values is None:
        return []
    seen = memoryview(values).cast("B").cast(_FORMATS[str(array.type)])
    return seen[array.offset : array.offset + len(array)].tolist()


TimedRow: TypeAlias = tuple[int, Row]
Position: TypeAlias = Callable[[Any], int]

# Receive time is at most this much before exchange time, because clocks differ.
_MAX_AHEAD_US: Final = 2_000_000
_first: Final = itemgetter(0)


def rows_by_receipt(engine: SeriesEngine, window: Window[R]) -> Iterator[list[R]]:
    """Yield the rows of a window in the order of receipt, in batches."""
    return filter(None, batches_by(engine, window, "received_at", _MAX_AHEAD_US))


def rows_by_exchange_time(
    engine: SeriesEngine, window: Window[OrderbookDelta]
) -> Iterator[list[OrderbookDelta]]:
    """Yield deltas by exchange time, in batches; within an instant additions come first.

    Receive times of several gatherers do not give the order within an instant, and no level may
    become negative on the way.
    """
    pending: list[OrderbookDelta] = []
    for rows in batches(engine, window):
        pending += rows
        cut = bisect_left(pending, rows[-1].exchange_ts, key=_first)
        if cut:
            yield sorted(pending[:cut], key=_additions_first)
            del pending[:cut]
    if pending:
        yield sorted(pending, key=_additions_first)


def interleave(
    deltas: Iterable[list[OrderbookDelta]],
    position: Position,
    others: Iterable[Iterable[TimedRow]],
) -> Iterator[TimedRow]:
    """Interleave other rows with deltas; a snapshot comes after the deltas of its position."""
    waiting = heapq.merge(*others, key=_first)
    other = next(waiting, None)
    for rows in deltas:
        places = [*map(position, rows)]
        done, last = 0, places[-1]
        while other is not None and other[0] < last:
            upto = bisect_right(places, other[0], done)
            yield from zip(places[done:upto], rows[done:upto], strict=True)
            yield other
            done, other = upto, next(waiting, None)
        yield from zip(places[done:], rows[done:], strict=True)
    if other is not None:
        yield other
        yield from waiting


def _additions_first(delta: OrderbookDelta) -> tuple[int, bool]:
    return delta.exchange_ts, delta.size_delta < 0


@dataclass(frozen=True, slots=True)
class ReplayMarket:
    """A market of a replay."""

    ticker: str
    title: str = ""
    event_ticker: str = ""
    series_ticker: str = ""
    category: str = ""


class ReplayMarkets(Protocol):
    """The markets of a replay server; recorded rows are added to them."""

    def list_market(
        self, ticker: str, *, title: str, event_ticker: str, series_ticker: str, category: str
    ) -> object: ...

    def replace_book(
        self, at: int, ticker: str, yes: list[tuple[int, int]], no: list[tuple[int, int]]
    ) -> None: ...

    def change_level(self, at: int, ticker: str, *, yes: bool, price: int, size: int) -> bool:
        """Change a level, and return False, with no effect, if there is no book yet."""
        ...

    def add_trade(
        self,
        at: int,
        trade_id: str,
        ticker: str,
        price: int,
        size: int,
        *,
        taker_yes: bool,
        is_block: bool,
    ) -> None: ...

    def add_quote(
        self,
        at: int,
        ticker: str,
        *,
        last: int | None,
        yes_bid: int | None,
        yes_ask: int | None,
        volume: int,
        open_interest: int,
        dollar_volume: int,
        dollar_open_interest: int,
    ) -> None: ...


class ReplayTarget(Protocol):
    """A server of the exchange's protocol that a replay fills."""

    clock: Clock

    @property
    def markets(self) -> ReplayMarkets: ...

    @property
    def is_listening(self) -> bool:
        """Whether a client has a subscription."""
        ...

    async def send(self, at_us: int) -> None:
        """Send what was added up to a time; returns when no client has much left to read."""
        ...

    def disconnect(self, code: int) -> None:
        """Close all connections with a code."""
        ...


# Serves on a port while `Playback.run` runs, and returns the address; the host provides it.
ReplayServer: TypeAlias = Callable[
    [Callable[[ReplayTarget], Coroutine[Any, Any, None]], int], AbstractAsyncContextManager[str]
]


class Playback:
    """Plays rows in order, `speed` times as fast as they were recorded; 0 as fast as clients read.

    It starts `settle_seconds` after the first client subscribed, and disconnects all at the end.
    Deltas before the first book of a market are useless to clients: they are `skipped`.
    """

    def __init__(
        self,
        rows: Iterable[TimedRow],
        listings: Iterable[ReplayMarket] = (),
        *,
        speed: float = 1.0,
        settle_seconds: float = 0.25,
    ) -> None:
        self._rows = iter(rows)
        self._listings = listings
        self._speed = speed
        self._settle_seconds = settle_seconds
        self.played = 0
        self.skipped = 0
        self.finished = asyncio.Event()

    async def run(self, target: ReplayTarget) -> None:
        """Play everything; after an error clients are disconnected with code 1011."""
        for listing in self._listings:
            target.markets.list_market(**asdict(listing))
        while not target.is_listening:  # noqa: ASYNC110 - the server has no event for it
            await asyncio.sleep(0.01)
        await asyncio.sleep(self._settle_seconds)
        code = 1011
        try:
            with ThreadPoolExecutor(1, "playback") as reader:
                await self._play(target, reader)
            code = 1000
        finally:
            target.disconnect(code)
            self.finished.set()

    async def _play(self, target: ReplayTarget, reader: ThreadPoolExecutor) -> None:
        def read() -> list[TimedRow]:
            return list(islice(self._rows, 2000))

        loop, clock, speed = asyncio.get_running_loop(), target.clock, self._speed
        started, first = clock.monotonic(), None
        reading = loop.run_in_executor(reader, read)
        while rows := await reading:
            reading = loop.run_in_executor(reader, read)
            first = rows[0][0] if first is None else first
            while rows:
                due, now, wait = len(rows), 0, 0.0
                if speed:
                    now = first + int((clock.monotonic() - started) * speed * 1e6)
                    due = next((at for at, row in enumerate(rows) if row[0] > now), due)
                for _, row in rows[:due]:
                    self._add(target.markets, row)
                if due:
                    self.played += due
                    await target.send(rows[due - 1][0])
                rows = rows[due:]
                if rows:
                    wait = min(max((rows[0][0] - now) / 1e6 / speed, 0.001), 0.05)
                await asyncio.sleep(wait)

    def _add(self, markets: ReplayMarkets, row: Row) -> None:
        if type(row) is OrderbookDelta:
            self.skipped += not markets.change_level(
                row.exchange_ts, row.ticker, yes=row.side, price=row.price, size=row.size_delta
            )
        elif type(row) is Trade:
            markets.add_trade(
                row.exchange_ts,
                str(row.trade_id),
                row.ticker,
                row.price,
                row.size,
                taker_yes=row.taker_side,
                is_block=row.is_block,
            )
        elif type(row) is OrderbookSnapshot:
            yes, no = store.decode_levels(row.yes_bids), store.decode_levels(row.no_bids)
            markets.replace_book(row.snapshot_ts, row.ticker, [*yes.items()], [*no.items()])
        elif type(row) is Ticker:
            markets.add_quote(
                row.exchange_ts,
                row.ticker,
                last=row.last_price,
                yes_bid=row.yes_bid,
                yes_ask=row.yes_ask,
                volume=row.volume or 0,
                open_interest=row.open_interest or 0,
                dollar_volume=row.dollar_volume or 0,
                dollar_open_interest=row.dollar_open_interest or 0,
            )


@dataclass(frozen=True, slots=True)
class RunningReplay:
    """A replay being served at `http://HOST:PORT`; `finished` is set when everything was sent."""

    address: str
    finished: asyncio.Event


@dataclass(frozen=True, slots=True)
class ReplayRange:
    """A period of exchange time, the end excluded; no tickers means all markets."""

    start_us: int
    end_us: int
    tickers: tuple[str, ...] = ()

    def window(self, series: Series[R]) -> Window[R]:
        return Window(series, self.start_us, self.end_us, self.tickers)


class ReplayService:
    """Recorded rows in the order of receipt, or of exchange time in a merged store."""

    def __init__(self, engine: SeriesEngine, *, merged: bool = False) -> None:
        self._engine = engine
        self._merged = merged
        self._books = BookHistory(engine, merged=merged)

    def deltas(self, period: ReplayRange) -> Iterator[OrderbookDelta]:
        """Yield the deltas of a period in order."""
        return chain.from_iterable(self._deltas(period))

    def rows(self, period: ReplayRange) -> Iterator[TimedRow]:
        """Yield all rows of a period in order, each with its time.

        The book of every market at the start comes first.
        """
        others = (
            self._timed(period.window(store.TRADES)),
            self._timed(period.window(store.TICKERS)),
            self._snapshots(period),
        )
        interleaved = interleave(self._deltas(period), self._position(), others)
        return chain(self._first_books(period), interleaved)

    def markets(self, period: ReplayRange) -> tuple[str, ...]:
        """Return the markets that have rows in a period."""
        if period.tickers:
            return period.tickers
        found: set[str] = set()
        recorded: tuple[Series[Any], ...] = (store.DELTAS, store.TRADES, store.TICKERS)
        for series in recorded:
            window = Window(series, period.start_us, period.end_us, order="any")
            for table in self._engine.tables(window):
                found.update(table["ticker"].unique().to_pylist())
        return tuple(sorted(found))

    def listings(self, tickers: Sequence[str]) -> tuple[ReplayMarket, ...]:
        """Return what is recorded about markets."""
        return tuple(map(self._market, tickers))

    @asynccontextmanager
    async def serve(
        self, server: ReplayServer, period: ReplayRange, *, speed: float = 1.0, port: int = 0
    ) -> AsyncIterator[RunningReplay]:
        """Replay a period over the exchange's protocol while the block runs."""
        markets = await asyncio.to_thread(self.markets, period)
        listings = await asyncio.to_thread(self.listings, markets)
        playback = Playback(self.rows(period), listings, speed=speed)
        async with server(playback.run, port) as address:
            yield RunningReplay(f"http://{address}", playback.finished)

    def _deltas(self, period: ReplayRange) -> Iterator[list[OrderbookDelta]]:
        window = period.window(store.DELTAS)
        return (
            rows_by_exchange_time(self._engine, window)
            if self._merged
            else rows_by_receipt(self._engine, window)
        )

    def _position(self) -> Position:
        return attrgetter("exchange_ts" if self._merged else "received_at")

    def _timed(self, window: Window[R]) -> Iterator[TimedRow]:
        found = (
            batches(self._engine, window) if self._merged else rows_by_receipt(self._engine, window)
        )
        position = self._position()
        rows: Iterator[Any] = chain.from_iterable(found)
        return ((position(row), row) for row in rows)

    def _snapshots(self, period: ReplayRange) -> Iterator[TimedRow]:
        rows = chain.from_iterable(batches(self._engine, period.window(store.SNAPSHOTS)))
        return ((row.snapshot_ts, row) for row in rows if row.source == "ws")

    def _first_books(self, period: ReplayRange) -> Iterator[TimedRow]:
        for ticker in self.markets(period):
            found = self._books.at(ticker, period.start_us - 1)
            if found.base_us is not None:
                yield (
                    period.start_us,
                    book_row(found.ticker, found.book(), period.start_us, source="ws"),
                )

    def _market(self, ticker: str) -> ReplayMarket:
        title = event = series = ""
        for row in self._engine.read(store.market_history(ticker)):
            title = title or row.title or ""
            event = event or row.event_ticker or ""
            series = series or row.series_ticker or ""
            if title and event:
                break
        return ReplayMarket(ticker, title, event, series)
