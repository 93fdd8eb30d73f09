"""The state kept of a match between two ticks, and the comparison of one tick with it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, NamedTuple

from grandstand.apps.cricket.domain.match_events import ALERTING, EventKind, MatchEvent, Thresholds
from grandstand.apps.cricket.domain.matches import (
    NOT_STARTED,
    Ball,
    BattingLine,
    BowlingLine,
    InningsScore,
    MatchPhase,
    MatchSnapshot,
)

MAX_BALLS: Final = 30
MAX_NOTE_CHARS: Final = 80


@dataclass(frozen=True, slots=True)
class DetectionMemory:
    """What was reported of a match and cannot be read from the last figures.

    The first fields belong to `inning` and are reset with the next one: the overs reported,
    where each wicket fell (legal balls, by player), the batters who came in, and `peaks`, the
    highest value of a figure that a correction has lowered since (`b12` runs of batter 12,
    `w34` wickets of bowler 34). `in_a_row` counts runs of balls: `h34` wickets in a row of
    bowler 34, `x12` sixes in a row of batter 12, `f12` while batter 12 is on fire. `retracted`
    are deleted balls.
    """

    inning: int = 1
    overs_done: int = 0
    fallen: dict[str, int] = field(default_factory=dict)
    batters_in: tuple[int, ...] = ()
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
    """What the last tick saw of a match; the next tick is compared with it.

    Batting and bowling are those of the innings in `memory`. `seq` grows with each changed
    tick.
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
    memory: DetectionMemory = field(default_factory=DetectionMemory)
    seq: int = 0

    @property
    def figures(self) -> tuple[object, ...]:
        """Everything that depends on the match alone, not on how often it was polled."""
        return (
            self.status,
            self.phase,
            self.score,
            self.batting,
            self.bowling,
            self.balls,
            self.memory,
        )


# A wrong ball is put right within some ten seconds: eight balls are more than enough.
_CHECKED_BALLS: Final = 8


class BallChanges(NamedTuple):
    """New balls, corrections of known ones, and the latest 30."""

    new: tuple[Ball, ...]
    latest: tuple[Ball, ...]
    changed: tuple[tuple[Ball, Ball], ...] = ()
    deleted: tuple[Ball, ...] = ()


def compare_balls(previous: MatchState, balls: tuple[Ball, ...]) -> BallChanges:
    """Compare the feed's balls, ordered by id, with the known ones.

    An empty list means that the feed left the balls out. The work is bounded by the number of
    new balls.
    """
    known = previous.balls[-_CHECKED_BALLS:]
    if not balls:
        return BallChanges((), previous.balls)
    watermark = -1 if previous.ball_id is None else previous.ball_id
    start = len(balls)
    while start and balls[start - 1].id > watermark:
        start -= 1
    new, before = balls[start:], balls[max(0, start - len(known)) : start]
    whole = not known or len(balls) >= MAX_BALLS or balls[0].id <= previous.balls[0].id
    if whole and before == known:
        return BallChanges(new, balls[-MAX_BALLS:])
    return _corrected(previous.balls, known, balls, start)


def _corrected(
    kept: tuple[Ball, ...], known: tuple[Ball, ...], balls: tuple[Ball, ...], start: int
) -> BallChanges:
    present = {ball.id: ball for ball in balls[max(0, start - 2 * _CHECKED_BALLS) : start]}
    # A list that goes back to the first ball of the match leaves nothing out before it.
    whole = balls[0].inning == 1 and balls[0].position == 1
    first = 0 if whole else balls[0].id
    changed, deleted = [], []
    for ball in known:
        now = present.get(ball.id)
        if now is None and ball.id >= first:
            deleted.append(ball)
        elif now is not None and now != ball:
            changed.append((ball, now))
    earlier = tuple(ball for ball in kept if ball.id < first)
    latest = (*earlier, *balls[-MAX_BALLS:])[-MAX_BALLS:]
    return BallChanges(balls[start:], latest, tuple(changed), tuple(deleted))


class ReportedFacts:
    """What was already reported of the match as a whole; detection updates it."""

    __slots__ = ("ended", "innings_ended", "note", "revision", "started", "super_overs", "tossed")

    def __init__(self, memory: DetectionMemory) -> None:
        self.innings_ended = memory.innings_ended
        self.super_overs = memory.super_overs
        self.started = memory.started
        self.ended = memory.ended
        self.tossed = memory.tossed
        self.revision = memory.revision
        self.note = memory.note

    def matches(self, memory: DetectionMemory) -> bool:
        return (
            self.note == memory.note
            and self.innings_ended == memory.innings_ended
            and self.super_overs == memory.super_overs
            and self.started == memory.started
            and self.ended == memory.ended
            and self.tossed == memory.tossed
            and self.revision == memory.revision
        )


class Tick:
    """The working state of one comparison; detection functions record events on it."""

    __slots__ = (
        "batters_in",
        "changes",
        "events",
        "fallen",
        "in_a_row",
        "inning",
        "known",
        "overs_done",
        "peaks",
        "previous",
        "reported",
        "resync",
        "retracted",
        "snapshot",
        "thresholds",
    )

    def __init__(
        self,
        previous: MatchState,
        snapshot: MatchSnapshot,
        changes: BallChanges,
        thresholds: Thresholds,
    ) -> None:
        memory = previous.memory
        self.previous = previous
        self.snapshot = snapshot
        self.changes = changes
        self.known = previous.balls
        self.thresholds = thresholds
        self.events: list[MatchEvent] = []
        self.resync = bool(changes.changed or changes.deleted)
        self.inning = memory.inning
        self.overs_done = memory.overs_done
        self.fallen = dict(memory.fallen)
        self.batters_in = list(memory.batters_in)
        self.peaks = dict(memory.peaks)
        self.in_a_row = dict(memory.in_a_row)
        self.retracted = list(memory.retracted)
        self.reported = ReportedFacts(memory)

    def enter(self, inning: int) -> None:
        """Move to the next innings and reset what belonged to the last one.

        A bowler's wickets in a row continue, because a hat-trick may span two innings.
        """
        self.inning = inning
        self.overs_done = 0
        self.fallen = {}
        self.batters_in = []
        self.peaks = {}
        self.in_a_row = {name: n for name, n in self.in_a_row.items() if name.startswith("h")}

    def record(
        self,
        kind: EventKind,
        key: str,
        text: str,
        *,
        ball: Ball | None = None,
        position: int | None = None,
        player_id: int | None = None,
        value: int | None = None,
        alert: bool = True,
        inning: int | None = None,
    ) -> None:
        """Record an event, in the current innings unless `inning` is given."""
        if position is None:
            position = ball.position if ball else self.position
        self.events.append(
            MatchEvent(
                kind=kind,
                key=f"{kind}:{key}" if key else kind,
                text=text,
                inning=inning or self.inning,
                position=position,
                ball_id=ball.id if ball else None,
                player_id=player_id,
                value=value,
                alert=alert and kind in ALERTING,
            )
        )

    @property
    def position(self) -> int:
        """The legal balls bowled in the innings."""
        score = self.snapshot.score_of(self.inning)
        return score.position if score else 0

    @property
    def standing(self) -> str:
        """The innings in short: AUS 94-4 (12.3)."""
        score = self.snapshot.score_of(self.inning)
        if score is None:
            return ""
        side = self.snapshot.side(score.team_id)
        code = (side.code or side.name) if side else ""
        return f"{code} {score.score}-{score.wickets} ({score.overs})".strip()

    def batter(self, player_id: int | None) -> str:
        """Return a batter's name, or "The batter"."""
        return self.snapshot.player(player_id) or "The batter"

    def bowler(self, player_id: int | None) -> str:
        """Return a bowler's name, or "The bowler"."""
        return self.snapshot.player(player_id) or "The bowler"

    def memory(self) -> DetectionMemory:
        """Return the memory to store; the same object if nothing changed."""
        known, reported = self.previous.memory, self.reported
        if (
            self.in_a_row == known.in_a_row
            and self.overs_done == known.overs_done
            and self.inning == known.inning
            and self.fallen == known.fallen
            and self.peaks == known.peaks
            and len(self.batters_in) == len(known.batters_in)
            and not (self.retracted or known.retracted)
            and reported.matches(known)
        ):
            return known
        return DetectionMemory(
            self.inning,
            self.overs_done,
            self.fallen,
            tuple(self.batters_in),
            self.peaks,
            self.in_a_row,
            tuple(self.retracted),
            reported.innings_ended,
            reported.super_overs,
            reported.started,
            reported.ended,
            reported.tossed,
            reported.revision,
            reported.note,
        )
