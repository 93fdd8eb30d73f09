"""Kept here: what the gatherer tells of itself and of the markets."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from grandstand.apps.gatherer.model.rates import Rates

State: TypeAlias = Literal["off", "starting", "recording", "elsewhere", "failed"]


@dataclass(frozen=True, slots=True)
class ConnectionView:
    """One connection: since when it stands, what it follows, and what came over it."""

    number: int
    conn: int | None
    markets: int
    waiting: int
    stale: int
    subscriptions: int
    frames: int
    heard_at: int
    lost: str | None


@dataclass(frozen=True, slots=True)
class Ingest:
    """Recording as it goes: counts since the start, and how long rows take to be kept."""

    state: State
    gatherer: str
    why: str | None = None
    started_at: int = 0
    markets: int = 0
    stale: int = 0
    frames: int = 0
    frames_per_second: float = 0.0
    frame_bytes: int = 0
    rows: dict[str, int] = field(default_factory=dict)
    waiting_rows: int = 0
    waiting_bytes: int = 0
    spilled_rows: int = 0
    lag_median_seconds: float | None = None
    lag_p99_seconds: float | None = None
    gaps_opened: dict[str, int] = field(default_factory=dict)
    gaps_closed: int = 0
    gaps_open: int = 0
    duplicates: int = 0
    refused: int = 0
    unknown: int = 0
    unfit: int = 0
    batches: int = 0
    reconnects: int = 0
    errors_told: dict[int, int] = field(default_factory=dict)
    tape_frames: int = 0
    tape_bytes: int = 0
    tape_raw_bytes: int = 0
    tape_fault: str | None = None
    free_bytes: int | None = None
    taken_bytes: int | None = None
    troubles: dict[str, str] = field(default_factory=dict)
    connections: tuple[ConnectionView, ...] = ()


@dataclass(frozen=True, slots=True)
class MarketView:
    """A market as a list shows it; prices are None where there is no book or an empty side."""

    ticker: str
    event_ticker: str
    series_ticker: str
    category: str
    title: str
    status: str
    volume: int
    volume_24h: int
    open_ts: int | None
    close_ts: int | None
    chosen: bool
    followed: bool
    stale: bool
    best_yes_bid: int | None = None
    best_yes_ask: int | None = None
    spread: int | None = None


@dataclass(frozen=True, slots=True)
class Estimate:
    """What recording the markets chosen is likely to take, and how long the disk will do."""

    markets: int
    rates: Rates
    bytes_a_day: int
    hot_bytes: int
    free_bytes: int
    days_left: int | None


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was checked, whether it is well, and what to do if not."""

    name: str
    well: bool
    text: str
