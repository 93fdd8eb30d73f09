"""Kept here: one tick of a match: what was kept and what the feed says now, into what happened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from operator import attrgetter
from typing import Final, NamedTuple

from grandstand.apps.cricket.model.events.balls import ball_events, resync_balls, trail_of
from grandstand.apps.cricket.model.events.corrections import Heard, hear
from grandstand.apps.cricket.model.events.figures import figure_events, score_events
from grandstand.apps.cricket.model.events.kinds import Detected
from grandstand.apps.cricket.model.events.match import fact_events
from grandstand.apps.cricket.model.events.thresholds import Thresholds
from grandstand.apps.cricket.model.events.tick import Tick
from grandstand.apps.cricket.model.filtering import filter_events
from grandstand.apps.cricket.model.phases import phase_of
from grandstand.apps.cricket.model.scores import Ball, Board, Fixture
from grandstand.apps.cricket.model.state import MatchState
from grandstand.apps.cricket.model.targets import inning_now

_DEFAULT: Final = Thresholds()
_place: Final = attrgetter("inning", "position")


class Advance(NamedTuple):
    """What a tick came to: the state to keep, what happened, and which of it is told.

    A tick that is not `changed` needs no write but its time. `resync` says that the feed took
    something back. A match that was `joined` late has no events for what was before.
    """

    state: MatchState
    events: tuple[Detected, ...] = ()
    key_event: Detected | None = None
    changed: bool = False
    resync: bool = False
    joined: bool = False
    warnings: tuple[str, ...] = ()


def advance(
    previous: MatchState | None,
    current: Fixture,
    now: datetime,
    thresholds: Thresholds = _DEFAULT,
) -> Advance:
    """Compare what a match was with what it is; nothing known before means it is first seen.

    Every milestone is found once, however many balls lie between two ticks, and a correction is
    taken in without telling anything twice.
    """
    if previous is None:
        first = _step(MatchState(current.match_id), current, now, thresholds)
        return _joined(first) if _is_late(current, thresholds) else first._replace(changed=True)
    return _step(previous, current, now, thresholds)


def _is_late(current: Fixture, thresholds: Thresholds) -> bool:
    score = current.score_of(1)
    return (
        phase_of(current.status) == "ended"
        or inning_now(current) > 1
        or (score is not None and score.position > thresholds.join_balls)
    )


def _joined(first: Advance) -> Advance:
    """Keep what was seen, and tell nothing of it."""
    return Advance(
        replace(first.state, cooldowns={}, seq=1),
        changed=True,
        joined=True,
        warnings=first.warnings,
    )


def _step(previous: MatchState, current: Fixture, now: datetime, thresholds: Thresholds) -> Advance:
    heard = hear(previous, current.balls)
    tick = Tick(previous, current, heard, thresholds)
    if tick.resync:
        resync_balls(tick)
    _walk(tick)
    fact_events(tick)
    phase = phase_of(current.status)
    warnings = () if phase else (f"unknown status {current.status[:40]!r}",)
    if not (tick.found or tick.resync or _differs(tick)):
        return Advance(previous, warnings=warnings)
    if len(tick.found) > 1:
        tick.found.sort(key=_place)
    filtered = filter_events(
        tick.found, current, tick.inning, previous.cooldowns, now=now, thresholds=thresholds
    )
    return Advance(
        _next_state(tick, filtered.cooldowns),
        filtered.events,
        filtered.key_event,
        changed=True,
        resync=tick.resync,
        warnings=warnings,
    )


def _walk(tick: Tick) -> None:
    """Go through the innings from the one last seen to the one played now."""
    last = max(tick.inning, inning_now(tick.fixture))
    for inning in range(tick.inning, last + 1):
        if inning != tick.inning:
            tick.enter(inning)
        _walk_innings(tick, inning, _balls_of(tick.heard, inning))


def _balls_of(heard: Heard, inning: int) -> Sequence[Ball]:
    new = heard.new
    if not new or (new[0].inning == inning and new[-1].inning == inning):
        return new
    return [ball for ball in new if ball.inning == inning]


def _walk_innings(tick: Tick, inning: int, balls: Sequence[Ball]) -> None:
    board = tick.fixture.board_of(inning) or Board(inning)
    trail = trail_of(balls, board.batting) if balls else {}
    if balls:
        ball_events(tick, balls, trail)
    figure_events(tick, board, balls, trail)
    score = tick.fixture.score_of(inning)
    if score is not None:
        known = inning == tick.previous.memory.inning and (
            tick.previous.batting or tick.previous.balls
        )
        score_events(tick, score, told_otherwise=bool(board.batting or balls or known))


def _differs(tick: Tick) -> bool:
    """Tell whether there is anything new, though nothing happened that has a name."""
    if tick.heard.new:
        return True
    previous, current = tick.previous, tick.fixture
    board = current.board_of(tick.inning)
    return bool(
        previous.status != current.status
        or previous.memory.note != tick.told.note
        or (current.innings and previous.score != current.innings)
        or (board and board.batting and previous.batting != board.batting)
        or (board and board.bowling and previous.bowling != board.bowling)
    )


def _next_state(tick: Tick, cooldowns: dict[str, datetime]) -> MatchState:
    """Answer the state to keep; what the feed left out this time stays as it was."""
    previous, current, latest = tick.previous, tick.fixture, tick.heard.latest
    kept = previous if previous.memory.inning == tick.inning else None
    board = current.board_of(tick.inning) or Board(tick.inning)
    return MatchState(
        current.match_id,
        current.status,
        phase_of(current.status) or previous.phase,
        current.innings or previous.score,
        board.batting or (kept.batting if kept else ()),
        board.bowling or (kept.bowling if kept else ()),
        latest,
        max(latest[-1].id, previous.ball_id or 0) if latest else previous.ball_id,
        cooldowns,
        tick.memory(),
        previous.seq + 1,
    )
