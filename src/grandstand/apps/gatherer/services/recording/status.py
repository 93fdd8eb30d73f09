"""Recorder status: counters, rates and latencies since the start."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal, TypeAlias

from grandstand.core.metrics import Metrics

_LATENCY_SAMPLES: Final = 4096
_RATE_WINDOW_SECONDS: Final = 10.0

RecorderState: TypeAlias = Literal["off", "starting", "recording", "elsewhere", "failed"]


@dataclass(frozen=True, slots=True)
class ConnectionStatus:
    """One connection; `conn` is the time it was opened, None while it is down."""

    number: int
    conn: int | None
    markets: int
    waiting: int
    stale: int
    subscriptions: int
    frames: int
    heard_at: datetime | None
    error: str | None


@dataclass(slots=True)
class RecorderStatus:
    """Status of the recorder.

    The recorder increments the counters of its own instance while it runs; callers get a copy with
    the other fields filled in.
    """

    state: RecorderState
    gatherer: str
    reason: str | None = None
    started_at: datetime | None = None
    markets: int = 0
    stale: int = 0
    frames: int = 0
    frames_per_second: float = 0.0
    frame_bytes: int = 0
    rows: dict[str, int] = field(default_factory=Counter)
    waiting_rows: int = 0
    waiting_bytes: int = 0
    spilled_rows: int = 0
    lag_median_seconds: float | None = None
    lag_p99_seconds: float | None = None
    gaps_opened: dict[str, int] = field(default_factory=Counter)
    gaps_closed: int = 0
    gaps_open: int = 0
    duplicates: int = 0
    invalid_frames: int = 0
    unknown_frames: int = 0
    rejected_rows: int = 0
    batches: int = 0
    reconnects: int = 0
    exchange_errors: dict[int, int] = field(default_factory=Counter)
    raw_log_frames: int = 0
    raw_log_bytes: int = 0
    raw_log_uncompressed_bytes: int = 0
    raw_log_error: str | None = None
    free_bytes: int | None = None
    used_bytes: int | None = None
    problems: dict[str, str] = field(default_factory=dict)
    connections: tuple[ConnectionStatus, ...] = ()

    def summary(self) -> dict[str, Any]:
        """Return the figures that open pages update live."""
        return {
            "state": self.state,
            "markets": self.markets,
            "stale": self.stale,
            "frames": self.frames,
            "frames_per_second": round(self.frames_per_second),
            "waiting_rows": self.waiting_rows,
            "spilled_rows": self.spilled_rows,
            "lag_p99_seconds": self.lag_p99_seconds,
            "gaps_open": self.gaps_open,
        }


class LatencyTracker:
    """Seconds from receipt to durable storage, over the last few thousand batches."""

    def __init__(self) -> None:
        self._pending: deque[tuple[int, float]] = deque()
        self._samples: deque[float] = deque(maxlen=_LATENCY_SAMPLES)

    def add(self, mark: int, received_at: float) -> None:
        """Add a batch: the buffer's mark after it, and when its oldest row was received."""
        self._pending.append((mark, received_at))

    def mark_durable(self, mark: int, now: float) -> None:
        """Record that everything up to a mark is durable."""
        pending = self._pending
        while pending and pending[0][0] <= mark:
            self._samples.append(now - pending.popleft()[1])

    def quantile(self, share: float) -> float | None:
        """Return a quantile in seconds; None before the first sample."""
        if not self._samples:
            return None
        ordered = sorted(self._samples)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


class RateMeter:
    """Frames per second over the last ten seconds."""

    def __init__(self) -> None:
        self._samples: deque[tuple[float, int]] = deque()

    def add(self, now: float, frames: int) -> None:
        """Add the total number of frames received so far."""
        self._samples.append((now, frames))
        while self._samples[0][0] < now - _RATE_WINDOW_SECONDS:
            self._samples.popleft()

    @property
    def per_second(self) -> float:
        if not self._samples:
            return 0.0
        (start, first), (end, last) = self._samples[0], self._samples[-1]
        return (last - first) / (end - start) if end > start else 0.0


class RecorderMetrics:
    """Exports the counters about once a second; counting each frame would cost too much."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._frames = 0
        self._rows: Counter[str] = Counter()
        self._gaps: Counter[str] = Counter()

    def export(self, status: RecorderStatus) -> None:
        metrics = self._metrics
        metrics.count("gatherer_frames", status.frames - self._frames)
        self._frames = status.frames
        for series, count in status.rows.items():
            metrics.count("gatherer_rows", count - self._rows[series], series=series)
        for reason, count in status.gaps_opened.items():
            metrics.count("gatherer_gaps", count - self._gaps[reason], reason=reason)
        self._rows, self._gaps = Counter(status.rows), Counter(status.gaps_opened)
        metrics.set("gatherer_gaps_open", status.gaps_open)
        metrics.set("gatherer_markets", status.markets, state="followed")
        metrics.set("gatherer_markets", status.stale, state="stale")
        metrics.set("gatherer_lag_seconds", status.lag_median_seconds or 0.0, share="0.5")
        metrics.set("gatherer_lag_seconds", status.lag_p99_seconds or 0.0, share="0.99")
        metrics.set("gatherer_waiting_rows", status.waiting_rows, where="memory")
        metrics.set("gatherer_waiting_rows", status.spilled_rows, where="disk")
