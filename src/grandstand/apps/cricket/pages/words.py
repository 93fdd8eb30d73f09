"""Kept here: how scores, statuses and events are written for people."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from grandstand.apps.cricket.model import EventKind, FilterReason, InningsScore, Side

_ALL_OUT: Final = 10

KINDS: Final[dict[EventKind, str]] = {
    "match_end": "Match over",
    "innings_end": "Innings over",
    "hattrick": "Hat-trick",
    "super_over_start": "Super over",
    "wicket": "Wicket",
    "hundred": "Hundred",
    "fifty": "Fifty",
    "bowler_on_fire": "Bowler on fire",
    "on_hattrick": "On a hat-trick",
    "rain_delay": "Play held up",
    "play_resumed": "Play goes on",
    "target_revised": "Target revised",
    "toss": "Toss",
    "match_start": "Match begins",
    "consecutive_sixes": "Sixes in a row",
    "batsman_on_90s": "In the nineties",
    "batsman_on_fire": "Batter on fire",
    "six": "Six",
    "four": "Four",
    "maiden": "Maiden over",
    "over_end": "Over done",
    "new_batsman": "New batter",
    "stumps": "Stumps",
    "lunch": "Lunch",
    "tea": "Tea",
    "dinner": "Dinner",
}
_REASONS: Final[dict[FilterReason, str]] = {
    "cooldown": "One like it was told shortly before",
    "stale": "The match had gone on when it was seen",
    "outranked": "Something more important came with it",
}
_STATUSES: Final = {
    "NS": "Not begun",
    "Int.": "Interrupted",
    "Aban.": "Abandoned",
    "Cancl.": "Cancelled",
    "Postp.": "Postponed",
}
_ENDS: Final = {
    "match_ended": "the match is over",
    "unfollowed": "you unfollowed",
    "dismissed": "dismissed on the phone",
    "token_invalid": "the phone no longer takes it",
}


def kind_name(kind: EventKind) -> str:
    """Name a kind of event."""
    return KINDS[kind]


def reason_of(filtered: FilterReason) -> str:
    """Say why an event was not told."""
    return _REASONS[filtered]


def end_of(reason: str | None) -> str:
    """Say why an activity ended."""
    return _ENDS.get(reason or "", "")


def status_name(status: str) -> str:
    """Write the feed's status out in full."""
    return _STATUSES.get(status, status)


def side_name(side: Side) -> str:
    """Name a team."""
    return side.name or side.code or "To be decided"


def side_code(side: Side) -> str:
    """Name a team in three letters or so."""
    return side.code or side.name[:3].upper() or "?"


def innings_of(innings: Iterable[InningsScore], side: Side) -> tuple[InningsScore, ...]:
    """Answer the innings of a team in order."""
    return tuple(each for each in innings if each.team_id == side.team_id)


def written_score(score: InningsScore) -> str:
    """Write an innings as people say it: 142/4, or 142 when all are out."""
    return str(score.score) if score.wickets >= _ALL_OUT else f"{score.score}/{score.wickets}"
