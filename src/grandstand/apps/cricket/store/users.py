"""Users' devices, Live Activity sessions, follows and preferences."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Final, Self

from grandstand.apps.cricket.domain.alerts import AlertPreferences
from grandstand.apps.cricket.domain.live_activities import (
    ActivityKey,
    BrowserSubscription,
    DeviceRegistration,
    EndReason,
    SessionStatus,
)
from grandstand.apps.cricket.domain.match_events import EventKind
from grandstand.storage.tables import (
    Delete,
    Entity,
    Get,
    GetMany,
    Index,
    Put,
    Query,
    Table,
    Update,
    WriteMany,
    absent,
    field,
    key,
    ttl,
)

DEVICE_LIFETIME: Final = timedelta(days=90)

live_activities = Table(
    "live-activities",
    partition="matchId",
    sort="userId#deviceId",
    ttl="ttl",
    indexes=(Index("userId-index", "userId"),),
    purpose="Live Activity sessions, one per device.",
)
devices = Table(
    "cricket-devices",
    partition="userId",
    sort="deviceToken",
    ttl="ttl",
    purpose="Push tokens of users' devices.",
)
match_follows = Table(
    "cricket-match-follows",
    partition="matchId",
    sort="userId",
    ttl="expiresAt",
    purpose="Follows of matches.",
)


class LiveActivity(Entity, table=live_activities, names="camel", times="milliseconds"):
    """A Live Activity session on one device: pending until its token arrives, then active."""

    match_id: str
    user_id: str
    device_id: str
    update_token: str | None = None
    token_registered_at: datetime | None = None
    status: SessionStatus
    session_started_at: datetime
    ended_at: datetime | None = None
    end_reason: EndReason | None = None
    suspended_at: datetime | None = None
    starts_sent: int = 0
    start_sent_at: datetime | None = None
    alert_kinds: tuple[EventKind, ...] | None = None
    muted: bool = False
    muted_until: datetime | None = None
    channel_id: str | None = None
    expires: datetime | None = ttl()

    row = key("{match_id}", "{user_id}#{device_id}")
    by_user = key("{user_id}", index="userId-index")

    @property
    def session_key(self) -> str:
        """The sort key within the match."""
        return f"{self.user_id}#{self.device_id}"

    @property
    def activity_key(self) -> ActivityKey:
        return ActivityKey(self.match_id, self.user_id, self.device_id)

    @property
    def alert_preferences(self) -> AlertPreferences:
        return AlertPreferences(self.alert_kinds, self.muted, self.muted_until)

    @classmethod
    def by_key(cls, activity_key: ActivityKey) -> Get[Self]:
        """Get a session."""
        return cls.get(**asdict(activity_key)).consistent()

    @classmethod
    def by_keys(cls, activity_keys: tuple[ActivityKey, ...]) -> GetMany[Self]:
        """Get several sessions."""
        return GetMany(tuple(cls.get(**asdict(activity_key)) for activity_key in activity_keys))

    @classmethod
    def of_match(cls, match_id: str) -> Query[Self]:
        """Get all sessions of a match."""
        return cls.row(match_id=match_id)

    @classmethod
    def of_user(cls, user_id: str) -> Query[Self]:
        """Get a user's sessions across matches."""
        return cls.by_user(user_id=user_id)

    @classmethod
    def of_match_and_user(cls, match_id: str, user_id: str) -> Query[Self]:
        """Get a user's sessions of one match."""
        return cls.row(match_id=match_id, user_id=user_id)

    def create_pending(self) -> Put[Self]:
        """Create a session whose token has not arrived yet."""
        return self.put().if_absent()

    @classmethod
    def register(
        cls, activity_key: ActivityKey, update_token: str, at: datetime, expires: datetime
    ) -> Update[Self]:
        """Start or restart a session with its token."""
        return (
            cls.update(**asdict(activity_key))
            .upsert()
            .set(
                update_token=update_token,
                token_registered_at=at,
                status="active",
                session_started_at=at,
                ended_at=None,
                end_reason=None,
                suspended_at=None,
                starts_sent=0,
                expires=expires,
            )
        )

    def record_start(
        self, at: datetime, expires: datetime, channel_id: str | None = None
    ) -> Update[Self]:
        """Record, before sending, that a start is sent again, if nobody else did."""
        before = field(LiveActivity.starts_sent)
        again = type(self).update(**asdict(self.activity_key))
        return again.set(
            status="pending" if self.status != "active" else "active",
            starts_sent=1 if self.status == "ended" else self.starts_sent + 1,
            start_sent_at=at,
            channel_id=channel_id,
            ended_at=None,
            end_reason=None,
            expires=expires,
        ).when((before == self.starts_sent) & (field(LiveActivity.status) == self.status))

    @classmethod
    def set_alert_preferences(
        cls, activity_key: ActivityKey, preferences: AlertPreferences
    ) -> Update[Self]:
        """Set the alert preferences of a session."""
        return cls.update(**asdict(activity_key)).set(
            alert_kinds=preferences.kinds,
            muted=preferences.muted,
            muted_until=preferences.muted_until,
        )

    @classmethod
    def extend_expiry(cls, activity_key: ActivityKey, expires: datetime) -> Update[Self]:
        """Extend the expiry of a session."""
        return cls.update(**asdict(activity_key)).set(expires=expires)

    @classmethod
    def remove(cls, activity_key: ActivityKey) -> Delete[Self]:
        """Delete a session."""
        return cls.delete(**asdict(activity_key))

    @classmethod
    def rotate_token(
        cls, activity_key: ActivityKey, update_token: str, at: datetime
    ) -> Update[Self]:
        """Replace the token of a session and activate it."""
        return cls.update(**asdict(activity_key)).set(
            update_token=update_token, token_registered_at=at, status="active", suspended_at=None
        )

    @classmethod
    def end(cls, activity_key: ActivityKey, at: datetime, reason: EndReason) -> Update[Self]:
        """End a session."""
        return cls.update(**asdict(activity_key)).set(
            status="ended", ended_at=at, end_reason=reason
        )

    @classmethod
    def suspend(cls, activity_key: ActivityKey, at: datetime) -> Update[Self]:
        """Suspend a session whose token was rejected."""
        return cls.update(**asdict(activity_key)).set(status="suspended", suspended_at=at)

    def suspend_token(self, at: datetime) -> Update[Self]:
        """Suspend the session, unless it has another token by now or has ended."""
        same = field(LiveActivity.update_token) == self.update_token
        active = field(LiveActivity.status) == "active"
        return self.suspend(self.activity_key, at).when(same & active)


class Device(Entity, table=devices, names="camel", times="milliseconds"):
    """A device that receives pushes; it expires when it is not seen for 90 days."""

    user_id: str
    device_token: str
    device_id: str
    platform: str
    apns_token: str
    push_to_start_token: str | None = None
    os_version: str
    app_version: str
    last_seen_at: datetime
    expires: datetime | None = ttl(after=DEVICE_LIFETIME, of="last_seen_at")

    row = key("{user_id}", "{device_token}")

    @property
    def startable(self) -> bool:
        """Whether activities can be started by push."""
        return self.push_to_start_token is not None

    @classmethod
    def of_user(cls, user_id: str) -> Query[Self]:
        """Get a user's devices."""
        return cls.row(user_id=user_id)

    @classmethod
    def first_of_user(cls, user_id: str) -> Query[Self]:
        """Get one device of a user."""
        return cls.row(user_id=user_id).oldest(1)

    @classmethod
    def by_token(cls, user_id: str, device_token: str) -> Get[Self]:
        """Get a device by its token."""
        return cls.get(user_id=user_id, device_token=device_token)

    @classmethod
    def register(cls, user_id: str, registration: DeviceRegistration, at: datetime) -> Update[Self]:
        """Create or update a device."""
        values = asdict(registration)
        token = values.pop("device_token")
        device = cls.update(user_id=user_id, device_token=token).upsert()
        return device.set(apns_token=token, last_seen_at=at, **values)

    @classmethod
    def set_push_to_start(
        cls, user_id: str, device_token: str, push_to_start_token: str, at: datetime
    ) -> Update[Self]:
        """Set the push-to-start token of an existing device."""
        known = cls.update(user_id=user_id, device_token=device_token)
        return known.set(push_to_start_token=push_to_start_token, last_seen_at=at)

    def remove_push_to_start(self) -> Update[Self]:
        """Remove the push-to-start token, unless the device has another by now."""
        known = type(self).update(user_id=self.user_id, device_token=self.device_token)
        same = field(Device.push_to_start_token) == self.push_to_start_token
        return known.remove("push_to_start_token").when(same)

    @classmethod
    def remove(cls, user_id: str, device_token: str) -> Delete[Self]:
        """Delete a device and return it."""
        return cls.delete(user_id=user_id, device_token=device_token)


class MatchFollow(Entity, table=match_follows, names="camel", times="milliseconds"):
    """A user's follow of a match, for a team or neutral."""

    match_id: str
    user_id: str
    team_id: str
    created_at: datetime
    announced_for: datetime | None = None
    expires_at: datetime | None = ttl()

    row = key("{match_id}", "{user_id}")

    @classmethod
    def by_key(cls, match_id: str, user_id: str) -> Get[Self]:
        """Get a user's follow of a match."""
        return cls.get(match_id=match_id, user_id=user_id)

    @classmethod
    def of_match(cls, match_id: str) -> Query[Self]:
        """Get all followers of a match."""
        return cls.row(match_id=match_id)

    @classmethod
    def follow(
        cls, match_id: str, user_id: str, team_id: str, now: datetime, expires_at: datetime
    ) -> Update[Self]:
        """Follow a match, or change the team; the first time is kept."""
        followed = cls.update(match_id=match_id, user_id=user_id).upsert()
        followed = followed.set(team_id=team_id, expires_at=expires_at)
        return followed.set_if_absent(created_at=now)

    @classmethod
    def unfollow(cls, match_id: str, user_id: str) -> Delete[Self]:
        """Delete a follow and return it."""
        return cls.delete(match_id=match_id, user_id=user_id)

    @classmethod
    def change_team(cls, match_id: str, user_id: str, team_id: str) -> Update[Self]:
        """Change the team of an existing follow."""
        return cls.update(match_id=match_id, user_id=user_id).set(team_id=team_id)

    @classmethod
    def extend_expiry(cls, match_id: str, user_id: str, expires_at: datetime) -> Update[Self]:
        """Extend the expiry of a follow."""
        return cls.update(match_id=match_id, user_id=user_id).set(expires_at=expires_at)

    def mark_announced(self, starts: datetime) -> Update[Self]:
        """Record that the start is announced to a follower, if nobody else did."""
        known = field(MatchFollow.announced_for)
        before = self.announced_for
        unchanged = absent(known) if before is None else (known == before)
        noted = type(self).update(match_id=self.match_id, user_id=self.user_id)
        return noted.set(announced_for=starts).when(unchanged)

    @classmethod
    def remove_all(cls, match_id: str, user_ids: tuple[str, ...]) -> WriteMany:
        """Delete follows of a match in batches."""
        return WriteMany(
            tuple(cls.delete(match_id=match_id, user_id=user_id) for user_id in user_ids)
        )


FOLLOWER_LIFETIME: Final = timedelta(days=400)

followers = Table(
    "cricket-followers",
    partition="userId",
    ttl="ttl",
    purpose="Alert preferences, browsers and followed matches of each user.",
)


class Follower(Entity, table=followers, names="camel", times="milliseconds"):
    """A user who follows matches, with alert preferences and subscribed browsers."""

    user_id: str
    match_ids: frozenset[str] = frozenset()
    alert_kinds: tuple[EventKind, ...] | None = None
    muted: bool = False
    muted_until: datetime | None = None
    browsers: tuple[BrowserSubscription, ...] = ()
    seen_at: datetime
    expires: datetime | None = ttl(after=FOLLOWER_LIFETIME, of="seen_at")

    row = key("{user_id}")

    @property
    def alert_preferences(self) -> AlertPreferences:
        return AlertPreferences(self.alert_kinds, self.muted, self.muted_until)

    @classmethod
    def by_id(cls, user_id: str) -> Get[Self]:
        """Get a follower."""
        return cls.get(user_id=user_id).consistent()

    @classmethod
    def add_match(cls, user_id: str, match_id: str, at: datetime) -> Update[Self]:
        """Add a followed match."""
        known = cls.update(user_id=user_id).upsert().set(seen_at=at)
        return known.add(match_ids=frozenset({match_id}))

    @classmethod
    def remove_matches(cls, user_id: str, match_ids: frozenset[str], at: datetime) -> Update[Self]:
        """Remove followed matches."""
        known = cls.update(user_id=user_id).upsert().set(seen_at=at)
        return known.discard(match_ids=match_ids)

    @classmethod
    def set_alert_preferences(
        cls, user_id: str, preferences: AlertPreferences, at: datetime
    ) -> Update[Self]:
        """Set the alert preferences of a user."""
        return (
            cls.update(user_id=user_id)
            .upsert()
            .set(
                seen_at=at,
                alert_kinds=preferences.kinds,
                muted=preferences.muted,
                muted_until=preferences.muted_until,
            )
        )

    @classmethod
    def set_browsers(
        cls,
        user_id: str,
        browsers: tuple[BrowserSubscription, ...],
        at: datetime,
        *,
        before: tuple[BrowserSubscription, ...],
    ) -> Update[Self]:
        """Set the browsers of a user, if they are still those that were read."""
        stored = field(Follower.browsers)
        unchanged = (stored == before) if before else absent(stored) | (stored == ())
        known = cls.update(user_id=user_id).upsert().set(seen_at=at)
        return known.set(browsers=browsers).when(unchanged)

    @classmethod
    def remove(cls, user_id: str) -> Delete[Self]:
        """Delete a follower."""
        return cls.delete(user_id=user_id)
