"""Kept here: the house's own part of the API: who asks, jobs, sources, storage, events."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Final

from fastapi import Path, Query

from grandstand.base.errors import NotFound
from grandstand.kit.jobs.tables import Outcome
from grandstand.kit.jobs.view import State
from grandstand.kit.routes import Strict, Who, get, post, put
from grandstand.kit.who.caller import OddsFormat, Via

if TYPE_CHECKING:
    from grandstand.host.house import House

_AT: Final = "2026-11-16T12:00:00Z"

JobName = Annotated[str, Path(min_length=1, max_length=100, examples=["house.sweep"])]
Limit = Annotated[int, Query(ge=1, le=200, examples=[20])]


class PreferencesModel(Strict):
    """How a person likes times and odds to be shown."""

    time_zone: str
    odds_format: OddsFormat


class Me(Strict):
    """Whoever asks, as the credential says."""

    user_id: str
    name: str
    admin: bool
    via: Via
    preferences: PreferencesModel


class AppNow(Strict):
    """An application, and what is live in it now."""

    name: str
    title: str
    purpose: str
    headline: str
    detail: str
    href: str
    live: bool


class JobModel(Strict):
    """How a job stands."""

    name: str
    purpose: str
    rhythm: str
    state: State
    paused: bool
    due_at: datetime | None
    running_on: str | None
    running_since: datetime | None
    failures: int
    last_outcome: Outcome | None
    last_ended_at: datetime | None
    last_said: str | None
    last_error: str | None


class RunModel(Strict):
    """How one run of a job went."""

    token: int
    attempt: int
    instance: str
    started_at: datetime
    ended_at: datetime
    outcome: Outcome
    said: str | None
    error: str | None


class SourceModel(Strict):
    """How things stand with a source."""

    name: str
    host: str
    used_today: int
    quota_left: int | None
    breaker: str
    next_at: datetime | None
    last_error: str | None
    last_success_at: datetime | None


class PartModel(Strict):
    """What one table or series holds and takes."""

    name: str
    kind: str
    owner: str
    engine: str
    rows: int | None
    size_bytes: int | None
    simulated: bool


class EventModel(Strict):
    """Something that happened."""

    event_id: str
    at: datetime
    app: str
    kind: str
    text: str
    href: str | None


class Apps(Strict):
    """Every application."""

    apps: tuple[AppNow, ...]


class Jobs(Strict):
    """Every job."""

    jobs: tuple[JobModel, ...]


class Runs(Strict):
    """The last runs of a job, newest first."""

    runs: tuple[RunModel, ...]


class SourceList(Strict):
    """Every source."""

    sources: tuple[SourceModel, ...]


class Storage(Strict):
    """Every table and series."""

    parts: tuple[PartModel, ...]


class EventList(Strict):
    """What happened, newest first."""

    events: tuple[EventModel, ...]


_ME: Final = {
    "user_id": "owner",
    "name": "Owner",
    "admin": True,
    "via": "owner",
    "preferences": {"time_zone": "UTC", "odds_format": "decimal"},
}
_JOB: Final = {
    "name": "house.sweep",
    "purpose": "Clear away what has expired.",
    "rhythm": "every 60 s",
    "state": "waiting",
    "paused": False,
    "due_at": _AT,
    "running_on": None,
    "running_since": None,
    "failures": 0,
    "last_outcome": "done",
    "last_ended_at": _AT,
    "last_said": "nothing had expired",
    "last_error": None,
}


class HouseApi:
    """What the house tells programs of itself."""

    def __init__(self, house: House) -> None:
        self._house = house

    @get("/me", summary="Who asks", example=_ME)
    async def me(self, who: Who) -> Me:
        """Whoever asks, as the credential says."""
        preferences = PreferencesModel(
            time_zone=who.preferences.time_zone, odds_format=who.preferences.odds_format
        )
        return Me(
            user_id=who.user_id,
            name=who.name,
            admin=who.admin,
            via=who.via,
            preferences=preferences,
        )

    @put("/preferences", summary="Set preferences", example=_ME["preferences"])
    async def prefer(self, who: Who, given: PreferencesModel) -> PreferencesModel:
        """The preferences as they are kept now."""
        kept = await self._house.people.prefer(
            who.user_id, time_zone=given.time_zone, odds_format=given.odds_format
        )
        return PreferencesModel(time_zone=kept.time_zone, odds_format=kept.odds_format)

    @get("/apps", summary="Every application, and what is live")
    async def apps(self, who: Who) -> Apps:
        """Every application with a headline of what it has now."""
        cards = await self._house.cards(who)
        return Apps(
            apps=tuple(
                AppNow(
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
        """How every job stands."""
        known = JobModel.model_fields
        return Jobs(
            jobs=tuple(
                JobModel(**{name: getattr(status, name) for name in known})
                for status in await self._house.jobs.list()
            )
        )

    @get("/jobs/{name}/runs", summary="The last runs", problems=(NotFound,), access="admin")
    async def runs(self, name: JobName, limit: Limit = 20) -> Runs:
        """The last runs of a job, newest first."""
        known = RunModel.model_fields
        return Runs(
            runs=tuple(
                RunModel(**{field: getattr(run, field) for field in known})
                for run in await self._house.jobs.history(name, limit)
            )
        )

    @post("/jobs/{name}/run", summary="Run it", problems=(NotFound,), access="admin", status=202)
    async def run(self, name: JobName) -> JobModel:
        """The job, which runs as soon as may be."""
        await self._house.jobs.run_now(name)
        return await self._job(name)

    @post("/jobs/{name}/pause", summary="Let it rest", problems=(NotFound,), access="admin")
    async def pause(self, name: JobName) -> JobModel:
        """The job, which rests until it is resumed."""
        await self._house.jobs.pause(name)
        return await self._job(name)

    @post("/jobs/{name}/resume", summary="Let it go on", problems=(NotFound,), access="admin")
    async def resume(self, name: JobName) -> JobModel:
        """The job, which is due again."""
        await self._house.jobs.resume(name)
        return await self._job(name)

    @get("/sources", summary="Every outside source", access="admin")
    async def sources(self) -> SourceList:
        """How things stand with every outside source."""
        known = SourceModel.model_fields
        return SourceList(
            sources=tuple(
                SourceModel(**{name: getattr(status, name) for name in known})
                for status in await self._house.sources()
            )
        )

    @get("/storage", summary="What is kept", access="admin")
    async def storage(self) -> Storage:
        """What every table and series holds and takes."""
        known = PartModel.model_fields
        return Storage(
            parts=tuple(
                PartModel(**{name: getattr(part, name) for name in known})
                for part in await self._house.storage()
            )
        )

    @get("/events", summary="What happened")
    async def events(self, who: Who, limit: Limit = 50) -> EventList:
        """What happened lately, newest first."""
        known = EventModel.model_fields
        return EventList(
            events=tuple(
                EventModel(**{name: getattr(event, name) for name in known})
                for event in await self._house.events.recent(limit, who)
            )
        )

    async def _job(self, name: str) -> JobModel:
        status = await self._house.jobs.one(name)
        return JobModel(**{field: getattr(status, field) for field in JobModel.model_fields})
