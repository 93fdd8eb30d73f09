"""Kept here: a change to parts of one item, which never leaves an index key behind."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, Generic, Self, TypeVar, cast

from grandstand.storage.tables import requests
from grandstand.storage.tables.declaration.codecs import REQUIRED
from grandstand.storage.tables.declaration.fields import EntityField
from grandstand.storage.tables.declaration.keys import KeyPlan
from grandstand.storage.tables.errors import ConditionFailed, DeclarationFault
from grandstand.storage.tables.expressions import nodes
from grandstand.storage.tables.expressions.apply import apply
from grandstand.storage.tables.operations.checks import Check, all_of, condition_of
from grandstand.storage.tables.values import Item, Key, Value

if TYPE_CHECKING:
    from grandstand.storage.tables.declaration.entity import Entity
    from grandstand.storage.tables.declaration.plan import EntityPlan
    from grandstand.storage.tables.session import Session

E = TypeVar("E", bound="Entity")

_TRIES: Final = 16


@dataclass(frozen=True, kw_only=True, slots=True)
class Update(Generic[E]):
    """Change parts of an item that exists, or, after `upsert()`, make it.

    Fields that feed one index key are set in one `set()`, or after `read_first()`, so that the key
    can be made anew; DeclarationFault says which field is missing.
    """

    entity: EntityPlan[E]
    key: Key
    known: Mapping[str, object]
    changes: nodes.Update = field(default_factory=nodes.Update)
    condition: nodes.Condition | None = None
    creates: bool = False
    reads: bool = False

    def set(self, **values: object) -> Self:
        """Give fields new values; None removes them."""
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
        return self._indexed(values, self._grown(tuple(sets), tuple(removes)))

    def remove(self, *names: str) -> Self:
        """Take fields away."""
        return self.set(**dict.fromkeys(names))

    def set_if_absent(self, **values: object) -> Self:
        """Give fields a value only where they have none."""
        sets: list[tuple[nodes.Path, nodes.Assigned]] = []
        for name, value in values.items():
            target = self._unindexed(name)
            path = nodes.Path((target.attribute,))
            stored = nodes.Literal(target.encoded(value))
            sets.append((path, nodes.IfMissing(path, stored)))
        return self._grown(tuple(sets))

    def add(self, **amounts: object) -> Self:
        """Add to numbers, from 0 where there is none, or add members to sets."""
        adds = tuple(self._given(name, value) for name, value in amounts.items())
        return self._grown(adds=adds)

    def discard(self, **members: object) -> Self:
        """Take members out of sets."""
        deletes = tuple(self._given(name, value) for name, value in members.items())
        return self._grown(deletes=deletes)

    def append(self, **elements: object) -> Self:
        """Add elements at the end of lists, from empty where there is none."""
        sets: list[tuple[nodes.Path, nodes.Assigned]] = []
        for name, value in elements.items():
            path, more = self._given(name, value)
            sets.append((path, nodes.Joined(nodes.IfMissing(path, nodes.Literal([])), more)))
        return self._grown(tuple(sets))

    def when(self, check: Check | bool) -> Self:  # noqa: FBT001 - checkers see comparisons as bool
        """Change only if the item meets a condition; raise ConditionFailed otherwise."""
        return dataclasses.replace(self, condition=all_of(self.condition, condition_of(check)))

    def upsert(self) -> Self:
        """Make the item where there is none; every required field must then be set."""
        return dataclasses.replace(self, creates=True)

    def read_first(self) -> Self:
        """Read the item before, so that index keys can be made from fields not given here."""
        return dataclasses.replace(self, reads=True)

    def _field(self, name: str) -> EntityField:
        target = self.entity.fields.get(name)
        if target is None:
            known = ", ".join(self.entity.fields)
            message = f"{self.entity.name} has no field {name}; it has {known}"
            raise DeclarationFault(message)
        if name in self.entity.primary.feeds:
            message = (
                f"{name} is part of the key of {self.entity.name}: delete the item and put anew"
            )
            raise DeclarationFault(message)
        if target.role == "version":
            message = f"{name} counts the writes of {self.entity.name} by itself; do not set it"
            raise DeclarationFault(message)
        return target

    def _unindexed(self, name: str) -> EntityField:
        target = self._field(name)
        fed = [plan.name for plan in self.entity.indexes if name in plan.feeds]
        if fed and not self.reads:
            message = (
                f"{name} feeds the index key {self.entity.name}.{fed[0]}, which cannot be known "
                "from this change: use set(), or read_first() before it"
            )
            raise DeclarationFault(message)
        return target

    def _given(self, name: str, value: object) -> tuple[nodes.Path, nodes.Literal]:
        target = self._unindexed(name)
        return nodes.Path((target.attribute,)), nodes.Literal(target.encoded(value))

    def _grown(
        self,
        sets: tuple[tuple[nodes.Path, nodes.Assigned], ...] = (),
        removes: tuple[nodes.Path, ...] = (),
        adds: tuple[tuple[nodes.Path, nodes.Literal], ...] = (),
        deletes: tuple[tuple[nodes.Path, nodes.Literal], ...] = (),
    ) -> Self:
        old = self.changes
        grown = nodes.Update(
            old.sets + sets, old.removes + removes, old.adds + adds, old.deletes + deletes
        )
        return dataclasses.replace(self, changes=grown)

    def _indexed(self, values: Mapping[str, object], grown: Self) -> Self:
        """Make the index keys these values feed anew, together with the values."""
        known = {**self.known, **values}
        changes = grown.changes
        sets, removes = changes.sets, changes.removes
        for plan in self.entity.indexes if not self.reads else ():
            if not plan.feeds.isdisjoint(values):
                made, gone = _rewritten(plan, _key_from(plan, self.entity, known))
                sets, removes = sets + made, removes + gone
        ttl = self.entity.ttl
        if ttl is not None and ttl.after and ttl.of and ttl.name not in values:
            start = cast("datetime | None", values.get(ttl.of))
            if start is not None:
                expiry = nodes.Literal(ttl.encoded(start + ttl.after))
                sets += ((nodes.Path((ttl.attribute,)), expiry),)
        changes = dataclasses.replace(changes, sets=sets, removes=removes)
        return dataclasses.replace(self, known=known, changes=changes)

    def request(self, session: Session) -> requests.UpdateItem:
        """Say it the engine's way; raise DeclarationFault when it has to read first."""
        if self.reads:
            message = "An update that reads first runs on its own, not inside a transaction"
            raise DeclarationFault(message)
        return self._request(session, self.changes, None)

    def _request(
        self, session: Session, changes: nodes.Update, unchanged: nodes.Condition | None
    ) -> requests.UpdateItem:
        entity = self.entity
        exists = None if self.creates else nodes.Exists(nodes.Path((entity.table.partition,)))
        if self.creates:
            self._check_complete()
        if entity.version is not None:
            counted = (nodes.Path((entity.version.attribute,)), nodes.Literal(1))
            changes = dataclasses.replace(changes, adds=(*changes.adds, counted))
        if self.creates:
            changes = dataclasses.replace(changes, sets=(*changes.sets, *self._stamps(changes)))
        return requests.UpdateItem(
            table=session.name(entity.table),
            key=self.key,
            update=changes,
            condition=all_of(exists, self.condition, unchanged),
            returning="ALL_NEW",
            show_conflict=True,
        )

    def _check_complete(self) -> None:
        """An upsert may make the item, so it must set what the entity cannot be read without."""
        written = {path.root for path in self.changes.paths}
        lacking = [
            target.name
            for target in self.entity.fields.values()
            if target.absent is REQUIRED
            and target.attribute not in written
            and target.name not in self.known
        ]
        if lacking:
            message = f"upsert() may make a new {self.entity.name}: set {', '.join(lacking)} too"
            raise DeclarationFault(message)

    def _stamps(self, changes: nodes.Update) -> tuple[tuple[nodes.Path, nodes.Assigned], ...]:
        """Key fields that are attributes of their own are written with the item they identify."""
        from grandstand.storage.tables.declaration.plan import SCHEMA_VERSION

        written = {path.root for path in changes.paths} | set(self.key)
        stamps: list[tuple[nodes.Path, nodes.Assigned]] = []
        for name in self.entity.primary_names:
            target = self.entity.fields.get(name)
            if target is not None and target.attribute not in written:
                stored = nodes.Literal(target.encoded(self.known[name]))
                stamps.append((nodes.Path((target.attribute,)), stored))
        if self.entity.schema_version is not None:
            stamped = nodes.Literal(self.entity.schema_version)
            stamps.append((nodes.Path((SCHEMA_VERSION,)), stamped))
        return tuple(stamps)

    def run(self, session: Session) -> E:
        """Carry it out and answer the item as it is now; raise ConditionFailed."""
        try:
            item = self._run_reading(session) if self.reads else self._run_once(session)
        except ConditionFailed as refused:
            session.refuse(self.entity, refused)
        return self.entity.decode(item)

    def _run_once(self, session: Session) -> Item:
        return session.engine.update(self.request(session)).attributes or dict(self.key)

    def _run_reading(self, session: Session) -> Item:
        last = ConditionFailed()
        for _ in range(_TRIES):
            changes, unchanged = self._against(session)
            try:
                written = session.engine.update(self._request(session, changes, unchanged))
            except ConditionFailed as refused:
                last = refused
                if self._refused_for_good(refused):
                    break
                continue
            return written.attributes or dict(self.key)
        raise last

    def _refused_for_good(self, refused: ConditionFailed) -> bool:
        from grandstand.storage.tables.expressions.evaluate import evaluate

        if refused.item is None:
            return not self.creates
        return self.condition is not None and not evaluate(self.condition, refused.item)

    def _against(self, session: Session) -> tuple[nodes.Update, nodes.Condition | None]:
        """Work the index keys out from the item as it is, to be written if it still is so."""
        request = requests.GetItem(session.name(self.entity.table), self.key, consistent=True)
        before = session.engine.get(request).item or dict(self.key)
        after = apply(self.changes, before)
        fields = {target.name: _decoded(target, after) for target in self.entity.fields.values()}
        fields.update({name: self.known[name] for name in self.entity.primary_names})
        changes, unchanged = self.changes, None
        for plan in self.entity.indexes:
            sets, removes = _rewritten(plan, _key_from(plan, self.entity, fields))
            changes = dataclasses.replace(
                changes, sets=changes.sets + sets, removes=changes.removes + removes
            )
            for name in sorted(plan.feeds & set(self.entity.fields)):
                attribute = self.entity.fields[name].attribute
                unchanged = all_of(unchanged, _still(attribute, before.get(attribute)))
        return changes, unchanged


def _still(attribute: str, value: Value) -> nodes.Condition:
    path = nodes.Path((attribute,))
    return nodes.Missing(path) if value is None else nodes.Compare("=", path, nodes.Literal(value))


def _decoded(target: EntityField, item: Item) -> object:
    value = item.get(target.attribute)
    if value is None:
        return None if target.absent is REQUIRED else target.absent
    return target.codec.decode(value) if target.codec.decode else value


def _rewritten(
    plan: KeyPlan, made: Mapping[str, Value] | None
) -> tuple[tuple[tuple[nodes.Path, nodes.Assigned], ...], tuple[nodes.Path, ...]]:
    own = [side.attribute for side in plan.sides if side.direct is None]
    if made is None:
        return (), tuple(nodes.Path((attribute,)) for attribute in own)
    return tuple((nodes.Path((name,)), nodes.Literal(made[name])) for name in own), ()


def _key_from(
    plan: KeyPlan, entity: EntityPlan[Any], known: Mapping[str, object]
) -> dict[str, Value] | None:
    """Make an index key from the fields known; raise DeclarationFault naming those that are not."""

    def lookup(name: str) -> object:
        if name in known:
            return known[name]
        computed = getattr(entity.entity, name)
        if isinstance(computed, property) and computed.fget is not None:
            return computed.fget(SimpleNamespace(**known))
        raise AttributeError(name)

    try:
        return plan.values(lookup)
    except AttributeError as unknown:
        lacking = sorted(plan.feeds - set(known)) or [str(unknown)]
        message = (
            f"This would leave the index key {entity.name}.{plan.name} stale: set "
            f"{', '.join(lacking)} in the same set(), or begin with read_first()"
        )
        raise DeclarationFault(message) from unknown
