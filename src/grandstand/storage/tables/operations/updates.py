"""Updates of parts of an item that keep its index keys consistent."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, Generic, Self, TypeVar, cast

from grandstand.storage.tables import requests
from grandstand.storage.tables.attribute_values import Item, Key, Value
from grandstand.storage.tables.declaration.compiled import KeyPlan
from grandstand.storage.tables.declaration.fields import REQUIRED, EntityField
from grandstand.storage.tables.errors import ConditionFailed, DeclarationFault
from grandstand.storage.tables.expressions import nodes
from grandstand.storage.tables.expressions.evaluate import apply
from grandstand.storage.tables.operations.conditions import ConditionExpr, all_of, condition_of

if TYPE_CHECKING:
    from grandstand.storage.tables.declaration.compiled import EntityPlan
    from grandstand.storage.tables.declaration.entity import Entity
    from grandstand.storage.tables.store import Session

E = TypeVar("E", bound="Entity")

_MAX_ATTEMPTS: Final = 16


@dataclass(frozen=True, kw_only=True, slots=True)
class Update(Generic[E]):
    """Update an existing item or, after `upsert()`, create it.

    Fields of one index key must be set in one `set()`, or after `read_first()`, so that the key can
    be derived; otherwise DeclarationFault says which field is missing.
    """

    entity: EntityPlan[E]
    key: Key
    known: Mapping[str, object]
    changes: nodes.UpdateNode = field(default_factory=nodes.UpdateNode)
    condition: nodes.Condition | None = None
    creates: bool = False
    reads: bool = False

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
        sets: list[tuple[nodes.Path, nodes.Assigned]] = []
        for name, value in values.items():
            target = self._unindexed_field(name)
            path = nodes.Path((target.attribute,))
            stored = nodes.Literal(target.encoded(value))
            sets.append((path, nodes.IfMissing(path, stored)))
        return self._with_changes(tuple(sets))

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

    def read_first(self) -> Self:
        """Read the item first, so that index keys can be derived from fields not given here."""
        return dataclasses.replace(self, reads=True)

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

    def _unindexed_field(self, name: str) -> EntityField:
        target = self._field(name)
        index_names = [plan.name for plan in self.entity.indexes if name in plan.source_fields]
        if index_names and not self.reads:
            raise DeclarationFault(
                f"{name} is part of the index key {self.entity.name}.{index_names[0]}, which "
                "cannot be derived from this change. Use set(), or call read_first() before."
            )
        return target

    def _literal(self, name: str, value: object) -> tuple[nodes.Path, nodes.Literal]:
        target = self._unindexed_field(name)
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
        for plan in self.entity.indexes if not self.reads else ():
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
        """Return the engine request. Raises DeclarationFault after `read_first()`."""
        if self.reads:
            raise DeclarationFault("An update with read_first() cannot be part of a transaction.")
        return self._request(session, self.changes, None)

    def _request(
        self, session: Session, changes: nodes.UpdateNode, unchanged: nodes.Condition | None
    ) -> requests.UpdateItem:
        entity = self.entity
        exists = None if self.creates else nodes.Exists(nodes.Path((entity.table.partition,)))
        if self.creates:
            self._check_complete()
        if entity.version is not None:
            increment = (nodes.Path((entity.version.attribute,)), nodes.Literal(1))
            changes = dataclasses.replace(changes, adds=(*changes.adds, increment))
        if self.creates:
            changes = dataclasses.replace(
                changes, sets=(*changes.sets, *self._identity_sets(changes))
            )
        return requests.UpdateItem(
            table=session.name(entity.table),
            key=self.key,
            update=changes,
            condition=all_of(exists, self.condition, unchanged),
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
        from grandstand.storage.tables.declaration.compiled import SCHEMA_VERSION

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
            item = self._run_read_first(session) if self.reads else self._run_once(session)
        except ConditionFailed as error:
            session.raise_failed(self.entity, error)
        return self.entity.decode(item)

    def _run_once(self, session: Session) -> Item:
        return session.engine.update(self.request(session)).attributes or dict(self.key)

    def _run_read_first(self, session: Session) -> Item:
        last = ConditionFailed()
        for _ in range(_MAX_ATTEMPTS):
            changes, unchanged = self._changes_for_stored(session)
            try:
                written = session.engine.update(self._request(session, changes, unchanged))
            except ConditionFailed as error:
                last = error
                if self._is_final(error):
                    break
                continue
            return written.attributes or dict(self.key)
        raise last

    def _is_final(self, error: ConditionFailed) -> bool:
        from grandstand.storage.tables.expressions.evaluate import evaluate

        if error.item is None:
            return not self.creates
        return self.condition is not None and not evaluate(self.condition, error.item)

    def _changes_for_stored(
        self, session: Session
    ) -> tuple[nodes.UpdateNode, nodes.Condition | None]:
        """Derive index keys from the stored item, and the condition that it is unchanged."""
        request = requests.GetItem(session.name(self.entity.table), self.key, consistent=True)
        before = session.engine.get(request).item or dict(self.key)
        after = apply(self.changes, before)
        fields = {
            target.name: _decode_field(target, after) for target in self.entity.fields.values()
        }
        fields.update({name: self.known[name] for name in self.entity.primary_names})
        changes, unchanged = self.changes, None
        for plan in self.entity.indexes:
            sets, removes = _index_key_changes(plan, _index_key(plan, self.entity, fields))
            changes = dataclasses.replace(
                changes, sets=changes.sets + sets, removes=changes.removes + removes
            )
            for name in sorted(plan.source_fields & set(self.entity.fields)):
                attribute = self.entity.fields[name].attribute
                unchanged = all_of(
                    unchanged, _unchanged_condition(attribute, before.get(attribute))
                )
        return changes, unchanged


def _unchanged_condition(attribute: str, value: Value) -> nodes.Condition:
    path = nodes.Path((attribute,))
    return nodes.Missing(path) if value is None else nodes.Compare("=", path, nodes.Literal(value))


def _decode_field(target: EntityField, item: Item) -> object:
    value = item.get(target.attribute)
    if value is None:
        return None if target.absent is REQUIRED else target.absent
    return target.codec.decode(value) if target.codec.decode else value


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
            f"{', '.join(missing)} in the same set(), or begin with read_first()."
        ) from error
