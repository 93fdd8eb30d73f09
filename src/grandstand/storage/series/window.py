"""Kept here: what can be asked of a series, and what it tells of itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from grandstand.storage.series.declaration import Series

R = TypeVar("R", bound=tuple[Any, ...])
Order: TypeAlias = Literal["oldest", "newest", "any"]


@dataclass(frozen=True, slots=True)
class Window(Generic[R]):
    """Rows from `start` up to but without `end`, of some keys or all, in order of time.

    Rows of one moment come in the order of the rest of their identity. `most` is how many at most.
    With `order` "any" rows come in whichever order costs least, each once; which are left out by
    `most` is then not said. Bars need an order: they take "any" as "oldest".
    """

    series: Series[R]
    start: int
    end: int
    keys: tuple[str, ...] = ()
    order: Order = "oldest"
    most: int | None = None


@dataclass(frozen=True, slots=True)
class Bars(Generic[R]):
    """A window cut into buckets: how many rows, the sum of a column, and open, high, low, close.

    `value` is the column open to close are taken of, in order of time then identity; `total` the
    column that is added up. Either may be left out.
    """

    window: Window[R]
    bucket_us: int
    value: str | None = None
    total: str | None = None


@dataclass(frozen=True, slots=True)
class Bar:
    """One bucket of one key; only buckets that hold rows are answered."""

    key: str
    start: int
    count: int
    total: int | None
    open: int | None
    high: int | None
    low: int | None
    close: int | None


ChunkState: TypeAlias = Literal["open", "closed", "baked"]


@dataclass(frozen=True, slots=True)
class ChunkStatus:
    """One chunk: its span, its state, what it holds and takes; `late` rows wait to be merged."""

    start: int
    end: int
    state: ChunkState
    rows: int
    size_bytes: int
    late: int = 0


@dataclass(frozen=True, slots=True)
class SeriesStatus:
    """A series as it stands; `gaps` are spans of whole chunks without any row between others."""

    name: str
    chunks: tuple[ChunkStatus, ...]
    gaps: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Upkeep:
    """What one round of upkeep did, and what it repaired after a stop in the middle."""

    closed: int = 0
    baked: int = 0
    merged: int = 0
    dropped: int = 0
    repaired: tuple[str, ...] = ()
