"""Parameters, request models and response records of the cricket routes."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Annotated, Any, Final, Literal, TypeVar

from fastapi import Path, Query
from pydantic import AfterValidator, Field

from grandstand.apps.cricket.domain.display import ball_symbol
from grandstand.apps.cricket.domain.errors import FeedNotConfigured
from grandstand.apps.cricket.domain.live_activities import EndReason, SessionStatus
from grandstand.apps.cricket.domain.match_events import EventKind, FilterReason
from grandstand.apps.cricket.domain.matches import (
    Ball,
    Board,
    InningsScore,
    MatchSnapshot,
    PlayAction,
    ReplayStatus,
)
from grandstand.apps.cricket.services.queries.admin import HubMatch
from grandstand.apps.cricket.services.queries.fixtures import DisplayView, Match, Scorecard
from grandstand.core.errors import GrandstandError, LimitReached, SourceFailed, Unavailable
from grandstand.kit.routes import WRITTEN, CamelModel

T = TypeVar("T")

FEED_ERRORS: Final[tuple[type[GrandstandError], ...]] = (
    FeedNotConfigured,
    SourceFailed,
    Unavailable,
    LimitReached,
)
"""The errors of routes that may request the score feed."""


def _to_utc(moment: datetime) -> datetime:
    """Return a time in UTC; without a zone it is taken as UTC."""
    if moment.tzinfo is None:
        return moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("The time is out of range.") from error


_CODE: Final = r"^[A-Za-z0-9-]{1,24}$"
_NUMBER: Final = r"^[0-9]{1,20}$"

UtcTime = Annotated[datetime, AfterValidator(_to_utc)]
MatchId = Annotated[str, Path(pattern=_NUMBER, examples=["69256"])]
ReplayId = Annotated[str, Path(pattern=_NUMBER, examples=["1001349"])]
TeamRef = Annotated[str, Path(pattern=_CODE, examples=["37"])]
SeasonRef = Annotated[str, Path(pattern=_NUMBER, examples=["1689"])]
LeagueRef = Annotated[str, Path(pattern=_CODE, examples=["3"])]
LeagueFilter = Annotated[str | None, Query(pattern=_CODE, description="League id or code.")]
From = Annotated[UtcTime | None, Query(alias="from", examples=["2026-11-16T00:00:00Z"]), WRITTEN]
To = Annotated[UtcTime | None, Query(alias="to", examples=["2026-11-23T00:00:00Z"]), WRITTEN]
Limit = Annotated[int, Query(ge=1, le=200, examples=[50])]
Cursor = Annotated[str | None, Query(max_length=4000)]
SupportedTeam = Annotated[
    str | None, Query(pattern=_CODE, description="Team the viewer supports.", alias="team")
]
DeviceIdQuery = Annotated[str | None, Query(alias="deviceId", min_length=1, max_length=128)]
DeviceTokenQuery = Annotated[str, Query(alias="deviceToken", min_length=1, max_length=1024)]
DeviceTokenPath = Annotated[str, Path(min_length=1, max_length=1024)]
EndpointQuery = Annotated[str, Query(min_length=1, max_length=2000)]

Name = Annotated[str, Field(min_length=1, max_length=120)]
Code = Annotated[str, Field(pattern=_CODE, examples=["BBL"])]
TeamId = Annotated[str, Field(pattern=_CODE, examples=["37"])]
Token = Annotated[
    str,
    Field(
        min_length=1, max_length=1024, examples=["00fc13adff785122b4ad28809a3420982341241421348"]
    ),
]
DeviceId = Annotated[
    str, Field(min_length=1, max_length=128, examples=["6F9619FF-8B86-D011-B42D-00CF4FC964FF"])
]
Version = Annotated[str, Field(max_length=64, examples=["18.1"])]
Secret = Annotated[str, Field(pattern=r"^[A-Za-z0-9_=-]{1,200}$")]


class LeagueChange(CamelModel):
    """The fields to change of a league."""

    name: Name | None = None
    code: Code | None = None
    active: bool | None = None


class TeamChange(CamelModel):
    """The fields to change of a team."""

    name: Name | None = None
    code: Code | None = None
    image_path: Annotated[str, Field(pattern=r"^https://[^\s]+$", max_length=300)] | None = None


class DeviceRequest(CamelModel):
    """A device; `deviceToken` receives plain notifications."""

    device_token: Token
    device_id: DeviceId
    platform: Literal["ios"] = "ios"
    os_version: Version = ""
    app_version: Version = ""


class PushToStartRequest(CamelModel):
    """The push-to-start token of a registered device."""

    device_token: Token
    push_to_start_token: Token


class FollowRequest(CamelModel):
    """The supported team; neutral if it is left out."""

    team_id: TeamId | None = None


class TeamRequest(CamelModel):
    """The supported team; `neutral` for none."""

    team_id: TeamId


class ActivityRequest(CamelModel):
    """The update token of a Live Activity."""

    device_id: DeviceId
    update_token: Token


class AlertsRequest(CamelModel):
    """Alert preferences; without `kinds` the default kinds alert."""

    kinds: Annotated[tuple[str, ...], Field(max_length=40)] | None = None
    muted: bool = False
    muted_until: UtcTime | None = None


class BrowserKeys(CamelModel):
    """The encryption keys of a subscription."""

    p256dh: Annotated[Secret, Field(alias="p256dh")]
    auth: Secret


class BrowserRequest(CamelModel):
    """A push subscription as the browser serializes it."""

    endpoint: Annotated[
        str, Field(min_length=1, max_length=2000, examples=["https://push.example.org/send/42"])
    ]
    expiration_time: float | None = None
    keys: BrowserKeys


class ReplayStartRequest(CamelModel):
    """A recording to replay."""

    recording: Annotated[str, Field(pattern=r"^[A-Za-z0-9:]{1,60}$", examples=["1001349"])]
    speed: Annotated[float, Field(gt=0, le=1000)] = 1.0
    starts_in_seconds: Annotated[float, Field(ge=0, le=86_400)] = 0.0


class ReplayControlRequest(CamelModel):
    """A command to a replay; seek takes the number of a ball."""

    action: PlayAction
    speed: Annotated[float, Field(gt=0, le=1000)] | None = None
    ball: Annotated[int, Field(ge=0, le=100_000)] | None = None


class LegacyActivityRequest(CamelModel):
    """The update token of a Live Activity, as older apps send it."""

    activity_token: Token
    device_id: DeviceId


class LegacyDismissedRequest(CamelModel):
    """The device on which a Live Activity was dismissed; all if it is left out."""

    device_id: DeviceId | None = None


class LegacyFollowRequest(CamelModel):
    """A match to follow; the device is ignored, because all devices are notified."""

    match_id: Annotated[str, Field(pattern=_NUMBER, examples=["69256"])]
    device_id: DeviceId | None = None
    team_id: TeamId | None = None


@dataclass(frozen=True, slots=True)
class MatchList:
    """Matches by start; `cursor` continues the list."""

    matches: tuple[Match, ...]
    cursor: str | None


@dataclass(frozen=True, slots=True)
class BattingFigures:
    """A batter's figures in an innings."""

    player_id: int
    name: str
    score: int
    balls: int
    fours: int
    sixes: int
    out: bool
    fall_score: int | None
    fall_overs: str | None


@dataclass(frozen=True, slots=True)
class BowlingFigures:
    """A bowler's figures in an innings."""

    player_id: int
    name: str
    overs: str
    maidens: int
    runs: int
    wickets: int


@dataclass(frozen=True, slots=True)
class InningsFigures:
    """The batting and bowling figures of an innings."""

    inning: int
    batting: tuple[BattingFigures, ...]
    bowling: tuple[BowlingFigures, ...]


@dataclass(frozen=True, slots=True)
class BallRecord:
    """A delivery; `mark` is the scorer's symbol."""

    id: int
    inning: int
    over: int
    number: int
    label: str
    mark: str
    batter_id: int
    bowler_id: int
    runs: int
    extras: int
    extra: Literal["wide", "noball", "bye", "legbye"] | None
    wicket: bool
    how: str | None


@dataclass(frozen=True, slots=True)
class ScorecardRecord:
    """All figures and balls of a match."""

    match_id: str
    status: str
    note: str
    as_of: datetime
    toss_team_id: str | None
    elected: str
    winner_team_id: str | None
    innings: tuple[InningsScore, ...]
    boards: tuple[InningsFigures, ...]
    balls: tuple[BallRecord, ...]
    players: dict[int, str]


@dataclass(frozen=True, slots=True)
class EventRecord:
    """A detected event; `filtered` is the reason why it was not pushed."""

    seq: int
    event_key: str
    kind: EventKind
    text: str
    inning: int
    position: int
    ball_id: int | None
    player_id: int | None
    value: int | None
    priority: int
    alert: bool
    filtered: FilterReason | None
    at: datetime


@dataclass(frozen=True, slots=True)
class EventList:
    """Detected events, newest first; `cursor` continues the list."""

    events: tuple[EventRecord, ...]
    cursor: str | None


@dataclass(frozen=True, slots=True)
class LeagueRecord:
    """A league; only active ones are synced and polled."""

    league_id: str
    name: str
    code: str
    active: bool
    season_id: str | None
    image_path: str | None


@dataclass(frozen=True, slots=True)
class LeagueList:
    """Leagues by name."""

    leagues: tuple[LeagueRecord, ...]


@dataclass(frozen=True, slots=True)
class TeamRecord:
    """A team."""

    team_id: str
    name: str
    code: str | None
    image_path: str | None
    national_team: bool | None


@dataclass(frozen=True, slots=True)
class TeamList:
    """Teams by name."""

    teams: tuple[TeamRecord, ...]


@dataclass(frozen=True, slots=True)
class StandingRecord:
    """A team's row in a season table."""

    season_id: str
    team_id: str
    league_id: str
    position: int | None
    played: int
    won: int
    lost: int
    drawn: int
    no_result: int
    points: int


@dataclass(frozen=True, slots=True)
class StandingList:
    """A season table by position."""

    teams: tuple[StandingRecord, ...]


@dataclass(frozen=True, slots=True)
class DeviceRecord:
    """A device; `startable` if it has a push-to-start token."""

    device_id: str
    device_token: str
    platform: str
    os_version: str
    app_version: str
    last_seen_at: datetime
    startable: bool


@dataclass(frozen=True, slots=True)
class DeviceList:
    """The device seen last, and all devices."""

    device: DeviceRecord | None
    devices: tuple[DeviceRecord, ...]


@dataclass(frozen=True, slots=True)
class FollowRecord:
    """A followed match and the supported team, `neutral` for none."""

    match_id: str
    team_id: str
    created_at: datetime
    expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class FollowList:
    """Followed matches."""

    follows: tuple[FollowRecord, ...]


@dataclass(frozen=True, slots=True)
class ActivityRecord:
    """A Live Activity on one device."""

    match_id: str
    device_id: str
    status: SessionStatus
    session_started_at: datetime
    ended_at: datetime | None
    end_reason: EndReason | None
    suspended_at: datetime | None
    muted: bool
    muted_until: datetime | None


@dataclass(frozen=True, slots=True)
class ActivityList:
    """Live Activities, newest first."""

    activities: tuple[ActivityRecord, ...]


@dataclass(frozen=True, slots=True)
class FollowResponse:
    """A follow; for a live match with its display state and started activities."""

    follow: FollowRecord
    display: DisplayView | None
    activities: tuple[ActivityRecord, ...]


@dataclass(frozen=True, slots=True)
class AlertsRecord:
    """Alert preferences; `kinds` null means the default kinds."""

    kinds: tuple[EventKind, ...] | None
    muted: bool
    muted_until: datetime | None


@dataclass(frozen=True, slots=True)
class PushTestResponse:
    """The outcomes of a test push by device id."""

    devices: dict[str, str]


@dataclass(frozen=True, slots=True)
class BrowserKey:
    """The application server key for `pushManager.subscribe`."""

    public_key: str


@dataclass(frozen=True, slots=True)
class FeedStatus:
    """The status of an endpoint group of the score feed."""

    name: str
    host: str
    used_today: int
    quota_left: int | None
    breaker: str
    last_error: str | None
    last_success_at: datetime | None


@dataclass(frozen=True, slots=True)
class HubResponse:
    """Active matches, the feed, waiting messages by topic, and the pushes of this process."""

    at: datetime
    matches: tuple[HubMatch, ...]
    feed: tuple[FeedStatus, ...]
    pushing: bool
    waiting: dict[str, int]
    pushes_per_second: float
    pushed: int
    rejected: int


@dataclass(frozen=True, slots=True)
class ReplayList:
    """The running replays."""

    replays: tuple[ReplayStatus, ...]


@dataclass(frozen=True, slots=True)
class RecordingList:
    """The names of the recordings that can be replayed."""

    recordings: tuple[str, ...]


def copy_fields(kind: type[T], source: object, **values: object) -> T:
    """Return a record with the values given, and otherwise the fields of the same name."""
    record: Any = kind
    names = (field.name for field in fields(record))
    return kind(**{name: getattr(source, name) for name in names if name not in values}, **values)


def scorecard_record(card: Scorecard) -> ScorecardRecord:
    """Return a scorecard with the names of players."""
    snapshot = card.snapshot
    return copy_fields(
        ScorecardRecord,
        snapshot,
        as_of=card.as_of,
        boards=tuple(_innings_figures(board, snapshot) for board in snapshot.boards),
        balls=tuple(_ball_record(ball) for ball in snapshot.balls),
        players=dict(snapshot.players),
    )


def _innings_figures(board: Board, snapshot: MatchSnapshot) -> InningsFigures:
    batting = tuple(
        copy_fields(
            BattingFigures,
            line,
            name=snapshot.player(line.player_id),
            fall_overs=None if line.fall_overs is None else str(line.fall_overs),
        )
        for line in board.batting
    )
    bowling = tuple(
        copy_fields(
            BowlingFigures, line, name=snapshot.player(line.player_id), overs=str(line.overs)
        )
        for line in board.bowling
    )
    return InningsFigures(board.inning, batting, bowling)


def _ball_record(ball: Ball) -> BallRecord:
    return copy_fields(BallRecord, ball, mark=ball_symbol(ball))
