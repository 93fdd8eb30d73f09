"""Labels of scores, statuses, teams and events."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from grandstand.apps.cricket.domain.match_events import EventKind, FilterReason
from grandstand.apps.cricket.domain.matches import InningsScore, Side

_ALL_OUT: Final = 10

EVENT_LABELS: Final[dict[EventKind, str]] = {
    "match_end": "Match over",
    "innings_end": "Innings over",
    "hattrick": "Hat-trick",
    "super_over_start": "Super over",
    "wicket": "Wicket",
    "hundred": "Hundred",
    "fifty": "Fifty",
    "bowler_on_fire": "Bowler on fire",
    "on_hattrick": "On a hat-trick",
    "rain_delay": "Play delayed",
    "play_resumed": "Play resumed",
    "target_revised": "Target revised",
    "toss": "Toss",
    "match_start": "Match start",
    "consecutive_sixes": "Consecutive sixes",
    "batsman_on_90s": "In the nineties",
    "batsman_on_fire": "Batter on fire",
    "six": "Six",
    "four": "Four",
    "maiden": "Maiden over",
    "over_end": "End of over",
    "new_batsman": "New batter",
    "stumps": "Stumps",
    "lunch": "Lunch",
    "tea": "Tea",
    "dinner": "Dinner",
}
_FILTER_REASONS: Final[dict[FilterReason, str]] = {
    "cooldown": "a similar event was pushed shortly before",
    "stale": "the match had moved on",
    "outranked": "a more important event happened at the same time",
}
_STATUSES: Final = {
    "NS": "Not started",
    "Int.": "Interrupted",
    "Aban.": "Abandoned",
    "Cancl.": "Canceled",
    "Postp.": "Postponed",
}
_END_REASONS: Final = {
    "match_ended": "match over",
    "unfollowed": "unfollowed",
    "dismissed": "dismissed on the phone",
    "token_invalid": "token no longer valid",
}


def event_label(kind: EventKind) -> str:
    return EVENT_LABELS[kind]


def filter_label(reason: FilterReason) -> str:
    """Return why an event was not pushed."""
    return _FILTER_REASONS[reason]


def end_reason_label(reason: str | None) -> str:
    return _END_REASONS.get(reason or "", "")


def status_label(status: str) -> str:
    """Return the feed's status in full."""
    return _STATUSES.get(status, status)


def team_name(side: Side) -> str:
    return side.name or side.code or "TBD"


def team_code(side: Side) -> str:
    return side.code or side.name[:3].upper() or "?"


def team_innings(innings: Iterable[InningsScore], side: Side) -> tuple[InningsScore, ...]:
    """Return the innings of a team in order."""
    return tuple(score for score in innings if score.team_id == side.team_id)


def format_score(score: InningsScore) -> str:
    """Return a score such as 142/4, or 142 if all are out."""
    return str(score.score) if score.wickets >= _ALL_OUT else f"{score.score}/{score.wickets}"


TEMPLATE_FUNCTIONS: Final[dict[str, Any]] = {
    "event_label": event_label,
    "filter_label": filter_label,
    "format_score": format_score,
    "status_label": status_label,
    "team_code": team_code,
    "team_innings": team_innings,
    "team_name": team_name,
}
"""The functions that every template may call."""
