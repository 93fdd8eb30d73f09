"""Leases: exclusive rights for a limited time, with fencing tokens.

Example:
    leases = Leases(PLATFORM_LEASES, owner="host-1")
    async with AsyncLeaseContext(store, leases, "nightly-import", random=Random()) as lease:
        await import_everything(lease.token)
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from random import Random
from secrets import token_hex
from typing import TYPE_CHECKING, Any, ClassVar, Final, NoReturn, Self

from grandstand.core.clock import Clock
from grandstand.core.errors import Conflict, GrandstandError
from grandstand.storage.tables.declaration.fields import REQUIRED
from grandstand.storage.tables.errors import ConditionFailed, DeclarationFault, LeaseLost
from grandstand.storage.tables.expressions.nodes import Missing, Path
from grandstand.storage.tables.operations.conditions import Attribute, ConditionExpr, absent, field
from grandstand.storage.tables.platform_tables import Flight, LeaseRecord

if TYPE_CHECKING:
    from grandstand.storage.tables.declaration.entity import Entity
    from grandstand.storage.tables.store import AsyncStore, Session

# Between reading and writing the counter, another owner may take and release the lease.
_MAX_ATTEMPTS: Final = 4


class LeaseTaken(Conflict):
    """Another owner holds the lease; it may be free later."""

    code: ClassVar[str] = "lease-taken"
    retry: ClassVar[bool] = True


@dataclass(frozen=True)
class LeaseForm:
    """Which fields of an entity form a lease.

    With a `counter` every acquisition increments it, and a release keeps the item and its counter;
    without one a release deletes the item. `mirrors` are fields that repeat the owner. Raises
    DeclarationFault if the entity is not suitable.
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
        parts = [*self.holder_fields, *((self.counter,) if self.counter else ())]
        unknown = [name for name in parts if name not in plan.fields]
        if unknown:
            raise DeclarationFault(
                f"{plan.name} has no field {', '.join(unknown)}. Fields: {', '.join(plan.fields)}."
            )
        if plan.primary_names != (self.key,):
            raise DeclarationFault(f"The key of {plan.name} must be {self.key} alone for a lease.")
        required = [name for name in self.holder_fields if plan.fields[name].absent is REQUIRED]
        if self.counter and required:
            raise DeclarationFault(
                f"{plan.name} keeps its counter when it is released: let {', '.join(required)} be "
                "None."
            )

    @property
    def holder_fields(self) -> tuple[str, ...]:
        """The fields that a holder sets and a release removes."""
        return (self.owner, self.nonce, self.expires_at, *self.mirrors)

    def attribute(self, name: str) -> Attribute:
        """Return a field of the class, for conditions."""
        return field(getattr(self.entity, name))

    def find(self, session: Session, key: str) -> Entity | None:
        """Read the item, expired or not."""
        return self.entity.get(**{self.key: key}).consistent().with_expired().run(session)

    def record(self, key: str, owner: str, nonce: str, expires_at: datetime) -> dict[str, Any]:
        """Return the fields of a held lease, without its counter."""
        # Truncated to the stored precision, so that every process sees the same time.
        codec = self.entity.__plan__.fields[self.expires_at].codec
        stored = codec.encode(expires_at) if codec.encode else expires_at
        return {
            self.key: key,
            self.owner: owner,
            self.nonce: nonce,
            self.expires_at: codec.decode(stored) if codec.decode else stored,
            **dict.fromkeys(self.mirrors, owner),
        }

    def free(self, limit: datetime) -> ConditionExpr:
        """The condition that nobody holds the lease, or that it expired before the limit."""
        expiry = self.attribute(self.expires_at)
        if self.counter is None:
            unheld = ConditionExpr(Missing(Path((self.entity.__plan__.table.partition,))))
        else:
            unheld = absent(expiry)
        return unheld | (expiry < limit)

    def is_free(self, found: Entity, limit: datetime) -> bool:
        """The same for an entity that was read."""
        expiry: datetime | None = getattr(found, self.expires_at)
        return expiry < limit if expiry is not None else self.counter is not None

    def held_by(self, owner: str, nonce: str) -> ConditionExpr:
        """The condition that this acquisition holds the lease."""
        return (self.attribute(self.owner) == owner) & (self.attribute(self.nonce) == nonce)

    def is_held_by(self, found: Entity, owner: str, nonce: str) -> bool:
        """The same for an entity that was read."""
        return (getattr(found, self.owner), getattr(found, self.nonce)) == (owner, nonce)

    def count(self, found: Entity | None) -> int:
        """Return how often the lease was acquired so far."""
        assert self.counter is not None  # noqa: S101 - only called for forms with a counter
        return 0 if found is None else int(getattr(found, self.counter))


@dataclass(frozen=True, slots=True)
class Lease:
    """A held lease.

    `expires_at` is what others see; `until` is the same time on the holder's monotonic clock,
    counted from before the write. `token` is greater than that of every earlier holder; None if the
    form has no counter.
    """

    key: str
    owner: str
    nonce: str
    seconds: float
    expires_at: datetime
    until: float
    token: int | None = None

    def left(self, clock: Clock) -> float:
        """Return the seconds until it expires."""
        return self.until - clock.monotonic()

    def check(self, clock: Clock) -> None:
        """Raise LeaseLost if it has expired on the holder's clock."""
        if self.left(clock) <= 0:
            raise LeaseLost(
                f"The lease {self.key} expired before it was renewed. Stop, and acquire it again."
            )

    def fences(self, attribute: object) -> ConditionExpr:
        """Return the condition that no later holder has written its token to an attribute.

        Set the attribute to the token in the same write. Raises DeclarationFault without a token.
        """
        if self.token is None:
            raise DeclarationFault(f"The lease {self.key} has no token. Give its form a counter.")
        return absent(attribute) | (field(attribute) <= self.token)


@dataclass(frozen=True, slots=True)
class Acquire:
    """Acquire a free lease; running it again recognizes what it wrote before."""

    leases: Leases
    key: str
    nonce: str

    def run(self, session: Session) -> Lease | None:
        """Return the lease, or None if another owner holds it."""
        for _ in range(_MAX_ATTEMPTS):
            lease, final = self._try(session)
            if final:
                break
        return lease

    def _try(self, session: Session) -> tuple[Lease | None, bool]:
        """Try once; return also whether the result is final."""
        form, owner = self.leases.form, self.leases.owner
        before, now = session.clock.monotonic(), session.clock.now()
        limit = now - timedelta(seconds=self.leases.grace_seconds)
        record = form.record(self.key, owner, self.nonce, self.leases.expiry(now))
        check = form.free(limit)
        if form.counter is not None:
            existing = form.find(session, self.key)
            if existing is not None and form.is_held_by(existing, owner, self.nonce):
                return self._lease(existing, before, now), True
            if existing is not None and not form.is_free(existing, limit):
                return None, True
            count = form.attribute(form.counter)
            check &= absent(count) if existing is None else (count == form.count(existing))
            record[form.counter] = form.count(existing) + 1
        held = form.entity(**record)
        put = held.put().overwriting().when(check)
        try:
            session.engine.put(put.request(session))
        except ConditionFailed as error:
            # Not decoded: another program may have stored an item without all fields.
            get = form.entity.get(**{form.key: self.key}).consistent()
            found = error.item or session.engine.get(get.request(session)).item or {}
            fields = form.entity.__plan__.fields
            holder = [found.get(fields[name].attribute) for name in (form.owner, form.nonce)]
            if holder != [owner, self.nonce]:
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
    """Extend a lease to its full duration from now."""

    leases: Leases
    lease: Lease

    def run(self, session: Session) -> Lease:
        """Renew it, even late if nobody has taken it. Raises LeaseLost."""
        form, lease = self.leases.form, self.lease
        before, now = session.clock.monotonic(), session.clock.now()
        record = form.record(lease.key, lease.owner, lease.nonce, self.leases.expiry(now))
        expires_at: datetime = record[form.expires_at]
        update = form.entity.update(**{form.key: lease.key}).set(**{form.expires_at: expires_at})
        update = update.when(form.held_by(lease.owner, lease.nonce))
        try:
            session.engine.update(update.request(session))
        except ConditionFailed as error:
            raise LeaseLost(
                f"{lease.owner} no longer holds the lease {lease.key}. Stop, and acquire it again."
            ) from error
        return replace(
            lease,
            seconds=self.leases.seconds,
            expires_at=expires_at,
            until=before + (expires_at - now).total_seconds(),
        )


@dataclass(frozen=True, slots=True)
class Release:
    """Release a lease."""

    leases: Leases
    lease: Lease

    def run(self, session: Session) -> bool:
        """Release it; return False if it was no longer held."""
        form, lease = self.leases.form, self.lease
        held_by_owner = form.held_by(lease.owner, lease.nonce)
        engine, key = session.engine, {form.key: lease.key}
        try:
            if form.counter is None:
                engine.delete(form.entity.delete(**key).when(held_by_owner).request(session))
            else:
                holder_fields = form.entity.update(**key).remove(*form.holder_fields)
                engine.update(holder_fields.when(held_by_owner).request(session))
        except ConditionFailed:
            return False
        return True


@dataclass(frozen=True)
class Leases:
    """Operations on leases of one form for one owner.

    Others can take a lease once it has been expired for the grace period, which must cover the
    difference between the clocks of two machines.
    """

    form: LeaseForm
    owner: str
    seconds: float = 10.0
    grace_seconds: float = 1.0
    # Not from a seeded source: two processes with the same seed could not tell each other apart.
    nonces: Callable[[], str] = lambda: token_hex(16)

    def expiry(self, now: datetime) -> datetime:
        return now + timedelta(seconds=self.seconds)

    def acquire(self, key: str) -> Acquire:
        """Acquire a lease; the result is None if another owner holds it."""
        return Acquire(self, key, self.nonces())

    def renew(self, lease: Lease) -> Renew:
        """Renew a lease. Raises LeaseLost."""
        return Renew(self, lease)

    def release(self, lease: Lease) -> Release:
        """Release a lease; the result is whether it was still held."""
        return Release(self, lease)


PLATFORM_LEASES: Final = LeaseForm(LeaseRecord, "name", counter="epoch")
FLIGHTS: Final = LeaseForm(Flight, "name")


_POLL_SECONDS: Final = 0.25

Sleep = Callable[[float], Awaitable[None]]


class AsyncLeaseContext:
    """Holds a lease during a block and renews it at half time.

    Entering raises LeaseTaken. If the lease is lost, or expires because the store does not respond,
    the block is cancelled and leaving it raises LeaseLost.
    """

    def __init__(
        self,
        store: AsyncStore,
        leases: Leases,
        key: str,
        *,
        random: Random,
        wait_seconds: float = 0.0,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._store = store
        self._leases = leases
        self._key = key
        self._random = random
        self._wait_seconds = wait_seconds
        self._sleep = sleep
        self._clock = store.store.session.clock
        self._lease: Lease | None = None
        self._lost: LeaseLost | None = None
        self._holder: asyncio.Task[object] | None = None
        self._cancelling = 0
        self._renewing: asyncio.Task[None] | None = None

    @property
    def lease(self) -> Lease:
        """The lease as last renewed. Raises LeaseLost outside the block."""
        if self._lease is None:
            raise LeaseLost(f"The lease {self._key} is not held outside the block.")
        return self._lease

    @property
    def token(self) -> int | None:
        """The fencing token."""
        return self.lease.token

    async def __aenter__(self) -> Self:
        acquire = self._leases.acquire(self._key)
        end = self._clock.monotonic() + self._wait_seconds
        while (lease := await self._store(acquire)) is None:
            pause = self._pause()
            if self._clock.monotonic() + pause > end:
                raise LeaseTaken(f"Another owner holds the lease {self._key}. Try again later.")
            await self._sleep(pause)
        self._lease = lease
        holder = asyncio.current_task()
        assert holder is not None  # noqa: S101 - a running coroutine belongs to a task
        self._holder, self._cancelling = holder, holder.cancelling()
        self._renewing = asyncio.create_task(self._renew_until_lost(holder))
        return self

    async def __aexit__(self, _kind: object, error: BaseException | None, _: object) -> None:
        lease, self._lease = self.lease, None
        assert self._renewing is not None  # noqa: S101 - set on entering
        self._renewing.cancel()
        try:
            await asyncio.wait([self._renewing])
        except asyncio.CancelledError:
            if self._lost is None:
                raise
        if self._lost is not None:
            self._raise_lost(self._lost, error)
        with suppress(GrandstandError):
            await self._store(self._leases.release(lease))

    def _raise_lost(self, lost: LeaseLost, error: BaseException | None) -> NoReturn:
        """Raise LeaseLost, or a cancellation that somebody else requested."""
        assert self._holder is not None  # noqa: S101 - set on entering
        if self._holder.uncancel() > self._cancelling:
            raise asyncio.CancelledError from lost
        raise lost from error

    def check(self) -> None:
        """Raise LeaseLost if the lease has expired, without calling the store."""
        self.lease.check(self._clock)

    async def _renew_until_lost(self, holder: asyncio.Task[object]) -> None:
        try:
            while True:
                await self._sleep(max(0.0, self.lease.left(self._clock) - self.lease.seconds / 2))
                await self._renew()
        except LeaseLost as lost:
            self._lost = lost
            holder.cancel()
        except Exception as error:  # noqa: BLE001 - whatever ends the renewal loses the lease
            self._lost = LeaseLost(f"The lease {self._key} could not be renewed: {error}")
            self._lost.__cause__ = error
            holder.cancel()

    async def _renew(self) -> None:
        """Renew, with retries while the lease is valid. Raises LeaseLost."""
        while True:
            # A call that hangs must not outlast the lease by more than the grace period.
            timeout = max(self.lease.left(self._clock), self._leases.grace_seconds)
            try:
                async with asyncio.timeout(timeout):
                    self._lease = await self._store(self._leases.renew(self.lease))
                return
            except LeaseLost:
                raise
            except (GrandstandError, TimeoutError) as error:
                if self.lease.left(self._clock) <= 0:
                    raise LeaseLost(
                        f"The lease {self._key} expired while the store did not respond."
                    ) from error
                await self._sleep(self._pause())

    def _pause(self) -> float:
        return self._random.uniform(0.5, 1.0) * min(_POLL_SECONDS, self._leases.seconds / 4)
