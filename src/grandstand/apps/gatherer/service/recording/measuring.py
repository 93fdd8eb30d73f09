"""Kept here: what recording counts, as figures of the house."""

from __future__ import annotations

from collections import Counter

from grandstand.apps.gatherer.service.recording.figures import Figures
from grandstand.apps.gatherer.service.values import Ingest
from grandstand.base.metrics import Metrics


class Measuring:
    """Passes on what was counted since the last time: counting each frame would cost too much."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._frames = 0
        self._rows: Counter[str] = Counter()
        self._gaps: Counter[str] = Counter()

    def pass_on(self, figures: Figures, ingest: Ingest) -> None:
        """Pass everything on; about once a second will do."""
        metrics = self._metrics
        metrics.count("gatherer_frames", ingest.frames - self._frames)
        self._frames = ingest.frames
        for series, count in figures.rows.items():
            metrics.count("gatherer_rows", count - self._rows[series], series=series)
        for reason, count in ingest.gaps_opened.items():
            metrics.count("gatherer_gaps", count - self._gaps[reason], reason=reason)
        self._rows, self._gaps = Counter(figures.rows), Counter(ingest.gaps_opened)
        metrics.set("gatherer_gaps_open", ingest.gaps_open)
        metrics.set("gatherer_markets", ingest.markets, state="followed")
        metrics.set("gatherer_markets", ingest.stale, state="stale")
        metrics.set("gatherer_lag_seconds", ingest.lag_median_seconds or 0.0, share="0.5")
        metrics.set("gatherer_lag_seconds", ingest.lag_p99_seconds or 0.0, share="0.99")
        metrics.set("gatherer_waiting_rows", ingest.waiting_rows, where="memory")
        metrics.set("gatherer_waiting_rows", ingest.spilled_rows, where="disk")
