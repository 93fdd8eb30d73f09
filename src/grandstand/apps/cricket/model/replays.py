"""Kept here: what is told to a feed that replays recorded matches, and what it says of them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from grandstand.apps.cricket.model.events.kinds import Detected
from grandstand.apps.cricket.model.scores import InningsScore

PlayAction: TypeAlias = Literal["play", "pause", "seek", "stop"]
PlayState: TypeAlias = Literal["playing", "paused"]


@dataclass(frozen=True, slots=True)
class ReplayWish:
    """A match to play from a tape, so many times as fast as it was."""

    tape: str
    speed: float = 1.0
    starts_in_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class ReplayOrder:
    """What a replay is to do; seek takes the number of a ball."""

    action: PlayAction
    speed: float | None = None
    ball: int | None = None


@dataclass(frozen=True, slots=True)
class Replayed:
    """Where a replay stands: so many of its balls are bowled."""

    match_id: str
    tape: str
    title: str
    format: str
    state: PlayState
    speed: float
    starts_at: datetime
    ball: int
    balls: int
    match_status: str


@dataclass(frozen=True, slots=True)
class Look:
    """What one look at a recorded match found."""

    at: datetime
    match_id: str
    status: str
    score: InningsScore | None
    events: tuple[Detected, ...]
