"""Kept here: cricket's routes for the caller's own devices, follows, activities and alerts."""

from __future__ import annotations

from typing import Final

from grandstand.apps.cricket.api.asking import (
    FETCHED,
    DeviceId,
    DeviceToken,
    MatchId,
    RoutesPart,
    device_model,
)
from grandstand.apps.cricket.api.people_models import (
    ActivityAsked,
    ActivityList,
    ActivityModel,
    AlertsAsked,
    AlertsModel,
    DeviceAsked,
    DeviceModel,
    DevicesModel,
    FollowAsked,
    FollowedModel,
    FollowList,
    FollowModel,
    PushedModel,
    PushToStartAsked,
    TeamChosen,
)
from grandstand.apps.cricket.model.alerts import AlertChoice
from grandstand.apps.cricket.model.errors import AlertKindUnknown, MatchUnknown, TokenInvalid
from grandstand.apps.cricket.service import (
    ActivityUnknown,
    AlertsGiven,
    DeviceGiven,
    DeviceNameInvalid,
    DeviceUnknown,
    FollowUnknown,
    MatchOver,
    PushKeyMissing,
    TeamNotPlaying,
)
from grandstand.kit.routes import Who, delete, get, patch, post, put

_NOT_FOLLOWED: Final = "You do not follow this match: POST to the same address to do so"


class PeopleRoutes(RoutesPart):
    """What belongs to the caller; nobody sees or changes another's."""

    @get("/user/device", summary="The caller's devices")
    async def devices(self, who: Who) -> DevicesModel:
        """The device that was seen last, and all of them."""
        found = tuple(device_model(each) for each in await self._cricket.devices(who))
        return DevicesModel(device=found[0] if found else None, devices=found)

    @post("/user/device", summary="Register a device", problems=(TokenInvalid, DeviceNameInvalid))
    async def register_device(self, who: Who, asked: DeviceAsked) -> DeviceModel:
        """The device as it is kept; it takes the place of what it was known by before."""
        given = DeviceGiven(
            asked.device_token, asked.device_id, asked.platform, asked.os_version, asked.app_version
        )
        return device_model(await self._cricket.register_device(who, given))

    @delete("/user/device", summary="Forget a device", problems=(DeviceUnknown,))
    async def forget_device(self, who: Who, device_token: DeviceToken) -> None:
        """Nothing: nothing more is pushed to the device."""
        await self._cricket.forget_device(who, device_token)

    @put(
        "/user/device/push-to-start",
        summary="Let Live Activities be started by push",
        problems=(TokenInvalid, DeviceUnknown),
    )
    async def push_to_start(self, who: Who, asked: PushToStartAsked) -> DeviceModel:
        """The device with its push-to-start token, which changes now and then."""
        kept = await self._cricket.set_push_to_start(
            who, asked.device_token, asked.push_to_start_token
        )
        return device_model(kept)

    @get("/user/follows", summary="The matches the caller follows")
    async def follows(self, who: Who) -> FollowList:
        """The matches the caller follows."""
        found = await self._cricket.follows(who)
        return FollowList(follows=tuple(FollowModel.model_validate(each) for each in found))

    @get(
        "/user/follow/{match_id}",
        summary="Whether the caller follows a match",
        problems=(FollowUnknown,),
    )
    async def find_follow(self, who: Who, match_id: MatchId) -> FollowModel:
        """The follow, and for whom; 404 when there is none."""
        found = await self._cricket.find_follow(who, match_id)
        if found is None:
            raise FollowUnknown(_NOT_FOLLOWED)
        return FollowModel.model_validate(found)

    @post(
        "/user/follow/{match_id}",
        summary="Follow a match",
        problems=(MatchUnknown, TeamNotPlaying, MatchOver, *FETCHED),
    )
    async def follow(self, who: Who, match_id: MatchId, asked: FollowAsked) -> FollowedModel:
        """The follow; if the match is on, what a lock screen shows and what was started."""
        found = await self._cricket.follow(who, match_id, asked.team_id)
        return FollowedModel.model_validate(found)

    @patch(
        "/user/follow/{match_id}",
        summary="Be for another team",
        problems=(FollowUnknown, MatchUnknown, TeamNotPlaying),
    )
    async def change_team(self, who: Who, match_id: MatchId, asked: TeamChosen) -> FollowModel:
        """The follow as it is now."""
        changed = await self._cricket.change_team(who, match_id, asked.team_id)
        return FollowModel.model_validate(changed)

    @delete("/user/follow/{match_id}", summary="Unfollow a match", problems=(FollowUnknown,))
    async def unfollow(self, who: Who, match_id: MatchId) -> None:
        """Nothing: the match's activities end on all the caller's devices."""
        await self._cricket.unfollow(who, match_id)

    @get("/user/activities", summary="The caller's Live Activities")
    async def activities(self, who: Who) -> ActivityList:
        """The caller's Live Activities across matches, newest first."""
        return _activities(await self._cricket.activities(who))

    @post(
        "/user/activity/{match_id}",
        summary="Register the token of a Live Activity",
        problems=(MatchUnknown, TokenInvalid, DeviceNameInvalid, MatchOver),
    )
    async def register_activity(
        self, who: Who, match_id: MatchId, asked: ActivityAsked
    ) -> ActivityModel:
        """The activity; it is told how the match stands, and every change from now on."""
        kept = await self._cricket.register_activity(
            who, match_id, asked.device_id, asked.update_token
        )
        return ActivityModel.model_validate(kept)

    @delete(
        "/user/activity/{match_id}",
        summary="Say that a Live Activity was dismissed",
        problems=(ActivityUnknown,),
        status=200,
    )
    async def end_activity(
        self, who: Who, match_id: MatchId, device_id: DeviceId = None
    ) -> ActivityList:
        """The activities that ended: one device's, or all; it counts as unfollowing."""
        return _activities(await self._cricket.end_activity(who, match_id, device_id))

    @get("/user/alerts", summary="What the caller is alerted of")
    async def alerts(self, who: Who) -> AlertsModel:
        """The kinds of events that alert the caller, and whether they are muted."""
        return _alerts(await self._cricket.alert_choice(who))

    @put("/user/alerts", summary="Choose what to be alerted of", problems=(AlertKindUnknown,))
    async def choose_alerts(self, who: Who, asked: AlertsAsked) -> AlertsModel:
        """The choice as it is kept, for all matches and activities of the caller."""
        given = AlertsGiven(asked.kinds, asked.muted, asked.muted_until)
        return _alerts(await self._cricket.choose_alerts(who, given))

    @post(
        "/user/push-test",
        summary="Push an alert to one's own devices",
        problems=(PushKeyMissing, DeviceUnknown),
    )
    async def push_test(self, who: Who) -> PushedModel:
        """What the push service said of each of the caller's devices."""
        return PushedModel(devices=dict(await self._cricket.push_test(who)))


def _activities(found: tuple[object, ...]) -> ActivityList:
    return ActivityList(activities=tuple(ActivityModel.model_validate(each) for each in found))


def _alerts(choice: AlertChoice) -> AlertsModel:
    kinds = None if choice.kinds is None else tuple(sorted(choice.kinds))
    return AlertsModel(kinds=kinds, muted=choice.muted, muted_until=choice.muted_until)
