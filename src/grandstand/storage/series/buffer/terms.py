"""Kept here: what a buffer is told, and what it tells: limits, status, notices and its refusal."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from grandstand.base.errors import LimitReached

NoticeKind: TypeAlias = Literal["found", "failed", "recovered", "spilled", "replayed", "set aside"]

_LOUD: Final = frozenset(("failed", "spilled", "set aside"))
_log: Final = logging.getLogger("grandstand.series")


class BufferFull(LimitReached):
    """Memory is full and nothing can be spilled; what was offered was not taken."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is held, and how long.

    Rows are sent when `batch_rows` of a series wait, or the oldest has waited `age_seconds`. All
    series together hold at most `memory_bytes`, as an upper estimate of what the rows take; beside
    them there is at most one batch that was read back from disk. Rows that could not be sent for
    `spill_after_seconds` are spilled too, which bounds what a killed process loses. After a
    failure the next try waits `first_wait_seconds`, doubled each time up to
    `longest_wait_seconds`, shortened by up to half at random. Spilled rows take at most
    `spill_bytes`, or what the disk has, in files of about `file_bytes`.
    """

    batch_rows: int = 5_000
    age_seconds: float = 0.2
    memory_bytes: int = 64 * 1024 * 1024
    spill_after_seconds: float = 5.0
    first_wait_seconds: float = 0.5
    longest_wait_seconds: float = 30.0
    spill_bytes: int | None = None
    file_bytes: int = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class LaneStatus:
    """One series in a buffer: what waits in memory and on disk, and how sending goes."""

    series: str
    waiting_rows: int
    waiting_bytes: int
    spilled_rows: int
    spilled_bytes: int
    failures: int
    last_error: str | None
    next_try_seconds: float | None


@dataclass(frozen=True, slots=True)
class BufferStatus:
    """A buffer as it stands; of the rows `taken` since it was opened the first `durable` are so."""

    taken: int
    durable: int
    lanes: tuple[LaneStatus, ...]

    @property
    def waiting_rows(self) -> int:
        """How many rows are in memory only."""
        return sum(lane.waiting_rows for lane in self.lanes)

    @property
    def waiting_bytes(self) -> int:
        """How much memory those rows take, at most."""
        return sum(lane.waiting_bytes for lane in self.lanes)

    @property
    def spilled_rows(self) -> int:
        """How many rows are on disk and wait for the engine."""
        return sum(lane.spilled_rows for lane in self.lanes)

    @property
    def spilled_bytes(self) -> int:
        """How much disk those rows take."""
        return sum(lane.spilled_bytes for lane in self.lanes)


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that happened to the rows of a series on their way."""

    kind: NoticeKind
    series: str
    rows: int = 0
    why: str = ""
    retry_seconds: float | None = None

    def __str__(self) -> str:
        again = "" if self.retry_seconds is None else f"; next try in {self.retry_seconds:.1f} s"
        rows = f" {self.rows} rows" if self.rows else ""
        return f"{self.series}: {self.kind}{rows}{': ' if self.why else ''}{self.why}{again}"


def log(notice: Notice) -> None:
    """Write a notice to the log, as a buffer does when nobody else is to be told."""
    _log.log(logging.WARNING if notice.kind in _LOUD else logging.INFO, "%s", notice)
