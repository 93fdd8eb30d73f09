"""Embedded series engine."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import chain
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

from grandstand.core.clock import Clock
from grandstand.storage.series.declaration import Series
from grandstand.storage.series.engines.chunks.directory import SeriesDirectory, write_schema
from grandstand.storage.series.engines.chunks.maintenance import Maintenance
from grandstand.storage.series.engines.chunks.query import (
    Batches,
    bar_fields,
    build_bars,
    chunk_query,
    read_batches,
    rows_not_in_parquet,
    series_status,
)
from grandstand.storage.series.engines.chunks.sqlite import (
    Durability,
    Layout,
    StoredRow,
    WriteConnections,
    build_layout,
    insert_rows,
    translate_errors,
)
from grandstand.storage.series.errors import SeriesUnavailable
from grandstand.storage.series.query import Bar, Bars, SeriesStatus, Upkeep, Window

if TYPE_CHECKING:
    import pyarrow as pa

R = TypeVar("R", bound=tuple[Any, ...])


class ChunkEngine:
    """Stores series in a directory: one SQLite file per chunk, compressed to Parquet when old.

    Any number of threads and processes may use a directory at once. Writers take turns; readers
    neither wait for writers nor block them.

    Example:
        >>> engine = ChunkEngine.open(Path("series"), clock=SystemClock())
        >>> engine.prepare(TRADES)
        >>> engine.append(TRADES, rows)
    """

    def __init__(self, path: Path, clock: Clock, connections: WriteConnections) -> None:
        self._path = path
        self._clock = clock
        self._connections = connections
        self._write_lock = Lock()
        self._places: dict[Series[Any], tuple[SeriesDirectory, Layout[Any]]] = {}
        self._closed = False

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        clock: Clock,
        durability: Durability = "process",
        max_bytes: int | None = None,
    ) -> ChunkEngine:
        """Open the series of a directory, which is created if it does not exist.

        Args:
            path: the directory.
            clock: the time source.
            durability: "process" if appends must survive a crash of the process, "power" if they
                must also survive a power failure.
            max_bytes: upper bound for the size of a SQLite file.

        Raises SeriesUnavailable if the directory cannot be used.
        """
        with translate_errors(path):
            path.mkdir(parents=True, exist_ok=True)
        return cls(path, clock, WriteConnections(durability, max_bytes))

    def prepare(self, series: Series[Any]) -> None:
        """Create the directory of a series. Idempotent, also concurrently.

        Nullable columns may have been added to the declaration; they are None in stored rows.

        Raises SeriesChanged if the stored schema differs in any other way.
        """
        directory, layout = self.place(series)
        with translate_errors(directory.path):
            directory.path.mkdir(exist_ok=True)
            write_schema(directory, layout)

    def append(self, series: Series[R], rows: Sequence[R]) -> int:
        """Store rows durably and return how many of them were new.

        All rows are validated before the first is written, so none is stored after SeriesFault.
        Rows are written chunk by chunk: after SeriesUnavailable those of earlier chunks may be
        stored. Appending the same rows again adds what is missing.
        """
        if not rows:
            return 0
        directory, layout = self.place(series)
        validated, times = layout.validate(rows)
        with self._write_lock, translate_errors(directory.path):
            self._check_open()
            with directory.write_lock():
                added = 0
                for start, part in split_by_chunk(layout, validated, times).items():
                    added += append_chunk(directory, layout, self._connections, start, part)
                return added

    def read(self, window: Window[R]) -> Iterator[R]:
        """Iterate over the rows of a window in bounded memory.

        Each chunk is read in the state it has when its turn comes.
        """
        with closing(self.lists(window)) as batches:
            yield from chain.from_iterable(batches)

    def lists(self, window: Window[R]) -> Generator[list[R], None, None]:
        """Return the rows of `read` in lists, which is a third faster."""
        _, layout = self.place(window.series)
        with closing(self._read_batches(window, layout.fields)) as batches:
            for batch in _limited(batches, window.limit):
                yield [*layout.to_rows(batch)]

    def bars(self, bars: Bars[R]) -> Iterator[Bar]:
        """Return the bars of a window, ordered by key and time; None values are ignored.

        Buckets start at multiples of their length since 1970.

        Raises SeriesFault if `value` or `total` is not an integer column.
        """
        window = bars.window
        if window.order == "any":
            window = replace(window, order="oldest")
        _, layout = self.place(window.series)
        fields = bar_fields(bars, layout)
        batches = _limited(self._read_batches(window, fields), window.limit)
        return build_bars(bars, fields, batches, newest=window.order == "newest")

    def table(self, window: Window[R]) -> pa.Table:
        """Return a window as an Arrow table; polars.from_arrow turns it into a data frame.

        Text is a dictionary of strings (a Polars categorical), and a UUID its 16 bytes. Reading
        compressed chunks with `order="any"` takes a third of the time.
        """
        from grandstand.storage.series.engines.chunks.parquet import read_table

        self._check_open()
        return read_table(*self.place(window.series), window)

    def tables(self, window: Window[R]) -> Iterator[pa.Table]:
        """Return a window as consecutive Arrow tables, in bounded memory. None of them is empty.

        Each chunk is read in the state it has when its turn comes.
        """
        from grandstand.storage.series.engines.chunks.parquet import read_tables

        self._check_open()
        return read_tables(*self.place(window.series), window)

    def status(self, series: Series[Any]) -> SeriesStatus:
        """Return the chunks of a series and the gaps between them."""
        self._check_open()
        return series_status(*self.place(series))

    def upkeep(self, series: Series[Any]) -> Upkeep:
        """Close, compress, merge and drop the chunks that are due, and repair after a crash.

        Does nothing while another process runs maintenance. A chunk that receives rows, or whose
        WAL is being read, while it is compressed is left to the next run.
        """
        directory, layout = self.place(series)
        self._check_open()
        self.prepare(series)
        return Maintenance(directory, layout, self._connections, self._write_lock).run()

    def close(self) -> None:
        """Close all files. Idempotent. Reads in progress continue."""
        with self._write_lock:
            self._closed = True
            self._connections.close()

    def place(self, series: Series[R]) -> tuple[SeriesDirectory, Layout[R]]:
        """Return the directory and the layout of a series."""
        known = self._places.get(series)
        if known is None:
            known = (SeriesDirectory(self._path / series.name, self._clock), build_layout(series))
            self._places[series] = known
        return known

    def _read_batches(self, window: Window[Any], fields: tuple[str, ...]) -> Batches:
        self._check_open()
        directory, layout = self.place(window.series)
        return read_batches(directory, layout, chunk_query(window, fields))

    def _check_open(self) -> None:
        if self._closed:
            raise SeriesUnavailable(f"The series in {self._path} are closed. Open them again.")


def split_by_chunk(
    layout: Layout[Any], rows: list[StoredRow], times: Sequence[int]
) -> Mapping[int, list[StoredRow]]:
    """Group rows by the start of their chunk."""
    series = layout.series
    first = series.chunk_of(min(times))
    if first == series.chunk_of(max(times)):
        return {first: rows}
    by_chunk: dict[int, list[StoredRow]] = {}
    for row, time in zip(rows, times, strict=True):
        by_chunk.setdefault(series.chunk_of(time), []).append(row)
    return dict(sorted(by_chunk.items()))


def append_chunk(
    directory: SeriesDirectory,
    layout: Layout[Any],
    connections: WriteConnections,
    start: int,
    rows: list[StoredRow],
) -> int:
    """Insert the rows of one chunk in one transaction and return how many were new.

    Callers hold the write lock of the series.
    """
    live = directory.live(start)
    with translate_errors(live):
        is_new = not live.exists()
        if not is_new or not directory.parquet(start).exists():
            connection = connections.open(live, layout.create)
            added = insert_rows(connection, layout, layout.to_values(rows))
            if is_new and connections.durability == "power":
                directory.sync()
            return added
        stored = [*layout.split_values(layout.to_values(rows))]
        late = rows_not_in_parquet(directory, layout, start, stored)
        if not late:
            return 0
        connection = connections.open(directory.late(start), layout.create)
        added = insert_rows(connection, layout, [*chain.from_iterable(late)])
        if connections.durability == "power":
            directory.sync()
        return added


def _limited(batches: Batches, limit: int | None) -> Batches:
    remaining = limit
    for batch in batches:
        if remaining is None:
            yield batch
            continue
        if remaining <= 0:
            return
        yield batch[:remaining]
        remaining -= len(batch)
