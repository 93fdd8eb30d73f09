"""Kinds of match events, their thresholds and ranks, and the cooldown filter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, Literal, NamedTuple, TypeAlias, get_args

import msgspec
from msgspec.structs import replace

from grandstand.apps.cricket.domain.matches import BattingLine, MatchSnapshot

EventKind: TypeAlias = Literal[
    "match_end",
    "innings_end",
    "hattrick",
    "super_over_start",
    "wicket",
    "hundred",
    "fifty",
    "bowler_on_fire",
    "on_hattrick",
    "rain_delay",
    "play_resumed",
    "target_revised",
    "toss",
    "match_start",
    "consecutive_sixes",
    "batsman_on_90s",
    "batsman_on_fire",
    "six",
    "four",
    "maiden",
    "over_end",
    "new_batsman",
    "stumps",
    "lunch",
    "tea",
    "dinner",
]
FilterReason: TypeAlias = Literal["cooldown", "stale", "outranked"]

EVENT_KINDS: Final[tuple[EventKind, ...]] = get_args(EventKind)

PRIORITIES: Final[dict[EventKind, int]] = {
    "match_end": 1,
    "innings_end": 2,
    "hattrick": 3,
    "super_over_start": 4,
    "wicket": 5,
    "hundred": 6,
    "fifty": 7,
    "bowler_on_fire": 8,
    "on_hattrick": 9,
    "rain_delay": 10,
    "play_resumed": 10,
    "target_revised": 11,
    "toss": 12,
    "match_start": 13,
    "consecutive_sixes": 14,
    "batsman_on_90s": 15,
    "batsman_on_fire": 16,
    "six": 17,
    "four": 18,
    "maiden": 19,
    "over_end": 20,
    "new_batsman": 21,
    "stumps": 22,
    "lunch": 22,
    "tea": 22,
    "dinner": 22,
}

ALERTING: Final[frozenset[EventKind]] = frozenset(
    {
        "match_end",
        "innings_end",
        "hattrick",
        "super_over_start",
        "wicket",
        "hundred",
        "fifty",
        "bowler_on_fire",
        "rain_delay",
        "play_resumed",
        "target_revised",
        "toss",
        "match_start",
    }
)


class MatchEvent(msgspec.Struct, frozen=True):
    """An event of a match; `key` is unique and stable within the match.

    `position` counts the legal balls of the innings. `value` is the threshold crossed, the over
    completed, or the length of a run of balls. `filtered` is the reason why it is not the key
    event of its tick. The outbox stores events under the names given here.
    """

    kind: EventKind = msgspec.field(name="kind")
    key: str = msgspec.field(name="key")
    text: str = msgspec.field(name="text")
    inning: int = msgspec.field(name="inning")
    position: int = msgspec.field(name="position", default=0)
    ball_id: int | None = msgspec.field(name="ball_id", default=None)
    player_id: int | None = msgspec.field(name="player_id", default=None)
    value: int | None = msgspec.field(name="value", default=None)
    alert: bool = msgspec.field(name="alert", default=False)
    filtered: FilterReason | None = msgspec.field(name="filtered", default=None)

    @property
    def priority(self) -> int:
        """The rank; the event with the lowest number becomes the key event of a tick."""
        return PRIORITIES[self.kind]


def _cooldowns() -> dict[EventKind, int]:
    return {
        "on_hattrick": 300,
        "rain_delay": 600,
        "play_resumed": 600,
        "consecutive_sixes": 120,
        "batsman_on_fire": 600,
        "six": 20,
        "four": 20,
    }


@dataclass(frozen=True, slots=True)
class Thresholds:
    """What counts as an event.

    A batter is on fire after `fire_balls` at a strike rate of `fire_rate`, or with `fire_runs` off
    the last `fire_window` balls faced. A match first seen after `join_balls` reports no events for
    what was before. Routine events are stale after `stale_balls`, other ball events after
    `old_balls`.
    """

    fifty: int = 50
    nineties: int = 90
    hundreds: tuple[int, ...] = (100, 150, 200, 250, 300, 350, 400)
    wickets: tuple[int, ...] = (3, 5)
    alerting_wickets: int = 5
    sixes_in_a_row: int = 3
    fire_balls: int = 20
    fire_rate: int = 200
    fire_runs: int = 30
    fire_window: int = 12
    join_balls: int = 30
    stale_balls: int = 6
    old_balls: int = 30
    cooldown_seconds: dict[EventKind, int] = field(default_factory=_cooldowns)


_MATCH_EVENTS: Final[frozenset[EventKind]] = frozenset(
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
_ROUTINE_EVENTS: Final[frozenset[EventKind]] = frozenset(
    {"consecutive_sixes", "six", "four", "maiden", "over_end"}
)
_AT_CREASE_EVENTS: Final[frozenset[EventKind]] = frozenset(
    {"batsman_on_90s", "batsman_on_fire", "consecutive_sixes", "new_batsman"}
)
_PER_PLAYER_COOLDOWNS: Final[frozenset[EventKind]] = frozenset({"on_hattrick", "batsman_on_fire"})


class FilteredEvents(NamedTuple):
    """The events of a tick, each with the reason it was filtered, if it was.

    `cooldowns` are those still running, including the key event's own.
    """

    events: tuple[MatchEvent, ...]
    key_event: MatchEvent | None
    cooldowns: dict[str, datetime]


class CooldownFilter:
    """Selects the key event of a tick by staleness, running cooldowns and rank."""

    def __init__(self, thresholds: Thresholds) -> None:
        self._thresholds = thresholds

    def apply(
        self,
        events: Sequence[MatchEvent],
        snapshot: MatchSnapshot,
        inning: int,
        cooldowns: Mapping[str, datetime],
        *,
        now: datetime,
    ) -> FilteredEvents:
        """Return the events with their filter reasons; the latest of the best rank is the key."""
        running = {kind: until for kind, until in cooldowns.items() if until > now}
        checked = [self._check(event, snapshot, inning, running) for event in events]
        passed = [event for event in checked if event.filtered is None]
        if not passed:
            return FilteredEvents(tuple(checked), None, running)
        key_event = min(passed, key=lambda e: (e.priority, -e.inning, -e.position))
        seconds = self._thresholds.cooldown_seconds.get(key_event.kind, 0)
        if seconds:
            running[cooldown_key(key_event)] = now + timedelta(seconds=seconds)
        ranked = tuple(
            event if event is key_event or event.filtered else replace(event, filtered="outranked")
            for event in checked
        )
        return FilteredEvents(ranked, key_event, running)

    def _check(
        self,
        event: MatchEvent,
        snapshot: MatchSnapshot,
        inning: int,
        running: Mapping[str, datetime],
    ) -> MatchEvent:
        if _is_stale(event, snapshot, inning, self._thresholds):
            return replace(event, filtered="stale")
        if cooldown_key(event) in running:
            return replace(event, filtered="cooldown")
        return event


def cooldown_key(event: MatchEvent) -> str:
    """Return the key of the cooldown an event shares: its kind, for some kinds with the player."""
    return f"{event.kind}:{event.player_id}" if event.kind in _PER_PLAYER_COOLDOWNS else event.kind


def _is_stale(event: MatchEvent, snapshot: MatchSnapshot, inning: int, rules: Thresholds) -> bool:
    """Return whether the match has moved on since the event."""
    if event.kind in _MATCH_EVENTS:
        return False
    score = snapshot.score_of(inning)
    if event.inning != inning or score is None:
        return True
    limit = rules.stale_balls if event.kind in _ROUTINE_EVENTS else rules.old_balls
    if score.position - event.position > limit:
        return True
    if event.kind == "on_hattrick":
        bowled = (ball.id for ball in reversed(snapshot.balls) if ball.bowler_id == event.player_id)
        return next(bowled, event.ball_id) != event.ball_id
    board = snapshot.board_of(event.inning)
    if board is None or event.player_id is None:
        return False
    if event.kind == "bowler_on_fire":
        bowling = [line.wickets for line in board.bowling if line.player_id == event.player_id]
        return any((event.value or 0) < mark <= max(bowling, default=0) for mark in rules.wickets)
    line = next((line for line in board.batting if line.player_id == event.player_id), None)
    return line is not None and _batter_moved_on(event, line, rules)


def _batter_moved_on(event: MatchEvent, line: BattingLine, rules: Thresholds) -> bool:
    if event.kind in _AT_CREASE_EVENTS and line.out:
        return True
    if event.kind in {"fifty", "batsman_on_90s"}:
        return line.score >= rules.hundreds[0]
    if event.kind == "hundred":
        return any((event.value or 0) < mark <= line.score for mark in rules.hundreds)
    return False
