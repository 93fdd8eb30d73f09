"""Kept here: cricket's routes for administrators: the hub, syncs, ticks and replays."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import Path
from pydantic import Field

from grandstand.apps.cricket.api.asking import FETCHED, MatchId, RoutesPart
from grandstand.apps.cricket.api.models import Asked, Told
from grandstand.apps.cricket.model import MatchPhase
from grandstand.apps.cricket.model.errors import MatchUnknown, ReplayingOff, ReplayRefused
from grandstand.apps.cricket.model.replays import PlayAction, PlayState, ReplayOrder, ReplayWish
from grandstand.apps.cricket.service import TickOutpaced
from grandstand.kit.routes import Admin, delete, get, post

ReplayId = Annotated[str, Path(pattern=r"^[0-9]{1,20}$", examples=["1001349"])]
_STEERED = (ReplayingOff, ReplayRefused, *FETCHED)


class LagsModel(Told):
    """How long the newest news of a match took, stage by stage, as far as it has come."""

    feed_seconds: float | None
    tick_seconds: float | None
    outbox_seconds: float | None
    push_seconds: float | None


class LastPushModel(Told):
    """How the newest push of a match went."""

    at: datetime
    pushed: int
    rejected: int
    alerted: int


class HubMatchModel(Told):
    """One match being polled."""

    match_id: str
    title: str
    status: str
    phase: MatchPhase
    owner: str
    epoch: int
    seq: int
    last_tick_at: datetime | None
    lag_seconds: float | None
    sessions: dict[str, int]
    lags: LagsModel
    last_push: LastPushModel | None
    channel_id: str | None


class SourceModel(Told):
    """How things stand with a part of the score feed."""

    name: str
    host: str
    used_today: int
    quota_left: int | None
    breaker: str
    last_error: str | None
    last_success_at: datetime | None


class HubModel(Told):
    """What is polled and pushed; the rate of pushes is that of this instance."""

    at: datetime
    matches: tuple[HubMatchModel, ...]
    feed: tuple[SourceModel, ...]
    pushing: bool
    waiting: dict[str, int]
    pushes_per_second: float
    pushed: int
    rejected: int


class TickedModel(Told):
    """What came of a tick."""

    match_id: str
    outcome: str
    seq: int
    events: tuple[str, ...]
    key_event: str | None


class SyncedModel(Told):
    """What a sync found, and what of it was new or changed."""

    found: int
    written: int
    warnings: tuple[str, ...]


class ReplayAsked(Asked):
    """A match to play from a tape, by the name of the tape."""

    tape: Annotated[str, Field(pattern=r"^[A-Za-z0-9:]{1,60}$", examples=["1001349"])]
    speed: Annotated[float, Field(gt=0, le=1000)] = 1.0
    starts_in_seconds: Annotated[float, Field(ge=0, le=86_400)] = 0.0


class ReplayOrdered(Asked):
    """What a replay is to do; seek takes the number of a ball."""

    action: PlayAction
    speed: Annotated[float, Field(gt=0, le=1000)] | None = None
    ball: Annotated[int, Field(ge=0, le=100_000)] | None = None


class ReplayModel(Told):
    """Where a replay stands."""

    match_id: str
    tape: str
    title: str
    format: str
    state: PlayState
    speed: float
    starts_at: datetime
    ball: int
    balls: int
    match_status: str


class ReplayList(Told):
    """The matches being replayed."""

    replays: tuple[ReplayModel, ...]


class TapeList(Told):
    """The tapes there are, by name."""

    tapes: tuple[str, ...]


class AdminRoutes(RoutesPart):
    """What only administrators may see and do."""

    @get("/admin/hub", summary="What is polled and pushed", access="admin")
    async def hub(self, who: Admin) -> HubModel:
        """Active matches with their owners and lags, the feed's budget, and pushes."""
        del who
        return HubModel.model_validate(await self._cricket.hub())

    @post("/admin/cache/clear", summary="Forget what is remembered", access="admin", status=204)
    async def clear_caches(self, who: Admin) -> None:
        """Nothing: leagues, teams and scorecards are read again by this instance."""
        del who
        self._cricket.clear_caches()

    @post(
        "/admin/matches/{match_id}/tick",
        summary="Look at a match now",
        problems=(MatchUnknown, TickOutpaced, *FETCHED),
        access="admin",
    )
    async def tick(self, who: Admin, match_id: MatchId) -> TickedModel:
        """What was new in the match."""
        del who
        return TickedModel.model_validate(await self._cricket.tick(match_id))

    @post("/admin/sync", summary="Read the fixture list now", problems=FETCHED, access="admin")
    async def sync(self, who: Admin) -> SyncedModel:
        """What the feed has for the days around now."""
        del who
        return SyncedModel.model_validate(await self._cricket.sync_fixtures())

    @get("/admin/replay/tapes", summary="What can be replayed", problems=_STEERED, access="admin")
    async def tapes(self, who: Admin) -> TapeList:
        """The tapes the replayed feed has."""
        del who
        return TapeList(tapes=await self._cricket.replaying.tapes())

    @get("/admin/replay/matches", summary="What is replayed", problems=_STEERED, access="admin")
    async def replays(self, who: Admin) -> ReplayList:
        """The matches on the replayed feed, and where each stands."""
        del who
        found = await self._cricket.replaying.replays()
        return ReplayList(replays=tuple(ReplayModel.model_validate(each) for each in found))

    @post("/admin/replay/matches", summary="Replay a tape", problems=_STEERED, access="admin")
    async def replay(self, who: Admin, asked: ReplayAsked) -> ReplayModel:
        """The match as it begins."""
        del who
        wish = ReplayWish(asked.tape, asked.speed, asked.starts_in_seconds)
        return ReplayModel.model_validate(await self._cricket.replaying.play(wish))

    @post(
        "/admin/replay/matches/{match_id}/control",
        summary="Play, pause, seek or stop a replay",
        problems=_STEERED,
        access="admin",
        also={204: "It is stopped and gone."},
    )
    async def control(
        self, who: Admin, match_id: ReplayId, asked: ReplayOrdered
    ) -> ReplayModel | None:
        """The replay as it stands now; nothing once it was stopped."""
        del who
        order = ReplayOrder(asked.action, asked.speed, asked.ball)
        found = await self._cricket.replaying.control(match_id, order)
        return None if found is None else ReplayModel.model_validate(found)

    @delete(
        "/admin/replay/matches/{match_id}",
        summary="Stop a replay",
        problems=_STEERED,
        access="admin",
    )
    async def stop(self, who: Admin, match_id: ReplayId) -> None:
        """Nothing: the match is off the replayed feed."""
        del who
        await self._cricket.replaying.control(match_id, ReplayOrder("stop"))
