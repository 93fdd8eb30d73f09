"""Which events alert which users, and the texts of alerts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import cast

from grandstand.apps.cricket.domain.match_events import (
    ALERTING,
    EVENT_KINDS,
    EventKind,
    MatchEvent,
)
from grandstand.apps.cricket.domain.match_state import MatchState
from grandstand.apps.cricket.domain.matches import MatchSnapshot, current_inning
from grandstand.core.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class AlertPreferences:
    """A user's alert settings; `kinds` None means the default kinds."""

    kinds: tuple[EventKind, ...] | None = None
    muted: bool = False
    muted_until: datetime | None = None

    def is_muted(self, now: datetime) -> bool:
        return self.muted or (self.muted_until is not None and now < self.muted_until)


@dataclass(frozen=True, slots=True)
class Alert:
    """The text of an alert."""

    title: str
    body: str
    sound: str = "default"


def parse_event_kinds(names: Iterable[str]) -> tuple[EventKind, ...]:
    """Return event kinds by name, sorted. Raises InvalidInput for an unknown one."""
    given = sorted(set(names))
    unknown = [name for name in given if name not in EVENT_KINDS]
    if unknown:
        raise InvalidInput(
            f"Unknown event kind {unknown[0][:40]!r}. Known kinds: {', '.join(EVENT_KINDS)}."
        )
    return cast("tuple[EventKind, ...]", tuple(given))


def should_alert(preferences: AlertPreferences, event: MatchEvent | None, now: datetime) -> bool:
    """Return whether an event alerts a user with these preferences."""
    if event is None or event.filtered or preferences.is_muted(now):
        return False
    if preferences.kinds is None:
        return event.alert
    # A bowler's third wicket alerts nobody, not even users who chose bowler_on_fire.
    return event.kind in preferences.kinds and (event.alert or event.kind not in ALERTING)


def still_holds(event: MatchEvent, state: MatchState) -> bool:
    """Return whether a later state still confirms an event.

    Events that the state no longer covers count as confirmed.
    """
    if event.inning != state.memory.inning:
        return True
    if event.kind in {"fifty", "hundred", "batsman_on_90s", "wicket"}:
        batted = [line for line in state.batting if line.player_id == event.player_id]
        if event.kind == "wicket":
            return all(line.out for line in batted)
        return all(line.score >= (event.value or 0) for line in batted)
    if event.kind == "bowler_on_fire":
        bowled = [line for line in state.bowling if line.player_id == event.player_id]
        return all(line.wickets >= (event.value or 0) for line in bowled)
    if event.ball_id is None or not state.balls or event.ball_id < state.balls[0].id:
        return True
    ball = next((each for each in state.balls if each.id == event.ball_id), None)
    if ball is None:
        return False
    flags = {"hattrick": ball.credited, "on_hattrick": ball.credited, "six": ball.six}
    return {**flags, "four": ball.four, "consecutive_sixes": ball.six}.get(event.kind, True)


def build_alert(event: MatchEvent, snapshot: MatchSnapshot) -> Alert:
    """Return the alert for an event: the score as title, the event as body."""
    home, away = snapshot.home, snapshot.away
    title = f"{home.code or home.name} v {away.code or away.name}"
    score = snapshot.score_of(current_inning(snapshot))
    side = snapshot.side(score.team_id) if score else None
    if score and side:
        title = f"{title}: {side.code or side.name} {score.score}-{score.wickets}"
    return Alert(title[:60], event.text[:140])


def is_announcement_due(
    starts: datetime,
    now: datetime,
    announced_for: datetime | None,
    *,
    ahead: timedelta = timedelta(minutes=30),
) -> bool:
    """Return whether a follower is notified now that a match starts soon.

    Once, and again if the start moved by more than 30 minutes since.
    """
    if not starts - ahead <= now < starts:
        return False
    return announced_for is None or abs(starts - announced_for) > timedelta(minutes=30)
