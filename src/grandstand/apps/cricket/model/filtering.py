"""Kept here: which event of a tick is told, and why the others are not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from grandstand.apps.cricket.model.events.kinds import Detected, EventKind
from grandstand.apps.cricket.model.events.thresholds import Thresholds
from grandstand.apps.cricket.model.scores import BattingLine, Fixture

_OF_THE_MATCH: Final[frozenset[EventKind]] = frozenset(
    {
        "match_end",
        "innings_end",
        "super_over_start",
        "rain_delay",
        "play_resumed",
        "target_revised",
        "toss",
        "match_start",
        "stumps",
        "lunch",
        "tea",
        "dinner",
    }
)
_ROUTINE: Final[frozenset[EventKind]] = frozenset(
    {"consecutive_sixes", "six", "four", "maiden", "over_end"}
)
_OF_BATTERS_IN: Final[frozenset[EventKind]] = frozenset(
    {"batsman_on_90s", "batsman_on_fire", "consecutive_sixes", "new_batsman"}
)
_PER_PLAYER: Final[frozenset[EventKind]] = frozenset({"on_hattrick", "batsman_on_fire"})


class Filtered(NamedTuple):
    """The events of a tick, each with the reason it was held back, if it was.

    `cooldowns` are those that still run, with the key event's own.
    """

    events: tuple[Detected, ...]
    key_event: Detected | None
    cooldowns: dict[str, datetime]


def filter_events(
    events: Sequence[Detected],
    fixture: Fixture,
    inning: int,
    cooldowns: Mapping[str, datetime],
    *,
    now: datetime,
    thresholds: Thresholds,
) -> Filtered:
    """Choose the event that is told: fresh, not cooling down, of the best rank, and the latest."""
    running = {name: until for name, until in cooldowns.items() if until > now} if cooldowns else {}
    if not events:
        return Filtered((), None, running)
    checked = [_checked(event, fixture, inning, running, thresholds) for event in events]
    passed = [event for event in checked if event.filtered is None]
    if not passed:
        return Filtered(tuple(checked), None, running)
    chosen = passed[0] if len(passed) == 1 else min(passed, key=_rank)
    length = thresholds.cooldown_seconds.get(chosen.kind, 0)
    if length:
        running[cooldown_key(chosen)] = now + timedelta(seconds=length)
    if len(checked) == 1:
        return Filtered((chosen,), chosen, running)
    told = tuple(
        event if event is chosen or event.filtered else replace(event, filtered="outranked")
        for event in checked
    )
    return Filtered(told, chosen, running)


def _checked(
    event: Detected,
    fixture: Fixture,
    inning: int,
    running: Mapping[str, datetime],
    rules: Thresholds,
) -> Detected:
    if _is_stale(event, fixture, inning, rules):
        return replace(event, filtered="stale")
    if running and cooldown_key(event) in running:
        return replace(event, filtered="cooldown")
    return event


def _rank(event: Detected) -> tuple[int, int, int]:
    return event.priority, -event.inning, -event.position


def cooldown_key(event: Detected) -> str:
    """Answer what an event shares its cooldown with: its kind, or its kind and player."""
    return f"{event.kind}:{event.player_id}" if event.kind in _PER_PLAYER else event.kind


def _is_stale(event: Detected, fixture: Fixture, inning: int, rules: Thresholds) -> bool:
    """Tell whether the match has gone on beyond an event."""
    if event.kind in _OF_THE_MATCH:
        return False
    score = fixture.score_of(inning)
    if event.inning != inning or score is None:
        return True
    limit = rules.stale_balls if event.kind in _ROUTINE else rules.old_balls
    if score.position - event.position > limit:
        return True
    if event.kind == "on_hattrick":
        return _bowled_since(event, fixture)
    if event.kind == "bowler_on_fire":
        return _bowler_went_on(event, fixture, rules)
    line = _line_of(event, fixture)
    return line is not None and _batter_went_on(event, line, rules)


def _bowled_since(event: Detected, fixture: Fixture) -> bool:
    for ball in reversed(fixture.balls):
        if ball.bowler_id == event.player_id:
            return ball.id != event.ball_id
    return False


def _bowler_went_on(event: Detected, fixture: Fixture, rules: Thresholds) -> bool:
    board = fixture.board_of(event.inning)
    wickets = next(
        (
            line.wickets
            for line in (board.bowling if board else ())
            if line.player_id == event.player_id
        ),
        0,
    )
    return any((event.value or 0) < mark <= wickets for mark in rules.wickets)


def _line_of(event: Detected, fixture: Fixture) -> BattingLine | None:
    board = fixture.board_of(event.inning)
    if board is None or event.player_id is None:
        return None
    return next((line for line in board.batting if line.player_id == event.player_id), None)


def _batter_went_on(event: Detected, line: BattingLine, rules: Thresholds) -> bool:
    if event.kind in _OF_BATTERS_IN and line.out:
        return True
    if event.kind in {"fifty", "batsman_on_90s"}:
        return line.score >= rules.hundreds[0]
    if event.kind == "hundred":
        return any((event.value or 0) < mark <= line.score for mark in rules.hundreds)
    return False
