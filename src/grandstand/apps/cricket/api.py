"""HTTP routes of the cricket app."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Annotated, Final, Literal

from fastapi import Path, Query
from pydantic import AfterValidator, Field
from starlette.responses import Response

from grandstand.apps.cricket.domain import errors
from grandstand.apps.cricket.domain.alerts import AlertPreferences
from grandstand.apps.cricket.domain.display import ball_symbol, swift_source
from grandstand.apps.cricket.domain.live_activities import BrowserSubscription, DeviceRegistration
from grandstand.apps.cricket.domain.matches import (
    NEUTRAL_TEAM,
    Board,
    InningsScore,
    LeagueRecord,
    MatchSnapshot,
    PlayAction,
    ReplayStatus,
    StandingRecord,
    TeamRecord,
)
from grandstand.apps.cricket.services import Cricket, users
from grandstand.apps.cricket.services.interfaces import copy_fields
from grandstand.apps.cricket.services.polling.match_ticks import EventPage, TickResult
from grandstand.apps.cricket.services.polling.sync import SyncResult
from grandstand.apps.cricket.services.queries.admin import HubData
from grandstand.apps.cricket.services.queries.fixtures import (
    DisplayView,
    Match,
    MatchFilter,
    MatchPage,
    Scorecard,
)
from grandstand.core.errors import (
    Conflict,
    GrandstandError,
    InvalidInput,
    LimitReached,
    NotFound,
    SourceFailed,
    Unavailable,
)
from grandstand.kit.routes import WRITTEN, CamelModel, CurrentCaller, delete, get, patch, post, put

_FEED_ERRORS: Final[tuple[type[GrandstandError], ...]] = (
    errors.FeedNotConfigured,
    SourceFailed,
    Unavailable,
    LimitReached,
)
_REPLAY_ERRORS: Final = (Conflict, InvalidInput, *_FEED_ERRORS)
_FOLLOW_ERRORS: Final = (errors.MatchNotFound, errors.TeamNotPlaying, Conflict, *_FEED_ERRORS)
_CODE: Final = r"^[A-Za-z0-9-]{1,24}$"
_NUMBER: Final = r"^[0-9]{1,20}$"


def _to_utc(moment: datetime) -> datetime:
    """Return a time in UTC; without a zone it is taken as UTC."""
    if moment.tzinfo is None:
        return moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("The time is out of range.") from error


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
Token = Annotated[str, Field(min_length=1, max_length=1024, examples=["00fc13adff785122b4ad2880"])]
DeviceId = Annotated[str, Field(min_length=1, max_length=128, examples=["6F9619FF-8B86-D011"])]
Version = Annotated[str, Field(max_length=64, examples=["18.1"])]
Secret = Annotated[str, Field(pattern=r"^[A-Za-z0-9_=-]{1,200}$")]
ReplaySpeed = Annotated[float, Field(gt=0, le=1000)]


class LeagueChange(CamelModel):
    name: Name | None = None
    code: Code | None = None
    active: bool | None = None


class TeamChange(CamelModel):
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
    device_token: Token
    push_to_start_token: Token


class FollowRequest(CamelModel):
    """The supported team; neutral if it is left out."""

    team_id: TeamId | None = None


class TeamRequest(CamelModel):
    """The supported team; `neutral` for none."""

    team_id: TeamId


class ActivityRequest(CamelModel):
    device_id: DeviceId
    update_token: Token


class AlertsRequest(CamelModel):
    """Alert preferences; without `kinds` the default kinds alert."""

    kinds: Annotated[tuple[str, ...], Field(max_length=40)] | None = None
    muted: bool = False
    muted_until: UtcTime | None = None


class BrowserKeys(CamelModel):
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
    recording: Annotated[str, Field(pattern=r"^[A-Za-z0-9:]{1,60}$", examples=["1001349"])]
    speed: ReplaySpeed = 1.0
    starts_in_seconds: Annotated[float, Field(ge=0, le=86_400)] = 0.0


class ReplayControlRequest(CamelModel):
    """A command to a replay; seek takes the number of a ball."""

    action: PlayAction
    speed: ReplaySpeed | None = None
    ball: Annotated[int, Field(ge=0, le=100_000)] | None = None


class LegacyActivityRequest(CamelModel):
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
class BattingFigures:
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
    player_id: int
    name: str
    overs: str
    maidens: int
    runs: int
    wickets: int


@dataclass(frozen=True, slots=True)
class InningsFigures:
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
class LeagueList:
    leagues: tuple[LeagueRecord, ...]


@dataclass(frozen=True, slots=True)
class TeamList:
    teams: tuple[TeamRecord, ...]


@dataclass(frozen=True, slots=True)
class StandingList:
    teams: tuple[StandingRecord, ...]


@dataclass(frozen=True, slots=True)
class DeviceList:
    """The device seen last, and all devices."""

    device: users.DeviceRecord | None
    devices: tuple[users.DeviceRecord, ...]


@dataclass(frozen=True, slots=True)
class FollowList:
    follows: tuple[users.FollowRecord, ...]


@dataclass(frozen=True, slots=True)
class ActivityList:
    activities: tuple[users.ActivityRecord, ...]


@dataclass(frozen=True, slots=True)
class PushTestResponse:
    """The outcomes of a test push by device id."""

    devices: dict[str, str]


@dataclass(frozen=True, slots=True)
class BrowserKey:
    """The application server key for `pushManager.subscribe`."""

    public_key: str


@dataclass(frozen=True, slots=True)
class ReplayList:
    replays: tuple[ReplayStatus, ...]


@dataclass(frozen=True, slots=True)
class RecordingList:
    """The names of the recordings that can be replayed."""

    recordings: tuple[str, ...]


def _scorecard_record(card: Scorecard) -> ScorecardRecord:
    """Return a scorecard with the names of players."""
    snapshot = card.snapshot
    return copy_fields(
        ScorecardRecord,
        snapshot,
        as_of=card.as_of,
        boards=tuple(_innings_figures(board, snapshot) for board in snapshot.boards),
        balls=tuple(
            copy_fields(BallRecord, ball, mark=ball_symbol(ball)) for ball in snapshot.balls
        ),
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


class MatchRoutes:
    """Matches, scorecards, events and display states."""

    def __init__(self, cricket: Cricket) -> None:
        self._cricket = cricket

    @get("/matches", summary="List matches by start", problems=(errors.LeagueNotFound,))
    async def matches(
        self,
        caller: CurrentCaller,
        *,
        league: LeagueFilter = None,
        from_: From = None,
        to: To = None,
        status: MatchFilter | None = None,
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> MatchPage:
        """Matches by start, by default of the days that are synced."""
        cursors, query = self._cricket.cursors, f"cricket.matches/{league}/{from_}/{to}/{status}"
        page = await self._cricket.fixtures.page(
            league=league,
            start=from_,
            end=to,
            status=status,
            limit=limit,
            cursor=cursors.read(caller, query, cursor),
        )
        return replace(page, cursor=cursors.write(caller, query, page.cursor))

    @get("/matches/{match_id}", summary="Get a match", problems=(errors.MatchNotFound,))
    async def match(self, match_id: MatchId) -> Match:
        return await self._cricket.fixtures.get(match_id)

    @get(
        "/matches/{match_id}/scorecard",
        summary="Get the scorecard of a match",
        problems=(errors.MatchNotFound, *_FEED_ERRORS),
    )
    async def scorecard(self, match_id: MatchId) -> ScorecardRecord:
        """All innings, figures and balls, at most a few seconds old while the match is live."""
        return _scorecard_record(await self._cricket.fixtures.scorecard(match_id))

    @get(
        "/matches/{match_id}/events",
        summary="List the events of a match",
        problems=(errors.MatchNotFound,),
    )
    async def events(
        self, caller: CurrentCaller, match_id: MatchId, limit: Limit = 100, cursor: Cursor = None
    ) -> EventPage:
        """Detected events, newest first; `filtered` is the reason why one was not pushed."""
        await self._cricket.fixtures.get(match_id)
        cursors, query = self._cricket.cursors, f"cricket.events/{match_id}"
        position = cursors.read(caller, query, cursor)
        page = await self._cricket.event_bus.page(match_id, limit=limit, cursor=position)
        return replace(page, cursor=cursors.write(caller, query, page.cursor))

    @get(
        "/matches/{match_id}/display",
        summary="Get the display state of a match",
        problems=(errors.MatchNotFound, errors.TeamNotPlaying, *_FEED_ERRORS),
    )
    async def display(self, match_id: MatchId, team: SupportedTeam = None) -> DisplayView:
        """The content state of a Live Activity, for supporters of a team or for neutrals."""
        return await self._cricket.displays.get(match_id, team or NEUTRAL_TEAM)

    @get(
        "/CricketMatchAttributes.swift",
        summary="Get the Swift types of the Live Activity",
        form="text/x-swift",
        answers=str,
    )
    async def swift(self) -> Response:
        """The attributes and the content state as Swift types."""
        return Response(swift_source(), media_type="text/x-swift; charset=utf-8")


class ReferenceRoutes:
    """Teams, leagues and season tables."""

    _cricket: Cricket

    @get("/teams", summary="List the teams")
    async def teams(self) -> TeamList:
        teams = await self._cricket.teams.all()
        return TeamList(teams)

    @get("/teams/{team_id}", summary="Get a team", problems=(NotFound,))
    async def team(self, team_id: TeamRef) -> TeamRecord:
        return await self._cricket.teams.get(team_id)

    @patch("/teams/{team_id}", summary="Change a team", problems=(NotFound,), access="admin")
    async def update_team(self, team_id: TeamRef, change: TeamChange) -> TeamRecord:
        return await self._cricket.teams.update(
            team_id, name=change.name, code=change.code, image_path=change.image_path
        )

    @get("/seasons/{season_id}/teams", summary="Get a season table")
    async def season_teams(self, season_id: SeasonRef) -> StandingList:
        """The table of a season by position; empty if it is unknown."""
        rows = await self._cricket.team_seasons.of_season(season_id)
        return StandingList(rows)

    @get("/leagues", summary="List the leagues")
    async def leagues(self, active: bool | None = None) -> LeagueList:  # noqa: FBT001 - a query
        leagues = await self._cricket.leagues.all(active=active)
        return LeagueList(leagues)

    @get("/leagues/{league_id}", summary="Get a league", problems=(errors.LeagueNotFound,))
    async def league(self, league_id: LeagueRef) -> LeagueRecord:
        """The league with this id or code."""
        return await self._cricket.leagues.get(league_id)

    @patch(
        "/leagues/{league_id}",
        summary="Change a league",
        problems=(errors.LeagueNotFound,),
        access="admin",
    )
    async def update_league(self, league_id: LeagueRef, change: LeagueChange) -> LeagueRecord:
        """The changed league; only active leagues are synced and polled."""
        return await self._cricket.leagues.update(
            league_id, name=change.name, code=change.code, active=change.active
        )

    @delete(
        "/leagues/{league_id}",
        summary="Delete a league",
        problems=(errors.LeagueNotFound,),
        access="admin",
    )
    async def delete_league(self, league_id: LeagueRef) -> None:
        """Deleted; the next sync may restore the league."""
        await self._cricket.leagues.delete(league_id)


class AdminRoutes:
    """The hub, syncs, ticks and replays, for administrators."""

    _cricket: Cricket

    @get("/admin/hub", summary="Get the hub data", access="admin")
    async def hub(self) -> HubData:
        """Active matches with owners and lags, the quota of the feed, and pushes."""
        return await self._cricket.hub.get()

    @post("/admin/cache/clear", summary="Clear the caches", access="admin", status=204)
    async def clear_caches(self) -> None:
        """Cleared: this process reads leagues, teams and scorecards again."""
        self._cricket.clear_caches()

    @post(
        "/admin/matches/{match_id}/tick",
        summary="Poll a match now",
        problems=(errors.MatchNotFound, *_FEED_ERRORS),
        access="admin",
    )
    async def tick(self, match_id: MatchId) -> TickResult:
        return await self._cricket.ticker.poll_now(match_id)

    @post("/admin/sync", summary="Sync the fixtures now", problems=_FEED_ERRORS, access="admin")
    async def sync(self) -> SyncResult:
        return await self._cricket.fixture_sync.run()

    @get(
        "/admin/replay/recordings",
        summary="List the recordings",
        problems=_REPLAY_ERRORS,
        access="admin",
    )
    async def recordings(self) -> RecordingList:
        return RecordingList(await self._cricket.replays.feed.recordings())

    @get(
        "/admin/replay/matches",
        summary="List the replays",
        problems=_REPLAY_ERRORS,
        access="admin",
    )
    async def replays(self) -> ReplayList:
        return ReplayList(await self._cricket.replays.feed.replays())

    @post(
        "/admin/replay/matches", summary="Start a replay", problems=_REPLAY_ERRORS, access="admin"
    )
    async def replay(self, request: ReplayStartRequest) -> ReplayStatus:
        return await self._cricket.replays.feed.play(
            request.recording, request.speed, request.starts_in_seconds
        )

    @post(
        "/admin/replay/matches/{match_id}/control",
        summary="Play, pause, seek or stop a replay",
        problems=_REPLAY_ERRORS,
        access="admin",
        also={204: "Stopped."},
    )
    async def control(
        self, match_id: ReplayId, request: ReplayControlRequest
    ) -> ReplayStatus | None:
        return await self._cricket.replays.feed.control(
            match_id, request.action, request.speed, request.ball
        )

    @delete(
        "/admin/replay/matches/{match_id}",
        summary="Stop a replay",
        problems=_REPLAY_ERRORS,
        access="admin",
    )
    async def stop(self, match_id: ReplayId) -> None:
        await self._cricket.replays.feed.control(match_id, "stop")


class UserRoutes:
    """What belongs to the caller."""

    _cricket: Cricket

    @get("/user/device", summary="List your devices")
    async def devices(self, caller: CurrentCaller) -> DeviceList:
        devices = await self._cricket.devices.of_user(caller.user_id)
        return DeviceList(devices[0] if devices else None, devices)

    @post("/user/device", summary="Register a device", problems=(InvalidInput,))
    async def register_device(
        self, caller: CurrentCaller, request: DeviceRequest
    ) -> users.DeviceRecord:
        """The device; it replaces its earlier registrations."""
        registration = copy_fields(DeviceRegistration, request)
        return await self._cricket.devices.register(caller.user_id, registration)

    @delete("/user/device", summary="Remove a device", problems=(errors.DeviceNotFound,))
    async def remove_device(self, caller: CurrentCaller, device_token: DeviceTokenQuery) -> None:
        """Removed; nothing more is pushed to the device."""
        await self._cricket.devices.remove(caller.user_id, device_token)

    @put(
        "/user/device/push-to-start",
        summary="Set the push-to-start token of a device",
        problems=(InvalidInput, errors.DeviceNotFound),
    )
    async def push_to_start(
        self, caller: CurrentCaller, request: PushToStartRequest
    ) -> users.DeviceRecord:
        return await self._cricket.devices.set_push_to_start(
            caller.user_id, request.device_token, request.push_to_start_token
        )

    @get("/user/follows", summary="List your followed matches")
    async def follows(self, caller: CurrentCaller) -> FollowList:
        follows = await self._cricket.follows.of_user(caller.user_id)
        return FollowList(follows)

    @get("/user/follow/{match_id}", summary="Get your follow of a match", problems=(NotFound,))
    async def find_follow(self, caller: CurrentCaller, match_id: MatchId) -> users.FollowRecord:
        """The follow; 404 if the match is not followed."""
        return await self._cricket.follows.get(caller.user_id, match_id)

    @post(
        "/user/follow/{match_id}",
        summary="Follow a match",
        problems=_FOLLOW_ERRORS,
    )
    async def follow(
        self, caller: CurrentCaller, match_id: MatchId, request: FollowRequest
    ) -> users.FollowResult:
        """The follow; for a live match with its display state and started activities."""
        return await self._cricket.follows.follow(caller.user_id, match_id, request.team_id)

    @patch(
        "/user/follow/{match_id}",
        summary="Change the followed team",
        problems=(NotFound, errors.MatchNotFound, errors.TeamNotPlaying),
    )
    async def change_team(
        self, caller: CurrentCaller, match_id: MatchId, request: TeamRequest
    ) -> users.FollowRecord:
        follows = self._cricket.follows
        return await follows.change_team(caller.user_id, match_id, request.team_id)

    @delete("/user/follow/{match_id}", summary="Unfollow a match", problems=(NotFound,))
    async def unfollow(self, caller: CurrentCaller, match_id: MatchId) -> None:
        """Unfollowed; its activities end on all devices."""
        await self._cricket.follows.unfollow(caller.user_id, match_id)

    @get("/user/activities", summary="List your Live Activities")
    async def activities(self, caller: CurrentCaller) -> ActivityList:
        """The Live Activities of all matches, newest first."""
        return ActivityList(await self._cricket.live_activities.of_user(caller.user_id))

    @post(
        "/user/activity/{match_id}",
        summary="Register the update token of a Live Activity",
        problems=(errors.MatchNotFound, InvalidInput, Conflict),
    )
    async def register_activity(
        self, caller: CurrentCaller, match_id: MatchId, request: ActivityRequest
    ) -> users.ActivityRecord:
        """The activity; it is sent the current state and every change."""
        return await self._cricket.live_activities.register(
            caller.user_id, match_id, request.device_id, request.update_token
        )

    @delete(
        "/user/activity/{match_id}",
        summary="Report a dismissed Live Activity",
        problems=(errors.ActivityNotFound,),
        status=200,
    )
    async def end_activity(
        self, caller: CurrentCaller, match_id: MatchId, device_id: DeviceIdQuery = None
    ) -> ActivityList:
        """The ended activities, of one device or of all; the match is unfollowed."""
        live_activities = self._cricket.live_activities
        return ActivityList(await live_activities.end(caller.user_id, match_id, device_id))

    @get("/user/alerts", summary="Get your alert preferences")
    async def alerts(self, caller: CurrentCaller) -> AlertPreferences:
        """The event kinds that alert you, and whether alerts are muted."""
        return await self._cricket.follows.alert_preferences(caller.user_id)

    @put("/user/alerts", summary="Set your alert preferences", problems=(InvalidInput,))
    async def set_alerts(self, caller: CurrentCaller, request: AlertsRequest) -> AlertPreferences:
        """The preferences, which apply to all matches."""
        return await self._cricket.follows.set_alert_preferences(
            caller.user_id,
            kinds=request.kinds,
            muted=request.muted,
            muted_until=request.muted_until,
        )

    @post(
        "/user/push-test",
        summary="Push a test notification to your devices",
        problems=(errors.PushNotConfigured, errors.DeviceNotFound),
    )
    async def push_test(self, caller: CurrentCaller) -> PushTestResponse:
        return PushTestResponse(dict(await self._cricket.announcements.send_test(caller.user_id)))

    @get(
        "/user/browser",
        summary="Get the key for browser subscriptions",
        problems=(errors.PushNotConfigured,),
    )
    async def browser_key(self) -> BrowserKey:
        """The public key; 409 if browser alerts are not configured."""
        return BrowserKey(self._cricket.browsers.public_key)

    @post(
        "/user/browser",
        summary="Subscribe a browser to alerts",
        problems=(errors.PushNotConfigured, InvalidInput),
        status=204,
    )
    async def subscribe_browser(self, caller: CurrentCaller, request: BrowserRequest) -> None:
        keys = request.keys
        subscription = BrowserSubscription(request.endpoint, keys.p256dh, keys.auth)
        await self._cricket.browsers.subscribe(caller.user_id, subscription)

    @delete("/user/browser", summary="Unsubscribe a browser")
    async def unsubscribe_browser(self, caller: CurrentCaller, endpoint: EndpointQuery) -> None:
        """Unsubscribed, whether or not it was subscribed."""
        await self._cricket.browsers.unsubscribe(caller.user_id, endpoint)


class LegacyRoutes:
    """The paths that older apps use."""

    _cricket: Cricket

    @get("/matches/live", summary="List live matches (legacy)")
    async def live(self, limit: Limit = 50) -> MatchPage:
        page = await self._cricket.fixtures.page(status="live", limit=limit)
        return replace(page, cursor=None)

    @post(
        "/matches/{match_id}/activity-token",
        summary="Register the update token of a Live Activity (legacy)",
        problems=(errors.MatchNotFound, InvalidInput, Conflict),
    )
    async def activity_token(
        self, caller: CurrentCaller, match_id: MatchId, request: LegacyActivityRequest
    ) -> users.ActivityRecord:
        return await self._cricket.live_activities.register(
            caller.user_id, match_id, request.device_id, request.activity_token
        )

    @post(
        "/matches/{match_id}/activity-dismissed",
        summary="Report a dismissed Live Activity (legacy)",
        problems=(errors.ActivityNotFound,),
    )
    async def activity_dismissed(
        self, caller: CurrentCaller, match_id: MatchId, request: LegacyDismissedRequest
    ) -> ActivityList:
        ended = await self._cricket.live_activities.end(caller.user_id, match_id, request.device_id)
        return ActivityList(ended)

    @post(
        "/user/follow/match",
        summary="Follow a match (legacy)",
        problems=_FOLLOW_ERRORS,
    )
    async def follow_match(
        self, caller: CurrentCaller, request: LegacyFollowRequest
    ) -> users.FollowResult:
        return await self._cricket.follows.follow(caller.user_id, request.match_id, request.team_id)

    @patch(
        "/user/follow/match/{match_id}/team",
        summary="Change the followed team (legacy)",
        problems=(NotFound, errors.MatchNotFound, errors.TeamNotPlaying),
    )
    async def follow_team(
        self, caller: CurrentCaller, match_id: MatchId, request: TeamRequest
    ) -> users.FollowRecord:
        follows = self._cricket.follows
        return await follows.change_team(caller.user_id, match_id, request.team_id)

    @delete(
        "/user/follow/match/{match_id}",
        summary="Unfollow a match (legacy)",
        problems=(NotFound,),
    )
    async def unfollow_match(self, caller: CurrentCaller, match_id: MatchId) -> None:
        await self._cricket.follows.unfollow(caller.user_id, match_id)

    @post("/devices", summary="Register a device (legacy)", problems=(InvalidInput,))
    async def add_device(self, caller: CurrentCaller, request: DeviceRequest) -> users.DeviceRecord:
        registration = copy_fields(DeviceRegistration, request)
        return await self._cricket.devices.register(caller.user_id, registration)

    @delete(
        "/devices/{device_token}",
        summary="Remove a device (legacy)",
        problems=(errors.DeviceNotFound,),
    )
    async def delete_device(self, caller: CurrentCaller, device_token: DeviceTokenPath) -> None:
        await self._cricket.devices.remove(caller.user_id, device_token)

    @post(
        "/devices/push-to-start-token",
        summary="Set the push-to-start token of a device (legacy)",
        problems=(InvalidInput, errors.DeviceNotFound),
    )
    async def push_to_start_token(
        self, caller: CurrentCaller, request: PushToStartRequest
    ) -> users.DeviceRecord:
        return await self._cricket.devices.set_push_to_start(
            caller.user_id, request.device_token, request.push_to_start_token
        )


class CricketApi(MatchRoutes, ReferenceRoutes, UserRoutes, AdminRoutes):
    """The routes of the cricket app."""


class LegacyCricketApi(CricketApi, LegacyRoutes):
    """The routes with the paths of older apps.

    Routes of the last base come first, so that `/matches/live` precedes `/matches/{match_id}`.
    """


def create_api(cricket: Cricket) -> CricketApi:
    """Return the routes, with the paths of older apps if they are enabled."""
    return LegacyCricketApi(cricket) if cricket.settings.aliases else CricketApi(cricket)
