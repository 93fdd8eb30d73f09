"""Interface of series engines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from grandstand.storage.series.declaration import Series
from grandstand.storage.series.query import Bar, Bars, SeriesStatus, Upkeep, Window

if TYPE_CHECKING:
    import pyarrow as pa

R = TypeVar("R", bound=tuple[Any, ...])


class SeriesEngine(Protocol):
    """Stores series. Rows are appended and never changed; each identity is stored once.

    Example:
        >>> engine.prepare(TRADES)
        >>> engine.append(TRADES, [Trade("AAPL", 1_700_000_000_000_000, 18_950)])
        1
        >>> rows = list(engine.read(Window(TRADES, start, end, ("AAPL",))))
    """

    def prepare(self, series: Series[Any]) -> None:
        """Create what the series needs if it does not exist. Idempotent, also concurrently."""
        ...

    def append(self, series: Series[R], rows: Sequence[R]) -> int:
        """Store rows durably and return how many of them were new.

        A row with the identity of a stored row is skipped.

        Raises SeriesFault if a row does not fit the columns; then none is stored.
        """
        ...

    def read(self, window: Window[R]) -> Iterator[R]:
        """Iterate over the rows of a window in bounded memory."""
        ...

    def bars(self, bars: Bars[R]) -> Iterator[Bar]:
        """Return the bars of a window, ordered by key and time."""
        ...

    def table(self, window: Window[R]) -> pa.Table:
        """Return a window as an Arrow table.

        Text columns are pa.dictionary(pa.int32(), pa.string()), JSON columns strings, and UUIDs
        16 bytes.
        """
        ...

    def tables(self, window: Window[R]) -> Iterator[pa.Table]:
        """Return a window as consecutive Arrow tables, in bounded memory.

        All tables have the same schema and none is empty. Concatenated they equal `table`.
        """
        ...

    def status(self, series: Series[Any]) -> SeriesStatus:
        """Return the chunks of a series and the gaps between them."""
        ...

    def upkeep(self, series: Series[Any]) -> Upkeep:
        """Close, compress, merge and drop the chunks that are due."""
        ...

    def close(self) -> None:
        """Close files and connections. Idempotent."""
        ...
