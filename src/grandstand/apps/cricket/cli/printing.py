"""Kept here: how matches and events look at a terminal of any width."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.console import Console
from rich.markup import escape

from grandstand.apps.cricket.model import Detected, FilterReason, Side
from grandstand.apps.cricket.model.replays import Look
from grandstand.apps.cricket.service import LoggedEvent, MatchView
from grandstand.kit.terminal import Column, Line, print_grid

NONE: Final = "–"
_WHY: Final[dict[FilterReason, str]] = {
    "cooldown": "like one before",
    "stale": "came too late",
    "outranked": "outranked",
}


_MATCHES: Final = (
    Column("match"),
    Column("start (UTC)", from_width=60),
    Column("teams"),
    Column("score"),
    Column("status", from_width=70),
    Column("league", from_width=110),
)
_EVENTS: Final = (
    Column("at (UTC)", from_width=60),
    Column("over", right=True),
    Column("event"),
    Column("what happened"),
    Column("told", from_width=70),
)


def print_matches(to: Console, matches: Sequence[MatchView]) -> None:
    """Print matches by their start, those that are on in bold."""
    if not matches:
        to.print("No match is known for these days: `grandstand cricket sync` reads the list.")
        return
    lines = [
        Line(
            (
                each.match_id,
                f"{each.starts_at:%d %b %H:%M}",
                f"{_name(each.home)} v {_name(each.away)}",
                score_text(each),
                each.status,
                each.league_name or each.league_code,
            ),
            "bold" if each.stage == "live" else ("dim" if each.stage == "completed" else ""),
        )
        for each in matches
    ]
    print_grid(to, _MATCHES, lines)


def print_events(to: Console, events: Sequence[LoggedEvent]) -> None:
    """Print what was detected, the newest last, as one reads a terminal."""
    if not events:
        to.print("Nothing was detected in this match yet.")
        return
    lines = [
        Line(
            (
                f"{event.at:%d %b %H:%M:%S}",
                over_of(event.inning, event.position),
                event.kind,
                event.text,
                fate_of(event.filtered, alert=event.alert),
            ),
            "dim" if event.filtered else "",
        )
        for event in reversed(events)
    ]
    print_grid(to, _EVENTS, lines)


def print_look(to: Console, look: Look, *, filtered: bool) -> int:
    """Print what a look found; answer how many events that were."""
    shown = [event for event in look.events if filtered or not event.filtered]
    for event in shown:
        place = over_of(event.inning, event.position)
        fate = fate_of(event.filtered, alert=event.alert)
        text = f"{place:>8}  {event.kind:<18} {event.text}"
        line = f"{text}  [{fate}]" if filtered else text
        to.print(escape(line), style="dim" if event.filtered else None, soft_wrap=True)
    return len(shown)


def plain_event(match_id: str, event: Detected) -> dict[str, object]:
    """Answer an event of a replay for programs."""
    return {
        "matchId": match_id,
        "kind": event.kind,
        "key": event.key,
        "text": event.text,
        "inning": event.inning,
        "position": event.position,
        "priority": event.priority,
        "alert": event.alert,
        "filtered": event.filtered,
    }


def over_of(inning: int, position: int) -> str:
    """Write a place in a match: the innings, the over and the ball in it."""
    if not position:
        return f"{inning}/0.0"
    over, ball = divmod(position - 1, 6)
    return f"{inning}/{over}.{ball + 1}"


def fate_of(filtered: FilterReason | None, *, alert: bool) -> str:
    """Say in a word or two whether something was told, or why not."""
    if filtered is not None:
        return _WHY[filtered]
    return "told, alerted" if alert else "told"


def score_text(match: MatchView) -> str:
    """Write how a match stands in one line."""
    parts = [
        f"{_code(match, each.team_id)} {each.score}/{each.wickets} ({each.overs})"
        for each in match.innings
    ]
    return ", ".join(parts) or NONE


def _name(side: Side) -> str:
    return side.name or side.code or "?"


def _code(match: MatchView, team_id: str) -> str:
    side = match.home if match.home.team_id == team_id else match.away
    return side.code or side.name[:3].upper()
