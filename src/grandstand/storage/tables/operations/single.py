"""Kept here: what can be done with one item, as values that any store carries out."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, Self, TypeVar

from grandstand.storage.tables import requests
from grandstand.storage.tables.errors import ConditionFailed
from grandstand.storage.tables.expressions.nodes import (
    Compare,
    Condition,
    Exists,
    Literal,
    Missing,
    Path,
)
from grandstand.storage.tables.operations.checks import Check, all_of, condition_of
from grandstand.storage.tables.values import Item, Key

if TYPE_CHECKING:
    from grandstand.storage.tables.declaration.entity import Entity
    from grandstand.storage.tables.declaration.plan import EntityPlan
    from grandstand.storage.tables.session import Session

E = TypeVar("E", bound="Entity")
R_co = TypeVar("R_co", covariant=True)


class Operation(Protocol[R_co]):
    """Anything a store can carry out."""

    def run(self, session: Session) -> R_co:
        """Carry it out and answer."""
        ...


class Get(NamedTuple, Generic[E]):
    """Read one item by its key; a tuple, because a read of one item costs little more."""

    entity: EntityPlan[E]
    key: Key
    strong: bool = False
    expired: bool = False

    def consistent(self) -> Self:
        """See every write acknowledged before."""
        return self._replace(strong=True)

    def with_expired(self) -> Self:
        """Show the item even when its expiry has passed."""
        return self._replace(expired=True)

    def request(self, session: Session) -> requests.GetItem:
        """Say it the engine's way."""
        return requests.GetItem(session.name(self.entity.table), self.key, (), self.strong)

    def answer(self, session: Session, item: Item | None) -> E | None:
        """Turn what was found into the entity; None when it is expired or another's."""
        if item is None:
            return None
        entity = self.entity
        now = session.clock.epoch() if entity.table.ttl and not self.expired else None
        return entity.decode(item) if entity.keeps(item, now) else None

    def run(self, session: Session) -> E | None:
        """Read the item; None when there is none."""
        entity, key, strong, _ = self
        table = entity.table
        item = session.engine.get(requests.GetItem(session.names[table], key, (), strong)).item
        if item is None:
            return None
        if table.ttl is None and len(table.entities) == 1:
            return entity.decode(item)
        return self.answer(session, item)


@dataclass(frozen=True, kw_only=True, slots=True)
class Put(Generic[E]):
    """Write one whole item; an entity with a version only over the version it was read at."""

    entity: EntityPlan[E]
    record: E
    condition: Condition | None = None
    checks_version: bool = True

    def when(self, check: Check | bool) -> Self:  # noqa: FBT001 - checkers see comparisons as bool
        """Write only if the item there meets a condition; raise ConditionFailed otherwise."""
        return dataclasses.replace(self, condition=all_of(self.condition, condition_of(check)))

    def if_absent(self) -> Self:
        """Write only if there is no such item."""
        return self.when(Check(Missing(Path((self.entity.table.partition,)))))

    def if_present(self) -> Self:
        """Write only over an item that exists."""
        return self.when(Check(Exists(Path((self.entity.table.partition,)))))

    def overwriting(self) -> Self:
        """Write whatever version is there."""
        return dataclasses.replace(self, checks_version=False)

    @property
    def conditional(self) -> bool:
        """Whether it depends on what is there."""
        return self.condition is not None or (
            self.checks_version and self.entity.version is not None
        )

    def stored(self, session: Session) -> E:
        """Answer the record as it will be stored: its version counted on, its expiry worked out."""
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
        """Say it the engine's way."""
        return self._request(session, self.stored(session))

    def _request(self, session: Session, record: E) -> requests.PutItem:
        entity, condition = self.entity, self.condition
        if entity.version is not None and self.checks_version:
            condition = all_of(self._expected(), condition)
        return requests.PutItem(
            session.name(entity.table),
            entity.encode(record),
            condition,
            "NONE",
            condition is not None,
        )

    def _expected(self) -> Condition:
        version = self.entity.version
        assert version is not None  # noqa: S101 - asked only of entities with a version
        count = getattr(self.record, version.name)
        if count == 0:
            return Missing(Path((self.entity.table.partition,)))
        return Compare("=", Path((version.attribute,)), Literal(count))

    def run(self, session: Session) -> E:
        """Write the item and answer it as stored; raise ConditionFailed."""
        record = self.stored(session)
        try:
            session.engine.put(self._request(session, record))
        except ConditionFailed as refused:
            session.refuse(self.entity, refused)
        return record


@dataclass(frozen=True, kw_only=True, slots=True)
class Delete(Generic[E]):
    """Remove one item by its key."""

    entity: EntityPlan[E]
    key: Key
    condition: Condition | None = None

    def when(self, check: Check | bool) -> Self:  # noqa: FBT001 - as Put.when
        """Remove only if the item meets a condition; raise ConditionFailed otherwise."""
        return dataclasses.replace(self, condition=all_of(self.condition, condition_of(check)))

    @property
    def conditional(self) -> bool:
        """Whether it depends on what is there."""
        return self.condition is not None

    def if_present(self) -> Self:
        """Remove only an item that exists."""
        return self.when(Check(Exists(Path((self.entity.table.partition,)))))

    def request(self, session: Session) -> requests.DeleteItem:
        """Say it the engine's way."""
        return requests.DeleteItem(
            session.name(self.entity.table),
            self.key,
            self.condition,
            "ALL_OLD",
            self.condition is not None,
        )

    def run(self, session: Session) -> E | None:
        """Remove the item and answer what was there; raise ConditionFailed."""
        try:
            old = session.engine.delete(self.request(session)).attributes
        except ConditionFailed as refused:
            session.refuse(self.entity, refused)
        return self.entity.decode(old) if old is not None and self.entity.keeps(old, None) else None


@dataclass(frozen=True, kw_only=True, slots=True)
class Demand(Generic[E]):
    """Within a transaction: demand a condition of an item without writing it."""

    entity: EntityPlan[E]
    key: Key
    condition: Condition

    def request(self, session: Session) -> requests.CheckItem:
        """Say it the engine's way."""
        return requests.CheckItem(
            session.name(self.entity.table), self.key, self.condition, show_conflict=True
        )


def demand(get: Get[E], check: Check | bool) -> Demand[E]:  # noqa: FBT001 - as Put.when
    """Demand that the item a get would read meets a condition."""
    return Demand(entity=get.entity, key=get.key, condition=condition_of(check))
