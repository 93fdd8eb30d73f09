"""Operations on one item."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, Self, TypeVar

from grandstand.storage.tables import requests
from grandstand.storage.tables.attribute_values import Item, Key
from grandstand.storage.tables.errors import ConditionFailed
from grandstand.storage.tables.expressions.nodes import (
    Compare,
    Condition,
    Exists,
    Literal,
    Missing,
    Path,
)
from grandstand.storage.tables.operations.conditions import ConditionExpr, all_of, condition_of

if TYPE_CHECKING:
    from grandstand.storage.tables.declaration.compiled import EntityPlan
    from grandstand.storage.tables.declaration.entity import Entity
    from grandstand.storage.tables.store import Session

E = TypeVar("E", bound="Entity")
R_co = TypeVar("R_co", covariant=True)


class Operation(Protocol[R_co]):
    """Anything a store can run."""

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
    condition: Condition | None = None
    checks_version: bool = True

    def when(self, check: ConditionExpr | bool) -> Self:  # noqa: FBT001 - checkers see comparisons as bool
        """Write only if the stored item meets a condition; otherwise raises ConditionFailed."""
        return dataclasses.replace(self, condition=all_of(self.condition, condition_of(check)))

    def if_absent(self) -> Self:
        """Write only if there is no such item."""
        return self.when(ConditionExpr(Missing(Path((self.entity.table.partition,)))))

    def if_present(self) -> Self:
        """Write only over an existing item."""
        return self.when(ConditionExpr(Exists(Path((self.entity.table.partition,)))))

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
            condition = all_of(self._version_condition(), condition)
        return requests.PutItem(
            session.name(entity.table),
            entity.encode(record),
            condition,
            "NONE",
            condition is not None,
        )

    def _version_condition(self) -> Condition:
        version = self.entity.version
        assert version is not None  # noqa: S101 - only called for entities with a version
        count = getattr(self.record, version.name)
        if count == 0:
            return Missing(Path((self.entity.table.partition,)))
        return Compare("=", Path((version.attribute,)), Literal(count))

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
    condition: Condition | None = None

    def when(self, check: ConditionExpr | bool) -> Self:  # noqa: FBT001 - as Put.when
        """Delete only if the item meets a condition; otherwise raises ConditionFailed."""
        return dataclasses.replace(self, condition=all_of(self.condition, condition_of(check)))

    @property
    def conditional(self) -> bool:
        """Whether it depends on the stored item."""
        return self.condition is not None

    def if_present(self) -> Self:
        """Delete only an existing item."""
        return self.when(ConditionExpr(Exists(Path((self.entity.table.partition,)))))

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
    condition: Condition

    def request(self, session: Session) -> requests.CheckItem:
        return requests.CheckItem(
            session.name(self.entity.table), self.key, self.condition, show_conflict=True
        )


def require(get: Get[E], check: ConditionExpr | bool) -> ConditionCheck[E]:  # noqa: FBT001 - as Put.when
    """Require that the item of a get meets a condition."""
    return ConditionCheck(entity=get.entity, key=get.key, condition=condition_of(check))
