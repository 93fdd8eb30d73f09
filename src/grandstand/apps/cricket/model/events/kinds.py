"""Kept here: every kind of event, how it ranks, whom it wakes, and what an event says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

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


@dataclass(frozen=True, slots=True)
class Detected:
    """Something that happened; `key` names it within its match for ever.

    `position` counts legal balls of the innings. `value` is the threshold crossed, the over
    done, or how many in a row. `filtered` says why it is not the key event of its tick.
    """

    kind: EventKind
    key: str
    text: str
    inning: int
    position: int = 0
    ball_id: int | None = None
    player_id: int | None = None
    value: int | None = None
    alert: bool = False
    filtered: FilterReason | None = None

    @property
    def priority(self) -> int:
        """Its rank: the lowest number wins the tick."""
        return PRIORITIES[self.kind]
