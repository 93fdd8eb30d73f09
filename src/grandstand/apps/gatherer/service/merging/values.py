"""Kept here: what a merger is told and tells: whose rows, how far, how late, how many new."""

from __future__ import annotations

from dataclasses import dataclass, field

from grandstand.storage.series.engines.protocol import SeriesEngine


@dataclass(frozen=True, slots=True)
class Source:
    """One gatherer's store: the name of the gatherer, and the engine its series are read from."""

    gatherer: str
    engine: SeriesEngine


@dataclass(frozen=True, slots=True)
class Pace:
    """How a merger works.

    Rows are read again from `overlap_us` before the last one merged, which must be longer than a
    gatherer takes to write what it received. Rows that came later still are found by counting, at
    least every `recount_us`. `batch_rows` are appended at once. A round goes on by `slice_us` at
    most, which bounds the memory a long history takes.
    """

    overlap_us: int = 10_000_000
    recount_us: int = 300_000_000
    batch_rows: int = 5_000
    slice_us: int = 6 * 3600 * 1_000_000


@dataclass(frozen=True, slots=True)
class Lag:
    """How far one series of one gatherer is merged, and how long ago that was."""

    gatherer: str
    series: str
    position_us: int
    lag_us: int
    rows: int


@dataclass(slots=True)
class Tally:
    """What one round did: rows read, rows that were new, and what became of the books told.

    `placed` books got their place in exchange time, `unplaced` ones could not; of those compared,
    `audited` were equal to the merged book and `holes` were not. `failed` says which gatherers
    could not be read, and why. There is `more` when a round did not come up to the present.
    """

    read: int = 0
    added: int = 0
    late: int = 0
    placed: int = 0
    unplaced: int = 0
    audited: int = 0
    holes: int = 0
    waiting: int = 0
    more: bool = False
    failed: dict[str, str] = field(default_factory=dict)

    def add(self, more: Tally) -> None:
        """Add the rows that a part of the work read and found new."""
        self.read += more.read
        self.added += more.added
        self.late += more.late
