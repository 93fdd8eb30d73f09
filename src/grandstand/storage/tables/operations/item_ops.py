"""Operations on items: single reads and writes, updates, batches and transactions."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from types import SimpleNamespace
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Final,
    Generic,
    NamedTuple,
    Protocol,
    Self,
    TypeAlias,
    TypeVar,
    cast,
)

from grandstand.storage.tables import requests
from grandstand.storage.tables.attribute_values import Item, Key, Value
from grandstand.storage.tables.declaration.compiled import SCHEMA_VERSION, KeyPlan
from grandstand.storage.tables.declaration.fields import REQUIRED, EntityField
from grandstand.storage.tables.errors import ConditionFailed, DeclarationFault, Unprocessed
from grandstand.storage.tables.expressions import nodes
from grandstand.storage.tables.operations.conditions import ConditionExpr, all_of, condition_of

if TYPE_CHECKING:
    from grandstand.storage.tables.declaration.compiled import EntityPlan
    from grandstand.storage.tables.declaration.entity import Entity
    from grandstand.storage.tables.store import Session

E = TypeVar("E", bound="Entity")
R_co = TypeVar("R_co", covariant=True)


# A longer read does not run on an event loop.
MAX_SHORT_READ: Final = 500


class Operation(Protocol[R_co]):
    """Anything a store can run.

    An operation that only reads has `is_short_read`, which tells whether it reads at most 500
    rows; without it, the operation is treated as a write.
    """

    def run(self, session: Session) -> R_co: ...


class Get(NamedTuple, Generic[E]):
    """Read one item by its key. A tuple, because a read costs little more than creating it."""

    entity: EntityPlan[E]
    key: Key
    consistent_read: bool = False
    include_expired: bool = False

    def consistent(self) -> Self:
        """See every write acknowledged before."""
        return self._replace(consistent_read=True)

    def with_expired(self) -> Self:
        """Return the item even if it has expired."""
        return self._replace(include_expired=True)

    def request(self, session: Session) -> requests.GetItem:
        return requests.GetItem(session.name(self.entity.table), self.key, (), self.consistent_read)

    def decode(self, session: Session, item: Item | None) -> E | None:
        """Return the entity of a stored item; None if it has expired or is of another entity."""
        if item is None:
            return None
        entity = self.entity
        now = session.clock.epoch() if entity.table.ttl and not self.include_expired else None
        return entity.decode(item) if entity.matches(item, now) else None

    def run(self, session: Session) -> E | None:
        entity, key, consistent_read, _ = self
        table = entity.table
        item = session.engine.get(
            requests.GetItem(session.names[table], key, (), consistent_read)
        ).item
        if item is None:
            return None
        if table.ttl is None and len(table.entities) == 1:
            return entity.decode(item)
        return self.decode(session, item)


@dataclass(frozen=True, kw_only=True, slots=True)
class Put(Generic[E]):
    """Write one whole item; if the entity has a version, only over the version it was read at."""

    entity: EntityPlan[E]
    record: E
    condition: nodes.Condition | None = None
    checks_version: bool = True

    def when(self, check: ConditionExpr | bool) -> Self:  # noqa: FBT001 - checkers see comparisons as bool
        """Write only if the stored item meets a condition; otherwise raises ConditionFailed."""
        return dataclasses.replace(self, condition=all_of(self.condition, condition_of(check)))

    def if_absent(self) -> Self:
        """Write only if there is no such item."""
        return self.when(ConditionExpr(nodes.Missing(nodes.Path((self.entity.table.partition,)))))

    def if_present(self) -> Self:
        """Write only over an existing item."""
        return self.when(ConditionExpr(nodes.Exists(nodes.Path((self.entity.table.partition,)))))

    def overwriting(self) -> Self:
        """Write over any version."""
        return dataclasses.replace(self, checks_version=False)

    @property
    def conditional(self) -> bool:
        """Whether it depends on the stored item."""
        return self.condition is not None or (
            self.checks_version and self.entity.version is not None
        )

    def stored(self, session: Session) -> E:
        """Return the record as it will be stored: with its new version and its expiry."""
        entity = self.entity
        changes: dict[str, Any] = {}
        if entity.ttl is not None:
            changes[entity.ttl.name] = entity.expiry(
                self.record.__getattribute__, session.clock.now()
            )
        if entity.version is not None:
            changes[entity.version.name] = getattr(self.record, entity.version.name) + 1
        return self.record.replace(**changes) if changes else self.record

    def request(self, session: Session) -> requests.PutItem:
        return self._request(session, self.stored(session))

    def _request(self, session: Session, record: E) -> requests.PutItem:
        entity, condition = self.entity, self.condition
        if entity.version is not None and self.checks_version:
            count = getattr(self.record, entity.version.name)
            expected: nodes.Condition = nodes.Missing(nodes.Path((entity.table.partition,)))
            if count:
                path = nodes.Path((entity.version.attribute,))
                expected = nodes.Compare("=", path, nodes.Literal(count))
            condition = all_of(expected, condition)
        return requests.PutItem(
            session.name(entity.table),
            entity.encode(record),
            condition,
            "NONE",
            condition is not None,
        )

    def run(self, session: Session) -> E:
        """Write the item and return it as stored. Raises ConditionFailed."""
        record = self.stored(session)
        try:
            session.engine.put(self._request(session, record))
        except ConditionFailed as error:
            session.raise_failed(self.entity, error)
        return record


@dataclass(frozen=True, kw_only=True, slots=True)
class Delete(Generic[E]):
    """Delete one item by its key."""

    entity: EntityPlan[E]
    key: Key
    condition: nodes.Condition | None = None

    def when(self, check: ConditionExpr | bool) -> Self:  # noqa: FBT001 - as Put.when
        """Delete only if the item meets a condition; otherwise raises ConditionFailed."""
        return dataclasses.replace(self, condition=all_of(self.condition, condition_of(check)))

    @property
    def conditional(self) -> bool:
        """Whether it depends on the stored item."""
        return self.condition is not None

    def if_present(self) -> Self:
        """Delete only an existing item."""
        return self.when(ConditionExpr(nodes.Exists(nodes.Path((self.entity.table.partition,)))))

    def request(self, session: Session) -> requests.DeleteItem:
        return requests.DeleteItem(
            session.name(self.entity.table),
            self.key,
            self.condition,
            "ALL_OLD",
            self.condition is not None,
        )

    def run(self, session: Session) -> E | None:
        """Delete the item and return it. Raises ConditionFailed."""
        try:
            old = session.engine.delete(self.request(session)).attributes
        except ConditionFailed as error:
            session.raise_failed(self.entity, error)
        return (
            self.entity.decode(old) if old is not None and self.entity.matches(old, None) else None
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class ConditionCheck(Generic[E]):
    """In a transaction: require a condition of an item without writing it."""

    entity: EntityPlan[E]
    key: Key
    condition: nodes.Condition

    def request(self, session: Session) -> requests.CheckItem:
        return requests.CheckItem(
            session.name(self.entity.table), self.key, self.condition, show_conflict=True
        )


def require(get: Get[E], check: ConditionExpr | bool) -> ConditionCheck[E]:  # noqa: FBT001 - as Put.when
    """Require that the item of a get meets a condition."""
    return ConditionCheck(entity=get.entity, key=get.key, condition=condition_of(check))


@dataclass(frozen=True, kw_only=True, slots=True)
class Update(Generic[E]):
    """Update an existing item or, after `upsert()`, create it.

    Fields of one index key must be set in one `set()`, so that the key can be derived; otherwise
    DeclarationFault says which field is missing.
    """

    entity: EntityPlan[E]
    key: Key
    known: Mapping[str, object]
    changes: nodes.UpdateNode = field(default_factory=nodes.UpdateNode)
    condition: nodes.Condition | None = None
    creates: bool = False

    def set(self, **values: object) -> Self:
        """Set fields; None removes them."""
        sets: list[tuple[nodes.Path, nodes.Assigned]] = []
        removes: list[nodes.Path] = []
        for name, value in values.items():
            target = self._field(name)
            stored = target.encoded(value)
            path = nodes.Path((target.attribute,))
            if stored is None:
                removes.append(path)
            else:
                sets.append((path, nodes.Literal(stored)))
        return self._with_index_keys(values, self._with_changes(tuple(sets), tuple(removes)))

    def remove(self, *names: str) -> Self:
        """Remove fields."""
        return self.set(**dict.fromkeys(names))

    def set_if_absent(self, **values: object) -> Self:
        """Set fields that have no value."""
        literals = [self._literal(name, value) for name, value in values.items()]
        return self._with_changes(
            tuple((path, nodes.IfMissing(path, stored)) for path, stored in literals)
        )

    def add(self, **amounts: object) -> Self:
        """Add to numbers, starting at 0, or add members to sets."""
        adds = tuple(self._literal(name, value) for name, value in amounts.items())
        return self._with_changes(adds=adds)

    def discard(self, **members: object) -> Self:
        """Remove members from sets."""
        deletes = tuple(self._literal(name, value) for name, value in members.items())
        return self._with_changes(deletes=deletes)

    def append(self, **elements: object) -> Self:
        """Append elements to lists."""
        sets: list[tuple[nodes.Path, nodes.Assigned]] = []
        for name, value in elements.items():
            path, appended = self._literal(name, value)
            sets.append((path, nodes.Joined(nodes.IfMissing(path, nodes.Literal([])), appended)))
        return self._with_changes(tuple(sets))

    def when(self, check: ConditionExpr | bool) -> Self:  # noqa: FBT001 - checkers see comparisons as bool
        """Update only if the item meets a condition; otherwise raises ConditionFailed."""
        return dataclasses.replace(self, condition=all_of(self.condition, condition_of(check)))

    def upsert(self) -> Self:
        """Create the item if there is none; every required field must be set."""
        return dataclasses.replace(self, creates=True)

    def _field(self, name: str) -> EntityField:
        target = self.entity.fields.get(name)
        if target is None:
            known = ", ".join(self.entity.fields)
            raise DeclarationFault(f"{self.entity.name} has no field {name}. Fields: {known}.")
        if name in self.entity.primary.source_fields:
            raise DeclarationFault(
                f"{name} is part of the key of {self.entity.name}. Delete the item and put a new "
                "one."
            )
        if target.role == "version":
            raise DeclarationFault(
                f"{name} is the version of {self.entity.name} and cannot be set."
            )
        return target

    def _literal(self, name: str, value: object) -> tuple[nodes.Path, nodes.Literal]:
        """Return the path and the stored value. Raises DeclarationFault for part of an index."""
        target = self._field(name)
        index_names = [plan.name for plan in self.entity.indexes if name in plan.source_fields]
        if index_names:
            raise DeclarationFault(
                f"{name} is part of the index key {self.entity.name}.{index_names[0]}, which "
                "cannot be derived from this change. Use set()."
            )
        return nodes.Path((target.attribute,)), nodes.Literal(target.encoded(value))

    def _with_changes(
        self,
        sets: tuple[tuple[nodes.Path, nodes.Assigned], ...] = (),
        removes: tuple[nodes.Path, ...] = (),
        adds: tuple[tuple[nodes.Path, nodes.Literal], ...] = (),
        deletes: tuple[tuple[nodes.Path, nodes.Literal], ...] = (),
    ) -> Self:
        old = self.changes
        changed = nodes.UpdateNode(
            old.sets + sets, old.removes + removes, old.adds + adds, old.deletes + deletes
        )
        return dataclasses.replace(self, changes=changed)

    def _with_index_keys(self, values: Mapping[str, object], changed: Self) -> Self:
        """Set the index keys that depend on these values, together with them."""
        known = {**self.known, **values}
        changes = changed.changes
        sets, removes = changes.sets, changes.removes
        for plan in self.entity.indexes:
            if not plan.source_fields.isdisjoint(values):
                key, removed = _index_key_changes(plan, _index_key(plan, self.entity, known))
                sets, removes = sets + key, removes + removed
        ttl = self.entity.ttl
        if ttl is not None and ttl.after and ttl.of and ttl.name not in values:
            start = cast("datetime | None", values.get(ttl.of))
            if start is not None:
                expiry = nodes.Literal(ttl.encoded(start + ttl.after))
                sets += ((nodes.Path((ttl.attribute,)), expiry),)
        changes = dataclasses.replace(changes, sets=sets, removes=removes)
        return dataclasses.replace(self, known=known, changes=changes)

    def request(self, session: Session) -> requests.UpdateItem:
        """Return the engine request."""
        entity, changes = self.entity, self.changes
        exists = None if self.creates else nodes.Exists(nodes.Path((entity.table.partition,)))
        if entity.version is not None:
            increment = (nodes.Path((entity.version.attribute,)), nodes.Literal(1))
            changes = dataclasses.replace(changes, adds=(*changes.adds, increment))
        if self.creates:
            self._check_complete()
            changes = dataclasses.replace(changes, sets=changes.sets + self._identity_sets(changes))
        return requests.UpdateItem(
            table=session.name(entity.table),
            key=self.key,
            update=changes,
            condition=all_of(exists, self.condition),
            returning="ALL_NEW",
            show_conflict=True,
        )

    def _check_complete(self) -> None:
        """An upsert may create the item, so it must set every required field."""
        written = {path.root for path in self.changes.paths}
        missing = [
            target.name
            for target in self.entity.fields.values()
            if target.absent is REQUIRED
            and target.attribute not in written
            and target.name not in self.known
        ]
        if missing:
            raise DeclarationFault(
                f"upsert() may create a new {self.entity.name}: set {', '.join(missing)} too."
            )

    def _identity_sets(
        self, changes: nodes.UpdateNode
    ) -> tuple[tuple[nodes.Path, nodes.Assigned], ...]:
        """Key fields that are separate attributes are written with the item."""
        written = {path.root for path in changes.paths} | set(self.key)
        sets: list[tuple[nodes.Path, nodes.Assigned]] = []
        for name in self.entity.primary_names:
            target = self.entity.fields.get(name)
            if target is not None and target.attribute not in written:
                stored = nodes.Literal(target.encoded(self.known[name]))
                sets.append((nodes.Path((target.attribute,)), stored))
        if self.entity.schema_version is not None:
            stamped = nodes.Literal(self.entity.schema_version)
            sets.append((nodes.Path((SCHEMA_VERSION,)), stamped))
        return tuple(sets)

    def run(self, session: Session) -> E:
        """Update the item and return it. Raises ConditionFailed."""
        try:
            written = session.engine.update(self.request(session))
        except ConditionFailed as error:
            session.raise_failed(self.entity, error)
        return self.entity.decode(written.attributes or dict(self.key))


def _index_key_changes(
    plan: KeyPlan, key: Mapping[str, Value] | None
) -> tuple[tuple[tuple[nodes.Path, nodes.Assigned], ...], tuple[nodes.Path, ...]]:
    attributes = [part.attribute for part in plan.parts if part.direct is None]
    if key is None:
        return (), tuple(nodes.Path((attribute,)) for attribute in attributes)
    return tuple((nodes.Path((name,)), nodes.Literal(key[name])) for name in attributes), ()


def _index_key(
    plan: KeyPlan, entity: EntityPlan[Any], known: Mapping[str, object]
) -> dict[str, Value] | None:
    """Derive an index key from the known fields. Raises DeclarationFault for missing ones."""

    def lookup(name: str) -> object:
        if name in known:
            return known[name]
        computed = getattr(entity.entity, name)
        if isinstance(computed, property) and computed.fget is not None:
            return computed.fget(SimpleNamespace(**known))
        raise AttributeError(name)

    try:
        return plan.values(lookup)
    except AttributeError as error:
        missing = sorted(plan.source_fields - set(known)) or [str(error)]
        raise DeclarationFault(
            f"This would leave the index key {entity.name}.{plan.name} stale. Set "
            f"{', '.join(missing)} in the same set()."
        ) from error


T = TypeVar("T")

MAX_WRITE: Final = 25
MAX_ACTIONS: Final = 100
_MAX_ATTEMPTS: Final = 8

Write: TypeAlias = Put[Any] | Update[Any] | Delete[Any] | ConditionCheck[Any]
ItemAddress: TypeAlias = tuple[str, tuple[Value, ...]]


@dataclass(frozen=True, slots=True)
class GetMany(Generic[E]):
    """Read many items by their keys; the results are in the order of the gets."""

    gets: tuple[Get[E], ...]

    @property
    def is_short_read(self) -> bool:
        return len(self.gets) <= MAX_SHORT_READ

    def run(self, session: Session) -> list[E | None]:
        """Read the items, 100 at a time. Raises Unprocessed if some cannot be read."""
        addresses: list[ItemAddress] = [
            (session.name(get.entity.table), tuple(get.key.values())) for get in self.gets
        ]
        requests_by_address = {
            address: get.request(session) for address, get in zip(addresses, self.gets, strict=True)
        }
        names = {session.name(get.entity.table): get.entity.table.key_names for get in self.gets}
        found: dict[ItemAddress, Item] = {}
        for batch in read_batches(session, tuple(requests_by_address.values())):
            for table, item in batch.found:
                found[table, tuple(item[name] for name in names[table])] = item
        return [
            get.decode(session, found.get(address))
            for address, get in zip(addresses, self.gets, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class WriteMany:
    """Put and delete many items independently, in no particular order."""

    writes: tuple[Put[Any] | Delete[Any], ...]

    def actions(self, session: Session) -> tuple[requests.PutItem | requests.DeleteItem, ...]:
        """Return the engine requests. Raises DeclarationFault for a write with a condition."""
        self.check()
        return tuple(_unconditional_request(session, write) for write in self.writes)

    def check(self) -> None:
        """Raise DeclarationFault for a write with a condition."""
        for write in self.writes:
            if write.conditional:
                raise DeclarationFault(
                    f"A batch cannot have a condition on {write.entity.name}. Use a transaction, "
                    "or overwriting() for an entity with a version."
                )

    def run(self, session: Session) -> None:
        """Write the items, 25 at a time.

        Raises Unprocessed with what is left after all retries, and DeclarationFault for a write
        with a condition.
        """
        self.check()
        # Built one batch at a time: with many live items garbage collection costs more.
        for batch in split_batches(self.writes, MAX_WRITE):
            write_batch(session, [_unconditional_request(session, write) for write in batch])


@dataclass(frozen=True, slots=True)
class TransactWrite:
    """Write up to 100 items in one transaction; a token is executed once."""

    writes: tuple[Write, ...]
    token: str | None = None

    def request(self, session: Session) -> requests.Transaction:
        actions = tuple(_transaction_action(session, write) for write in self.writes)
        return requests.Transaction(actions, self.token)

    def run(self, session: Session) -> None:
        """Write all items, or raise TransactionCancelled and write none."""
        session.engine.transact_write(self.request(session))


@dataclass(frozen=True, slots=True)
class TransactGet(Generic[E]):
    """Read several items as of one moment."""

    gets: tuple[Get[E], ...]
    is_short_read: ClassVar[bool] = True

    def run(self, session: Session) -> list[E | None]:
        results = session.engine.transact_get([get.request(session) for get in self.gets])
        return [
            get.decode(session, found.item) for get, found in zip(self.gets, results, strict=True)
        ]


def split_batches(items: tuple[T, ...], size: int) -> Iterator[tuple[T, ...]]:
    """Split a tuple into batches of at most `size`."""
    return (items[at : at + size] for at in range(0, len(items), size))


def _retry_unprocessed(
    session: Session, left: Sequence[T], call: Callable[[Sequence[T]], Sequence[T]]
) -> None:
    """Call until nothing is left, with growing pauses.

    Args:
        session: Provides the clock.
        left: The members of the batch.
        call: Processes members and returns those left unprocessed.

    Raises:
        Unprocessed: Some members are left after 8 attempts.
    """
    for attempt in range(_MAX_ATTEMPTS):
        if attempt:
            session.clock.sleep(0.02 * 2 ** (attempt - 1))
        left = call(left)
        if not left:
            return
    raise Unprocessed(
        f"{len(left)} items of a batch were not processed after {_MAX_ATTEMPTS} attempts. Try "
        "again later.",
        tuple(left),
    )


def read_batches(
    session: Session, gets: tuple[requests.GetItem, ...]
) -> Iterator[requests.BatchRead]:
    """Read items, 100 at a time. Raises Unprocessed."""
    results: list[requests.BatchRead] = []

    def read(left: Sequence[requests.GetItem]) -> Sequence[requests.GetItem]:
        results.append(session.engine.batch_get(left))
        return results[-1].left

    for batch in split_batches(gets, 100):
        _retry_unprocessed(session, batch, read)
        yield from results
        results.clear()


def write_batch(
    session: Session, actions: Sequence[requests.PutItem | requests.DeleteItem]
) -> None:
    """Write up to 25 items. Raises Unprocessed."""
    _retry_unprocessed(session, actions, lambda left: session.engine.batch_write(left).left)


def _unconditional_request(
    session: Session, write: Put[Any] | Delete[Any]
) -> requests.PutItem | requests.DeleteItem:
    request = write.request(session)
    if isinstance(request, requests.DeleteItem):
        return requests.DeleteItem(request.table, request.key)
    return request


def _transaction_action(session: Session, write: Write) -> requests.WriteAction:
    request = write.request(session)
    if isinstance(request, requests.DeleteItem | requests.UpdateItem):
        return dataclasses.replace(request, returning="NONE", show_conflict=True)
    return request
