"""Match updates: the score and at most one alert of a match, as written to the outbox."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Literal, cast

import msgspec
from msgspec.structs import replace

from grandstand.apps.cricket.domain import live_activities
from grandstand.apps.cricket.domain.alerts import Alert, build_alert
from grandstand.apps.cricket.domain.display import (
    DisplayMoment,
    build_display_state,
    content_state,
)
from grandstand.apps.cricket.domain.match_events import MatchEvent
from grandstand.apps.cricket.domain.match_state import MatchState
from grandstand.apps.cricket.domain.matches import MatchPhase, MatchSnapshot
from grandstand.apps.cricket.services.interfaces import Database
from grandstand.apps.cricket.sources.apns import ApnsPayload, end_payload, update_payload
from grandstand.apps.cricket.store.matches import ActiveMatch
from grandstand.kit.outbox import Outbox, OutboxMessage
from grandstand.storage.tables import Put

MATCH_UPDATE: Final = "cricket.match_update"
RESEND: Final = "cricket.resend"
ALERT_CONFIRMATION: Final = "cricket.alert_confirmation"
ACTIVITY_START: Final = "cricket.activity_start"
ACTIVITY_END: Final = "cricket.activity_end"
ANNOUNCEMENT: Final = "cricket.announcement"
WEBHOOK: Final = "cricket.webhook"
WEBPUSH: Final = "cricket.webpush"
EVENT_LOG: Final = "cricket.event_log"
TOPICS: Final = (
    MATCH_UPDATE,
    RESEND,
    ALERT_CONFIRMATION,
    ACTIVITY_START,
    ACTIVITY_END,
    ANNOUNCEMENT,
    WEBHOOK,
    WEBPUSH,
    EVENT_LOG,
)
"""The outbox topics of this app."""


class EventAlert(msgspec.Struct, frozen=True):
    """An event and the text of its alert."""

    event: MatchEvent = msgspec.field(name="event")
    title: str = msgspec.field(name="title")
    body: str = msgspec.field(name="body")

    @property
    def alert(self) -> Alert:
        return Alert(self.title, self.body)


class MatchUpdate(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a match to push, with at most one event.

    `timestamp` orders the updates of a match on phones: whole seconds, growing with each update.
    A `silent` update alerts nobody, because its alert waits for confirmation. `requested_at` is
    when the feed was requested, if it was.
    """

    match_id: str = msgspec.field(name="match_id")
    epoch: int = msgspec.field(name="epoch")
    seq: int = msgspec.field(name="seq")
    timestamp: datetime = msgspec.field(name="timestamp")
    created_at: datetime = msgspec.field(name="created_at")
    phase: MatchPhase = msgspec.field(name="phase")
    kind: Literal["update", "end"] = msgspec.field(name="kind")
    content_state: dict[str, Any] = msgspec.field(name="content_state")
    home: str = msgspec.field(name="home")
    away: str = msgspec.field(name="away")
    stale_at: datetime = msgspec.field(name="stale_at")
    dismiss_at: datetime | None = msgspec.field(name="dismiss_at", default=None)
    event_alert: EventAlert | None = msgspec.field(name="event_alert", default=None)
    silent: bool = msgspec.field(name="silent", default=False)
    requested_at: datetime | None = msgspec.field(name="requested_at", default=None)

    @property
    def key(self) -> str:
        """The unique key of the update."""
        return f"{self.match_id}:{self.epoch}:{self.seq}:{int(self.timestamp.timestamp())}"

    @property
    def audible(self) -> EventAlert | None:
        """The alert to send with the update, None if it is silent."""
        return None if self.silent else self.event_alert

    def payload(self, alert: Alert | None = None) -> ApnsPayload:
        """Return the push payload, with or without an alert."""
        timestamp = int(self.timestamp.timestamp())
        if self.kind == "end":
            return end_payload(
                self.content_state,
                timestamp=timestamp,
                dismissal_at=self.dismiss_at or self.timestamp,
                alert=alert,
            )
        return update_payload(
            self.content_state, timestamp=timestamp, stale_at=self.stale_at, alert=alert
        )


class AlertConfirmation(msgspec.Struct, frozen=True):
    """An alert that is sent later if its event still holds then."""

    match_id: str = msgspec.field(name="match_id")
    event_alert: EventAlert = msgspec.field(name="event_alert")


class ResendRequest(msgspec.Struct, frozen=True):
    """Sessions, as (user id, device id), that are sent the current state again."""

    match_id: str = msgspec.field(name="match_id")
    sessions: tuple[tuple[str, str], ...] = msgspec.field(name="sessions")
    attempt: int = msgspec.field(name="attempt", default=1)


def parse_update(body: str) -> MatchUpdate:
    """Return an update from the body of its outbox message."""
    return msgspec.json.decode(body, type=MatchUpdate)


def next_timestamp(match: ActiveMatch, now: datetime) -> datetime:
    """Return the timestamp of the next update: now, or one second after the latest."""
    seconds = now.replace(microsecond=0)
    latest = match.latest_update_at
    return seconds if latest is None else max(seconds, latest + timedelta(seconds=1))


def build_update(
    match: ActiveMatch,
    snapshot: MatchSnapshot,
    state: MatchState,
    event: MatchEvent | None,
    *,
    requested_at: datetime,
    now: datetime,
    lifetimes: live_activities.Lifetimes,
) -> MatchUpdate:
    """Return the update of a tick."""
    timestamp = next_timestamp(match, now)
    ended = state.phase == "ended"
    alert = None if event is None else build_alert(event, snapshot)
    display = build_display_state(snapshot, DisplayMoment(timestamp, state.seq, event))
    return MatchUpdate(
        match_id=match.match_id,
        epoch=match.epoch,
        seq=state.seq,
        timestamp=timestamp,
        created_at=now,
        phase=state.phase,
        kind="end" if ended else "update",
        content_state=cast("dict[str, Any]", content_state(display)),
        home=snapshot.home.name or snapshot.home.code or "Home",
        away=snapshot.away.name or snapshot.away.code or "Away",
        stale_at=live_activities.stale_date(state.phase, now, lifetimes),
        dismiss_at=live_activities.dismissal_date(now, lifetimes) if ended else None,
        event_alert=EventAlert(event, alert.title, alert.body) if event and alert else None,
        requested_at=requested_at,
    )


@dataclass(kw_only=True, eq=False)
class MatchUpdateRepository:
    """Match updates in the outbox."""

    store: Database
    outbox: Outbox
    lifetimes: live_activities.Lifetimes
    confirm_delay: timedelta

    def writes(
        self, update: MatchUpdate, due_at: datetime | None = None
    ) -> tuple[Put[OutboxMessage], ...]:
        """Return the outbox messages of an update; a silent one has its alert in a second."""
        message = self.outbox.write(MATCH_UPDATE, update.key, update, due_at=due_at)
        if not update.silent or update.event_alert is None:
            return (message,)
        confirmation = self.outbox.write(
            ALERT_CONFIRMATION,
            update.key,
            AlertConfirmation(update.match_id, update.event_alert),
            due_at=update.created_at + self.confirm_delay,
        )
        return message, confirmation

    async def latest(self, match: ActiveMatch) -> MatchUpdate | None:
        """Return the latest update of a match, None if there is none any more."""
        message = await self.latest_message(match)
        return None if message is None else parse_update(message.body)

    async def latest_message(self, match: ActiveMatch) -> OutboxMessage | None:
        if match.latest_update_key is None:
            return None
        return await self.outbox.find(MATCH_UPDATE, match.latest_update_key)

    async def is_delivered(self, match: ActiveMatch) -> bool:
        """Return whether the latest update was delivered or given up."""
        message = await self.latest_message(match)
        return message is None or message.stage != "waiting"

    async def repeat(self, match: ActiveMatch, event_alert: EventAlert | None = None) -> bool:
        """Write the latest update again with a new timestamp; False if there is a newer one."""
        latest = await self.latest(match)
        if latest is None or latest.kind == "end":
            return False
        now = self.store.now()
        repeated = replace(
            latest,
            epoch=match.epoch,
            timestamp=next_timestamp(match, now),
            created_at=now,
            stale_at=live_activities.stale_date(latest.phase, now, self.lifetimes),
            event_alert=event_alert,
            silent=False,
            requested_at=None,
        )
        return await self.store.transact(
            match.set_latest_update(repeated.key, repeated.timestamp),
            self.outbox.write(MATCH_UPDATE, repeated.key, repeated),
        )
