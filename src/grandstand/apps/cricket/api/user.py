"""Routes of the caller's devices, follows, Live Activities, alerts and browsers."""

from __future__ import annotations

from collections.abc import Iterable

from grandstand.apps.cricket.api.params import (
    FEED_ERRORS,
    ActivityList,
    ActivityRecord,
    ActivityRequest,
    AlertsRecord,
    AlertsRequest,
    BrowserKey,
    BrowserRequest,
    DeviceIdQuery,
    DeviceList,
    DeviceRecord,
    DeviceRequest,
    DeviceTokenPath,
    DeviceTokenQuery,
    EndpointQuery,
    FollowList,
    FollowRecord,
    FollowRequest,
    FollowResponse,
    LegacyActivityRequest,
    LegacyDismissedRequest,
    LegacyFollowRequest,
    Limit,
    MatchId,
    MatchList,
    PushTestResponse,
    PushToStartRequest,
    TeamRequest,
    copy_fields,
)
from grandstand.apps.cricket.domain.alerts import AlertPreferences
from grandstand.apps.cricket.domain.errors import (
    ActivityNotFound,
    DeviceNotFound,
    MatchNotFound,
    PushNotConfigured,
    TeamNotPlaying,
)
from grandstand.apps.cricket.domain.live_activities import BrowserSubscription
from grandstand.apps.cricket.services import Cricket
from grandstand.apps.cricket.services.users import (
    DeviceRegistration,
    FollowResult,
    follow_not_found,
)
from grandstand.core.errors import Conflict, InvalidInput, NotFound
from grandstand.kit.routes import CurrentCaller, delete, get, patch, post, put


class UserRoutes:
    """What belongs to the caller."""

    _cricket: Cricket

    @get("/user/device", summary="List your devices")
    async def devices(self, caller: CurrentCaller) -> DeviceList:
        """The device seen last, and all devices."""
        devices = await self._cricket.devices.of_user(caller.user_id)
        records = tuple(copy_fields(DeviceRecord, device) for device in devices)
        return DeviceList(records[0] if records else None, records)

    @post("/user/device", summary="Register a device", problems=(InvalidInput,))
    async def register_device(self, caller: CurrentCaller, request: DeviceRequest) -> DeviceRecord:
        """The device; it replaces its earlier registrations."""
        registration = copy_fields(DeviceRegistration, request)
        return copy_fields(
            DeviceRecord, await self._cricket.devices.register(caller.user_id, registration)
        )

    @delete("/user/device", summary="Remove a device", problems=(DeviceNotFound,))
    async def remove_device(self, caller: CurrentCaller, device_token: DeviceTokenQuery) -> None:
        """Removed; nothing more is pushed to the device."""
        await self._cricket.devices.remove(caller.user_id, device_token)

    @put(
        "/user/device/push-to-start",
        summary="Set the push-to-start token of a device",
        problems=(InvalidInput, DeviceNotFound),
    )
    async def push_to_start(
        self, caller: CurrentCaller, request: PushToStartRequest
    ) -> DeviceRecord:
        """The device."""
        device = await self._cricket.devices.set_push_to_start(
            caller.user_id, request.device_token, request.push_to_start_token
        )
        return copy_fields(DeviceRecord, device)

    @get("/user/follows", summary="List your followed matches")
    async def follows(self, caller: CurrentCaller) -> FollowList:
        """The followed matches."""
        follows = await self._cricket.follows.of_user(caller.user_id)
        return FollowList(tuple(copy_fields(FollowRecord, follow) for follow in follows))

    @get("/user/follow/{match_id}", summary="Get your follow of a match", problems=(NotFound,))
    async def find_follow(self, caller: CurrentCaller, match_id: MatchId) -> FollowRecord:
        """The follow; 404 if the match is not followed."""
        follow = await self._cricket.follows.find(caller.user_id, match_id)
        if follow is None:
            raise follow_not_found(match_id)
        return copy_fields(FollowRecord, follow)

    @post(
        "/user/follow/{match_id}",
        summary="Follow a match",
        problems=(MatchNotFound, TeamNotPlaying, Conflict, *FEED_ERRORS),
    )
    async def follow(
        self, caller: CurrentCaller, match_id: MatchId, request: FollowRequest
    ) -> FollowResponse:
        """The follow; for a live match with its display state and started activities."""
        follows = self._cricket.follows
        return _follow_response(await follows.follow(caller.user_id, match_id, request.team_id))

    @patch(
        "/user/follow/{match_id}",
        summary="Change the followed team",
        problems=(NotFound, MatchNotFound, TeamNotPlaying),
    )
    async def change_team(
        self, caller: CurrentCaller, match_id: MatchId, request: TeamRequest
    ) -> FollowRecord:
        """The changed follow."""
        follows = self._cricket.follows
        follow = await follows.change_team(caller.user_id, match_id, request.team_id)
        return copy_fields(FollowRecord, follow)

    @delete("/user/follow/{match_id}", summary="Unfollow a match", problems=(NotFound,))
    async def unfollow(self, caller: CurrentCaller, match_id: MatchId) -> None:
        """Unfollowed; its activities end on all devices."""
        await self._cricket.follows.unfollow(caller.user_id, match_id)

    @get("/user/activities", summary="List your Live Activities")
    async def activities(self, caller: CurrentCaller) -> ActivityList:
        """The Live Activities of all matches, newest first."""
        return _activity_list(await self._cricket.live_activities.of_user(caller.user_id))

    @post(
        "/user/activity/{match_id}",
        summary="Register the update token of a Live Activity",
        problems=(MatchNotFound, InvalidInput, Conflict),
    )
    async def register_activity(
        self, caller: CurrentCaller, match_id: MatchId, request: ActivityRequest
    ) -> ActivityRecord:
        """The activity; it is sent the current state and every change."""
        session = await self._cricket.live_activities.register(
            caller.user_id, match_id, request.device_id, request.update_token
        )
        return copy_fields(ActivityRecord, session)

    @delete(
        "/user/activity/{match_id}",
        summary="Report a dismissed Live Activity",
        problems=(ActivityNotFound,),
        status=200,
    )
    async def end_activity(
        self, caller: CurrentCaller, match_id: MatchId, device_id: DeviceIdQuery = None
    ) -> ActivityList:
        """The ended activities, of one device or of all; the match is unfollowed."""
        live_activities = self._cricket.live_activities
        return _activity_list(await live_activities.end(caller.user_id, match_id, device_id))

    @get("/user/alerts", summary="Get your alert preferences")
    async def alerts(self, caller: CurrentCaller) -> AlertsRecord:
        """The event kinds that alert you, and whether alerts are muted."""
        return _alerts_record(await self._cricket.follows.alert_preferences(caller.user_id))

    @put("/user/alerts", summary="Set your alert preferences", problems=(InvalidInput,))
    async def set_alerts(self, caller: CurrentCaller, request: AlertsRequest) -> AlertsRecord:
        """The preferences, which apply to all matches."""
        preferences = await self._cricket.follows.set_alert_preferences(
            caller.user_id,
            kinds=request.kinds,
            muted=request.muted,
            muted_until=request.muted_until,
        )
        return _alerts_record(preferences)

    @post(
        "/user/push-test",
        summary="Push a test notification to your devices",
        problems=(PushNotConfigured, DeviceNotFound),
    )
    async def push_test(self, caller: CurrentCaller) -> PushTestResponse:
        """The outcome for each device."""
        return PushTestResponse(dict(await self._cricket.announcements.send_test(caller.user_id)))

    @get(
        "/user/browser",
        summary="Get the key for browser subscriptions",
        problems=(PushNotConfigured,),
    )
    async def browser_key(self, caller: CurrentCaller) -> BrowserKey:
        """The public key; 409 if browser alerts are not configured."""
        del caller
        return BrowserKey(self._cricket.browsers.public_key)

    @post(
        "/user/browser",
        summary="Subscribe a browser to alerts",
        problems=(PushNotConfigured, InvalidInput),
        status=204,
    )
    async def subscribe_browser(self, caller: CurrentCaller, request: BrowserRequest) -> None:
        """Subscribed."""
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
    async def live(self, limit: Limit = 50) -> MatchList:
        """The live matches."""
        page = await self._cricket.fixtures.page(status="live", limit=limit)
        return MatchList(page.matches, None)

    @post(
        "/matches/{match_id}/activity-token",
        summary="Register the update token of a Live Activity (legacy)",
        problems=(MatchNotFound, InvalidInput, Conflict),
    )
    async def activity_token(
        self, caller: CurrentCaller, match_id: MatchId, request: LegacyActivityRequest
    ) -> ActivityRecord:
        """The activity."""
        session = await self._cricket.live_activities.register(
            caller.user_id, match_id, request.device_id, request.activity_token
        )
        return copy_fields(ActivityRecord, session)

    @post(
        "/matches/{match_id}/activity-dismissed",
        summary="Report a dismissed Live Activity (legacy)",
        problems=(ActivityNotFound,),
    )
    async def activity_dismissed(
        self, caller: CurrentCaller, match_id: MatchId, request: LegacyDismissedRequest
    ) -> ActivityList:
        """The ended activities."""
        ended = await self._cricket.live_activities.end(caller.user_id, match_id, request.device_id)
        return _activity_list(ended)

    @post(
        "/user/follow/match",
        summary="Follow a match (legacy)",
        problems=(MatchNotFound, TeamNotPlaying, Conflict, *FEED_ERRORS),
    )
    async def follow_match(
        self, caller: CurrentCaller, request: LegacyFollowRequest
    ) -> FollowResponse:
        """The follow."""
        result = await self._cricket.follows.follow(
            caller.user_id, request.match_id, request.team_id
        )
        return _follow_response(result)

    @patch(
        "/user/follow/match/{match_id}/team",
        summary="Change the followed team (legacy)",
        problems=(NotFound, MatchNotFound, TeamNotPlaying),
    )
    async def follow_team(
        self, caller: CurrentCaller, match_id: MatchId, request: TeamRequest
    ) -> FollowRecord:
        """The changed follow."""
        follows = self._cricket.follows
        follow = await follows.change_team(caller.user_id, match_id, request.team_id)
        return copy_fields(FollowRecord, follow)

    @delete(
        "/user/follow/match/{match_id}",
        summary="Unfollow a match (legacy)",
        problems=(NotFound,),
    )
    async def unfollow_match(self, caller: CurrentCaller, match_id: MatchId) -> None:
        """Unfollowed."""
        await self._cricket.follows.unfollow(caller.user_id, match_id)

    @post("/devices", summary="Register a device (legacy)", problems=(InvalidInput,))
    async def add_device(self, caller: CurrentCaller, request: DeviceRequest) -> DeviceRecord:
        """The device."""
        registration = copy_fields(DeviceRegistration, request)
        return copy_fields(
            DeviceRecord, await self._cricket.devices.register(caller.user_id, registration)
        )

    @delete(
        "/devices/{device_token}",
        summary="Remove a device (legacy)",
        problems=(DeviceNotFound,),
    )
    async def delete_device(self, caller: CurrentCaller, device_token: DeviceTokenPath) -> None:
        """Removed."""
        await self._cricket.devices.remove(caller.user_id, device_token)

    @post(
        "/devices/push-to-start-token",
        summary="Set the push-to-start token of a device (legacy)",
        problems=(InvalidInput, DeviceNotFound),
    )
    async def push_to_start_token(
        self, caller: CurrentCaller, request: PushToStartRequest
    ) -> DeviceRecord:
        """The device."""
        device = await self._cricket.devices.set_push_to_start(
            caller.user_id, request.device_token, request.push_to_start_token
        )
        return copy_fields(DeviceRecord, device)


def _activity_list(sessions: Iterable[object]) -> ActivityList:
    return ActivityList(tuple(copy_fields(ActivityRecord, session) for session in sessions))


def _alerts_record(preferences: AlertPreferences) -> AlertsRecord:
    kinds = None if preferences.kinds is None else tuple(sorted(preferences.kinds))
    return copy_fields(AlertsRecord, preferences, kinds=kinds)


def _follow_response(result: FollowResult) -> FollowResponse:
    return FollowResponse(
        copy_fields(FollowRecord, result.follow),
        result.display,
        tuple(copy_fields(ActivityRecord, session) for session in result.activities),
    )
