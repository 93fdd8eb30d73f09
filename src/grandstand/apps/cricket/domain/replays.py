"""Replays of recorded matches."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

PlayAction: TypeAlias = Literal["play", "pause", "seek", "stop"]
PlayState: TypeAlias = Literal["playing", "paused"]


@dataclass(frozen=True, slots=True)
class ReplayRequest:
    """A tape to replay; `speed` 10 is ten times as fast as the match was."""

    tape: str
    speed: float = 1.0
    starts_in_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class ReplayCommand:
    """A command to a replay; seek takes the number of a ball."""

    action: PlayAction
    speed: float | None = None
    ball: int | None = None


@dataclass(frozen=True, slots=True)
class ReplayStatus:
    """The progress of a replay: `ball` of `balls` have been bowled."""

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
