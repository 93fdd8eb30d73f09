"""Kept here: cricket's routes for matches, teams and leagues, and all routes put together."""

from __future__ import annotations

from starlette.responses import Response

from grandstand.apps.cricket.api.admin import AdminRoutes
from grandstand.apps.cricket.api.asking import (
    FETCHED,
    Cursor,
    From,
    League,
    LeagueRef,
    Limit,
    MatchId,
    RoutesPart,
    SeasonRef,
    Team,
    TeamRef,
    To,
    scorecard_model,
)
from grandstand.apps.cricket.api.browsers import BrowserRoutes
from grandstand.apps.cricket.api.models import (
    DisplayModel,
    EventList,
    EventModel,
    LeagueAmended,
    LeagueList,
    LeagueModel,
    MatchList,
    MatchModel,
    ScorecardModel,
    StandingList,
    StandingModel,
    TeamAmended,
    TeamList,
    TeamModel,
)
from grandstand.apps.cricket.api.people import PeopleRoutes
from grandstand.apps.cricket.model import NEUTRAL_TEAM
from grandstand.apps.cricket.model.errors import MatchUnknown
from grandstand.apps.cricket.model.swift import swift_source
from grandstand.apps.cricket.service import (
    LeagueUnknown,
    MatchFilter,
    TeamNotPlaying,
    TeamUnknown,
)
from grandstand.kit.routes import Admin, Who, delete, get, patch


class MatchRoutes(RoutesPart):
    """Matches: lists, figures, what happened, and what a lock screen shows."""

    @get("/matches", summary="Matches by their start", problems=(LeagueUnknown,))
    async def matches(
        self,
        who: Who,
        *,
        league: League = None,
        from_: From = None,
        to: To = None,
        status: MatchFilter | None = None,
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> MatchList:
        """Matches by their start, of the days around now unless a span of time is given."""
        question = f"cricket.matches/{league}/{from_}/{to}/{status}"
        found = await self._cricket.matches(
            league=league,
            start=from_,
            end=to,
            status=status,
            limit=limit,
            position=self._cursors.read(who, question, cursor),
        )
        return MatchList(
            matches=tuple(MatchModel.model_validate(each) for each in found.matches),
            cursor=self._cursors.write(who, question, found.position),
        )

    @get("/matches/{match_id}", summary="One match", problems=(MatchUnknown,))
    async def match(self, match_id: MatchId) -> MatchModel:
        """A match and how it stands."""
        return MatchModel.model_validate(await self._cricket.match(match_id))

    @get(
        "/matches/{match_id}/scorecard",
        summary="All figures and balls of a match",
        problems=(MatchUnknown, *FETCHED),
    )
    async def scorecard(self, match_id: MatchId) -> ScorecardModel:
        """Every innings, every line and every ball, at most a few seconds old while it is live."""
        return scorecard_model(await self._cricket.scorecard(match_id))

    @get(
        "/matches/{match_id}/events",
        summary="What was detected in a match",
        problems=(MatchUnknown,),
    )
    async def events(
        self, who: Who, match_id: MatchId, limit: Limit = 100, cursor: Cursor = None
    ) -> EventList:
        """Everything detected, newest first; `filtered` says why something was not told."""
        question = f"cricket.events/{match_id}"
        position = self._cursors.read(who, question, cursor)
        found = await self._cricket.events(match_id, limit=limit, position=position)
        return EventList(
            events=tuple(EventModel.model_validate(each) for each in found.events),
            cursor=self._cursors.write(who, question, found.position),
        )

    @get(
        "/matches/{match_id}/display",
        summary="What a lock screen shows of a match",
        problems=(MatchUnknown, TeamNotPlaying, *FETCHED),
    )
    async def display(self, match_id: MatchId, team: Team = None) -> DisplayModel:
        """The state that is pushed to who is for a team, or for nobody."""
        found = await self._cricket.display(match_id, team or NEUTRAL_TEAM)
        return DisplayModel.model_validate(found)

    @get(
        "/CricketMatchAttributes.swift",
        summary="The Swift file an app decodes pushes with",
        form="text/x-swift",
        answers=str,
    )
    async def swift(self) -> Response:
        """The attributes and the content state of the Live Activity as Swift types."""
        return Response(swift_source(), media_type="text/x-swift; charset=utf-8")


class ReferenceRoutes(RoutesPart):
    """Teams, leagues and the tables of seasons."""

    @get("/teams", summary="All teams")
    async def teams(self) -> TeamList:
        """All teams by name."""
        found = await self._cricket.teams()
        return TeamList(teams=tuple(TeamModel.model_validate(each) for each in found))

    @get("/teams/{team_id}", summary="One team", problems=(TeamUnknown,))
    async def team(self, team_id: TeamRef) -> TeamModel:
        """A team."""
        return TeamModel.model_validate(await self._cricket.team(team_id))

    @patch("/teams/{team_id}", summary="Change a team", problems=(TeamUnknown,), access="admin")
    async def amend_team(self, who: Admin, team_id: TeamRef, asked: TeamAmended) -> TeamModel:
        """The team as it is now."""
        del who
        changed = await self._cricket.amend_team(
            team_id, name=asked.name, code=asked.code, image_path=asked.image_path
        )
        return TeamModel.model_validate(changed)

    @get("/seasons/{season_id}/teams", summary="How teams stand in a season")
    async def season_teams(self, season_id: SeasonRef) -> StandingList:
        """The table of a season, the first at the front; empty when it is not known."""
        found = await self._cricket.season_teams(season_id)
        return StandingList(teams=tuple(StandingModel.model_validate(each) for each in found))

    @get("/leagues", summary="All leagues")
    async def leagues(self, active: bool | None = None) -> LeagueList:  # noqa: FBT001 - a query
        """The leagues by name, all or only those that are followed, or not."""
        found = await self._cricket.leagues(active=active)
        return LeagueList(leagues=tuple(LeagueModel.model_validate(each) for each in found))

    @get("/leagues/{league_id}", summary="One league", problems=(LeagueUnknown,))
    async def league(self, league_id: LeagueRef) -> LeagueModel:
        """A league by its id or code."""
        return LeagueModel.model_validate(await self._cricket.league(league_id))

    @patch(
        "/leagues/{league_id}", summary="Change a league", problems=(LeagueUnknown,), access="admin"
    )
    async def amend_league(
        self, who: Admin, league_id: LeagueRef, asked: LeagueAmended
    ) -> LeagueModel:
        """The league as it is now; only active leagues are read and polled."""
        del who
        changed = await self._cricket.amend_league(
            league_id, name=asked.name, code=asked.code, active=asked.active
        )
        return LeagueModel.model_validate(changed)

    @delete(
        "/leagues/{league_id}", summary="Remove a league", problems=(LeagueUnknown,), access="admin"
    )
    async def remove_league(self, who: Admin, league_id: LeagueRef) -> None:
        """Nothing: the league is gone until the feed is read again."""
        del who
        await self._cricket.remove_league(league_id)


class CricketApi(MatchRoutes, ReferenceRoutes, PeopleRoutes, BrowserRoutes, AdminRoutes):
    """Cricket for programs."""
