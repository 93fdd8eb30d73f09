"""Routes of matches, leagues, teams and administration, and the assembly of all routes."""

from __future__ import annotations

from starlette.responses import Response

from grandstand.apps.cricket.api.params import (
    FEED_ERRORS,
    Cursor,
    EventList,
    EventRecord,
    FeedStatus,
    From,
    HubResponse,
    LeagueChange,
    LeagueFilter,
    LeagueList,
    LeagueRecord,
    LeagueRef,
    Limit,
    MatchId,
    MatchList,
    RecordingList,
    ReplayControlRequest,
    ReplayId,
    ReplayList,
    ReplayStartRequest,
    ScorecardRecord,
    SeasonRef,
    StandingList,
    StandingRecord,
    SupportedTeam,
    TeamChange,
    TeamList,
    TeamRecord,
    TeamRef,
    To,
    copy_fields,
    scorecard_record,
)
from grandstand.apps.cricket.api.user import LegacyRoutes, UserRoutes
from grandstand.apps.cricket.domain.display import swift_source
from grandstand.apps.cricket.domain.errors import (
    LeagueNotFound,
    MatchNotFound,
    TeamNotPlaying,
)
from grandstand.apps.cricket.domain.matches import NEUTRAL_TEAM, ReplayStatus
from grandstand.apps.cricket.services import Cricket
from grandstand.apps.cricket.services.polling.match_ticks import TickResult
from grandstand.apps.cricket.services.polling.sync import SyncResult
from grandstand.apps.cricket.services.queries.fixtures import DisplayView, Match, MatchFilter
from grandstand.core.errors import Conflict, InvalidInput, NotFound
from grandstand.kit.routes import AdminCaller, CurrentCaller, delete, get, patch, post

_REPLAY_ERRORS = (Conflict, InvalidInput, *FEED_ERRORS)


class MatchRoutes:
    """Matches, scorecards, events and display states."""

    def __init__(self, cricket: Cricket) -> None:
        self._cricket = cricket

    @get("/matches", summary="List matches by start", problems=(LeagueNotFound,))
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
    ) -> MatchList:
        """Matches by start, by default of the days that are synced."""
        cursors, query = self._cricket.cursors, f"cricket.matches/{league}/{from_}/{to}/{status}"
        page = await self._cricket.fixtures.page(
            league=league,
            start=from_,
            end=to,
            status=status,
            limit=limit,
            position=cursors.read(caller, query, cursor),
        )
        return MatchList(page.matches, cursors.write(caller, query, page.position))

    @get("/matches/{match_id}", summary="Get a match", problems=(MatchNotFound,))
    async def match(self, match_id: MatchId) -> Match:
        """The match with its score."""
        return await self._cricket.fixtures.get(match_id)

    @get(
        "/matches/{match_id}/scorecard",
        summary="Get the scorecard of a match",
        problems=(MatchNotFound, *FEED_ERRORS),
    )
    async def scorecard(self, match_id: MatchId) -> ScorecardRecord:
        """All innings, figures and balls, at most a few seconds old while the match is live."""
        return scorecard_record(await self._cricket.fixtures.scorecard(match_id))

    @get(
        "/matches/{match_id}/events",
        summary="List the events of a match",
        problems=(MatchNotFound,),
    )
    async def events(
        self, caller: CurrentCaller, match_id: MatchId, limit: Limit = 100, cursor: Cursor = None
    ) -> EventList:
        """Detected events, newest first; `filtered` is the reason why one was not pushed."""
        await self._cricket.fixtures.get(match_id)
        cursors, query = self._cricket.cursors, f"cricket.events/{match_id}"
        position = cursors.read(caller, query, cursor)
        page = await self._cricket.event_bus.page(match_id, limit=limit, position=position)
        return EventList(
            tuple(copy_fields(EventRecord, event) for event in page.events),
            cursors.write(caller, query, page.position),
        )

    @get(
        "/matches/{match_id}/display",
        summary="Get the display state of a match",
        problems=(MatchNotFound, TeamNotPlaying, *FEED_ERRORS),
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
        """All teams by name."""
        teams = await self._cricket.teams.all()
        return TeamList(tuple(copy_fields(TeamRecord, team) for team in teams))

    @get("/teams/{team_id}", summary="Get a team", problems=(NotFound,))
    async def team(self, team_id: TeamRef) -> TeamRecord:
        """The team."""
        return copy_fields(TeamRecord, await self._cricket.teams.get(team_id))

    @patch("/teams/{team_id}", summary="Change a team", problems=(NotFound,), access="admin")
    async def update_team(
        self, caller: AdminCaller, team_id: TeamRef, change: TeamChange
    ) -> TeamRecord:
        """The changed team."""
        del caller
        team = await self._cricket.teams.update(
            team_id, name=change.name, code=change.code, image_path=change.image_path
        )
        return copy_fields(TeamRecord, team)

    @get("/seasons/{season_id}/teams", summary="Get a season table")
    async def season_teams(self, season_id: SeasonRef) -> StandingList:
        """The table of a season by position; empty if it is unknown."""
        rows = await self._cricket.team_seasons.of_season(season_id)
        return StandingList(tuple(copy_fields(StandingRecord, row) for row in rows))

    @get("/leagues", summary="List the leagues")
    async def leagues(self, active: bool | None = None) -> LeagueList:  # noqa: FBT001 - a query
        """The leagues by name."""
        leagues = await self._cricket.leagues.all(active=active)
        return LeagueList(tuple(copy_fields(LeagueRecord, league) for league in leagues))

    @get("/leagues/{league_id}", summary="Get a league", problems=(LeagueNotFound,))
    async def league(self, league_id: LeagueRef) -> LeagueRecord:
        """The league with this id or code."""
        return copy_fields(LeagueRecord, await self._cricket.leagues.get(league_id))

    @patch(
        "/leagues/{league_id}",
        summary="Change a league",
        problems=(LeagueNotFound,),
        access="admin",
    )
    async def update_league(
        self, caller: AdminCaller, league_id: LeagueRef, change: LeagueChange
    ) -> LeagueRecord:
        """The changed league; only active leagues are synced and polled."""
        del caller
        league = await self._cricket.leagues.update(
            league_id, name=change.name, code=change.code, active=change.active
        )
        return copy_fields(LeagueRecord, league)

    @delete(
        "/leagues/{league_id}",
        summary="Delete a league",
        problems=(LeagueNotFound,),
        access="admin",
    )
    async def delete_league(self, caller: AdminCaller, league_id: LeagueRef) -> None:
        """Deleted; the next sync may restore the league."""
        del caller
        await self._cricket.leagues.delete(league_id)


class AdminRoutes:
    """The hub, syncs, ticks and replays, for administrators."""

    _cricket: Cricket

    @get("/admin/hub", summary="Get the hub data", access="admin")
    async def hub(self, caller: AdminCaller) -> HubResponse:
        """Active matches with owners and lags, the quota of the feed, and pushes."""
        del caller
        hub = await self._cricket.hub.get()
        return copy_fields(
            HubResponse,
            hub,
            feed=tuple(copy_fields(FeedStatus, status) for status in hub.feed),
            waiting=dict(hub.waiting),
        )

    @post("/admin/cache/clear", summary="Clear the caches", access="admin", status=204)
    async def clear_caches(self, caller: AdminCaller) -> None:
        """Cleared: this process reads leagues, teams and scorecards again."""
        del caller
        self._cricket.clear_caches()

    @post(
        "/admin/matches/{match_id}/tick",
        summary="Poll a match now",
        problems=(MatchNotFound, *FEED_ERRORS),
        access="admin",
    )
    async def tick(self, caller: AdminCaller, match_id: MatchId) -> TickResult:
        """The result of the tick."""
        del caller
        return await self._cricket.ticker.poll_now(match_id)

    @post("/admin/sync", summary="Sync the fixtures now", problems=FEED_ERRORS, access="admin")
    async def sync(self, caller: AdminCaller) -> SyncResult:
        """The result of the sync."""
        del caller
        return await self._cricket.fixture_sync.run()

    @get(
        "/admin/replay/recordings",
        summary="List the recordings",
        problems=_REPLAY_ERRORS,
        access="admin",
    )
    async def recordings(self, caller: AdminCaller) -> RecordingList:
        """The recordings of the replay feed."""
        del caller
        return RecordingList(await self._cricket.replays.feed.recordings())

    @get(
        "/admin/replay/matches",
        summary="List the replays",
        problems=_REPLAY_ERRORS,
        access="admin",
    )
    async def replays(self, caller: AdminCaller) -> ReplayList:
        """The running replays and their progress."""
        del caller
        return ReplayList(await self._cricket.replays.feed.replays())

    @post(
        "/admin/replay/matches", summary="Start a replay", problems=_REPLAY_ERRORS, access="admin"
    )
    async def replay(self, caller: AdminCaller, request: ReplayStartRequest) -> ReplayStatus:
        """The started replay."""
        del caller
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
        self, caller: AdminCaller, match_id: ReplayId, request: ReplayControlRequest
    ) -> ReplayStatus | None:
        """The replay after the command."""
        del caller
        return await self._cricket.replays.feed.control(
            match_id, request.action, request.speed, request.ball
        )

    @delete(
        "/admin/replay/matches/{match_id}",
        summary="Stop a replay",
        problems=_REPLAY_ERRORS,
        access="admin",
    )
    async def stop(self, caller: AdminCaller, match_id: ReplayId) -> None:
        """Stopped."""
        del caller
        await self._cricket.replays.feed.control(match_id, "stop")


class CricketApi(MatchRoutes, ReferenceRoutes, UserRoutes, AdminRoutes):
    """The routes of the cricket app."""


class LegacyCricketApi(CricketApi, LegacyRoutes):
    """The routes with the paths of older apps.

    Routes of the last base come first, so that `/matches/live` precedes `/matches/{match_id}`.
    """


def create_api(cricket: Cricket) -> CricketApi:
    """Return the routes, with the paths of older apps if they are enabled."""
    return LegacyCricketApi(cricket) if cricket.settings.aliases else CricketApi(cricket)
