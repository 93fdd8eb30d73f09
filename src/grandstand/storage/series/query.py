"""Queries of a series and what an engine reports about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from grandstand.storage.series.declaration import Series

R = TypeVar("R", bound=tuple[Any, ...])
Order: TypeAlias = Literal["oldest", "newest", "any"]


@dataclass(frozen=True, slots=True)
class Window(Generic[R]):
    """Rows with `start` <= time < `end`, of the given keys or of all keys.

    Rows are ordered by time, then by the rest of their identity. With `order="any"` they come in
    whichever order is fastest; bars treat "any" as "oldest". `limit` is the maximum number of rows.

    Example:
        >>> latest = Window(TRADES, start, end, ("AAPL",), order="newest", limit=10)
        >>> rows = list(engine.read(latest))
    """

    series: Series[R]
    start: int
    end: int
    keys: tuple[str, ...] = ()
    order: Order = "oldest"
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Bars(Generic[R]):
    """Aggregation of a window into time buckets.

    `value` is the column that open, high, low and close are taken from, `total` the column that is
    summed. Both are optional.
    """

    window: Window[R]
    bucket_us: int
    value: str | None = None
    total: str | None = None


@dataclass(frozen=True, slots=True)
class Bar:
    """One bucket of one key. Buckets without rows are not returned."""

    key: str
    start: int
    count: int
    total: int | None
    open: int | None
    high: int | None
    low: int | None
    close: int | None


ChunkState: TypeAlias = Literal["open", "closed", "compressed"]


@dataclass(frozen=True, slots=True)
class ChunkStatus:
    """Time span, state and size of one chunk; `late` rows are not merged yet."""

    start: int
    end: int
    state: ChunkState
    rows: int
    size_bytes: int
    late: int = 0


@dataclass(frozen=True, slots=True)
class SeriesStatus:
    """Chunks of a series; `gaps` are spans of whole chunks without rows between other chunks."""

    name: str
    chunks: tuple[ChunkStatus, ...]
    gaps: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Upkeep:
    """How many chunks one maintenance run processed, and what it repaired after a crash."""

    closed: int = 0
    compressed: int = 0
    merged: int = 0
    dropped: int = 0
    repaired: tuple[str, ...] = ()
