"""API of the platform: caller, sessions, jobs, sources, storage and events."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Final, cast

from fastapi import Path, Query
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from grandstand.core.errors import Conflict, NotFound
from grandstand.core.formatting import OddsFormat
from grandstand.kit.auth.authenticate import SessionCookie, expired_cookie, session_cookie
from grandstand.kit.auth.caller import LoginFailed, LoginThrottled, Via
from grandstand.kit.auth.sessions import SESSION_COOKIE, Visitor
from grandstand.kit.jobs.admin import JobPhase
from grandstand.kit.jobs.tables import Outcome
from grandstand.kit.routes import CurrentCaller, StrictModel, delete, get, post, put

if TYPE_CHECKING:
    from grandstand.host.runtime import Platform

_AT: Final = "2026-11-16T12:00:00Z"

JobName = Annotated[str, Path(min_length=1, max_length=100, examples=["platform.sweep"])]
Limit = Annotated[int, Query(ge=1, le=200, examples=[20])]


class PreferencesModel(StrictModel):
    """Time zone and odds format."""

    time_zone: str
    odds_format: OddsFormat


class CallerModel(StrictModel):
    """The caller, as identified by the credential."""

    user_id: str
    name: str
    admin: bool
    via: Via
    preferences: PreferencesModel


class AppCardModel(StrictModel):
    """An app and its home card."""

    name: str
    title: str
    purpose: str
    headline: str
    detail: str
    href: str
    live: bool


class JobModel(StrictModel):
    """The status of a job."""

    name: str
    purpose: str
    rhythm: str
    state: JobPhase
    paused: bool
    due_at: datetime | None
    running_on: str | None
    running_since: datetime | None
    failures: int
    last_outcome: Outcome | None
    last_ended_at: datetime | None
    last_said: str | None
    last_error: str | None


class RunModel(StrictModel):
    """The outcome of one job run."""

    token: int
    attempt: int
    instance: str
    started_at: datetime
    ended_at: datetime
    outcome: Outcome
    said: str | None
    error: str | None


class SourceModel(StrictModel):
    """The status of a source."""

    name: str
    host: str
    used_today: int
    quota_left: int | None
    breaker: str
    next_at: datetime | None
    last_error: str | None
    last_success_at: datetime | None


class StoragePartModel(StrictModel):
    """The size of one table or series."""

    name: str
    kind: str
    owner: str
    engine: str
    rows: int | None
    size_bytes: int | None
    simulated: bool


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

    apps: tuple[AppCardModel, ...]


class Jobs(StrictModel):
    """All jobs."""

    jobs: tuple[JobModel, ...]


class Runs(StrictModel):
    """The last runs of a job, newest first."""

    runs: tuple[RunModel, ...]


class SourceList(StrictModel):
    """All sources."""

    sources: tuple[SourceModel, ...]


class Storage(StrictModel):
    """All tables and series."""

    parts: tuple[StoragePartModel, ...]


class EventList(StrictModel):
    """Events, newest first."""

    events: tuple[EventModel, ...]


_ME: Final = {
    "user_id": "owner",
    "name": "Owner",
    "admin": True,
    "via": "owner",
    "preferences": {"time_zone": "UTC", "odds_format": "decimal"},
}
_JOB: Final = {
    "name": "platform.sweep",
    "purpose": "Delete expired items.",
    "rhythm": "every 60 s",
    "state": "waiting",
    "paused": False,
    "due_at": _AT,
    "running_on": None,
    "running_since": None,
    "failures": 0,
    "last_outcome": "done",
    "last_ended_at": _AT,
    "last_said": "no expired items",
    "last_error": None,
}


class PlatformApi:
    """Information about the platform."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform

    @get("/me", summary="Who asks", example=_ME)
    async def me(self, who: CurrentCaller) -> CallerModel:
        """The caller, as identified by the credential."""
        preferences = PreferencesModel(
            time_zone=who.preferences.time_zone, odds_format=who.preferences.odds_format
        )
        return CallerModel(
            user_id=who.user_id,
            name=who.name,
            admin=who.admin,
            via=who.via,
            preferences=preferences,
        )

    @put("/preferences", summary="Change preferences", example=_ME["preferences"])
    async def prefer(self, who: CurrentCaller, given: PreferencesModel) -> PreferencesModel:
        """The stored preferences."""
        kept = await self._platform.people.prefer(
            who.user_id, time_zone=given.time_zone, odds_format=given.odds_format
        )
        return PreferencesModel(time_zone=kept.time_zone, odds_format=kept.odds_format)

    @get("/apps", summary="List the apps")
    async def apps(self, who: CurrentCaller) -> Apps:
        """All apps with their home cards."""
        cards = await self._platform.cards(who)
        return Apps(
            apps=tuple(
                AppCardModel(
                    name=card.name,
                    title=card.title,
                    purpose=card.purpose,
                    headline=now.headline,
                    detail=now.detail,
                    href=now.href,
                    live=now.live,
                )
                for card, now in cards
            )
        )

    @get("/jobs", summary="Every job", access="admin", example={"jobs": [_JOB]})
    async def jobs(self) -> Jobs:
        """The status of all jobs."""
        known = JobModel.model_fields
        return Jobs(
            jobs=tuple(
                JobModel(**{name: getattr(status, name) for name in known})
                for status in await self._platform.jobs.list()
            )
        )

    @get(
        "/jobs/{name}/runs",
        summary="List the last runs of a job",
        problems=(NotFound,),
        access="admin",
    )
    async def runs(self, name: JobName, limit: Limit = 20) -> Runs:
        """The last runs of a job, newest first."""
        known = RunModel.model_fields
        return Runs(
            runs=tuple(
                RunModel(**{field: getattr(run, field) for field in known})
                for run in await self._platform.jobs.history(name, limit)
            )
        )

    @post("/jobs/{name}/run", summary="Run it", problems=(NotFound,), access="admin", status=202)
    async def run(self, name: JobName) -> JobModel:
        """The job, which runs as soon as possible."""
        await self._platform.jobs.run_now(name)
        return await self._job(name)

    @post("/jobs/{name}/pause", summary="Let it rest", problems=(NotFound,), access="admin")
    async def pause(self, name: JobName) -> JobModel:
        """The paused job."""
        await self._platform.jobs.pause(name)
        return await self._job(name)

    @post("/jobs/{name}/resume", summary="Let it go on", problems=(NotFound,), access="admin")
    async def resume(self, name: JobName) -> JobModel:
        """The resumed job."""
        await self._platform.jobs.resume(name)
        return await self._job(name)

    @get("/sources", summary="List the sources", access="admin")
    async def sources(self) -> SourceList:
        """The status of all sources."""
        known = SourceModel.model_fields
        return SourceList(
            sources=tuple(
                SourceModel(**{name: getattr(status, name) for name in known})
                for status in await self._platform.sources()
            )
        )

    @get("/storage", summary="What is kept", access="admin")
    async def storage(self) -> Storage:
        """The size of all tables and series."""
        known = StoragePartModel.model_fields
        return Storage(
            parts=tuple(
                StoragePartModel(**{name: getattr(part, name) for name in known})
                for part in await self._platform.storage()
            )
        )

    @get("/events", summary="List recent events")
    async def events(self, who: CurrentCaller, limit: Limit = 50) -> EventList:
        """Recent events, newest first."""
        known = EventModel.model_fields
        return EventList(
            events=tuple(
                EventModel(**{name: getattr(event, name) for name in known})
                for event in await self._platform.events.recent(limit, who)
            )
        )

    async def _job(self, name: str) -> JobModel:
        status = await self._platform.jobs.one(name)
        return JobModel(**{field: getattr(status, field) for field in JobModel.model_fields})


def set_cookie(response: Response, cookie: SessionCookie) -> None:
    """Set a cookie on a response; an empty one deletes it in the browser."""
    response.set_cookie(
        cookie.name,
        cookie.value,
        max_age=cookie.max_age_seconds,
        path=cookie.path,
        secure=cookie.secure,
        httponly=cookie.http_only,
        samesite=cast("None", cookie.same_site),
    )


SessionId = Annotated[str, Path(min_length=1, max_length=64)]


class Login(StrictModel):
    """A name and a password."""

    name: str = Field(min_length=1, max_length=200)
    password: str = Field(min_length=1, max_length=1000)


class SessionModel(StrictModel):
    """One of your sessions."""

    session_id: str
    address: str
    agent: str
    created_at: datetime
    seen_at: datetime
    ends_at: datetime
    current: bool


class SessionList(StrictModel):
    """Your sessions, newest first."""

    sessions: tuple[SessionModel, ...]


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
            visitor(request),
            replacing=request.cookies.get(SESSION_COOKIE),
        )
        response = Response(status_code=204)
        set_cookie(response, session_cookie(session, secure=self._secure))
        return response

    @post("/logout", summary="Log out", access="anyone", status=204)
    async def log_out(self, request: Request) -> Response:
        """No content; the session has ended."""
        token = request.cookies.get(SESSION_COOKIE)
        if token:
            await self._people.log_out(token)
        response = Response(status_code=204)
        set_cookie(response, expired_cookie(secure=self._secure))
        return response

    @get("/sessions", summary="List your sessions", problems=(NotFound,))
    async def sessions(self, request: Request, who: CurrentCaller) -> SessionList:
        """Your sessions, newest first; empty without an account."""
        if who.via not in ("session", "key"):
            return SessionList(sessions=())
        token = request.cookies.get(SESSION_COOKIE)
        known = SessionModel.model_fields
        return SessionList(
            sessions=tuple(
                SessionModel(**{name: getattr(view, name) for name in known})
                for view in await self._people.sessions_of(who.user_id, token)
            )
        )

    @delete("/sessions/{session_id}", summary="End a login", problems=(NotFound, Conflict))
    async def revoke(self, who: CurrentCaller, session_id: SessionId) -> None:
        """No content; the session has ended."""
        await self._people.sessions.revoke(who.user_id, session_id)


def visitor(request: Request) -> Visitor:
    """Return the address and browser of a request."""
    address = request.client.host if request.client else ""
    return Visitor(address, request.headers.get("user-agent", ""))
