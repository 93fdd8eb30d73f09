"""Kept here: an entity compiled: how it becomes an item, comes back, and keeps its index keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from grandstand.storage.tables.declaration.codecs import REQUIRED
from grandstand.storage.tables.declaration.fields import EntityField
from grandstand.storage.tables.declaration.keys import KeyPlan, Lookup, Side
from grandstand.storage.tables.declaration.table import Table
from grandstand.storage.tables.errors import DeclarationFault, StoredItemInvalid
from grandstand.storage.tables.values import Item, Key

if TYPE_CHECKING:
    from grandstand.storage.tables.declaration.entity import Entity

E = TypeVar("E", bound="Entity")

SCHEMA_VERSION = "schemaVersion"


@dataclass(frozen=True, eq=False)
class EntityPlan(Generic[E]):
    """Everything the store needs to know of an entity."""

    entity: type[E]
    table: Table
    fields: Mapping[str, EntityField]
    primary: KeyPlan
    indexes: tuple[KeyPlan, ...]
    version: EntityField | None
    ttl: EntityField | None
    schema_version: str | None
    primary_names: tuple[str, ...]
    computed: bool
    outward: tuple[tuple[str, str, Callable[[Any], Any] | None], ...]
    inward: tuple[tuple[str, str, Callable[[Any], Any] | None, object], ...]
    named_alike: bool
    checks_itself: bool
    width: int
    primary_sides: tuple[Side, ...]
    made: tuple[str, ...]
    turned: tuple[tuple[str, Callable[[Any], Any]], ...]
    defaults: tuple[tuple[str, Any], ...]

    @property
    def name(self) -> str:
        """The entity's class name."""
        return self.entity.__name__

    def encode(self, entity: E) -> Item:
        """Turn an entity into the item to store, its keys included."""
        held = entity.__dict__
        lookup: Lookup = entity.__getattribute__ if self.computed else held.__getitem__
        item: Item = {}
        for side in self.primary_sides:
            value = side.value(lookup)
            if value is None:
                message = f"{self.name} has no value for its key {side.template.source}"
                raise DeclarationFault(message)
            item[side.attribute] = value
        for name, attribute, turn in self.outward:
            value = held[name]
            if value is not None:
                if turn is not None:
                    value = turn(value)
                    if value is None:
                        continue
                item[attribute] = value
        for plan in self.indexes:
            made = plan.values(lookup)
            if made is not None:
                item.update(made)
        if self.schema_version is not None:
            item[SCHEMA_VERSION] = self.schema_version
        return item

    def decode(self, item: Item) -> E:
        """Turn a stored item back into an entity, upgrading it first when it is of an older form.

        Raises StoredItemInvalid when a required attribute is missing.
        """
        if self.schema_version is not None and item.get(SCHEMA_VERSION) != self.schema_version:
            item = self.entity.upgrade(dict(item))
        held = self._swift(item)
        if held is None:
            held = self._careful(item)
        if self.checks_itself:
            return self.entity(**held)
        made = object.__new__(self.entity)
        object.__setattr__(made, "__dict__", held)
        return made

    def _swift(self, item: Item) -> dict[str, Any] | None:
        """Take the fields over whole; None when the item is not just its fields and its keys."""
        if not self.named_alike:
            return None
        held: dict[str, Any] = item.copy()
        drop = held.pop
        for attribute in self.made:
            drop(attribute, None)
        for name, turn in self.turned:
            value = held.get(name)
            if value is not None:
                held[name] = turn(value)
        if None in held.values():
            return None
        for name, absent in self.defaults:
            if name not in held:
                held[name] = absent
        return held if len(held) == self.width else None

    def _careful(self, item: Item) -> dict[str, Any]:
        held: dict[str, Any] = {}
        for name, attribute, turn, absent in self.inward:
            value = item.get(attribute)
            if value is not None:
                held[name] = value if turn is None else turn(value)
            elif absent is not REQUIRED:
                held[name] = absent if not isinstance(absent, list | dict) else absent.copy()
            else:
                message = (
                    f"A stored {self.name} has no {attribute}; if older items lack it, say in "
                    f"{self.name}.upgrade what it should be, with a new schema_version"
                )
                raise StoredItemInvalid(message)
        return held

    def key(self, given: Mapping[str, object]) -> Key:
        """Make the table key from fields; raise DeclarationFault when they do not make it."""
        made: Key = {}
        for side in self.primary_sides:
            value = side.value(given.get)
            if value is None:
                lacking = [name for name in side.template.names if given.get(name) is None]
                message = (
                    f"{self.name} is found by {side.template.source}: give {', '.join(lacking)}"
                )
                raise DeclarationFault(message)
            made[side.attribute] = value
        if len(given) > len(self.primary_names):
            stray = [name for name in given if name not in self.primary_names]
            message = f"{', '.join(stray)} is no part of the key of {self.name}"
            raise DeclarationFault(message)
        return made

    def keeps(self, item: Item, now: float | None) -> bool:
        """Tell whether the item is one of this entity and, where a time is given, not expired."""
        if now is not None and self.table.ttl is not None and expired(self.table, item, now):
            return False
        if len(self.table.entities) == 1:
            return True
        return all(side.owns(item) for side in self.primary.sides)

    def expiry(self, lookup: Lookup, now: datetime) -> datetime | None:
        """Work out when an item of these fields expires; None when it never does."""
        field = self.ttl
        if field is None:
            return None
        given = lookup(field.name)
        if given is not None or field.after is None:
            return cast("datetime | None", given)
        start = now if field.of is None else cast("datetime | None", lookup(field.of))
        return None if start is None else start + field.after


def expired(table: Table, item: Item, now: float) -> bool:
    """Tell whether the item's expiry, a number of epoch seconds, has passed."""
    moment = item.get(table.ttl) if table.ttl is not None else None
    return type(moment) is int and moment <= now
