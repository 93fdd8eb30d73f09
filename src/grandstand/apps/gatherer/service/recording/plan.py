"""Kept here: how a gatherer records, as the settings say."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from grandstand.apps.gatherer.sources.kalshi.subscriptions import Terms
from grandstand.storage.series.buffer import Limits

_GIB: Final = 1024**3
_AGE_SECONDS: Final = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How one gatherer records.

    `folder` holds what waits for the series and the tape. Recording stops when less than
    `least_free_bytes` are left on its disk, or the series and the tape take `most_bytes`.
    """

    gatherer: str
    ws_url: str
    folder: Path
    connections: int = 4
    terms: Terms = field(default_factory=Terms)
    limits: Limits = field(default_factory=lambda: Limits(age_seconds=_AGE_SECONDS))
    tape: bool = False
    tape_days: int = 7
    silence_seconds: float = 60.0
    stall_seconds: float = 60.0
    first_wait_seconds: float = 0.5
    longest_wait_seconds: float = 30.0
    reconcile_seconds: float = 300.0
    snapshots_seconds: float = 900.0
    trades_seconds: float = 60.0
    audit_seconds: float = 60.0
    audit_again_seconds: float = 20.0
    audit_markets: int = 20
    keyframe_deltas: int = 1000
    least_free_bytes: int = 2 * _GIB
    most_bytes: int | None = None
