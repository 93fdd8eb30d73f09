"""Kept here: who follows which match, on which devices, and the Live Activities there."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Final, Self

from grandstand.apps.cricket.model import EndReason, EventKind, Phone, Seat, SessionStatus
from grandstand.apps.cricket.model.alerts import AlertChoice
from grandstand.apps.cricket.model.sessions import Attempts
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
    purpose="Live Activity sessions, one for each device.",
)
devices = Table(
    "cricket-devices",
    partition="userId",
    sort="deviceToken",
    ttl="ttl",
    purpose="Push tokens of each person's devices.",
)
match_follows = Table(
    "cricket-match-follows",
    partition="matchId",
    sort="userId",
    ttl="expiresAt",
    purpose="Who follows which match.",
)


class LiveActivity(Entity, table=live_activities, names="camel", times="milliseconds"):
    """A Live Activity on one device: pending until its token arrives, then active."""

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
    def place(self) -> str:
        """Where it stands among the sessions of its match."""
        return f"{self.user_id}#{self.device_id}"

    @property
    def seat(self) -> Seat:
        """Where it runs."""
        return Seat(self.match_id, self.user_id, self.device_id)

    @property
    def attempts(self) -> Attempts:
        """How often a start was sent for it."""
        return Attempts(self.starts_sent, self.start_sent_at)

    @property
    def choice(self) -> AlertChoice:
        """What its person wants to be alerted of."""
        kinds = None if self.alert_kinds is None else frozenset(self.alert_kinds)
        return AlertChoice(kinds, self.muted, self.muted_until)

    @classmethod
    def one(cls, seat: Seat) -> Get[Self]:
        """One session."""
        return cls.get(**asdict(seat)).consistent()

    @classmethod
    def several(cls, seats: tuple[Seat, ...]) -> GetMany[Self]:
        """Several sessions at once."""
        return GetMany(tuple(cls.get(**asdict(seat)) for seat in seats))

    @classmethod
    def of_match(cls, match_id: str) -> Query[Self]:
        """Every session of a match."""
        return cls.row(match_id=match_id)

    @classmethod
    def of_user(cls, user_id: str) -> Query[Self]:
        """A person's sessions, across matches."""
        return cls.by_user(user_id=user_id)

    @classmethod
    def of_person(cls, match_id: str, user_id: str) -> Query[Self]:
        """A person's sessions of one match."""
        return cls.row(match_id=match_id, user_id=user_id)

    def expect(self) -> Put[Self]:
        """Note that a session was asked for and its token is still to come."""
        return self.put().if_absent()

    @classmethod
    def register(
        cls, seat: Seat, update_token: str, at: datetime, expires: datetime
    ) -> Update[Self]:
        """Begin a session, or begin it again, with its token."""
        return (
            cls.update(**asdict(seat))
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

    def start_again(
        self, at: datetime, expires: datetime, channel_id: str | None = None
    ) -> Update[Self]:
        """Note, before it is sent, that a start is sent once more, if nobody else does."""
        before = field(LiveActivity.starts_sent)
        again = type(self).update(**asdict(self.seat))
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
    def choose(cls, seat: Seat, choice: AlertChoice) -> Update[Self]:
        """Let a session know what its person wants to be alerted of."""
        kinds = None if choice.kinds is None else tuple(sorted(choice.kinds))
        return cls.update(**asdict(seat)).set(
            alert_kinds=kinds, muted=choice.muted, muted_until=choice.muted_until
        )

    @classmethod
    def prolong(cls, seat: Seat, expires: datetime) -> Update[Self]:
        """Let the record of a session live on while its match does."""
        return cls.update(**asdict(seat)).set(expires=expires)

    @classmethod
    def erase(cls, seat: Seat) -> Delete[Self]:
        """Remove a session's record."""
        return cls.delete(**asdict(seat))

    @classmethod
    def rotate(cls, seat: Seat, update_token: str, at: datetime) -> Update[Self]:
        """Give a session the token that replaces its old one; it is active again."""
        return cls.update(**asdict(seat)).set(
            update_token=update_token, token_registered_at=at, status="active", suspended_at=None
        )

    @classmethod
    def end(cls, seat: Seat, at: datetime, reason: EndReason) -> Update[Self]:
        """End a session."""
        return cls.update(**asdict(seat)).set(status="ended", ended_at=at, end_reason=reason)

    @classmethod
    def suspend(cls, seat: Seat, at: datetime) -> Update[Self]:
        """Send nothing more to a session whose token was rejected."""
        return cls.update(**asdict(seat)).set(status="suspended", suspended_at=at)

    def suspend_token(self, at: datetime) -> Update[Self]:
        """Do the same, unless the session has another token by now or has ended."""
        same = field(LiveActivity.update_token) == self.update_token
        active = field(LiveActivity.status) == "active"
        return self.suspend(self.seat, at).when(same & active)


class Device(Entity, table=devices, names="camel", times="milliseconds"):
    """A device that takes pushes; it expires when it has not been seen for long."""

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

    @classmethod
    def of_user(cls, user_id: str) -> Query[Self]:
        """A person's devices."""
        return cls.row(user_id=user_id)

    @classmethod
    def first_of(cls, user_id: str) -> Query[Self]:
        """One device of a person."""
        return cls.row(user_id=user_id).oldest(1)

    @classmethod
    def by_token(cls, user_id: str, device_token: str) -> Get[Self]:
        """One device by its token."""
        return cls.get(user_id=user_id, device_token=device_token)

    @classmethod
    def register(cls, user_id: str, device_token: str, phone: Phone, at: datetime) -> Update[Self]:
        """Write what a device tells of itself, whether it is known or not."""
        known = cls.update(user_id=user_id, device_token=device_token).upsert()
        return known.set(
            device_id=phone.device_id,
            platform=phone.platform,
            apns_token=phone.apns_token,
            os_version=phone.os_version,
            app_version=phone.app_version,
            last_seen_at=at,
        )

    @classmethod
    def set_push_to_start(
        cls, user_id: str, device_token: str, push_to_start_token: str, at: datetime
    ) -> Update[Self]:
        """Give a known device the token that can start an activity on it."""
        known = cls.update(user_id=user_id, device_token=device_token)
        return known.set(push_to_start_token=push_to_start_token, last_seen_at=at)

    def drop_push_to_start(self) -> Update[Self]:
        """Take away the token that starts activities, unless the device has another by now."""
        known = type(self).update(user_id=self.user_id, device_token=self.device_token)
        same = field(Device.push_to_start_token) == self.push_to_start_token
        return known.remove("push_to_start_token").when(same)

    @classmethod
    def forget(cls, user_id: str, device_token: str) -> Delete[Self]:
        """Remove a device; the answer is what was known of it."""
        return cls.delete(user_id=user_id, device_token=device_token)


class MatchFollow(Entity, table=match_follows, names="camel", times="milliseconds"):
    """A person who follows a match, for a team or as a neutral."""

    match_id: str
    user_id: str
    team_id: str
    created_at: datetime
    announced_for: datetime | None = None
    expires_at: datetime | None = ttl()

    row = key("{match_id}", "{user_id}")

    @classmethod
    def one(cls, match_id: str, user_id: str) -> Get[Self]:
        """Whether a person follows a match, and for whom."""
        return cls.get(match_id=match_id, user_id=user_id)

    @classmethod
    def of_match(cls, match_id: str) -> Query[Self]:
        """Everyone who follows a match."""
        return cls.row(match_id=match_id)

    @classmethod
    def follow(
        cls, match_id: str, user_id: str, team_id: str, now: datetime, expires_at: datetime
    ) -> Update[Self]:
        """Follow a match, or follow it for another team; the first time is remembered."""
        followed = cls.update(match_id=match_id, user_id=user_id).upsert()
        followed = followed.set(team_id=team_id, expires_at=expires_at)
        return followed.set_if_absent(created_at=now)

    @classmethod
    def unfollow(cls, match_id: str, user_id: str) -> Delete[Self]:
        """Stop following a match; the answer is what was followed."""
        return cls.delete(match_id=match_id, user_id=user_id)

    @classmethod
    def change_team(cls, match_id: str, user_id: str, team_id: str) -> Update[Self]:
        """Be for another team in a match one follows."""
        return cls.update(match_id=match_id, user_id=user_id).set(team_id=team_id)

    @classmethod
    def prolong(cls, match_id: str, user_id: str, expires_at: datetime) -> Update[Self]:
        """Let a follow live on while its match does."""
        return cls.update(match_id=match_id, user_id=user_id).set(expires_at=expires_at)

    def announce(self, starts: datetime) -> Update[Self]:
        """Note that a start is announced to a follower, if nobody else does it now."""
        known = field(MatchFollow.announced_for)
        before = self.announced_for
        unmoved = absent(known) if before is None else (known == before)
        noted = type(self).update(match_id=self.match_id, user_id=self.user_id)
        return noted.set(announced_for=starts).when(unmoved)

    @classmethod
    def remove_all(cls, match_id: str, user_ids: tuple[str, ...]) -> WriteMany:
        """Remove the follows of a match that were found, in batches."""
        return WriteMany(
            tuple(cls.delete(match_id=match_id, user_id=user_id) for user_id in user_ids)
        )
