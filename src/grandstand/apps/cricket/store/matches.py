"""Kept here: the matches being polled with what the last tick saw, and the locks on them."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final, Self

from grandstand.apps.cricket.model import (
    Ball,
    BattingLine,
    BowlingLine,
    Holder,
    InningsScore,
    MatchPhase,
    MatchState,
    MatchStatus,
    Memory,
)
from grandstand.storage.tables import (
    Check,
    Delete,
    Entity,
    Get,
    Put,
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

STEAL_GRACE: Final = timedelta(seconds=1)

active_matches = Table(
    "active-matches",
    partition="matchId",
    ttl="ttl",
    purpose="The matches being polled, with what the last tick saw; 5 to 20 of them.",
)
locks = Table("cricket-locks", partition="lockKey", purpose="One instance at a time per match.")


def _seen(state: MatchState, at: datetime) -> dict[str, Any]:
    """Answer what is kept of a tick, by the fields of a match."""
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
    """A match being polled; `epoch` grows with each owner, and a write of an older one fails."""

    match_id: str
    status: MatchStatus
    instance_id: str | None = None
    last_tick_at: datetime | None = None
    match_phase: MatchPhase = "prematch"
    previous_ball_id: int | None = None
    previous_score: tuple[InningsScore, ...] = ()
    previous_status: str | None = None
    previous_batting: tuple[BattingLine, ...] = ()
    previous_bowling: tuple[BowlingLine, ...] = ()
    last_30_balls: tuple[Ball, ...] = ()
    cooldowns: dict[str, datetime] = attribute(times="epoch")
    memory: Memory = Memory()
    seq: int = 0
    epoch: int
    told_key: str | None = None
    told_at: datetime | None = None
    channel_id: str | None = None
    closed_at: datetime | None = None
    expires: datetime | None = ttl()

    row = key("{match_id}")

    @classmethod
    def by_id(cls, match_id: str) -> Get[Self]:
        """What is known of a match being polled."""
        return cls.get(match_id=match_id)

    @classmethod
    def as_it_is(cls, match_id: str) -> Get[Self]:
        """The same, as it is at this moment."""
        return cls.get(match_id=match_id).consistent()

    @classmethod
    def everything(cls) -> Scan[Self]:
        """Every match being polled, by reading the whole small table."""
        return cls.scan()

    def register(self) -> Put[Self]:
        """Begin to poll a match that nobody polls.

        Its epoch must lie above any the match had before; the moment in milliseconds does.
        """
        idle = ActiveMatch.status == "idle"
        return self.put().when(absent(ActiveMatch.match_id) | idle)

    @classmethod
    def take_over(cls, match_id: str, instance_id: str) -> Update[Self]:
        """Become the owner of a match; the answer's epoch goes with every later write."""
        return cls.update(match_id=match_id).set(instance_id=instance_id).add(epoch=1)

    @classmethod
    def revive(cls, match_id: str, instance_id: str) -> Update[Self]:
        """Poll a match on that has ended or rests, with all that is remembered of it."""
        again = cls.update(match_id=match_id).set(
            status="active", instance_id=instance_id, expires=None, closed_at=None
        )
        return again.add(epoch=1).when(one_of(ActiveMatch.status, "ended", "idle"))

    @classmethod
    def rest(cls, match_id: str, epoch: int) -> Update[Self]:
        """Poll a match no longer that does not begin after all, if the owner is still the owner."""
        return cls.update(match_id=match_id).set(status="idle").when(cls._owned(epoch))

    def tell(self, told_key: str, told_at: datetime) -> Update[Self]:
        """Name the newest bulletin of a match, if there is none newer than was read."""
        named = type(self).update(match_id=self.match_id)
        return named.set(told_key=told_key, told_at=told_at).when(self._last_told())

    def advance(
        self, state: MatchState, at: datetime, told_key: str, told_at: datetime
    ) -> Update[Self]:
        """Keep what a tick saw and name its bulletin, if the owner is still the owner."""
        saved = self.save_state(self.epoch, state, at)
        return saved.set(told_key=told_key, told_at=told_at).when(self._last_told())

    def _last_told(self) -> Check:
        told = field(ActiveMatch.told_key)
        return absent(told) if self.told_key is None else (told == self.told_key)

    @classmethod
    def open_channel(cls, match_id: str, channel_id: str) -> Update[Self]:
        """Note the broadcast channel of a match, unless it has one."""
        opened = cls.update(match_id=match_id).set(channel_id=channel_id)
        return opened.when(absent(ActiveMatch.channel_id))

    @classmethod
    def close(cls, match_id: str, at: datetime) -> Update[Self]:
        """Note that nothing is left to be done for a match that has ended."""
        closed = cls.update(match_id=match_id).set(closed_at=at)
        return closed.remove("channel_id").when(ActiveMatch.status == "ended")

    @classmethod
    def save_state(cls, epoch: int, state: MatchState, at: datetime) -> Update[Self]:
        """Keep what a tick saw, if the owner is still the owner."""
        changed = cls.update(match_id=state.match_id).set(**_seen(state, at))
        return changed.when(cls._owned(epoch))

    def advanced(self, state: MatchState, at: datetime, told_key: str, told_at: datetime) -> Self:
        """Answer the match as `advance` has left it."""
        return self.replace(**_seen(state, at), told_key=told_key, told_at=told_at)

    @property
    def state(self) -> MatchState | None:
        """What the last tick saw, as it was saved; None before the first."""
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
    def enter_phase(cls, match_id: str, epoch: int, match_phase: MatchPhase) -> Update[Self]:
        """Note the phase a match has come to, if the owner is still the owner."""
        return cls.update(match_id=match_id).set(match_phase=match_phase).when(cls._owned(epoch))

    @classmethod
    def touch(cls, match_id: str, epoch: int, at: datetime) -> Update[Self]:
        """Note a tick that saw nothing new, if the owner is still the owner."""
        return cls.update(match_id=match_id).set(last_tick_at=at).when(cls._owned(epoch))

    @classmethod
    def cool(cls, match_id: str, epoch: int, cooldowns: dict[str, datetime]) -> Update[Self]:
        """Keep when each kind of event may be told again, if the owner is still the owner."""
        return cls.update(match_id=match_id).set(cooldowns=cooldowns).when(cls._owned(epoch))

    @classmethod
    def deactivate(cls, match_id: str, epoch: int, expires: datetime) -> Update[Self]:
        """End the polling of a match and let its record expire."""
        ended = cls.update(match_id=match_id).set(status="ended", expires=expires)
        return ended.when(cls._owned(epoch))

    @classmethod
    def remove(cls, match_id: str) -> Delete[Self]:
        """Remove a match's record."""
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
        """Who holds a lock: after a refused write it may be ourselves."""
        return cls.get(lock_key=lock_key).consistent()

    def acquire(self, now: datetime) -> Put[Self]:
        """Take a lock that nobody holds, or whose holder let it lapse."""
        lapsed = Lock.expires_at < now - STEAL_GRACE
        return self.put().when(absent(Lock.lock_key) | lapsed)

    @classmethod
    def release(cls, lock_key: str, holder: Holder) -> Delete[Self]:
        """Give back a lock one holds."""
        return cls.delete(lock_key=lock_key).when(cls._held_by(holder))

    @classmethod
    def extend(cls, lock_key: str, holder: Holder, expires_at: datetime) -> Update[Self]:
        """Keep a lock one holds for longer."""
        extended = cls.update(lock_key=lock_key).set(expires_at=expires_at)
        return extended.when(cls._held_by(holder))

    @staticmethod
    def _held_by(holder: Holder) -> Check | bool:
        return (Lock.owner == holder.owner) & (Lock.nonce == holder.nonce)


LOCKS: Final = LeaseForm(Lock, "lock_key", mirrors=("holder",))
