"""Kept here: what is kept of a match between two ticks, within bounds."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from grandstand.apps.cricket.model.phases import NOT_STARTED
from grandstand.apps.cricket.model.scores import Ball, BattingLine, BowlingLine, InningsScore
from grandstand.apps.cricket.model.words import MatchPhase

KEPT_BALLS: Final = 30
NOTE_CHARS: Final = 80


@dataclass(frozen=True, slots=True)
class Memory:
    """What was told of a match and cannot be read from the last figures.

    What belongs to `inning` is forgotten with the next one: the overs told as done, where each
    wicket fell (legal balls, by player), who came in, and the most that a figure ever was where a
    correction has taken it down since (`b12` runs of batter 12, `w34` wickets of bowler 34).
    `in_a_row` counts what follows upon itself: `h34` wickets in a row of bowler 34, `x12` sixes in
    a row of batter 12, `f12` while batter 12 is on fire. `retracted` are balls that were deleted.
    """

    inning: int = 1
    overs_done: int = 0
    fallen: dict[str, int] = field(default_factory=dict)
    met: tuple[int, ...] = ()
    peaks: dict[str, int] = field(default_factory=dict)
    in_a_row: dict[str, int] = field(default_factory=dict)
    retracted: tuple[Ball, ...] = ()
    innings_ended: int = 0
    super_overs: int = 0
    started: bool = False
    ended: bool = False
    tossed: bool = False
    revision: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class MatchState:
    """What the last tick saw of a match and what is remembered: the next one is compared with it.

    Batting and bowling are those of the innings in `memory`. `seq` grows with each changed tick.
    """

    match_id: str
    status: str = NOT_STARTED
    phase: MatchPhase = "prematch"
    score: tuple[InningsScore, ...] = ()
    batting: tuple[BattingLine, ...] = ()
    bowling: tuple[BowlingLine, ...] = ()
    balls: tuple[Ball, ...] = ()
    ball_id: int | None = None
    cooldowns: dict[str, datetime] = field(default_factory=dict)
    memory: Memory = field(default_factory=Memory)
    seq: int = 0

    @property
    def figures(self) -> tuple[object, ...]:
        """What depends on the match alone, and not on when and how often it was looked at."""
        return (
            self.status,
            self.phase,
            self.score,
            self.batting,
            self.bowling,
            self.balls,
            self.memory,
        )
