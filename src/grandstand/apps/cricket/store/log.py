"""Kept here: what happened in each match, and how far the telling of it has come."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final, Self

from grandstand.apps.cricket.model import Detected, EventKind, FilterReason
from grandstand.storage.tables import (
    Delete,
    Entity,
    Get,
    Put,
    Query,
    Table,
    Update,
    absent,
    field,
    key,
    ttl,
)

LOG_LIFETIME: Final = timedelta(days=400)
MARK_LIFETIME: Final = timedelta(days=10)

match_events = Table(
    "cricket-match-events",
    partition="matchId",
    sort="seq#key",
    ttl="ttl",
    purpose="Everything that was detected in a match, once each.",
)
deliveries = Table(
    "cricket-deliveries",
    partition="matchId",
    sort="delivery",
    ttl="ttl",
    purpose="How far each push to many has come, so that nobody is alerted twice.",
)


class LoggedEvent(Entity, table=match_events, names="camel", times="milliseconds"):
    """Something that happened, with the tick that saw it; `filtered` says why it was not told."""

    match_id: str
    seq: int
    event_key: str
    kind: EventKind
    text: str
    inning: int
    position: int = 0
    ball_id: int | None = None
    player_id: int | None = None
    value: int | None = None
    priority: int
    alert: bool = False
    filtered: FilterReason | None = None
    at: datetime
    expires: datetime | None = ttl(after=LOG_LIFETIME, of="at")

    row = key("{match_id}", "{seq:08d}#{event_key}")

    @classmethod
    def of(cls, match_id: str, seq: int, event: Detected, at: datetime) -> Self:
        """Answer what is written of an event."""
        return cls(
            match_id=match_id,
            seq=seq,
            event_key=event.key,
            kind=event.kind,
            text=event.text,
            inning=event.inning,
            position=event.position,
            ball_id=event.ball_id,
            player_id=event.player_id,
            value=event.value,
            priority=event.priority,
            alert=event.alert,
            filtered=event.filtered,
            at=at,
        )

    @classmethod
    def of_match(cls, match_id: str) -> Query[Self]:
        """Everything that happened in a match, in order."""
        return cls.row(match_id=match_id)

    @classmethod
    def latest(cls, match_id: str) -> Query[Self]:
        """What happened in a match, newest first."""
        return cls.row(match_id=match_id).newest()

    def write(self) -> Put[Self]:
        """Write an event that is not in the log yet."""
        return self.put().if_absent()


class Delivery(Entity, table=deliveries, names="camel", times="milliseconds"):
    """How far a push to many has come; sessions are told in the order of their keys.

    Whoever lies at or before `alerted_until` may have been alerted, and is not again. Whoever
    lies at or before `sent_until` was told.
    """

    match_id: str
    delivery: str
    alerted_until: str | None = None
    sent_until: str | None = None
    begun_at: datetime
    finished_at: datetime | None = None
    pushed: int = 0
    rejected: int = 0
    alerted: int = 0
    expires: datetime | None = ttl(after=MARK_LIFETIME, of="begun_at")

    row = key("{match_id}", "{delivery}")

    @classmethod
    def one(cls, match_id: str, delivery: str) -> Get[Self]:
        """How far one push has come."""
        return cls.get(match_id=match_id, delivery=delivery).consistent()

    @classmethod
    def of_match(cls, match_id: str) -> Query[Self]:
        """The pushes of a match."""
        return cls.row(match_id=match_id)

    def begin(self) -> Put[Self]:
        """Mark that a push begins, unless somebody has already."""
        return self.put().if_absent()

    def alerting(self, until: str, alerted: int) -> Update[Self]:
        """Mark, before it is done, that everybody up to a place is alerted; by one alone."""
        marked = type(self).update(match_id=self.match_id, delivery=self.delivery)
        before = self.alerted_until
        asked = field(Delivery.alerted_until)
        unmoved = absent(asked) if before is None else (asked == before)
        return marked.set(alerted_until=until).add(alerted=alerted).when(unmoved)

    def sent(self, until: str, pushed: int, rejected: int) -> Update[Self]:
        """Note that everybody up to a place was told."""
        noted = type(self).update(match_id=self.match_id, delivery=self.delivery)
        return noted.set(sent_until=until).add(pushed=pushed, rejected=rejected)

    @classmethod
    def finish(cls, match_id: str, delivery: str, at: datetime) -> Update[Self]:
        """Note that everybody was told."""
        return cls.update(match_id=match_id, delivery=delivery).set(finished_at=at)

    @classmethod
    def take_back(cls, match_id: str, delivery: str) -> Delete[Self]:
        """Take a mark back: nothing was sent after all."""
        return cls.delete(match_id=match_id, delivery=delivery)
