"""Kept here: leases: the right to work on something for a while, and the number that proves it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from secrets import token_hex
from typing import TYPE_CHECKING, Any, ClassVar, Final

from grandstand.base.clock import Clock
from grandstand.base.errors import Conflict
from grandstand.storage.tables.declaration.codecs import REQUIRED
from grandstand.storage.tables.errors import ConditionFailed, DeclarationFault, LeaseLost
from grandstand.storage.tables.expressions.nodes import Missing, Path
from grandstand.storage.tables.house import Flight, KeptLease
from grandstand.storage.tables.operations.checks import Attribute, Check, absent, field
from grandstand.storage.tables.values import Item

if TYPE_CHECKING:
    from grandstand.storage.tables.declaration.entity import Entity
    from grandstand.storage.tables.session import Session

# Between reading a counter and writing the next one, another may take and release the lease.
_TRIES: Final = 4


class LeaseTaken(Conflict):
    """Another holds the lease; it may be free later."""

    retry: ClassVar[bool] = True


@dataclass(frozen=True)
class LeaseForm:
    """Which fields of an entity play which part in a lease; they are given by name.

    With a `counter` every acquisition counts it on, and a release leaves the item with its counter
    and takes owner, nonce and expiry away; without one a release deletes the item. `mirrors` repeat
    the owner. Raises DeclarationFault when the entity cannot play the part.
    """

    entity: type[Entity]
    key: str
    owner: str = "owner"
    nonce: str = "nonce"
    expires_at: str = "expires_at"
    counter: str | None = None
    mirrors: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        plan = self.entity.__plan__
        parts = [*self.emptied, *((self.counter,) if self.counter else ())]
        stray = [name for name in parts if name not in plan.fields]
        if stray:
            message = (
                f"{plan.name} has no field {', '.join(stray)}; it has {', '.join(plan.fields)}"
            )
            raise DeclarationFault(message)
        if plan.primary_names != (self.key,):
            message = f"{plan.name} must be found by {self.key} alone to be a lease"
            raise DeclarationFault(message)
        stuck = [name for name in self.emptied if plan.fields[name].absent is REQUIRED]
        if self.counter and stuck:
            message = (
                f"{plan.name} keeps its counter when it is released, so declare {', '.join(stuck)} "
                "so that it may be None"
            )
            raise DeclarationFault(message)

    @property
    def emptied(self) -> tuple[str, ...]:
        """The fields that a holder fills and a release empties."""
        return (self.owner, self.nonce, self.expires_at, *self.mirrors)

    def attribute(self, name: str) -> Attribute:
        """Answer a field seen from the class, for conditions."""
        return field(getattr(self.entity, name))

    def find(self, session: Session, key: str) -> Entity | None:
        """Read the item as it is now, expired or not."""
        return self.entity.get(**{self.key: key}).consistent().with_expired().run(session)

    def record(self, key: str, owner: str, nonce: str, expires_at: datetime) -> dict[str, Any]:
        """Answer the fields of a held lease, without its counter."""
        mirrored = dict.fromkeys(self.mirrors, owner)
        return {
            self.key: key,
            self.owner: owner,
            self.nonce: nonce,
            self.expires_at: self._as_stored(expires_at),
            **mirrored,
        }

    def _as_stored(self, moment: datetime) -> datetime:
        """Cut a moment to what the field keeps, so that holder and contender see the same."""
        codec = self.entity.__plan__.fields[self.expires_at].codec
        stored = codec.encode(moment) if codec.encode else moment
        read: datetime = codec.decode(stored) if codec.decode else stored
        return read

    def free(self, limit: datetime) -> Check:
        """Hold when nobody has the lease, or its expiry lies before the limit."""
        expiry = self.attribute(self.expires_at)
        if self.counter is None:
            nothing = Check(Missing(Path((self.entity.__plan__.table.partition,))))
        else:
            nothing = absent(expiry)
        return nothing | (expiry < limit)

    def is_free(self, found: Entity, limit: datetime) -> bool:
        """Tell the same of an item that was read."""
        expiry: datetime | None = getattr(found, self.expires_at)
        return expiry < limit if expiry is not None else self.counter is not None

    def held_by(self, owner: str, nonce: str) -> Check:
        """Hold while the lease is this acquisition's."""
        return (self.attribute(self.owner) == owner) & (self.attribute(self.nonce) == nonce)

    def is_held_by(self, found: Entity, owner: str, nonce: str) -> bool:
        """Tell the same of an entity that was read."""
        return (getattr(found, self.owner), getattr(found, self.nonce)) == (owner, nonce)

    def shows(self, item: Item | None, owner: str, nonce: str) -> bool:
        """Tell the same of a stored item, which may be of anybody's making."""
        fields = self.entity.__plan__.fields
        held = [(item or {}).get(fields[name].attribute) for name in (self.owner, self.nonce)]
        return held == [owner, nonce]

    def stored(self, session: Session, key: str) -> Item | None:
        """Read the item as it is stored."""
        get = self.entity.get(**{self.key: key}).consistent()
        return session.engine.get(get.request(session)).item

    def count(self, found: Entity | None) -> int:
        """Answer how often the lease was acquired so far."""
        assert self.counter is not None  # noqa: S101 - asked only of forms with a counter
        return 0 if found is None else int(getattr(found, self.counter))


@dataclass(frozen=True, slots=True)
class Lease:
    """A lease as its holder has it.

    `expires_at` is what others see; `until` is the same moment on the holder's own monotonic
    clock, counted from before the lease was written. `token` is greater than that of every
    earlier holder, None where the form has no counter.
    """

    key: str
    owner: str
    nonce: str
    seconds: float
    expires_at: datetime
    until: float
    token: int | None = None

    def left(self, clock: Clock) -> float:
        """Answer the seconds until it lapses; not above 0 once it has."""
        return self.until - clock.monotonic()

    def check(self, clock: Clock) -> None:
        """Raise LeaseLost when it has lapsed on the holder's own clock."""
        if self.left(clock) <= 0:
            message = f"The lease {self.key} lapsed before it was renewed: stop, and acquire anew"
            raise LeaseLost(message)

    def fences(self, attribute: object) -> Check:
        """Hold while no later holder has written its token to this attribute of what is protected.

        Set the attribute to the token in the same write. Raises DeclarationFault without a token.
        """
        if self.token is None:
            message = f"The lease {self.key} has no token: give its form a counter"
            raise DeclarationFault(message)
        return absent(attribute) | (field(attribute) <= self.token)


@dataclass(frozen=True, slots=True)
class Acquire:
    """Take a lease that is free; the same value run again recognises what it wrote before."""

    leases: Leases
    key: str
    nonce: str

    def run(self, session: Session) -> Lease | None:
        """Take it and answer it; None when another holds it."""
        for _ in range(_TRIES):
            lease, settled = self._try(session)
            if settled:
                break
        return lease

    def _try(self, session: Session) -> tuple[Lease | None, bool]:
        """Try once; answer also whether trying again at once could change the answer."""
        form, owner = self.leases.form, self.leases.owner
        before, now = session.clock.monotonic(), session.clock.now()
        limit = now - timedelta(seconds=self.leases.grace_seconds)
        record = form.record(self.key, owner, self.nonce, self.leases.expiry(now))
        check = form.free(limit)
        if form.counter is not None:
            known = form.find(session, self.key)
            if known is not None and form.is_held_by(known, owner, self.nonce):
                return self._lease(known, before, now), True
            if known is not None and not form.is_free(known, limit):
                return None, True
            count = form.attribute(form.counter)
            check &= absent(count) if known is None else (count == form.count(known))
            record[form.counter] = form.count(known) + 1
        held = form.entity(**record)
        put = held.put().overwriting().when(check)
        try:
            session.engine.put(put.request(session))
        except ConditionFailed as refused:
            found = refused.item or form.stored(session, self.key)
            if not form.shows(found, owner, self.nonce):
                return None, form.counter is None
        return self._lease(held, before, now), True

    def _lease(self, held: Entity, before: float, now: datetime) -> Lease:
        form = self.leases.form
        expires_at: datetime = getattr(held, form.expires_at)
        return Lease(
            key=self.key,
            owner=self.leases.owner,
            nonce=self.nonce,
            seconds=self.leases.seconds,
            expires_at=expires_at,
            until=before + (expires_at - now).total_seconds(),
            token=None if form.counter is None else form.count(held),
        )


@dataclass(frozen=True, slots=True)
class Renew:
    """Hold a lease for its full time from now on."""

    leases: Leases
    lease: Lease

    def run(self, session: Session) -> Lease:
        """Renew it, even late if nobody has taken it since; raise LeaseLost otherwise."""
        form, lease = self.leases.form, self.lease
        before, now = session.clock.monotonic(), session.clock.now()
        record = form.record(lease.key, lease.owner, lease.nonce, self.leases.expiry(now))
        expires_at: datetime = record[form.expires_at]
        update = form.entity.update(**{form.key: lease.key}).set(**{form.expires_at: expires_at})
        update = update.when(form.held_by(lease.owner, lease.nonce))
        try:
            session.engine.update(update.request(session))
        except ConditionFailed as refused:
            message = f"The lease {lease.key} is no longer {lease.owner}'s: stop, and acquire anew"
            raise LeaseLost(message) from refused
        return Lease(
            key=lease.key,
            owner=lease.owner,
            nonce=lease.nonce,
            seconds=self.leases.seconds,
            expires_at=expires_at,
            until=before + (expires_at - now).total_seconds(),
            token=lease.token,
        )


@dataclass(frozen=True, slots=True)
class Release:
    """Give a lease back."""

    leases: Leases
    lease: Lease

    def run(self, session: Session) -> bool:
        """Give it back; False when it was not held any more, which is left as it is."""
        form, lease = self.leases.form, self.lease
        mine = form.held_by(lease.owner, lease.nonce)
        engine, key = session.engine, {form.key: lease.key}
        try:
            if form.counter is None:
                engine.delete(form.entity.delete(**key).when(mine).request(session))
            else:
                emptied = form.entity.update(**key).remove(*form.emptied)
                engine.update(emptied.when(mine).request(session))
        except ConditionFailed:
            return False
        return True


def _nonce() -> str:
    # Not from a seeded source: two processes seeded alike would take each other for themselves.
    return token_hex(16)


@dataclass(frozen=True)
class Leases:
    """One owner's way to leases of one form, as operations for any store.

    A lease is free to others once it has been expired for the grace, which has to cover how far
    the clocks of two machines may differ.
    """

    form: LeaseForm
    owner: str
    seconds: float = 10.0
    grace_seconds: float = 1.0
    nonces: Callable[[], str] = _nonce

    def expiry(self, now: datetime) -> datetime:
        """Answer when a lease written now expires."""
        return now + timedelta(seconds=self.seconds)

    def acquire(self, key: str) -> Acquire:
        """Take a lease; the answer is None when another holds it."""
        return Acquire(self, key, self.nonces())

    def renew(self, lease: Lease) -> Renew:
        """Hold a lease on; raises LeaseLost."""
        return Renew(self, lease)

    def release(self, lease: Lease) -> Release:
        """Give a lease back; the answer tells whether it was still held."""
        return Release(self, lease)


HOUSE_LEASES: Final = LeaseForm(KeptLease, "name", counter="epoch")
FLIGHTS: Final = LeaseForm(Flight, "name")
