"""Kept here: the shapes of devices, follows and Live Activities over HTTP."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from grandstand.apps.cricket.api.models import Asked, DisplayModel, Moment, Told
from grandstand.apps.cricket.model import EndReason, EventKind, SessionStatus

Token = Annotated[
    str,
    Field(
        min_length=1, max_length=1024, examples=["00fc13adff785122b4ad28809a3420982341241421348"]
    ),
]
DeviceId = Annotated[
    str, Field(min_length=1, max_length=128, examples=["6F9619FF-8B86-D011-B42D-00CF4FC964FF"])
]
Version = Annotated[str, Field(max_length=64, examples=["18.1"])]
TeamId = Annotated[str, Field(pattern=r"^[A-Za-z0-9-]{1,24}$", examples=["37"])]


class DeviceAsked(Asked):
    """What a device tells of itself; `deviceToken` is what ordinary alerts are pushed to."""

    device_token: Token
    device_id: DeviceId
    platform: Literal["ios"] = "ios"
    os_version: Version = ""
    app_version: Version = ""


class PushToStartAsked(Asked):
    """The token that starts Live Activities on a device that is registered."""

    device_token: Token
    push_to_start_token: Token


class DeviceModel(Told):
    """A device of the caller; `startable` when Live Activities can be started on it by push."""

    device_id: str
    device_token: str
    platform: str
    os_version: str
    app_version: str
    last_seen_at: datetime
    startable: bool


class DevicesModel(Told):
    """The device seen last, and all of them."""

    device: DeviceModel | None
    devices: tuple[DeviceModel, ...]


class FollowAsked(Asked):
    """Whom one is for; nobody when it is left out."""

    team_id: TeamId | None = None


class TeamChosen(Asked):
    """Whom one is for from now on; `neutral` for nobody."""

    team_id: TeamId


class FollowModel(Told):
    """A match somebody follows, and for whom: `neutral` for nobody."""

    match_id: str
    team_id: str
    created_at: datetime
    expires_at: datetime | None


class FollowList(Told):
    """The matches the caller follows."""

    follows: tuple[FollowModel, ...]


class ActivityAsked(Asked):
    """The token of a Live Activity, new or changed."""

    device_id: DeviceId
    update_token: Token


class ActivityModel(Told):
    """A Live Activity on one device."""

    match_id: str
    device_id: str
    status: SessionStatus
    session_started_at: datetime
    ended_at: datetime | None
    end_reason: EndReason | None
    suspended_at: datetime | None
    muted: bool
    muted_until: datetime | None


class ActivityList(Told):
    """Live Activities, newest first."""

    activities: tuple[ActivityModel, ...]


class FollowedModel(Told):
    """A follow, what a lock screen shows now, and the activities that were asked for."""

    follow: FollowModel
    display: DisplayModel | None
    activities: tuple[ActivityModel, ...]


class AlertsAsked(Asked):
    """What to be alerted of; without kinds, what alerts by itself."""

    kinds: Annotated[tuple[str, ...], Field(max_length=40)] | None = None
    muted: bool = False
    muted_until: Moment | None = None


class AlertsModel(Told):
    """What the caller is alerted of; no kinds mean those that alert by themselves."""

    kinds: tuple[EventKind, ...] | None
    muted: bool
    muted_until: datetime | None


class PushedModel(Told):
    """What came of a test by device id."""

    devices: dict[str, str]
