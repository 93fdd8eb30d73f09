"""Kept here: what recording counts of itself, and how long rows take until they are kept."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field
from typing import Final

_REMEMBERED: Final = 4096
_RATE_SECONDS: Final = 10.0


@dataclass(slots=True)
class Figures:
    """Counts since the start; whoever records adds to them, and nobody else."""

    frames: int = 0
    frame_bytes: int = 0
    rows: Counter[str] = field(default_factory=Counter)
    batches: int = 0
    gaps_opened: Counter[str] = field(default_factory=Counter)
    gaps_closed: int = 0
    duplicates: int = 0
    refused: int = 0
    unknown: int = 0
    unfit: int = 0
    reconnects: int = 0
    errors_told: Counter[int] = field(default_factory=Counter)


class Lag:
    """How long rows take from their receipt until they are durable, of the last few thousand."""

    def __init__(self) -> None:
        self._open: deque[tuple[int, float]] = deque()
        self._seen: deque[float] = deque(maxlen=_REMEMBERED)

    def taken(self, mark: int, received: float) -> None:
        """Note rows handed over: the buffer's mark, and the receipt of the oldest, in seconds."""
        self._open.append((mark, received))

    def durable(self, mark: int, now: float) -> None:
        """Note that everything up to a mark is kept."""
        waiting = self._open
        while waiting and waiting[0][0] <= mark:
            self._seen.append(now - waiting.popleft()[1])

    def seconds(self, share: float) -> float | None:
        """Answer the time that such a share of rows did not pass; None before there are any."""
        if not self._seen:
            return None
        ordered = sorted(self._seen)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


class Pace:
    """Frames a second over the last ten seconds."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()

    def note(self, now: float, frames: int) -> None:
        """Note how many frames came so far."""
        self._seen.append((now, frames))
        while self._seen[0][0] < now - _RATE_SECONDS:
            self._seen.popleft()

    @property
    def per_second(self) -> float:
        """How many came in a second."""
        if not self._seen:
            return 0.0
        (began, first), (ended, last) = self._seen[0], self._seen[-1]
        return (last - first) / (ended - began) if ended > began else 0.0
