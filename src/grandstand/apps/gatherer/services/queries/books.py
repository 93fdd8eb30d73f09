"""Recorded order books at any instant, from the last base and the deltas after it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from operator import attrgetter
from typing import Any, Final, TypeVar

from grandstand.apps.gatherer import store
from grandstand.apps.gatherer.domain.messages import Levels
from grandstand.apps.gatherer.domain.order_book import DOLLAR, OrderBook
from grandstand.apps.gatherer.domain.rows import OrderbookDelta, OrderbookSnapshot
from grandstand.apps.gatherer.domain.subscriptions import CLOCK_SLACK_US
from grandstand.apps.gatherer.services.queries.integrity import (
    DeltaPath,
    RowReader,
    find_doubt,
    find_uncovered,
    format_instant,
)
from grandstand.storage.series.query import Window

R = TypeVar("R", bound=tuple[Any, ...])


@dataclass(frozen=True, slots=True)
class HistoricalBook:
    """A book at an instant of exchange time, or after the last recorded delta if `at_us` is None.

    Levels are (price, size), lowest price first. It is `exact` unless there is a `doubt`, which
    names the gap or interruption. `negative` are levels with a negative size: a delta is missing or
    was counted twice. `base_us` is the time of the snapshot or keyframe it is built
    from, `deltas` the number of deltas applied to it.
    """

    ticker: str
    at_us: int | None
    yes: Levels
    no: Levels
    doubt: str | None = None
    negative: Levels = ()
    base_us: int | None = None
    deltas: int = 0

    @property
    def exact(self) -> bool:
        return self.doubt is None

    @property
    def asks(self) -> Levels:
        """The yes asks, best last like the bids in `yes`."""
        return tuple((DOLLAR - price, size) for price, size in self.no)

    @property
    def best_yes_bid(self) -> int | None:
        """The highest yes bid; None if there is none."""
        return self.yes[-1][0] if self.yes else None

    @property
    def best_yes_ask(self) -> int | None:
        """The lowest yes ask; None if there are no no bids."""
        return DOLLAR - self.no[-1][0] if self.no else None

    @property
    def spread(self) -> int | None:
        """The best yes ask less the best yes bid; None if a side is empty."""
        bid, ask = self.best_yes_bid, self.best_yes_ask
        return None if bid is None or ask is None else ask - bid

    def book(self) -> OrderBook:
        """Return a mutable order book."""
        return OrderBook(self.yes, self.no)


# Deltas of one market are in the order of exchange time, apart from a few within these limits.
_OUT_OF_ORDER_ROWS: Final = 64
_OUT_OF_ORDER_US: Final = 100_000
# A snapshot has no exchange time: deltas after it may be older than its receipt by its delay.
_MAX_DELAY_US: Final = 600_000_000
# A keyframe written by time has no time of its newest delta; an earlier one may have.
_MAX_KEYFRAMES: Final = 4
# Clocks differ by less than half of this.
_MAX_SKEW_US: Final = 60_000_000
_DAY_US: Final = 86_400_000_000


# Instants further apart share too few rows.
_MAX_SPAN_US: Final = 600_000_000
# Deltas are held only close by; of other series, which are small, everything that may be needed.
_DELTA_MARGINS_US: Final = (610_000_000, 70_000_000)
_OTHER_MARGINS_US: Final = (2 * 3600 * 1_000_000, 25 * 3600 * 1_000_000)


class CachedWindows:
    """The rows of an engine around a period, each part read on first use.

    Windows are answered as by the engine; rows far from the period are read again.
    """

    def __init__(self, engine: RowReader, first_us: int, last_us: int) -> None:
        self._engine = engine
        self._first = first_us
        self._last = last_us
        self._rows: dict[tuple[str, tuple[str, ...]], list[Any]] = {}
        self._before: dict[Window[Any], list[Any]] = {}

    def read(self, window: Window[R]) -> Iterator[R]:
        """Return the rows of a window, in its order."""
        series, newest = window.series, window.order == "newest"
        if series is store.DELTAS and not window.keys:
            return self._engine.read(window)
        before, after = _DELTA_MARGINS_US if series is store.DELTAS else _OTHER_MARGINS_US
        start, end = max(0, self._first - before), self._last + after
        inner = self._inner(window, start, end)
        parts: list[Iterable[R]] = [inner[::-1] if newest else inner]
        if window.start < start:
            earlier = replace(window, end=min(start, window.end))
            parts.insert(len(parts) if newest else 0, self._outer(earlier))
        if window.end > end:
            later = replace(window, start=max(end, window.start))
            parts.insert(0 if newest else len(parts), self._outer(later))
        return islice(chain.from_iterable(parts), window.limit)

    def _inner(self, window: Window[R], start: int, end: int) -> Sequence[R]:
        series = window.series
        rows = self._rows.get((series.name, window.keys))
        if rows is None:
            rows = [*self._engine.read(Window(series, start, end, window.keys))]
            self._rows[series.name, window.keys] = rows
        time = attrgetter(series.time)
        low = bisect_left(rows, window.start, key=time)
        return rows[low : bisect_left(rows, window.end, lo=low, key=time)]

    def _outer(self, window: Window[R]) -> Iterator[R]:
        """Yield rows outside the period; small windows are cached."""
        if window.limit is None:
            yield from self._engine.read(window)
            return
        if window not in self._before:
            self._before[window] = [*self._engine.read(window)]
        yield from self._before[window]


def batch_instants(
    engine: RowReader, instants: Iterable[int]
) -> Iterator[tuple[RowReader, list[int]]]:
    """Group instants that are close to each other, each group with a reader."""
    batch: list[int] = []
    for at in sorted({*instants}):
        if batch and at - batch[0] > _MAX_SPAN_US:
            yield CachedWindows(engine, batch[0], batch[-1]), batch
            batch = []
        batch.append(at)
    if batch:
        yield CachedWindows(engine, batch[0], batch[-1]), batch


@dataclass(frozen=True, slots=True)
class BookBase:
    """A snapshot or keyframe from which a book is built.

    It is known to have been the same from `held_from` up to its position `at`.
    """

    at: int
    held_from: int
    changes_from: int
    yes: dict[int, int]
    no: dict[int, int]
    gatherer: str | None
    conn: int | None
    sid: int | None


class BookHistory:
    """Books at instants of exchange time.

    In the store of one gatherer rows are in the order of receipt. Receive times of several
    gatherers are not comparable, so a merged store is in the order of exchange time, and its
    snapshots have a position in it.
    """

    def __init__(self, engine: RowReader, *, merged: bool = False) -> None:
        self._engine = engine
        self._merged = merged

    def latest(self, ticker: str) -> HistoricalBook:
        """Return the book after the last recorded delta."""
        base = self.base(ticker, store.LATEST)
        return self._build(ticker, None, base, store.LATEST)

    def at(self, ticker: str, at_us: int) -> HistoricalBook:
        """Return the book after every delta up to and at an instant."""
        base, until = self.base_for(ticker, at_us)
        found = self._build(ticker, at_us, base, until)
        if self._merged and found.doubt and base is not None and base.at > at_us:
            earlier = self.base(ticker, at_us + 1)
            other = None if earlier is None else self._build(ticker, at_us, earlier, until)
            if other is not None and other.exact:
                return other
        return found

    def each(self, ticker: str, instants: Iterable[int]) -> Iterator[HistoricalBook]:
        """Yield the books at instants in their order, reading rows close to each other once."""
        for near, instants_near in batch_instants(self._engine, instants):
            books = BookHistory(near, merged=self._merged)
            yield from (books.at(ticker, at_us) for at_us in instants_near)

    def unverified(self, ticker: str, at_us: int) -> HistoricalBook:
        """Return the book at an instant without checking its integrity."""
        base = self.base(ticker, at_us + 1)
        return self._build(ticker, at_us, base, store.LATEST, unverified=True)

    def base_for(self, ticker: str, at_us: int) -> tuple[BookBase | None, int]:
        """Return the base for an instant, and the position of the first delta after it."""
        near = self._soon_after(ticker, at_us)
        if near is None:
            near = self._first_after(ticker, at_us, at_us + 1 + _MAX_SKEW_US, _OUT_OF_ORDER_ROWS)
        until = at_us + _MAX_SKEW_US // 2 if near is None else near
        base = self.base(ticker, until)
        if near is None and base is None:
            near = self._first_after(ticker, at_us, store.LATEST, 1)
            base = None if near is None else self.base(ticker, near)
        return base, store.LATEST if near is None else near

    def base(self, ticker: str, until: int) -> BookBase | None:
        """Return the newest base before a position; None if there is none."""
        keyframes = [*self._engine.read(store.latest_keyframes(ticker, until, _MAX_KEYFRAMES))]
        newest = keyframes[0] if keyframes else None
        start = store.EARLIEST if newest is None else newest.taken_at
        # No delta after a base is older than one before it.
        times = (keyframe.exchange_ts for keyframe in keyframes if keyframe.exchange_ts is not None)
        known = next(times, None)
        for snapshot in self._engine.read(store.latest_snapshots(ticker, start, until)):
            if snapshot.source == "ws" and (newest is None or snapshot.snapshot_ts > start):
                return self._base(snapshot.snapshot_ts, known, snapshot)
        return None if newest is None else self._base(newest.taken_at, known, newest)

    def deltas_after(
        self, ticker: str, base: BookBase, at_us: int, until: int
    ) -> list[OrderbookDelta]:
        """Return the deltas after a base, up to an instant and before a position."""
        window = store.deltas_between(ticker, base.changes_from, min(at_us + 1, store.LATEST))
        since, rows = base.at, self._engine.read(window)
        if self._merged:
            return [row for row in rows if since < row.exchange_ts < until]
        return [row for row in rows if since < row.received_at < until]

    def snapshots(self, ticker: str, start: int, end: int) -> Iterator[tuple[int, BookBase]]:
        """Yield the received snapshots, without keyframes, newest first."""
        for snapshot in self._engine.read(store.latest_snapshots(ticker, start, end)):
            if snapshot.source == "ws":
                yield snapshot.snapshot_ts, self._base(snapshot.snapshot_ts, None, snapshot)

    def position(self, delta: OrderbookDelta) -> int:
        """Return the position of a delta in the order of this store."""
        return delta.exchange_ts if self._merged else delta.received_at

    def _build(
        self,
        ticker: str,
        at_us: int | None,
        base: BookBase | None,
        until: int,
        *,
        unverified: bool = False,
    ) -> HistoricalBook:
        if base is None:
            return HistoricalBook(
                ticker, at_us, (), (), "no snapshot of this market is recorded before it"
            )
        instant = store.LATEST if at_us is None else at_us
        rows = self.deltas_after(ticker, base, instant, until)
        yes, no = {**base.yes}, {**base.no}
        for row in rows:
            side = yes if row.side else no
            side[row.price] = side.get(row.price, 0) + row.size_delta
        levels = (*sorted(yes.items()), *sorted(no.items()))
        negative = tuple((price, size) for price, size in levels if size < 0)
        doubt: str | None = ""
        if negative:
            doubt = f"{len(negative)} levels are negative: deltas are missing"
        elif not unverified:
            doubt = self._find_doubt(ticker, base, rows, instant, until)
        return HistoricalBook(
            ticker, at_us, _levels(yes), _levels(no), doubt, negative, base.at, len(rows)
        )

    def _find_doubt(
        self,
        ticker: str,
        base: BookBase,
        rows: Sequence[OrderbookDelta],
        instant: int,
        until: int,
    ) -> str | None:
        if self._merged:
            return self._find_merged_doubt(ticker, base, rows, instant)
        streams = {(base.gatherer, base.conn, base.sid)}
        streams.update((row.gatherer, row.conn, row.sid) for row in rows)
        if instant < base.held_from and not rows and not self._has_message_after(base, instant):
            # It is the book of that instant only if nothing is missing since an earlier base.
            proven = self.base(ticker, instant + 1 - CLOCK_SLACK_US)
            earlier = proven or self.base(ticker, base.at)
            unknown = f"the market was first received at {format_instant(base.held_from)}"
            if earlier is None:
                return unknown
            path = DeltaPath(
                ticker, earlier.at, base.at + CLOCK_SLACK_US, until, frozenset(streams)
            )
            found = find_doubt(self._engine, path)
            return found if proven is not None else found or unknown
        path = DeltaPath(ticker, base.at, instant, until, frozenset(streams), base.held_from)
        return find_doubt(self._engine, path)

    def _find_merged_doubt(
        self, ticker: str, base: BookBase, rows: Sequence[OrderbookDelta], instant: int
    ) -> str | None:
        """Return why a book of merged recordings is in doubt; None if it is not."""
        if base.held_from <= instant <= base.at:
            return None
        latest = instant == store.LATEST
        if latest:
            instant = max((row.exchange_ts for row in rows), default=base.at)
        difference = self._difference_after(ticker, instant)
        if difference is not None:
            return difference
        span = sorted((base.at, instant))
        uncovered = find_uncovered(self._engine, ticker, *span, proven=latest)
        return None if uncovered is None else uncovered.reason

    def _has_message_after(self, base: BookBase, instant: int) -> bool:
        """Return whether an instant is certainly after a base: its stream sent a later message."""
        stream = (base.conn, base.sid)
        rows = self._engine.read(store.all_deltas(base.at - CLOCK_SLACK_US, instant + 1))
        return any(row.received_at > base.at and (row.conn, row.sid) == stream for row in rows)

    def _difference_after(self, ticker: str, instant: int) -> str | None:
        end = min(instant + _DAY_US, store.LATEST)
        for audit in self._engine.read(store.audits_between(ticker, instant + 1, end)):
            if audit.against == "snapshot":
                difference = audit.outcome == "different" and (audit.since or 0) <= instant
                return f"a later snapshot of {audit.gatherer} differs" if difference else None
        return None

    def _soon_after(self, ticker: str, at_us: int) -> int | None:
        window = store.deltas_between(ticker, at_us + 1, at_us + 1 + _OUT_OF_ORDER_US)
        return min(map(self.position, self._engine.read(window)), default=None)

    def _first_after(self, ticker: str, at_us: int, end: int, limit: int) -> int | None:
        window = store.first_deltas(ticker, at_us + 1, min(end, store.LATEST), limit)
        return min(map(self.position, self._engine.read(window)), default=None)

    def _base(
        self, at: int, known: int | None, row: store.Keyframe | OrderbookSnapshot
    ) -> BookBase:
        earliest = at - _MAX_DELAY_US
        if known is not None:
            earliest = max(earliest, known - _OUT_OF_ORDER_US)
        known_at = at if self._merged else at + CLOCK_SLACK_US
        if not self._merged and isinstance(row, store.Keyframe) and row.exchange_ts is not None:
            known_at = row.exchange_ts
        if self._merged and isinstance(row, OrderbookSnapshot) and row.exchange_ts is not None:
            known_at = min(at, row.exchange_ts)
        return BookBase(
            at=at,
            held_from=known_at,
            changes_from=at + 1 if self._merged else earliest,
            yes=store.decode_levels(row.yes_bids),
            no=store.decode_levels(row.no_bids),
            gatherer=row.gatherer,
            conn=row.conn,
            sid=row.sid,
        )


def _levels(sizes: dict[int, int]) -> tuple[tuple[int, int], ...]:
    return tuple(sorted((price, size) for price, size in sizes.items() if size > 0))
