"""Kept here: the addresses older apps know; each does what an address of ours does."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path
from pydantic import Field

from grandstand.apps.cricket.api.asking import (
    FETCHED,
    Limit,
    MatchId,
    RoutesPart,
    device_model,
)
from grandstand.apps.cricket.api.models import Asked, MatchList, MatchModel
from grandstand.apps.cricket.api.people_models import (
    ActivityList,
    ActivityModel,
    DeviceAsked,
    DeviceId,
    DeviceModel,
    FollowedModel,
    FollowModel,
    PushToStartAsked,
    TeamChosen,
    TeamId,
    Token,
)
from grandstand.apps.cricket.api.routes import CricketApi
from grandstand.apps.cricket.model.errors import MatchUnknown, TokenInvalid
from grandstand.apps.cricket.service import (
    ActivityUnknown,
    DeviceGiven,
    DeviceNameInvalid,
    DeviceUnknown,
    FollowUnknown,
    MatchOver,
    TeamNotPlaying,
)
from grandstand.kit.routes import Who, delete, get, patch, post

TokenInPath = Annotated[str, Path(min_length=1, max_length=1024)]


class ActivityTokenAsked(Asked):
    """The token of a Live Activity, under its older name."""

    activity_token: Token
    device_id: DeviceId


class DismissedAsked(Asked):
    """The device on which a Live Activity was dismissed; all without one."""

    device_id: DeviceId | None = None


class FollowMatchAsked(Asked):
    """A match to follow; the device is not needed any more, for all of them are told."""

    match_id: Annotated[str, Field(pattern=r"^[0-9]{1,20}$", examples=["69256"])]
    device_id: DeviceId | None = None
    team_id: TeamId | None = None


class AliasRoutes(RoutesPart):
    """What ours do, under other names."""

    @get("/matches/live", summary="Live matches, at an older address")
    async def live(self, limit: Limit = 50) -> MatchList:
        """The matches that are live."""
        found = await self._cricket.matches(status="live", limit=limit)
        matches = tuple(MatchModel.model_validate(each) for each in found.matches)
        return MatchList(matches=matches, cursor=None)

    @post(
        "/matches/{match_id}/activity-token",
        summary="Register the token of a Live Activity, at an older address",
        problems=(MatchUnknown, TokenInvalid, DeviceNameInvalid, MatchOver),
    )
    async def activity_token(
        self, who: Who, match_id: MatchId, asked: ActivityTokenAsked
    ) -> ActivityModel:
        """The activity."""
        kept = await self._cricket.register_activity(
            who, match_id, asked.device_id, asked.activity_token
        )
        return ActivityModel.model_validate(kept)

    @post(
        "/matches/{match_id}/activity-dismissed",
        summary="Say that a Live Activity was dismissed, at an older address",
        problems=(ActivityUnknown,),
    )
    async def activity_dismissed(
        self, who: Who, match_id: MatchId, asked: DismissedAsked
    ) -> ActivityList:
        """The activities that ended."""
        ended = await self._cricket.end_activity(who, match_id, asked.device_id)
        return ActivityList(activities=tuple(ActivityModel.model_validate(each) for each in ended))

    @post(
        "/user/follow/match",
        summary="Follow a match, at an older address",
        problems=(MatchUnknown, TeamNotPlaying, MatchOver, *FETCHED),
    )
    async def follow_match(self, who: Who, asked: FollowMatchAsked) -> FollowedModel:
        """The follow."""
        found = await self._cricket.follow(who, asked.match_id, asked.team_id)
        return FollowedModel.model_validate(found)

    @patch(
        "/user/follow/match/{match_id}/team",
        summary="Be for another team, at an older address",
        problems=(FollowUnknown, MatchUnknown, TeamNotPlaying),
    )
    async def follow_team(self, who: Who, match_id: MatchId, asked: TeamChosen) -> FollowModel:
        """The follow as it is now."""
        changed = await self._cricket.change_team(who, match_id, asked.team_id)
        return FollowModel.model_validate(changed)

    @delete(
        "/user/follow/match/{match_id}",
        summary="Unfollow a match, at an older address",
        problems=(FollowUnknown,),
    )
    async def unfollow_match(self, who: Who, match_id: MatchId) -> None:
        """Nothing: the match is not followed."""
        await self._cricket.unfollow(who, match_id)

    @post(
        "/devices",
        summary="Register a device, at an older address",
        problems=(TokenInvalid, DeviceNameInvalid),
    )
    async def add_device(self, who: Who, asked: DeviceAsked) -> DeviceModel:
        """The device as it is kept."""
        given = DeviceGiven(
            asked.device_token, asked.device_id, asked.platform, asked.os_version, asked.app_version
        )
        return device_model(await self._cricket.register_device(who, given))

    @delete(
        "/devices/{device_token}",
        summary="Forget a device, at an older address",
        problems=(DeviceUnknown,),
    )
    async def remove_device(self, who: Who, device_token: TokenInPath) -> None:
        """Nothing: nothing more is pushed to the device."""
        await self._cricket.forget_device(who, device_token)

    @post(
        "/devices/push-to-start-token",
        summary="Let Live Activities be started by push, at an older address",
        problems=(TokenInvalid, DeviceUnknown),
    )
    async def push_to_start_token(self, who: Who, asked: PushToStartAsked) -> DeviceModel:
        """The device with its push-to-start token."""
        kept = await self._cricket.set_push_to_start(
            who, asked.device_token, asked.push_to_start_token
        )
        return device_model(kept)


class AliasedCricketApi(CricketApi, AliasRoutes):
    """Cricket for programs, at older addresses too.

    The last base comes first: `/matches/live` is asked for before `/matches/{match_id}`.
    """
