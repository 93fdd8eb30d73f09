"""A market day that is known, and what gatherers with faults of their own keep of it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import UUID

from grandstand.apps.gatherer.domain.rows import OrderbookDelta, OrderbookSnapshot, Trade
from grandstand.apps.gatherer.store import (
    DELTAS,
    GAPS,
    KEYFRAMES,
    SERIES,
    SESSIONS,
    SNAPSHOTS,
    TRADES,
    GapRecord,
    Keyframe,
    Session,
    decode_levels,
    encode_levels,
    make_keyframe,
)
from grandstand.core.clock import ManualClock
from grandstand.storage.series.engines.chunks.engine import ChunkEngine
from grandstand.storage.series.engines.protocol import SeriesEngine

SECOND = 1_000_000
START = 1_793_534_400 * SECOND
TICKERS = ("KXA-1", "KXB-2")


@dataclass(frozen=True)
class Change:
    """What happened at the exchange: one level of one book changed."""

    at: int
    ticker: str
    side: bool
    price: int
    by: int


Levels = dict[int, int]
Book = tuple[Levels, Levels]


def truth(seed: int, changes: int = 300, *, step_us: int = 700) -> list[Change]:
    """Make a day: times in whole milliseconds, often several changes and twins at one."""
    chance = random.Random(seed)
    held: dict[tuple[str, bool], Levels] = {}
    found: list[Change] = []
    at = START
    while len(found) < changes:
        at += chance.choice((0, 0, step_us, 20 * step_us))
        ticker, side = chance.choice(TICKERS), chance.random() < 0.5
        levels = held.setdefault((ticker, side), {})
        price = chance.randrange(1, 6) * 1000
        by = 100 if chance.random() < 0.6 else -min(100, levels.get(price, 0))
        if by:
            levels[price] = levels.get(price, 0) + by
            found.append(Change(at // 1000 * 1000, ticker, side, price, by))
    return found


def book_at(changes: Iterable[Change], ticker: str, at: int) -> Book:
    """Return the true book after every change up to an instant."""
    book: Book = ({}, {})
    for change in changes:
        if change.ticker == ticker and change.at <= at:
            _apply(book, change)
    return book


def shown(book: Book) -> tuple[tuple[tuple[int, int], ...], ...]:
    """Return a book as it is told: levels by price, the lowest first."""
    return tuple(tuple(sorted((p, s) for p, s in side.items() if s)) for side in book)


@dataclass
class Recording:
    """What one gatherer kept, in the order it received it."""

    gatherer: str
    deltas: list[OrderbookDelta] = field(default_factory=list)
    snapshots: list[OrderbookSnapshot] = field(default_factory=list)
    keyframes: list[Keyframe] = field(default_factory=list)
    gaps: list[GapRecord] = field(default_factory=list)
    sessions: list[Session] = field(default_factory=list)
    trades: list[Trade] = field(default_factory=list)

    def keep(self, engine: SeriesEngine) -> None:
        """Put all of it into a store."""
        for series in SERIES:
            engine.prepare(series)
        engine.append(DELTAS, self.deltas)
        engine.append(SNAPSHOTS, self.snapshots)
        engine.append(KEYFRAMES, self.keyframes)
        engine.append(GAPS, self.gaps)
        engine.append(SESSIONS, self.sessions)
        engine.append(TRADES, self.trades)


def recorded(
    changes: list[Change],
    gatherer: str = "east",
    *,
    lost: Iterable[range] = (),
    offset_us: int = 30_000,
    keyframe_every: int = 40,
) -> Recording:
    """Let a gatherer hear a day: it misses what happened in `lost` times, and then asks again.

    Its clock is off by so much, latency included; a snapshot of each market comes first and after
    every loss.
    """
    found = Recording(gatherer)
    books: dict[str, Book] = {ticker: ({}, {}) for ticker in TICKERS}
    twins: Counter[tuple[object, ...]] = Counter()
    missing, counted, stamp, conn, seq = [*lost], 0, changes[0].at + offset_us - 1000, 7, 0
    found.sessions.append(Session(stamp - 5, gatherer, 0, "started"))
    found.sessions.append(Session(stamp - 4, gatherer, conn, "opened"))
    stale = False
    for number, change in enumerate(changes):
        fresh = number == 0
        deaf = any(change.at in span for span in missing)
        if stale and not deaf:
            found.gaps.append(_gap(gatherer, conn, stamp := max(stamp + 1, change.at + offset_us)))
        if fresh or (stale and not deaf):
            for ticker in TICKERS:
                stamp = max(stamp + 1, change.at + offset_us - 500)
                seq += 1
                found.snapshots.append(_snapshot(found, books, ticker, (stamp, conn, seq)))
        stale = deaf
        _apply(books[change.ticker], change)
        if deaf:
            continue
        stamp = max(stamp + 1, change.at + offset_us)
        key = (change.at, change.ticker, change.side, change.price, change.by)
        seq += 1
        found.deltas.append(
            OrderbookDelta(
                *(change.at, stamp, change.ticker, change.side, change.price, change.by),
                *(seq, 4, twins[key], gatherer, conn),
            )
        )
        twins[key] += 1
        counted += 1
        if counted % keyframe_every == 0:
            book = books[change.ticker]
            found.keyframes.append(
                make_keyframe(
                    *(change.ticker, *_positive(book)),
                    taken_at=stamp,
                    exchange_ts=change.at,
                    gatherer=gatherer,
                    conn=conn,
                    sid=4,
                )
            )
    found.sessions.append(Session(stamp + 60 * SECOND, gatherer, 0, "whole"))
    return found


@contextmanager
def brief_engines(count: int) -> Iterator[list[ChunkEngine]]:
    """Open so many empty engines, for one example of a property."""
    with ExitStack() as opened:
        folder = Path(opened.enter_context(TemporaryDirectory()))
        yield [
            opened.enter_context(
                closing(ChunkEngine.open(folder / str(number), clock=ManualClock()))
            )
            for number in range(count)
        ]


def before(recording: Recording, ticker: str, at: int) -> Book | None:
    """Return the book by the plain rule: every row in order, up to the first change after."""
    rows: list[tuple[int, OrderbookSnapshot | OrderbookDelta]] = [
        *((each.snapshot_ts, each) for each in recording.snapshots if each.ticker == ticker),
        *((each.received_at, each) for each in recording.deltas if each.ticker == ticker),
    ]
    book: Book | None = None
    for _, row in sorted(rows, key=lambda each: each[0]):
        if isinstance(row, OrderbookSnapshot):
            book = _told(row)
        elif row.exchange_ts > at:
            return book
        elif book is not None:
            _apply(book, Change(row.exchange_ts, ticker, row.side, row.price, row.size_delta))
    return book


def trade(number: int, at: int, *, ticker: str = "KXA-1", block: bool = False) -> Trade:
    """Make a trade of two and a half contracts at its number of cents."""
    price = number % 99 * 1000 + 1000
    return Trade(UUID(int=number), at, at + 9, ticker, price, 250, True, 3, block, "east", 7)


def identities(deltas: Iterable[OrderbookDelta]) -> Iterator[tuple[object, ...]]:
    """Return what makes deltas the same row."""
    return (
        (each.exchange_ts, each.ticker, each.side, each.price, each.size_delta, each.ord)
        for each in deltas
    )


def _told(row: OrderbookSnapshot) -> Book:
    return decode_levels(row.yes_bids), decode_levels(row.no_bids)


def _snapshot(
    found: Recording, books: dict[str, Book], ticker: str, where: tuple[int, int, int]
) -> OrderbookSnapshot:
    yes, no = _positive(books[ticker])
    stamp, conn, seq = where
    return OrderbookSnapshot(
        *(stamp, None, ticker, "ws", encode_levels(yes), "[]", encode_levels(no), "[]"),
        sid=4,
        seq=seq,
        gatherer=found.gatherer,
        conn=conn,
    )


def _gap(gatherer: str, conn: int, at: int) -> GapRecord:
    return GapRecord(at, gatherer, conn, 4, 1, resolved=False, got_seq=9, reason="missed")


def _positive(book: Book) -> Book:
    yes, no = ({price: size for price, size in side.items() if size} for side in book)
    return yes, no


def _apply(book: Book, change: Change) -> None:
    side = book[0 if change.side else 1]
    side[change.price] = side.get(change.price, 0) + change.by
