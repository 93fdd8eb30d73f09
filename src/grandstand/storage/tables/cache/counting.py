"""Kept here: what a cache has done so far, in numbers, altogether and by kind of entry."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from threading import Lock


@dataclass(frozen=True, slots=True)
class Counts:
    """Numbers of one kind of entry, or of all.

    Every question counts once: as a hit (fresh), negative (known to be nothing), stale (answered
    though expired), shared (answered by what another caller fetched) or miss. `expired` counts
    entries found past their expiry, `skipped` calls not made while the store rested, `refused`
    payloads not kept, `damaged` entries that were not whole.
    """

    hits: int = 0
    negatives: int = 0
    stale: int = 0
    shared: int = 0
    misses: int = 0
    expired: int = 0
    fetches: int = 0
    errors: int = 0
    skipped: int = 0
    refused: int = 0
    damaged: int = 0
    writes: int = 0
    superseded: int = 0
    bytes_read: int = 0
    bytes_written: int = 0
    chunks_read: int = 0
    chunks_written: int = 0


@dataclass(frozen=True, slots=True)
class Statistics:
    """All numbers at one moment."""

    total: Counts = Counts()
    by_kind: Mapping[str, Counts] = field(default_factory=dict)


class Tally:
    """Counts up, from any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._total: Counter[str] = Counter()
        self._kinds: dict[str, Counter[str]] = {}

    def add(self, kinds: Iterable[str], **numbers: int) -> None:
        """Add to the total once, and to each of the kinds."""
        with self._lock:
            self._total.update(numbers)
            for kind in set(kinds):
                self._kinds.setdefault(kind, Counter()).update(numbers)

    def statistics(self) -> Statistics:
        """Answer the numbers as they are now."""
        with self._lock:
            return Statistics(
                Counts(**self._total),
                {kind: Counts(**counted) for kind, counted in self._kinds.items()},
            )
