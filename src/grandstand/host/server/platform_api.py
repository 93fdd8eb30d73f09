"""API of the platform: caller, sessions, jobs, sources, storage, events, search and scoreboard."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Path, Query
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from grandstand.core.errors import Conflict, NotFound
from grandstand.core.formatting import OddsFormat
from grandstand.host.cross_app import (
    MAX_QUERY_LENGTH,
    AppResult,
    ForecasterRow,
    collect_calibration,
    rank_forecasters,
    search_apps,
)
from grandstand.host.maintenance import StoragePart
from grandstand.kit.app import ForecastOwner, HomeCard, SearchHit
from grandstand.kit.auth.caller import LoginFailed, LoginThrottled, Preferences, Via
from grandstand.kit.auth.credentials import (
    SESSION_COOKIE,
    SessionView,
    Visitor,
    set_session_cookie,
)
from grandstand.kit.calibration import Bin, Interval
from grandstand.kit.jobs.admin import JobStatus
from grandstand.kit.jobs.tables import Outcome
from grandstand.kit.routes import CurrentCaller, StrictModel, delete, get, post, put
from grandstand.net.client import SourceStatus

if TYPE_CHECKING:
    from grandstand.host.runtime import Platform

JobName = Annotated[str, Path(min_length=1, max_length=100, examples=["platform.sweep"])]
Limit = Annotated[int, Query(ge=1, le=200, examples=[20])]
SearchQuery = Annotated[str, Query(min_length=1, max_length=MAX_QUERY_LENGTH, examples=["lakers"])]


class PreferencesRequest(StrictModel):
    """Time zone and odds format."""

    time_zone: str
    odds_format: OddsFormat


class CallerModel(StrictModel):
    """The caller, as identified by the credential."""

    user_id: str
    name: str
    admin: bool
    via: Via
    preferences: Preferences


@dataclass(frozen=True, slots=True, kw_only=True)
class AppCard(HomeCard):
    """An app and its home card."""

    name: str
    title: str
    purpose: str


class RunModel(StrictModel):
    """The outcome of one job run."""

    token: int
    attempt: int
    instance: str
    started_at: datetime
    ended_at: datetime
    outcome: Outcome
    result: str | None
    error: str | None


class EventModel(StrictModel):
    """An event."""

    event_id: str
    at: datetime
    app: str
    kind: str
    text: str
    href: str | None


class Apps(StrictModel):
    """All apps."""

    apps: tuple[AppCard, ...]


class Jobs(StrictModel):
    """All jobs."""

    jobs: tuple[JobStatus, ...]


class Runs(StrictModel):
    """The last runs of a job, newest first."""

    runs: tuple[RunModel, ...]


class SourceList(StrictModel):
    """All sources."""

    sources: tuple[SourceStatus, ...]


class Storage(StrictModel):
    """All tables and series."""

    parts: tuple[StoragePart, ...]


class EventList(StrictModel):
    """Events, newest first."""

    events: tuple[EventModel, ...]


class PlatformApi:
    """Information about the platform."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform

    @get("/me", summary="Show the caller")
    async def me(self, who: CurrentCaller) -> CallerModel:
        """The caller, as identified by the credential."""
        return CallerModel(
            user_id=who.user_id,
            name=who.name,
            admin=who.admin,
            via=who.via,
            preferences=who.preferences,
        )

    @put("/preferences", summary="Change preferences")
    async def prefer(self, who: CurrentCaller, given: PreferencesRequest) -> Preferences:
        """The stored preferences."""
        return await self._platform.people.prefer(
            who.user_id, time_zone=given.time_zone, odds_format=given.odds_format
        )

    @get("/apps", summary="List the apps")
    async def apps(self, who: CurrentCaller) -> Apps:
        """All apps with their home cards."""
        return Apps(
            apps=tuple(
                AppCard(**asdict(card), name=app.name, title=app.title, purpose=app.purpose)
                for app, card in await self._platform.cards(who)
            )
        )

    @get("/jobs", summary="List the jobs", access="admin")
    async def jobs(self) -> Jobs:
        """The status of all jobs."""
        return Jobs(jobs=await self._platform.jobs.list())

    @get(
        "/jobs/{name}/runs",
        summary="List the last runs of a job",
        problems=(NotFound,),
        access="admin",
    )
    async def runs(self, name: JobName, limit: Limit = 20) -> Runs:
        """The last runs of a job, newest first."""
        runs = await self._platform.jobs.history(name, limit)
        return Runs.model_validate({"runs": runs}, from_attributes=True)

    @post("/jobs/{name}/run", summary="Run a job", problems=(NotFound,), access="admin", status=202)
    async def run(self, name: JobName) -> JobStatus:
        """The job, which runs as soon as possible."""
        await self._platform.jobs.run_now(name)
        return await self._platform.jobs.one(name)

    @post("/jobs/{name}/pause", summary="Pause a job", problems=(NotFound,), access="admin")
    async def pause(self, name: JobName) -> JobStatus:
        """The paused job."""
        await self._platform.jobs.pause(name)
        return await self._platform.jobs.one(name)

    @post("/jobs/{name}/resume", summary="Resume a job", problems=(NotFound,), access="admin")
    async def resume(self, name: JobName) -> JobStatus:
        """The resumed job."""
        await self._platform.jobs.resume(name)
        return await self._platform.jobs.one(name)

    @get("/sources", summary="List the sources", access="admin")
    async def sources(self) -> SourceList:
        """The status of all sources."""
        return SourceList(sources=await self._platform.sources())

    @get("/storage", summary="List tables and series", access="admin")
    async def storage(self) -> Storage:
        """The size of all tables and series."""
        return Storage(parts=await self._platform.storage())

    @get("/events", summary="List recent events")
    async def events(self, who: CurrentCaller, limit: Limit = 50) -> EventList:
        """Recent events, newest first."""
        events = await self._platform.events.recent(limit, who)
        return EventList.model_validate({"events": events}, from_attributes=True)


SessionId = Annotated[str, Path(min_length=1, max_length=64)]


class Login(StrictModel):
    """A name and a password."""

    name: str = Field(min_length=1, max_length=200)
    password: str = Field(min_length=1, max_length=1000)


class SessionList(StrictModel):
    """Your sessions, newest first."""

    sessions: tuple[SessionView, ...]


class CredentialsApi:
    """Logging in and out, and managing your sessions."""

    def __init__(self, platform: Platform) -> None:
        self._people = platform.people
        self._secure = platform.settings.server.https

    @post(
        "/login",
        summary="Log in",
        access="anyone",
        problems=(LoginFailed, LoginThrottled),
        status=204,
    )
    async def log_in(self, request: Request, given: Login) -> Response:
        """A session cookie. Scripts should use an API key."""
        session = await self._people.log_in(
            given.name,
            given.password,
            Visitor.of_request(request),
            replacing=request.cookies.get(SESSION_COOKIE),
        )
        response = Response(status_code=204)
        set_session_cookie(response, session, secure=self._secure)
        return response

    @post("/logout", summary="Log out", access="anyone", status=204)
    async def log_out(self, request: Request) -> Response:
        """No content; the session has ended."""
        token = request.cookies.get(SESSION_COOKIE)
        if token:
            await self._people.sessions.end(token)
        response = Response(status_code=204)
        set_session_cookie(response, None, secure=self._secure)
        return response

    @get("/sessions", summary="List your sessions", problems=(NotFound,))
    async def sessions(self, request: Request, who: CurrentCaller) -> SessionList:
        """Your sessions, newest first; empty without an account."""
        if who.via not in ("session", "key"):
            return SessionList(sessions=())
        token = request.cookies.get(SESSION_COOKIE)
        return SessionList(sessions=await self._people.sessions.list(who.user_id, token))

    @delete("/sessions/{session_id}", summary="End a session", problems=(NotFound, Conflict))
    async def revoke(self, who: CurrentCaller, session_id: SessionId) -> None:
        """No content; the session has ended."""
        await self._people.sessions.revoke(who.user_id, session_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class AppSearchHit(SearchHit):
    """A search hit and its app."""

    app: str


class FailedApp(StrictModel):
    """An app that failed, and why."""

    app: str
    why: str


class SearchResults(StrictModel):
    """Search hits, best match first within each app."""

    query: str
    hits: tuple[AppSearchHit, ...]
    failed: tuple[FailedApp, ...]


@dataclass(frozen=True, slots=True)
class Standing:
    """A forecaster; figures are null for fewer than ten resolved forecasts."""

    app: str
    whose: ForecastOwner
    who: str
    what: str
    href: str
    decided: int
    chance: float | None = None
    came_true: Interval | None = None
    brier: Interval | None = None
    log_loss: float | None = None
    groups: tuple[Bin, ...] = ()


class Scoreboard(StrictModel):
    """Your own forecasts first, then Benny, then the models."""

    standings: tuple[Standing, ...]
    failed: tuple[FailedApp, ...]


class CrossAppApi:
    """Search and scoreboard across all apps."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform

    @get("/search", summary="Search all apps")
    async def search(self, who: CurrentCaller, q: SearchQuery) -> SearchResults:
        """Teams, markets, matches, horses and scenarios that match the query."""
        results = await search_apps(self._platform, q, who)
        return SearchResults(
            query=q,
            hits=tuple(
                AppSearchHit(**asdict(hit), app=result.app.name)
                for result in results
                for hit in result.items
            ),
            failed=_failed(results),
        )

    @get("/scoreboard", summary="Show the calibration of all forecasters")
    async def scoreboard(self, who: CurrentCaller) -> Scoreboard:
        """Calibration of your forecasts, Benny and the models."""
        results = await collect_calibration(self._platform, who)
        board = rank_forecasters(results)
        return Scoreboard(standings=tuple(map(_standing, board)), failed=_failed(results))


def _failed(results: tuple[AppResult[Any], ...]) -> tuple[FailedApp, ...]:
    return tuple(FailedApp(app=one.app.name, why=one.error) for one in results if one.error)


def _standing(row: ForecasterRow) -> Standing:
    series, figures = row.series, row.figures
    resolved = len(series.said)
    subject = (row.app, series.whose, series.who, series.what, series.href, resolved)
    if figures is None:
        return Standing(*subject)
    return Standing(
        *subject,
        figures.chance,
        figures.came_true,
        figures.brier,
        figures.log_loss,
        figures.groups,
    )
