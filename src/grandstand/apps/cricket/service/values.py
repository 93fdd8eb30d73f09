"""Kept here: what the service is given, and what it answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from grandstand.apps.cricket.model import Fixture as Scores
from grandstand.apps.cricket.model import InningsScore, MatchPhase, Side
from grandstand.apps.cricket.store import LiveActivity, LoggedEvent, MatchFollow
from grandstand.wire.web import SourceStatus

MatchFilter: TypeAlias = Literal["upcoming", "live", "completed"]


@dataclass(frozen=True, slots=True)
class MatchView:
    """A match as lists show it; `polled` says that we look at it now.

    `innings` is how it stands, as far as it was told; `updated_at` is when that was.
    """

    match_id: str
    league_id: str
    league_code: str
    league_name: str
    season_id: str
    home: Side
    away: Side
    starts_at: datetime
    ends_at: datetime | None
    format: str
    round: str
    venue: str
    status: str
    phase: MatchPhase
    note: str
    innings: tuple[InningsScore, ...] = ()
    polled: bool = False
    updated_at: datetime | None = None
    archived_at: datetime | None = None

    @property
    def stage(self) -> MatchFilter:
        """Where it belongs in a list."""
        if self.phase == "ended":
            return "completed"
        return "upcoming" if self.phase == "prematch" else "live"


@dataclass(frozen=True, slots=True)
class MatchPage:
    """Matches in the order of their starts; `position` leads to the next page, None at the end."""

    matches: tuple[MatchView, ...]
    position: str | None = None


@dataclass(frozen=True, slots=True)
class Scorecard:
    """All figures of a match: every innings, every line, every ball, as the feed had it then."""

    scores: Scores
    as_of: datetime


@dataclass(frozen=True, slots=True)
class EventPage:
    """What was detected in a match, newest first; `position` leads on, None at the end."""

    events: tuple[LoggedEvent, ...]
    position: str | None = None


@dataclass(frozen=True, slots=True)
class DisplayView:
    """What a lock screen shows of a match to who is for a team; `state` is what is pushed."""

    match_id: str
    team_id: str
    state: Mapping[str, object]
    computed_at: datetime


@dataclass(frozen=True, slots=True)
class DeviceGiven:
    """What a device tells of itself when it registers."""

    device_token: str
    device_id: str
    platform: str = "ios"
    os_version: str = ""
    app_version: str = ""


@dataclass(frozen=True, slots=True)
class AlertsGiven:
    """What a person wants to be alerted of; no kinds mean those that alert by themselves."""

    kinds: tuple[str, ...] | None = None
    muted: bool = False
    muted_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Followed:
    """A follow, and what a lock screen would show now, if the match is on."""

    follow: MatchFollow
    display: DisplayView | None
    activities: tuple[LiveActivity, ...] = ()


@dataclass(frozen=True, slots=True)
class Synced:
    """What a sync found and what of it was new or changed."""

    found: int
    written: int
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ticked:
    """What came of a tick: nothing new, something new, or somebody else's match by now."""

    match_id: str
    outcome: Literal["unchanged", "changed", "busy", "lost", "registered"]
    seq: int = 0
    events: tuple[str, ...] = ()
    key_event: str | None = None


@dataclass(frozen=True, slots=True)
class Polled:
    """What a look at the live list came to, and when the next one is due."""

    ticks: tuple[Ticked, ...]
    next_seconds: float
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Orchestrated:
    """What a round of the orchestrator did."""

    registered: tuple[str, ...] = ()
    taken_over: tuple[str, ...] = ()
    announced: int = 0
    starts: int = 0
    restarts: int = 0
    heartbeats: int = 0
    closed: tuple[str, ...] = ()

    @property
    def text(self) -> str | None:
        """What was done in a sentence; None when there was nothing to do."""
        told = {
            "matches registered": len(self.registered),
            "taken over": len(self.taken_over),
            "announcements": self.announced,
            "starts": self.starts,
            "restarts": self.restarts,
            "heartbeats": self.heartbeats,
            "matches closed": len(self.closed),
        }
        said = [f"{count} {what}" for what, count in told.items() if count]
        return ", ".join(said) or None


@dataclass(frozen=True, slots=True)
class Lags:
    """How long the newest news of a match took, stage by stage; None where it has not come so far.

    `feed` is from the question to its answer, `tick` until it was compared and written as a row,
    `outbox` until somebody began to tell it, and `push` until the last phone was told.
    """

    feed_seconds: float | None = None
    tick_seconds: float | None = None
    outbox_seconds: float | None = None
    push_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class LastPush:
    """How the newest push of a match went."""

    at: datetime
    pushed: int
    rejected: int
    alerted: int


@dataclass(frozen=True, slots=True)
class HubMatch:
    """One match being polled, as administrators see it."""

    match_id: str
    title: str
    status: str
    phase: MatchPhase
    owner: str
    epoch: int
    seq: int
    last_tick_at: datetime | None
    lag_seconds: float | None
    sessions: Mapping[str, int]
    lags: Lags = Lags()
    last_push: LastPush | None = None
    channel_id: str | None = None


@dataclass(frozen=True, slots=True)
class HubView:
    """Everything administrators look at; the rate of pushes is that of this instance."""

    at: datetime
    matches: tuple[HubMatch, ...]
    feed: tuple[SourceStatus, ...]
    pushing: bool
    waiting: Mapping[str, int]
    pushes_per_second: float
    pushed: int
    rejected: int
