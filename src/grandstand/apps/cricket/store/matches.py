"""Active matches with their last tick, locks, the event log and push progress."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Self

from grandstand.apps.cricket.domain import matches
from grandstand.apps.cricket.domain.match_events import EventKind, FilterReason, MatchEvent
from grandstand.apps.cricket.domain.match_state import DetectionMemory, MatchState
from grandstand.storage.tables import (
    ConditionExpr,
    Delete,
    Entity,
    Get,
    Put,
    Query,
    Scan,
    Table,
    Update,
    absent,
    attribute,
    field,
    key,
    one_of,
    ttl,
)
from grandstand.storage.tables.leases import LeaseForm


@dataclass(frozen=True, slots=True)
class LockHolder:
    """Who holds a lock: an instance, and the nonce of this acquisition."""

    owner: str
    nonce: str


STEAL_GRACE: Final = timedelta(seconds=1)

active_matches = Table(
    "active-matches",
    partition="matchId",
    ttl="ttl",
    purpose="Matches being polled, with the state of their last tick; 5 to 20 items.",
)
locks = Table(
    "cricket-locks", partition="lockKey", purpose="Locks that let one instance process a match."
)


def _tick_fields(state: MatchState, at: datetime) -> dict[str, Any]:
    """Return the stored fields of a tick."""
    return {
        "match_phase": state.phase,
        "previous_ball_id": state.ball_id,
        "previous_score": state.score,
        "previous_status": state.status,
        "previous_batting": state.batting,
        "previous_bowling": state.bowling,
        "last_30_balls": state.balls,
        "cooldowns": dict(state.cooldowns),
        "memory": state.memory,
        "seq": state.seq,
        "last_tick_at": at,
    }


class ActiveMatch(Entity, table=active_matches, names="camel", times="milliseconds"):
    """A match being polled; `epoch` grows with each owner, and writes of older epochs fail."""

    match_id: str
    status: matches.MatchStatus
    instance_id: str | None = None
    last_tick_at: datetime | None = None
    match_phase: matches.MatchPhase = "prematch"
    previous_ball_id: int | None = None
    previous_score: tuple[matches.InningsScore, ...] = ()
    previous_status: str | None = None
    previous_batting: tuple[matches.BattingLine, ...] = ()
    previous_bowling: tuple[matches.BowlingLine, ...] = ()
    last_30_balls: tuple[matches.Ball, ...] = ()
    cooldowns: dict[str, datetime] = attribute(times="epoch")
    memory: DetectionMemory = DetectionMemory()
    seq: int = 0
    epoch: int
    latest_update_key: str | None = None
    latest_update_at: datetime | None = None
    channel_id: str | None = None
    closed_at: datetime | None = None
    expires: datetime | None = ttl()

    row = key("{match_id}")

    @classmethod
    def by_id(cls, match_id: str) -> Get[Self]:
        """Get an active match."""
        return cls.get(match_id=match_id)

    @classmethod
    def by_id_consistent(cls, match_id: str) -> Get[Self]:
        """Get an active match with a consistent read."""
        return cls.get(match_id=match_id).consistent()

    @classmethod
    def all_items(cls) -> Scan[Self]:
        """Get all active matches."""
        return cls.scan()

    def register(self) -> Put[Self]:
        """Start polling a match that nobody polls.

        The epoch must be above any earlier one of the match; the time in milliseconds is.
        """
        idle = ActiveMatch.status == "idle"
        return self.put().when(absent(ActiveMatch.match_id) | idle)

    @classmethod
    def take_over(cls, match_id: str, instance_id: str) -> Update[Self]:
        """Become the owner of a match; later writes need the returned epoch."""
        return cls.update(match_id=match_id).set(instance_id=instance_id).add(epoch=1)

    @classmethod
    def reactivate(cls, match_id: str, instance_id: str) -> Update[Self]:
        """Poll an ended or idle match again, with its stored state."""
        again = cls.update(match_id=match_id).set(
            status="active", instance_id=instance_id, expires=None, closed_at=None
        )
        return again.add(epoch=1).when(one_of(ActiveMatch.status, "ended", "idle"))

    @classmethod
    def set_idle(cls, match_id: str, epoch: int) -> Update[Self]:
        """Stop polling a match that does not start yet, if the epoch is current."""
        return cls.update(match_id=match_id).set(status="idle").when(cls._owned(epoch))

    def set_latest_update(self, latest_update_key: str, latest_update_at: datetime) -> Update[Self]:
        """Set the newest update of a match, if it is still the one that was read."""
        named = type(self).update(match_id=self.match_id)
        return named.set(
            latest_update_key=latest_update_key, latest_update_at=latest_update_at
        ).when(self._latest_update_unchanged())

    def save_tick(
        self, state: MatchState, at: datetime, latest_update_key: str, latest_update_at: datetime
    ) -> Update[Self]:
        """Save a tick with its update, if the epoch and the latest update are unchanged."""
        saved = self.save_state(self.epoch, state, at)
        return saved.set(
            latest_update_key=latest_update_key, latest_update_at=latest_update_at
        ).when(self._latest_update_unchanged())

    def _latest_update_unchanged(self) -> ConditionExpr:
        stored, read = field(ActiveMatch.latest_update_key), self.latest_update_key
        return absent(stored) if read is None else (stored == read)

    @classmethod
    def open_channel(cls, match_id: str, channel_id: str) -> Update[Self]:
        """Store the broadcast channel of a match, unless it has one."""
        opened = cls.update(match_id=match_id).set(channel_id=channel_id)
        return opened.when(absent(ActiveMatch.channel_id))

    @classmethod
    def close(cls, match_id: str, at: datetime) -> Update[Self]:
        """Mark an ended match as cleaned up."""
        closed = cls.update(match_id=match_id).set(closed_at=at)
        return closed.remove("channel_id").when(ActiveMatch.status == "ended")

    @classmethod
    def save_state(cls, epoch: int, state: MatchState, at: datetime) -> Update[Self]:
        """Save the state of a tick, if the epoch is current."""
        changed = cls.update(match_id=state.match_id).set(**_tick_fields(state, at))
        return changed.when(cls._owned(epoch))

    def after_tick(
        self, state: MatchState, at: datetime, latest_update_key: str, latest_update_at: datetime
    ) -> Self:
        """Return the match as `save_tick` leaves it."""
        return self.replace(
            **_tick_fields(state, at),
            latest_update_key=latest_update_key,
            latest_update_at=latest_update_at,
        )

    @property
    def state(self) -> MatchState | None:
        """The state of the last tick, or None before the first."""
        if self.previous_status is None:
            return None
        return MatchState(
            match_id=self.match_id,
            status=self.previous_status,
            phase=self.match_phase,
            score=self.previous_score,
            batting=self.previous_batting,
            bowling=self.previous_bowling,
            balls=self.last_30_balls,
            ball_id=self.previous_ball_id,
            cooldowns=self.cooldowns,
            memory=self.memory,
            seq=self.seq,
        )

    @classmethod
    def touch(cls, match_id: str, epoch: int, at: datetime) -> Update[Self]:
        """Record a tick without changes, if the epoch is current."""
        return cls.update(match_id=match_id).set(last_tick_at=at).when(cls._owned(epoch))

    @classmethod
    def update_cooldowns(
        cls, match_id: str, epoch: int, cooldowns: dict[str, datetime]
    ) -> Update[Self]:
        """Save the cooldowns, if the epoch is current."""
        return cls.update(match_id=match_id).set(cooldowns=cooldowns).when(cls._owned(epoch))

    @classmethod
    def deactivate(cls, match_id: str, epoch: int, expires: datetime) -> Update[Self]:
        """End the polling of a match and let its record expire."""
        ended = cls.update(match_id=match_id).set(status="ended", expires=expires)
        return ended.when(cls._owned(epoch))

    @classmethod
    def remove(cls, match_id: str) -> Delete[Self]:
        """Delete an active match."""
        return cls.delete(match_id=match_id)

    @staticmethod
    def _owned(epoch: int) -> bool:
        return ActiveMatch.epoch == epoch


class Lock(Entity, table=locks, names="camel", times="epoch_ms"):
    """A lock, usually `match:{match_id}`; it is free once `expires_at` has passed.

    `holder` repeats `owner`: the specification uses both names.
    """

    lock_key: str
    owner: str
    holder: str = attribute(default="")
    nonce: str
    expires_at: datetime

    row = key("{lock_key}")

    def __post_init__(self) -> None:
        object.__setattr__(self, "holder", self.owner)

    @classmethod
    def by_key(cls, lock_key: str) -> Get[Self]:
        """Return who holds a lock; after a failed write it may be the caller."""
        return cls.get(lock_key=lock_key).consistent()

    def acquire(self, now: datetime) -> Put[Self]:
        """Acquire a lock that is free or expired."""
        lapsed = Lock.expires_at < now - STEAL_GRACE
        return self.put().when(absent(Lock.lock_key) | lapsed)

    @classmethod
    def release(cls, lock_key: str, holder: LockHolder) -> Delete[Self]:
        """Release a lock, if held."""
        return cls.delete(lock_key=lock_key).when(cls._held_by(holder))

    @classmethod
    def extend(cls, lock_key: str, holder: LockHolder, expires_at: datetime) -> Update[Self]:
        """Extend a lock, if held."""
        extended = cls.update(lock_key=lock_key).set(expires_at=expires_at)
        return extended.when(cls._held_by(holder))

    @staticmethod
    def _held_by(holder: LockHolder) -> ConditionExpr | bool:
        return (Lock.owner == holder.owner) & (Lock.nonce == holder.nonce)


LOCKS: Final = LeaseForm(Lock, "lock_key", mirrors=("holder",))


LOG_LIFETIME: Final = timedelta(days=400)
MARK_LIFETIME: Final = timedelta(days=10)

match_events = Table(
    "cricket-match-events",
    partition="matchId",
    sort="seq#key",
    ttl="ttl",
    purpose="Event log of each match.",
)
deliveries = Table(
    "cricket-deliveries",
    partition="matchId",
    sort="delivery",
    ttl="ttl",
    purpose="Progress of each push to many sessions, so that nobody is alerted twice.",
)


class LoggedEvent(Entity, table=match_events, names="camel", times="milliseconds"):
    """An event with the tick that detected it; `filtered` is why it was not the key event."""

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
    def from_event(cls, match_id: str, seq: int, event: MatchEvent, at: datetime) -> Self:
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
        """Get the events of a match in order."""
        return cls.row(match_id=match_id)

    @classmethod
    def newest_first(cls, match_id: str) -> Query[Self]:
        """Get the events of a match, newest first."""
        return cls.row(match_id=match_id).newest()

    def create(self) -> Put[Self]:
        """Write an event that is not in the log yet."""
        return self.put().if_absent()


class Delivery(Entity, table=deliveries, names="camel", times="milliseconds"):
    """The progress of a push to many sessions, which are processed in the order of their keys.

    Sessions up to `alerted_until` may have been alerted and are not alerted again. Sessions up
    to `sent_until` were pushed to. An alert for browsers goes through followers instead;
    `browsers` are those after `sent_until` that may have been alerted.
    """

    match_id: str
    delivery: str
    alerted_until: str | None = None
    sent_until: str | None = None
    started_at: datetime
    finished_at: datetime | None = None
    pushed: int = 0
    rejected: int = 0
    alerted: int = 0
    browsers: frozenset[str] = frozenset()
    expires: datetime | None = ttl(after=MARK_LIFETIME, of="started_at")

    row = key("{match_id}", "{delivery}")

    @classmethod
    def by_key(cls, match_id: str, delivery: str) -> Get[Self]:
        """Get a delivery with a consistent read."""
        return cls.get(match_id=match_id, delivery=delivery).consistent()

    @classmethod
    def of_match(cls, match_id: str) -> Query[Self]:
        """Get the deliveries of a match."""
        return cls.row(match_id=match_id)

    def create(self) -> Put[Self]:
        """Start a delivery, unless it exists."""
        return self.put().if_absent()

    def mark_alerted(self, until: str, alerted: int) -> Update[Self]:
        """Record, before sending, that sessions up to a key are alerted, if nobody else did."""
        marked = type(self).update(match_id=self.match_id, delivery=self.delivery)
        before = self.alerted_until
        stored = field(Delivery.alerted_until)
        unchanged = absent(stored) if before is None else (stored == before)
        return marked.set(alerted_until=until).add(alerted=alerted).when(unchanged)

    def mark_sent(self, until: str, pushed: int, rejected: int) -> Update[Self]:
        """Record that sessions up to a key were pushed to."""
        noted = type(self).update(match_id=self.match_id, delivery=self.delivery)
        return noted.set(sent_until=until).add(pushed=pushed, rejected=rejected)

    def mark_browser(self, browser: str) -> Update[Self]:
        """Record, before sending, that a browser is alerted."""
        marked = type(self).update(match_id=self.match_id, delivery=self.delivery)
        return marked.add(browsers=frozenset({browser}))

    def unmark_browser(self, browser: str) -> Update[Self]:
        """Record that a browser was not alerted after all."""
        unmarked = type(self).update(match_id=self.match_id, delivery=self.delivery)
        return unmarked.discard(browsers=frozenset({browser}))

    def mark_followers(self, until: str, finished_at: datetime | None) -> Update[Self]:
        """Record that the browsers of all followers up to a user id were alerted."""
        noted = type(self).update(match_id=self.match_id, delivery=self.delivery)
        noted = noted.set(sent_until=until).remove("browsers")
        return noted if finished_at is None else noted.set(finished_at=finished_at)

    @classmethod
    def finish(cls, match_id: str, delivery: str, at: datetime) -> Update[Self]:
        """Mark a delivery as finished."""
        return cls.update(match_id=match_id, delivery=delivery).set(finished_at=at)

    @classmethod
    def cancel(cls, match_id: str, delivery: str) -> Delete[Self]:
        """Remove a delivery of which nothing was sent."""
        return cls.delete(match_id=match_id, delivery=delivery)
