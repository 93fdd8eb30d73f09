"""Kept here: keys as an entity declares them, and the questions they answer."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, Self, TypeVar

from grandstand.storage.tables import requests
from grandstand.storage.tables.declaration.keys import HIGHEST, KeyPlan, Side
from grandstand.storage.tables.errors import DeclarationFault
from grandstand.storage.tables.expressions.nodes import Condition, KeyCondition, Range
from grandstand.storage.tables.operations.checks import Check, all_of, condition_of
from grandstand.storage.tables.values import Item, Value
from grandstand.storage.tables.values import Key as ItemKey

if TYPE_CHECKING:
    from grandstand.storage.tables.declaration.entity import Entity
    from grandstand.storage.tables.declaration.plan import EntityPlan
    from grandstand.storage.tables.session import Session

E = TypeVar("E", bound="Entity")
Bound = Literal["<", "<=", ">", ">="]


class Key:
    """A key of an entity: call it with fields to ask for the items they lead to."""

    def __init__(
        self, partition: str, sort: str | None, index: str | None, when: str | None
    ) -> None:
        self.partition = partition
        self.sort = sort
        self.index = index
        self.when = when
        self.entity: EntityPlan[Any] | None = None
        self.plan: KeyPlan | None = None

    def bind(self, entity: EntityPlan[Any], plan: KeyPlan) -> None:
        """Tie the key to the entity that declares it."""
        self.entity = entity
        self.plan = plan

    def __call__(self, **given: object) -> Query[Any]:
        """Ask for the items of a partition, narrowed by leading fields of the sort key.

        Raises DeclarationFault when a partition field is missing, a sort field is skipped, or a
        name belongs to neither.
        """
        if self.entity is None or self.plan is None:
            message = "This key belongs to no entity: declare it in the body of an Entity class"
            raise DeclarationFault(message)
        return _query(self.entity, self.plan, given)


def key(
    partition: str, sort: str | None = None, *, index: str | None = None, when: str | None = None
) -> Key:
    """Declare a key by its templates, for the table or for an index.

    With `when`, items are in the index only while that field, or property, is true.
    """
    return Key(partition, sort, index, when)


def _query(entity: EntityPlan[Any], plan: KeyPlan, given: dict[str, object]) -> Query[Any]:
    known = [name for side in plan.sides for name in side.template.names]
    stray = [name for name in given if name not in known]
    lacking = [name for name in plan.partition.template.names if given.get(name) is None]
    if stray:
        message = f"{entity.name}.{plan.name} is made of {', '.join(known)}, not {', '.join(stray)}"
        raise DeclarationFault(message)
    if lacking:
        message = (
            f"{entity.name}.{plan.name} reads one partition: give {', '.join(lacking)} "
            f"for {plan.partition.template.source}"
        )
        raise DeclarationFault(message)
    partition = plan.partition.value(given.get)
    query: Query[Any] = Query(entity=entity, plan=plan, partition=partition)
    if plan.sort is None:
        return query
    ahead = {name: value for name, value in given.items() if name in plan.sort.template.names}
    return dataclasses.replace(query, **_narrow(plan.sort, ahead))


def _narrow(side: Side, ahead: dict[str, object]) -> dict[str, Any]:
    if side.direct is not None:
        if not ahead:
            return {}
        value = side.encode(ahead[side.direct.name])
        return {"range": Range(side.attribute, "=", value), "used": 1}
    head, used = side.template.head(ahead)
    if used == len(side.template.parts):
        return {"range": Range(side.attribute, "=", head), "head": head, "used": used}
    narrowed = Range(side.attribute, "begins_with", head) if head else None
    return {"range": narrowed, "head": head, "used": used}


@dataclass(frozen=True, kw_only=True)
class Reading(ABC, Generic[E]):
    """What every question for several items has: a filter, a most, and how fresh it must be."""

    entity: EntityPlan[E]
    filter: Condition | None = None
    most: int | None = None
    strong: bool = False
    expired: bool = False

    def where(self, check: Check | bool) -> Self:  # noqa: FBT001 - checkers see comparisons as bool
        """Keep what meets a condition; what is left out is read and paid for all the same."""
        return dataclasses.replace(self, filter=all_of(self.filter, condition_of(check)))

    def consistent(self) -> Self:
        """See every write acknowledged before."""
        return dataclasses.replace(self, strong=True)

    def with_expired(self) -> Self:
        """Show items past their expiry that are still there."""
        return dataclasses.replace(self, expired=True)

    def keeps(self, item: Item, now: float) -> bool:
        """Tell whether a raw item belongs to the answer: this entity, not expired."""
        return self.entity.keeps(item, None if self.expired else now)

    @abstractmethod
    def page(self, session: Session, limit: int | None, start: ItemKey | None) -> requests.Page:
        """Read one page of raw items."""

    def key_of(self, item: Item) -> ItemKey:
        """Answer the key a page would go on from after this item."""
        return {name: item[name] for name in self.entity.table.key_names}

    def run(self, session: Session) -> list[E]:
        """Read every page and answer the items, at most as many as asked for."""
        return list(session.each(self))


@dataclass(frozen=True, kw_only=True)
class Query(Reading[E]):
    """A question to one partition of a table or index; each method answers a narrower one."""

    plan: KeyPlan
    partition: Value
    range: Range | None = None
    head: str = ""
    used: int = 0
    beyond: Value = None
    forward: bool = True

    def since(self, **given: object) -> Self:
        """Keep what is at or after the given value of the next sort field."""
        return self._bounded(">=", given)

    def after(self, **given: object) -> Self:
        """Keep what is after the given value of the next sort field."""
        return self._bounded(">", given)

    def until(self, **given: object) -> Self:
        """Keep what is at or before the given value of the next sort field."""
        return self._bounded("<=", given)

    def before(self, **given: object) -> Self:
        """Keep what is before the given value of the next sort field."""
        return self._bounded("<", given)

    def between(self, **given: tuple[object, object]) -> Self:
        """Keep what lies between two values of the next sort field, both included."""
        ((name, (low, high)),) = given.items()
        side = self._next(name)
        if side.direct is not None:
            limits = (side.encode(low), side.encode(high))
        else:
            limits = (self._text(side, low), self._text(side, high) + self._tail(side))
        return dataclasses.replace(self, range=Range(side.attribute, "between", *limits))

    def newest(self, n: int | None = None) -> Self:
        """Go from the end of the sort order, for n items or all."""
        return dataclasses.replace(self, forward=False, most=n)

    def oldest(self, n: int | None = None) -> Self:
        """Go from the start of the sort order, for n items or all."""
        return dataclasses.replace(self, forward=True, most=n)

    def consistent(self) -> Self:
        """See every write acknowledged before; indexes cannot promise it."""
        if self.plan.index is not None:
            message = f"The index {self.plan.index} cannot be read consistently"
            raise DeclarationFault(message)
        return super().consistent()

    def _next(self, name: str) -> Side:
        side = self.plan.sort
        names = side.template.names[self.used :] if side else ()
        if side is None or not names or names[0] != name:
            expected = names[0] if names else "no field"
            message = (
                f"{self.entity.name}.{self.plan.name} can be bounded by {expected} next, not {name}"
            )
            raise DeclarationFault(message)
        return side

    def _text(self, side: Side, value: object) -> str:
        return self.head + side.template.parts[self.used].text(value, side.template.source)

    def _tail(self, side: Side) -> str:
        return HIGHEST if self.used + 1 < len(side.template.parts) or self._literal(side) else ""

    def _literal(self, side: Side) -> str:
        return side.template.parts[self.used].literal

    def _bounded(self, op: Bound, given: dict[str, object]) -> Self:
        ((name, value),) = given.items()
        side = self._next(name)
        if side.direct is not None:
            limit = Range(side.attribute, op, side.encode(value))
            return dataclasses.replace(self, range=limit)
        text, tail = self._text(side, value), self._tail(side)
        if op == ">" and tail:
            text += tail
        if op in (">", ">="):
            return self._from(side, text, strict=op == ">" and not tail)
        return self._up_to(side, text + (tail if op == "<=" else ""), strict=op == "<" and not tail)

    def _from(self, side: Side, low: str, *, strict: bool) -> Self:
        if not self.head:
            limit = Range(side.attribute, ">" if strict else ">=", low)
        else:
            # The text that follows `low` immediately in byte order is `low` and a zero byte.
            start = low + "\x00" if strict else low
            limit = Range(side.attribute, "between", start, self.head + HIGHEST)
        return dataclasses.replace(self, range=limit)

    def _up_to(self, side: Side, high: str, *, strict: bool) -> Self:
        if not self.head:
            limit = Range(side.attribute, "<" if strict else "<=", high)
            return dataclasses.replace(self, range=limit)
        limit = Range(side.attribute, "between", self.head, high)
        return dataclasses.replace(self, range=limit, beyond=high if strict else None)

    @property
    def where_key(self) -> KeyCondition:
        """The part of the table or index it reads."""
        return KeyCondition(((self.plan.partition.attribute, self.partition),), self.range)

    def request(
        self, session: Session, *, limit: int | None = None, start: ItemKey | None = None
    ) -> requests.Query:
        """Say it the engine's way, for one page."""
        return requests.Query(
            table=session.name(self.entity.table),
            where=self.where_key,
            index=self.plan.index,
            filter=self.filter,
            forward=self.forward,
            limit=limit,
            start=start,
            consistent=self.strong,
        )

    def page(self, session: Session, limit: int | None, start: ItemKey | None) -> requests.Page:
        """Read one page of raw items."""
        return session.engine.query(self.request(session, limit=limit, start=start))

    def key_of(self, item: Item) -> ItemKey:
        """Answer the key a page would go on from after this item."""
        return {side.attribute: item[side.attribute] for side in self.plan.sides} | super().key_of(
            item
        )

    def keeps(self, item: Item, now: float) -> bool:
        """Tell whether a raw item belongs to the answer: this entity, in bounds, not expired."""
        sort = self.plan.sort
        if self.beyond is not None and sort is not None and item[sort.attribute] == self.beyond:
            return False
        return super().keeps(item, now)


@dataclass(frozen=True, kw_only=True)
class Scan(Reading[E]):
    """Every item of an entity, by reading its whole table: declared as such, for small tables."""

    segment: int = 0
    segments: int = 1

    def part(self, segment: int, segments: int) -> Self:
        """Read one of several parts of the table, so that workers can share it."""
        return dataclasses.replace(self, segment=segment, segments=segments)

    def request(
        self, session: Session, *, limit: int | None = None, start: ItemKey | None = None
    ) -> requests.Scan:
        """Say it the engine's way, for one page."""
        return requests.Scan(
            table=session.name(self.entity.table),
            filter=self.filter,
            limit=limit,
            start=start,
            segment=self.segment,
            segments=self.segments,
            consistent=self.strong,
        )

    def page(self, session: Session, limit: int | None, start: ItemKey | None) -> requests.Page:
        """Read one page of raw items."""
        return session.engine.scan(self.request(session, limit=limit, start=start))
