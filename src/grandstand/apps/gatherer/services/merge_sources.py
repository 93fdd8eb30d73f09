"""Sources of a merge: reads the series of one gatherer and orders its snapshots."""

from __future__ import annotations

import json
import re
from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import Any, ClassVar, Final, Generic, TypeAlias, TypeVar

from grandstand.apps.gatherer import store
from grandstand.apps.gatherer.domain.rows import OrderbookDelta, OrderbookSnapshot
from grandstand.apps.gatherer.domain.subscriptions import CLOCK_SLACK_US
from grandstand.core.clock import Clock
from grandstand.core.errors import InvalidInput, NotFound
from grandstand.storage.series.declaration import Series
from grandstand.storage.series.engines.protocol import SeriesEngine
from grandstand.storage.series.query import Window
from grandstand.storage.tables import Store

R = TypeVar("R", bound=tuple[Any, ...])

# Receive time lies within this of exchange time: latency, and clocks that differ.
MAX_SKEW_US: Final = 60_000_000
# A gap lies within this of a delta on the same subscription, or its bounds are unknown.
GAP_BOUND_US: Final = 10_000_000
_MAX_DELAY_US: Final = 600_000_000
_LATENCY_US: Final = 2_000_000
_HEALING_REASONS: Final = frozenset(("missed", "refused"))
_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,63}")

_Key: TypeAlias = tuple[str, int, type]
_Stream: TypeAlias = tuple[int | None, int | None]
_stamp: Final = attrgetter("stamp")
_received: Final = attrgetter("received_at")


@dataclass(frozen=True, slots=True)
class MergeSource:
    """The series of one gatherer."""

    gatherer: str
    engine: SeriesEngine


@dataclass(frozen=True, slots=True)
class MergeConfig:
    """How to merge.

    Each round reads again from `overlap_us` before the last merged row; this must be longer than a
    gatherer takes to write what it received. Rows written later still are found by counting the
    rows of each chunk, at least every `recount_us`. A round covers at most `slice_us`, which bounds
    the memory for a long history.
    """

    overlap_us: int = 10_000_000
    recount_us: int = 300_000_000
    batch_rows: int = 5_000
    slice_us: int = 6 * 3600 * 1_000_000


@dataclass(frozen=True, slots=True)
class MergeLag:
    """The merge position of one series of one gatherer."""

    gatherer: str
    series: str
    position_us: int
    lag_us: int
    rows: int


@dataclass(slots=True)
class MergeStats:
    """What one round did.

    `placed` snapshots got a position in exchange time, `unplaced` ones have none. Of those compared
    with the merged book, `audited` were equal and `differences` were not. `failed` names the
    gatherers that could not be read, with the reason. `more` is set if the round did not reach the
    present.
    """

    read: int = 0
    added: int = 0
    late: int = 0
    placed: int = 0
    unplaced: int = 0
    audited: int = 0
    differences: int = 0
    pending: int = 0
    more: bool = False
    failed: dict[str, str] = field(default_factory=dict)

    def add(self, more: MergeStats) -> None:
        """Add the row counts of a part."""
        self.read += more.read
        self.added += more.added
        self.late += more.late


class SeriesReader(Generic[R]):
    """Reads a series from its cursor on and passes every row at least once.

    The cursor is stored after its rows were appended, or by `confirm` if it is `deferred`. Rows are
    read twice because of the overlap and after an interruption, so appending must be idempotent. An
    `optional` series may not exist.
    """

    def __init__(
        self,
        source: MergeSource,
        series: Series[R],
        tables: Store,
        config: MergeConfig,
        *,
        deferred: bool = False,
        optional: bool = False,
    ) -> None:
        self._deferred = deferred
        self._missing: tuple[type[NotFound], ...] = (NotFound,) if optional else ()
        self._source = source
        self._series = series
        self._tables = tables
        self._config = config
        self._time = series.fields.index(series.time)
        found = tables(store.SyncCursor.of_series(source.gatherer, series.name))
        self.cursor = found or store.SyncCursor(gatherer=source.gatherer, series=series.name)

    @property
    def start_us(self) -> int:
        """Where reading starts: the overlap before the last row."""
        return max(store.EARLIEST, self.cursor.position_us - self._config.overlap_us)

    def read(
        self,
        append: Callable[[Sequence[R]], int],
        now_us: int,
        *,
        since_us: int = store.LATEST,
        until_us: int = store.LATEST,
        late: Callable[[Sequence[R]], int] | None = None,
    ) -> MergeStats:
        """Append new rows, and those not older than `since_us`, oldest first.

        With `late`, chunks behind the cursor whose row counts changed are read again too.
        """
        counts = {} if late is None else self._counts()
        stats, start = MergeStats(), min(self.start_us, since_us)
        for rows in self._batches(Window(self._series, start, until_us)):
            added = append(rows)
            stats.read += len(rows)
            stats.added += added
            # A time in the future must not hide rows before it.
            position = max(self.cursor.position_us, min(rows[-1][self._time], now_us))
            self._update(position_us=position, merged_us=now_us, rows=self.cursor.rows + added)
        if late is not None:
            self._late(counts, start, late, stats)
        return stats

    def next_row_us(self) -> int | None:
        """Return the time of the next row to read; None if there is none."""
        window = Window(self._series, self.cursor.position_us + 1, store.LATEST, limit=1)
        row = None
        with suppress(*self._missing):
            row = next(self._source.engine.read(window), None)
        return None if row is None else int(row[self._time])

    def _counts(self) -> dict[int, tuple[int, int]]:
        """Return the end and the number of rows of each chunk, by its start."""
        try:
            chunks = self._source.engine.status(self._series).chunks
        except self._missing:
            return {}
        return {chunk.start: (chunk.end, chunk.rows + chunk.late) for chunk in chunks}

    def _late(
        self,
        counts: dict[int, tuple[int, int]],
        read_from: int,
        append: Callable[[Sequence[R]], int],
        stats: MergeStats,
    ) -> None:
        before: dict[str, int] = json.loads(self.cursor.counted)
        counted = {start: rows for start, rows in before.items() if int(start) in counts}
        for start, (end, rows) in counts.items():
            if end > self.start_us or counted.get(str(start)) == rows:
                continue
            late = 0
            if start < read_from:
                for batch in self._batches(Window(self._series, start, end)):
                    stats.read += len(batch)
                    late += append(batch)
            stats.late += late
            stats.added += late
            counted[str(start)] = rows
            self._update(counted=json.dumps(counted), rows=self.cursor.rows + late)
        if counted != before:
            self._update(counted=json.dumps(counted))

    def _update(self, **changes: object) -> None:
        self.cursor = self.cursor.replace(**changes)
        if not self._deferred:
            self._tables(self.cursor.put())

    def confirm(self, before_us: int | None = None) -> None:
        """Store a deferred cursor, at most at a time that is still needed."""
        position = self.cursor.position_us
        if before_us is not None:
            position = min(position, before_us)
        self._tables(self.cursor.replace(position_us=position).put())

    def _batches(self, window: Window[R]) -> Iterator[list[R]]:
        engine: SeriesEngine = self._source.engine
        found = engine.read(window)
        with closing(found), suppress(*self._missing):  # type: ignore[type-var]
            while batch := [*islice(found, self._config.batch_rows)]:
                yield batch


@dataclass(slots=True)
class PendingSnapshot:
    """A snapshot of a gatherer that has no position in exchange time yet.

    `next` is the first delta of the book that the gatherer received after it, `next_on_stream` the
    first of any market on the same subscription. For a `late` one `next` must be looked up.
    """

    row: OrderbookSnapshot | store.Keyframe
    stamp: int
    late: bool
    next: OrderbookDelta | None = None
    next_on_stream: OrderbookDelta | None = None


@dataclass(frozen=True, slots=True)
class PlacedSnapshot:
    """A snapshot that contains every delta up to `at_us`, and none after."""

    row: OrderbookSnapshot | store.Keyframe
    at_us: int
    gatherer: str


class PendingSnapshots:
    """The snapshots of one gatherer without a position, by market and order of receipt."""

    def __init__(self, gatherer: str) -> None:
        self.gatherer = gatherer
        self._by_ticker: dict[str, list[PendingSnapshot]] = {}
        self._by_stream: dict[_Stream, list[PendingSnapshot]] = {}
        self._known: set[_Key] = set()
        self._done: set[_Key] = set()
        self._gaps: set[store.GapRecord] = set()

    def __len__(self) -> int:
        return len(self._known)

    def discard_before(self, before_us: int) -> None:
        """Discard old keys of placed snapshots, and gaps that are no longer needed."""
        self._done = {key for key in self._done if key[1] >= before_us}
        oldest = self.oldest
        needed = before_us if oldest is None else min(before_us, oldest)
        self._gaps = {gap for gap in self._gaps if gap.detected_at >= needed}

    @property
    def oldest(self) -> int | None:
        """The receive time of the oldest pending snapshot."""
        return min((snapshots[0].stamp for snapshots in self._by_ticker.values()), default=None)

    def add(self, rows: Iterable[OrderbookSnapshot | store.Keyframe], deltas_from_us: int) -> None:
        """Add snapshots; pending and recently placed ones are skipped.

        Deltas will be added from `deltas_from_us` on: those after an earlier snapshot may have
        been read already.
        """
        for row in rows:
            stamp = row.taken_at if isinstance(row, store.Keyframe) else row.snapshot_ts
            known = (row.ticker, stamp, type(row))
            if known not in self._known and known not in self._done:
                self._known.add(known)
                snapshot = PendingSnapshot(row, stamp, late=stamp < deltas_from_us + _LATENCY_US)
                insort(self._by_ticker.setdefault(row.ticker, []), snapshot, key=_stamp)
                insort(self._by_stream.setdefault((row.conn, row.sid), []), snapshot, key=_stamp)

    def add_gaps(self, gaps: Iterable[store.GapRecord]) -> None:
        """Add gaps of the gatherer."""
        self._gaps.update(gap for gap in gaps if not gap.resolved)

    def add_deltas(self, deltas: Sequence[OrderbookDelta]) -> None:
        """Add deltas of the gatherer, in any order."""
        by_ticker, by_stream = self._by_ticker, self._by_stream
        for delta in deltas:
            same = by_stream.get((delta.conn, delta.sid))
            if same is not None:
                at = bisect_left(same, delta.received_at, key=_stamp) - 1
                if at >= 0:
                    following = same[at].next_on_stream
                    if following is None or delta.received_at < following.received_at:
                        same[at].next_on_stream = delta
            snapshots = by_ticker.get(delta.ticker)
            if snapshots is None:
                continue
            at = bisect_left(snapshots, delta.received_at, key=_stamp) - 1
            if at >= 0:
                known = snapshots[at].next
                if known is None or delta.received_at < known.received_at:
                    snapshots[at].next = delta

    def pop_ready(self, until_us: int) -> list[PendingSnapshot]:
        """Remove and return the snapshots that can be placed when all is merged to `until_us`."""
        popped: list[PendingSnapshot] = []
        for ticker, snapshots in [*self._by_ticker.items()]:
            following: OrderbookDelta | None = None
            for pending in reversed(snapshots):
                following = pending.next or following
                pending.next = following
            ready = [pending for pending in snapshots if _is_ready(pending, until_us)]
            popped += ready
            left = [pending for pending in snapshots if not _is_ready(pending, until_us)]
            for pending in ready:
                self._known.discard(key := (ticker, pending.stamp, type(pending.row)))
                self._done.add(key)
            self._by_ticker[ticker] = left
            if not left:
                del self._by_ticker[ticker]
        self._remove_from_streams(popped)
        return popped

    def _remove_from_streams(self, placed: list[PendingSnapshot]) -> None:
        done = {*map(id, placed)}
        for stream, same in [*self._by_stream.items()]:
            next_on_stream: OrderbookDelta | None = None
            for pending in reversed(same):
                pending.next_on_stream = next_on_stream = pending.next_on_stream or next_on_stream
            self._by_stream[stream] = [pending for pending in same if id(pending) not in done]
            if not self._by_stream[stream]:
                del self._by_stream[stream]

    def has_gap_before(self, snapshot: PendingSnapshot, following: OrderbookDelta) -> bool:
        """Return whether there is a gap between a snapshot and a later delta."""
        row = snapshot.row
        stream = (following.conn, following.sid)
        if row.conn != following.conn or row.sid not in (following.sid, None):
            return True
        return any(
            (gap.conn, gap.sid) == stream
            and snapshot.stamp < gap.detected_at <= following.received_at
            for gap in self._gaps
        )


def place_snapshot(
    snapshot: PendingSnapshot, pending: PendingSnapshots, source: SeriesEngine, merged: SeriesEngine
) -> PlacedSnapshot | None:
    """Return the position of a snapshot in exchange time; None if none is certain.

    It ends just before the first delta that the same gatherer received after it, provided that
    every delta of that instant came after it too. If the book did not change for a minute, or not
    until a gap, a delta of any market on the same subscription serves: one of the book itself would
    have come before it. The position becomes the time of the row; `exchange_ts` of a snapshot is
    then since when it is valid.
    """
    for following in _following(snapshot):
        instant = following.exchange_ts
        if not pending.has_gap_before(snapshot, following) and _is_clear(
            snapshot, instant, source, merged
        ):
            return _placed(snapshot, instant - 1, pending.gatherer)
    return None


def _following(snapshot: PendingSnapshot) -> Iterator[OrderbookDelta]:
    """Yield deltas before which a snapshot may end, the latest position first."""
    candidates = [delta for delta in (snapshot.next, snapshot.next_on_stream) if delta is not None]
    if snapshot.next is not None and snapshot.next.exchange_ts <= snapshot.stamp + MAX_SKEW_US:
        yield snapshot.next
    yield from sorted(candidates, key=_received)[:1]


def _is_clear(
    snapshot: PendingSnapshot, instant: int, source: SeriesEngine, merged: SeriesEngine
) -> bool:
    """Return whether every delta of an instant was received after the snapshot."""
    window = store.deltas_between(snapshot.row.ticker, instant, instant + 1)
    after = {
        _identity(delta) for delta in source.read(window) if delta.received_at > snapshot.stamp
    }
    return all(_identity(delta) in after for delta in merged.read(window))


def followed_since(
    snapshot: PendingSnapshot, placed: PlacedSnapshot | None, gatherer: str
) -> store.FollowedSince | None:
    """Return since when a gatherer received all deltas of a book; None without a stream.

    Every delta later than the first one received after the snapshot, of any market on the same
    subscription, was sent after it.
    """
    row = snapshot.row
    if row.conn is None or row.sid is None:
        return None
    since = _known_by(snapshot) if placed is None else min(_known_by(snapshot), placed.at_us)
    return store.FollowedSince(since, row.ticker, gatherer, row.conn, row.sid, snapshot.stamp)


def _known_by(snapshot: PendingSnapshot) -> int:
    """Return an exchange time at which a snapshot was certainly sent already."""
    latest = snapshot.stamp + CLOCK_SLACK_US
    return (
        latest
        if snapshot.next_on_stream is None
        else min(latest, snapshot.next_on_stream.exchange_ts)
    )


def first_delta_after(snapshot: PendingSnapshot, source: SeriesEngine) -> OrderbookDelta | None:
    """Look up the first delta after a snapshot in the series of its gatherer."""
    window = store.deltas_between(
        snapshot.row.ticker, snapshot.stamp - _MAX_DELAY_US, snapshot.stamp + _MAX_DELAY_US
    )
    later = (delta for delta in source.read(window) if delta.received_at > snapshot.stamp)
    return min(later, key=_received, default=None)


def with_time_bounds(gap: store.GapRecord, source: SeriesEngine) -> store.GapRecord:
    """Return a gap with the exchange times of the last delta before it and the first after it.

    They are those of its subscription, of any market; None if there is none close by.
    """
    known = gap.from_ts is not None and (
        gap.to_ts is not None or gap.reason not in _HEALING_REASONS
    )
    if gap.resolved or not gap.conn or known:
        return gap
    at = gap.detected_at
    window = Window(store.DELTAS, at - GAP_BOUND_US, at + GAP_BOUND_US, order="any")
    stream = (gap.conn, gap.sid)
    mine = [delta for delta in source.read(window) if (delta.conn, delta.sid) == stream]
    before = max((delta for delta in mine if delta.received_at < at), key=_received, default=None)
    after = min((delta for delta in mine if delta.received_at >= at), key=_received, default=None)
    return gap._replace(
        from_ts=_or_exchange_time(gap.from_ts, before),
        to_ts=_or_exchange_time(gap.to_ts, after),
    )


def _or_exchange_time(known: int | None, delta: OrderbookDelta | None) -> int | None:
    return known if known is not None or delta is None else delta.exchange_ts


def _is_ready(snapshot: PendingSnapshot, until_us: int) -> bool:
    if snapshot.next is not None and snapshot.next.exchange_ts <= until_us:
        return True
    return snapshot.stamp + MAX_SKEW_US <= until_us


def _identity(delta: OrderbookDelta) -> tuple[bool, int, int, int]:
    return delta.side, delta.price, delta.size_delta, delta.ord


def _placed(snapshot: PendingSnapshot, at_us: int, gatherer: str) -> PlacedSnapshot:
    row = snapshot.row
    if isinstance(row, store.Keyframe):
        placed: OrderbookSnapshot | store.Keyframe = row._replace(
            taken_at=at_us, exchange_ts=at_us, gatherer="merged"
        )
    else:
        placed = row._replace(snapshot_ts=at_us, exchange_ts=min(_known_by(snapshot), at_us))
    return PlacedSnapshot(placed, at_us, gatherer)


class GathererReader:
    """Reads all series of one gatherer and appends them to the merged store."""

    def __init__(
        self, source: MergeSource, merged: SeriesEngine, tables: Store, config: MergeConfig
    ) -> None:
        def reader(
            series: Series[R], *, deferred: bool = False, optional: bool = False
        ) -> SeriesReader[R]:
            return SeriesReader(
                source, series, tables, config, deferred=deferred, optional=optional
            )

        self.name = source.gatherer
        self.pending = PendingSnapshots(source.gatherer)
        self._source = source.engine
        self._merged = merged
        self._overlap_us = config.overlap_us
        self._trades = reader(store.TRADES)
        self._tickers = reader(store.TICKERS)
        self._gaps = reader(store.GAPS)
        self._deltas = reader(store.DELTAS)
        self._sessions = reader(store.SESSIONS, deferred=True)
        self._snapshots = reader(store.SNAPSHOTS, deferred=True)
        # Optional: without keyframes queries are only slower, and older gatherers have none.
        self._keyframes = reader(store.KEYFRAMES, deferred=True, optional=True)
        self._readers: tuple[SeriesReader[Any], ...] = (
            self._trades,
            self._tickers,
            self._gaps,
            self._deltas,
            self._sessions,
            self._snapshots,
            self._keyframes,
        )
        self._deltas_from = self._books_from() - 2 * MAX_SKEW_US

    def next_row_us(self) -> int | None:
        """Return the time of the next row to merge; None if there is none."""
        found = (reader.next_row_us() for reader in self._readers)
        return min((time for time in found if time is not None), default=None)

    def read(self, now_us: int, until_us: int, *, recount: bool) -> MergeStats:
        """Merge the new rows before `until_us`."""
        stats, sessions = MergeStats(), list[store.Session]()

        def hold(rows: Sequence[store.Session]) -> int:
            sessions.extend(rows)
            return 0

        def read(
            reader: SeriesReader[R],
            append: Callable[[Sequence[R]], int],
            since_us: int = store.LATEST,
        ) -> None:
            late = append if recount and reader is not self._keyframes else None
            if recount and reader is self._snapshots:
                late = self._append_polled  # type: ignore[assignment]
            # The bounds of a gap are looked up, so the rows after it must be stored by now.
            end = min(until_us, now_us - self._overlap_us) if reader is self._gaps else until_us
            stats.add(reader.read(append, now_us, since_us=since_us, until_us=end, late=late))

        # Watermarks are read first and appended last: they must not be in the merged store before
        # the rows they cover.
        before = self._sessions.cursor
        read(self._sessions, hold)
        after, self._sessions.cursor = self._sessions.cursor, before
        read(self._gaps, self._append_gaps)
        self._deltas_from = deltas_from = min(self._deltas_from, self._deltas.start_us)
        read(self._snapshots, self._append_snapshots)
        read(self._keyframes, self._append_keyframes)
        read(self._deltas, self._append_deltas, deltas_from)
        self._deltas_from = self._deltas.start_us
        read(self._trades, partial(self._merged.append, store.TRADES))
        read(self._tickers, partial(self._merged.append, store.TICKERS))
        stats.added += self._merged.append(store.SESSIONS, sessions)
        self._sessions.cursor = after
        self._sessions.confirm()
        return stats

    def place_pending(
        self, until_us: int
    ) -> tuple[list[PlacedSnapshot], list[store.FollowedSince], int]:
        """Return the placed snapshots, since when books are followed, and the number unplaced."""
        placed_snapshots: list[PlacedSnapshot] = []
        followed: list[store.FollowedSince] = []
        ready = self.pending.pop_ready(until_us)
        for snapshot in ready:
            if snapshot.late:
                snapshot.next = first_delta_after(snapshot, self._source)
            placed = place_snapshot(snapshot, self.pending, self._source, self._merged)
            if placed is not None:
                placed_snapshots.append(placed)
            since = followed_since(snapshot, placed, self.name)
            if since is not None:
                followed.append(since)
        return placed_snapshots, followed, len(ready) - len(placed_snapshots)

    def confirm(self) -> None:
        """Store the cursors: all snapshots but the pending ones are merged or left out."""
        oldest = self.pending.oldest
        self._snapshots.confirm(oldest)
        self._keyframes.confirm(oldest)
        self.pending.discard_before(self._books_from())

    def _books_from(self) -> int:
        return min(self._snapshots.start_us, self._keyframes.start_us)

    def _append_deltas(self, rows: Sequence[OrderbookDelta]) -> int:
        self.pending.add_deltas(rows)
        return self._merged.append(store.DELTAS, rows)

    def _append_gaps(self, rows: Sequence[store.GapRecord]) -> int:
        self.pending.add_gaps(rows)
        return self._merged.append(
            store.GAPS, [with_time_bounds(row, self._source) for row in rows]
        )

    def _append_snapshots(self, rows: Sequence[OrderbookSnapshot]) -> int:
        self.pending.add((row for row in rows if row.source == "ws"), self._deltas_from)
        return self._append_polled(rows)

    def _append_polled(self, rows: Sequence[OrderbookSnapshot]) -> int:
        polled = [row for row in rows if row.source != "ws"]
        return self._merged.append(store.SNAPSHOTS, polled)

    def _append_keyframes(self, rows: Sequence[store.Keyframe]) -> int:
        self.pending.add(rows, self._deltas_from)
        return 0


class InvalidLocation(InvalidInput):
    """A location is neither a folder with series nor a connection string."""

    code: ClassVar[str] = "invalid-location"


def is_connection_string(location: str) -> bool:
    """Return whether a location is a PostgreSQL connection string rather than a folder."""
    return location.startswith(("postgresql://", "postgres://")) or "=" in location


def open_location(location: str, clock: Clock) -> SeriesEngine:
    """Open a folder of series, or a PostgreSQL connection string.

    Raises InvalidLocation, and Unavailable if a server does not answer.
    """
    if is_connection_string(location):
        from grandstand.storage.series.engines.postgres.engine import PostgresEngine

        return PostgresEngine.open(location, clock=clock)
    folder = Path(location).expanduser()
    if not folder.is_dir():
        raise InvalidLocation(f"{location} is neither a folder nor a PostgreSQL connection string.")
    from grandstand.storage.series.engines.chunks.engine import ChunkEngine

    return ChunkEngine.open(folder, clock=clock)


def parse_source(text: str, clock: Clock) -> MergeSource:
    """Open `NAME:LOCATION`, the name of a gatherer and where its series are.

    Raises InvalidLocation, and Unavailable if a server does not answer.
    """
    name, colon, location = text.partition(":")
    if not colon or not _NAME.fullmatch(name):
        raise InvalidLocation(
            f"Invalid source {text!r}. Use NAME:LOCATION, for example east:/data/series."
        )
    return MergeSource(name, open_location(location, clock))
