"""Kept here: which events wake whom, in which words, and when a start is announced."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal, TypeAlias, cast

from grandstand.apps.cricket.model.errors import AlertKindUnknown
from grandstand.apps.cricket.model.events.kinds import ALERTING, EVENT_KINDS, Detected, EventKind
from grandstand.apps.cricket.model.scores import Fixture
from grandstand.apps.cricket.model.state import MatchState
from grandstand.apps.cricket.model.targets import inning_now

ApnsPriority: TypeAlias = Literal[5, 10]

_TITLE_CHARS: Final = 60
_BODY_CHARS: Final = 140


@dataclass(frozen=True, slots=True)
class AlertChoice:
    """What one person wants to be alerted of; None is what alerts by itself."""

    kinds: frozenset[EventKind] | None = None
    muted: bool = False
    muted_until: datetime | None = None

    def silent(self, now: datetime) -> bool:
        """Tell whether nothing alerts this person now."""
        return self.muted or (self.muted_until is not None and now < self.muted_until)


@dataclass(frozen=True, slots=True)
class Alert:
    """What an alert says."""

    title: str
    body: str
    sound: str = "default"


def check_kinds(names: Iterable[str]) -> frozenset[EventKind]:
    """Answer kinds of events by their names; raise AlertKindUnknown for one there is not."""
    given = frozenset(names)
    unknown = sorted(given.difference(EVENT_KINDS))
    if unknown:
        message = f"There is no event {unknown[0][:40]!r}; there are: {', '.join(EVENT_KINDS)}"
        raise AlertKindUnknown(message)
    return cast("frozenset[EventKind]", given)


def wakes(choice: AlertChoice, event: Detected | None, now: datetime) -> bool:
    """Tell whether an event alerts a person."""
    if event is None or event.filtered or choice.silent(now):
        return False
    if choice.kinds is None:
        return event.alert
    # A bowler's third wicket is not worth waking anybody, whoever asked for bowlers.
    return event.kind in choice.kinds and (event.alert or event.kind not in ALERTING)


def still_holds(event: Detected, state: MatchState) -> bool:
    """Tell whether an event is still true by a later state, for who waits before alerting.

    What the state no longer reaches back to is taken for true.
    """
    if event.inning != state.memory.inning:
        return True
    if event.kind in {"fifty", "hundred", "batsman_on_90s", "wicket"}:
        return _holds_for_batter(event, state)
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


def _holds_for_batter(event: Detected, state: MatchState) -> bool:
    batted = [line for line in state.batting if line.player_id == event.player_id]
    if event.kind == "wicket":
        return all(line.out for line in batted)
    return all(line.score >= (event.value or 0) for line in batted)


def apns_priority(*, alerts: bool) -> ApnsPriority:
    """Answer how urgent a push is: 10 is budgeted by the hour, 5 is not."""
    return 10 if alerts else 5


def alert_of(event: Detected, fixture: Fixture) -> Alert:
    """Answer what an alert says: the match and how it stands above, what happened below."""
    home, away = fixture.home, fixture.away
    title = f"{home.code or home.name} v {away.code or away.name}"
    score = fixture.score_of(inning_now(fixture))
    side = fixture.side(score.team_id) if score else None
    if score and side:
        title = f"{title}: {side.code or side.name} {score.score}-{score.wickets}"
    return Alert(title[:_TITLE_CHARS], event.text[:_BODY_CHARS])


def announcement_due(
    starts: datetime,
    now: datetime,
    announced_for: datetime | None,
    *,
    ahead: timedelta = timedelta(minutes=30),
) -> bool:
    """Tell whether a follower is told that a match begins soon.

    Once, and again when the start has moved by more than half an hour since it was announced.
    """
    if not starts - ahead <= now < starts:
        return False
    return announced_for is None or abs(starts - announced_for) > timedelta(minutes=30)
