"""Kept here: what an engine of series promises to whoever stands on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from grandstand.storage.series.declaration import Series
from grandstand.storage.series.window import Bar, Bars, SeriesStatus, Upkeep, Window

if TYPE_CHECKING:
    import pyarrow as pa

R = TypeVar("R", bound=tuple[Any, ...])


class SeriesEngine(Protocol):
    """A place that keeps series: rows are added, never changed, and the same row is kept once."""

    def prepare(self, series: Series[Any]) -> None:
        """Make what the series needs, if it is not there; safe to do twice, and at once."""
        ...

    def append(self, series: Series[R], rows: Sequence[R]) -> int:
        """Add rows and answer how many were new; when it returns they are kept.

        A row with the identity of one already kept is left out. Raises SeriesFault for a row that
        does not fit, and then adds none.
        """
        ...

    def read(self, window: Window[R]) -> Iterator[R]:
        """Answer the rows of a window one by one, in bounded memory."""
        ...

    def bars(self, bars: Bars[R]) -> Iterator[Bar]:
        """Answer the buckets of a window, by key then time."""
        ...

    def table(self, window: Window[R]) -> pa.Table:
        """Answer a window as an Arrow table, in its order.

        Text is a dictionary of strings with codes of 32 bits, pa.dictionary(pa.int32(),
        pa.string()), JSON a plain string, and a UUID its sixteen bytes.
        """
        ...

    def tables(self, window: Window[R]) -> Iterator[pa.Table]:
        """Answer a window as Arrow tables that follow each other, in bounded memory.

        All have the same schema, none is empty, and together they are what `table` answers; no
        rows, no tables.
        """
        ...

    def status(self, series: Series[Any]) -> SeriesStatus:
        """Tell what there is of a series."""
        ...

    def upkeep(self, series: Series[Any]) -> Upkeep:
        """Close, compress, merge and drop what is due; do one thing after another, each whole."""
        ...

    def close(self) -> None:
        """Let go of files and connections; calling twice is harmless."""
        ...
