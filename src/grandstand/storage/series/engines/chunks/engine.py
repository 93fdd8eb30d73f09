"""Kept here: the embedded engine of series, as whoever stands on it sees it."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import chain
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

from grandstand.base.clock import Clock
from grandstand.storage.series.declaration import Series
from grandstand.storage.series.engines.chunks.appending import by_chunk, put
from grandstand.storage.series.engines.chunks.asking import asked
from grandstand.storage.series.engines.chunks.connections import Durability, Writers
from grandstand.storage.series.engines.chunks.declared import declare
from grandstand.storage.series.engines.chunks.failures import translating
from grandstand.storage.series.engines.chunks.files import Home
from grandstand.storage.series.engines.chunks.layout import Layout, laid_out
from grandstand.storage.series.engines.chunks.reading import Batches, batches
from grandstand.storage.series.engines.chunks.telling import bucketed, fields_of, status
from grandstand.storage.series.engines.chunks.upkeep import Round
from grandstand.storage.series.errors import SeriesUnavailable
from grandstand.storage.series.window import Bar, Bars, SeriesStatus, Upkeep, Window

if TYPE_CHECKING:
    import pyarrow as pa

R = TypeVar("R", bound=tuple[Any, ...])


class ChunkEngine:
    """Series in a folder: a SQLite file a chunk, and Parquet once a chunk is old.

    Any number of threads and processes may use one folder at once: writers take turns, and
    readers neither wait for them nor hold them up.
    """

    def __init__(self, folder: Path, clock: Clock, writers: Writers) -> None:
        self._folder = folder
        self._clock = clock
        self._writers = writers
        self._turn = Lock()
        self._places: dict[Series[Any], tuple[Home, Layout[Any]]] = {}
        self._closed = False

    @classmethod
    def open(
        cls,
        folder: Path,
        *,
        clock: Clock,
        durability: Durability = "process",
        most_bytes: int | None = None,
    ) -> ChunkEngine:
        """Open the series of a folder, which is made if it is not there; raise SeriesUnavailable.

        With `durability` "process" what was appended outlives the process, with "power" also a
        loss of power. No SQLite file grows beyond `most_bytes`.
        """
        with translating(folder):
            folder.mkdir(parents=True, exist_ok=True)
        return cls(folder, clock, Writers(durability, most_bytes))

    def prepare(self, series: Series[Any]) -> None:
        """Make the folder of a series; safe to do twice, and at once.

        Columns may have been declared since that may be empty; rows already kept are empty there.
        Raises SeriesChanged for any other change of what the files depend on.
        """
        home, layout = self._place(series)
        with translating(home.folder):
            home.folder.mkdir(exist_ok=True)
            declare(home, layout)

    def append(self, series: Series[R], rows: Sequence[R]) -> int:
        """Add rows and answer how many were new; when it returns they are kept.

        Every row is looked at before the first is written: SeriesFault means none was added. Rows
        are then kept a chunk at a time. After SeriesUnavailable, or a stop in the middle, those of
        earlier chunks may be kept already; appending the same rows again adds what is missing.
        """
        if not rows:
            return 0
        home, layout = self._place(series)
        found, times = layout.plain(rows)
        with self._turn, translating(home.folder):
            self._check_open()
            with home.writing():
                added = 0
                for start, part in by_chunk(layout, found, times).items():
                    added += put(home, layout, self._writers, start, part)
                return added

    def read(self, window: Window[R]) -> Iterator[R]:
        """Answer the rows of a window one by one, in bounded memory.

        Each chunk is read as it stands when its turn comes.
        """
        with closing(self.lists(window)) as found:
            yield from chain.from_iterable(found)

    def lists(self, window: Window[R]) -> Generator[list[R], None, None]:
        """Answer the rows that `read` answers, some at a time, which is a third quicker."""
        _, layout = self._place(window.series)
        with closing(self._answers(window, layout.fields)) as found:
            for batch in _first(found, window.most):
                yield [*layout.rows(batch)]

    def bars(self, bars: Bars[R]) -> Iterator[Bar]:
        """Answer the buckets of a window, by key then time; values that are None are passed over.

        Buckets start at multiples of their length since 1970. Raises SeriesFault for a value or
        total that is no column of whole numbers.
        """
        window = bars.window
        if window.order == "any":
            window = replace(window, order="oldest")
        _, layout = self._place(window.series)
        fields = fields_of(bars, layout)
        found = _first(self._answers(window, fields), window.most)
        return bucketed(bars, fields, found, newest=window.order == "newest")

    def table(self, window: Window[R]) -> pa.Table:
        """Answer a window as an Arrow table, in its order; polars.from_arrow makes a frame of it.

        Text is a dictionary of strings, which Polars takes for categories; a UUID is its sixteen
        bytes. From baked chunks any order costs a third of an order of time.
        """
        from grandstand.storage.series.engines.chunks.tables import table

        self._check_open()
        return table(*self._place(window.series), window)

    def tables(self, window: Window[R]) -> Iterator[pa.Table]:
        """Answer a window as Arrow tables that follow each other, in bounded memory.

        Each chunk is read as it stands when its turn comes; none of the tables is empty.
        """
        from grandstand.storage.series.engines.chunks.tables import tables

        self._check_open()
        return tables(*self._place(window.series), window)

    def status(self, series: Series[Any]) -> SeriesStatus:
        """Tell what there is of a series."""
        self._check_open()
        return status(*self._place(series))

    def upkeep(self, series: Series[Any]) -> Upkeep:
        """Close, bake, merge and drop what is due, and repair what a stop in the middle left.

        Does nothing while another process is at it. A chunk that takes rows, or is being read
        from its log, while it is baked waits for the next round.
        """
        home, layout = self._place(series)
        self._check_open()
        self.prepare(series)
        return Round(home, layout, self._writers, self._turn).run()

    def close(self) -> None:
        """Let go of files; calling twice is harmless. Reads under way go on to their end."""
        with self._turn:
            self._closed = True
            self._writers.close()

    def _answers(self, window: Window[Any], fields: tuple[str, ...]) -> Batches:
        self._check_open()
        home, layout = self._place(window.series)
        return batches(home, layout, asked(window, fields))

    def _place(self, series: Series[R]) -> tuple[Home, Layout[R]]:
        known = self._places.get(series)
        if known is None:
            known = (Home(self._folder / series.name, self._clock), laid_out(series))
            self._places[series] = known
        return known

    def _check_open(self) -> None:
        if self._closed:
            message = f"The series in {self._folder} were closed; open them again"
            raise SeriesUnavailable(message)


def _first(found: Batches, most: int | None) -> Batches:
    left = most
    for batch in found:
        if left is None:
            yield batch
            continue
        if left <= 0:
            return
        yield batch[:left]
        left -= len(batch)
