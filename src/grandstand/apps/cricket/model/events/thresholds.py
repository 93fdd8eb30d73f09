"""Kept here: the numbers from which something is an event, and how soon it may be told again."""

from __future__ import annotations

from dataclasses import dataclass, field

from grandstand.apps.cricket.model.events.kinds import EventKind


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

    A batter is on fire from so many balls at such a strike rate, or with so many runs off the last
    few balls faced. A match that is first seen later than `join_balls` is joined in silence. What
    happens often is stale `stale_balls` later, anything else on the field `old_balls` later.
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
