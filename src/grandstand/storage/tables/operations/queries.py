"""Keys, queries, scans and page cursors."""

from __future__ import annotations

import base64
import binascii
import dataclasses
import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, Self, TypeVar

import msgspec

from grandstand.storage.tables import requests
from grandstand.storage.tables.attribute_values import Item, Value
from grandstand.storage.tables.attribute_values import Key as ItemKey
from grandstand.storage.tables.declaration.compiled import MAX_CHARACTER, KeyPart, KeyPlan
from grandstand.storage.tables.encoding import pack, unpack
from grandstand.storage.tables.errors import CursorInvalid, DeclarationFault
from grandstand.storage.tables.expressions.nodes import Condition, KeyCondition, Range
from grandstand.storage.tables.operations.conditions import ConditionExpr, all_of, condition_of

if TYPE_CHECKING:
    from grandstand.storage.tables.declaration.compiled import EntityPlan
    from grandstand.storage.tables.declaration.entity import Entity
    from grandstand.storage.tables.store import Session

E = TypeVar("E", bound="Entity")
Bound = Literal["<", "<=", ">", ">="]


class Key:
    """A declared key of an entity; calling it with fields returns a query."""

    def __init__(
        self, partition: str, sort: str | None, index: str | None, when: str | None
    ) -> None:
        self.partition = partition
        self.sort = sort
        self.index = index
        self.when = when
        self.entity: EntityPlan[Any] | None = None
        self.plan: KeyPlan | None = None

    def __call__(self, **values: object) -> Query[Any]:
        """Return a query of a partition, narrowed by leading fields of the sort key.

        Raises DeclarationFault if a partition field is missing, a sort field is skipped, or a name
        is unknown.
        """
        if self.entity is None or self.plan is None:
            raise DeclarationFault(
                "This key belongs to no entity. Declare it in the body of an Entity class."
            )
        return _query(self.entity, self.plan, values)


def key(
    partition: str, sort: str | None = None, *, index: str | None = None, when: str | None = None
) -> Key:
    """Declare a key by its templates, for the table or for an index.

    With `when`, items are in the index only while that field or property is true.

    Example:
        row = key("LEAGUE#{league}", "GAME#{game_id}")
        by_day = key("DAY#{day}", "{starts_at}", index="ByDay", when="is_open")
    """
    return Key(partition, sort, index, when)


def _query(entity: EntityPlan[Any], plan: KeyPlan, values: dict[str, object]) -> Query[Any]:
    names = [name for part in plan.parts for name in part.template.names]
    unknown = [name for name in values if name not in names]
    missing = [name for name in plan.partition.template.names if values.get(name) is None]
    if unknown:
        raise DeclarationFault(
            f"{entity.name}.{plan.name} has the fields {', '.join(names)}, not "
            f"{', '.join(unknown)}."
        )
    if missing:
        raise DeclarationFault(
            f"{entity.name}.{plan.name} reads one partition: give {', '.join(missing)} "
            f"for {plan.partition.template.source}."
        )
    partition = plan.partition.value(values.get)
    query: Query[Any] = Query(entity=entity, plan=plan, partition=partition)
    if plan.sort is None:
        return query
    sort_values = {
        name: value for name, value in values.items() if name in plan.sort.template.names
    }
    return dataclasses.replace(query, **_sort_range(plan.sort, sort_values))


def _sort_range(part: KeyPart, sort_values: dict[str, object]) -> dict[str, Any]:
    if part.direct is not None:
        if not sort_values:
            return {}
        value = part.encode(sort_values[part.direct.name])
        return {"range": Range(part.attribute, "=", value), "prefix_fields": 1}
    prefix, used = part.template.head(sort_values)
    if used == len(part.template.fields):
        return {
            "range": Range(part.attribute, "=", prefix),
            "prefix": prefix,
            "prefix_fields": used,
        }
    narrowed = Range(part.attribute, "begins_with", prefix) if prefix else None
    return {"range": narrowed, "prefix": prefix, "prefix_fields": used}


@dataclass(frozen=True, kw_only=True)
class ReadQuery(ABC, Generic[E]):
    """A read of several items: its filter, limit and consistency.

    Items whose attribute has the `excluded` value are left out.
    """

    entity: EntityPlan[E]
    filter: Condition | None = None
    max_items: int | None = None
    consistent_read: bool = False
    include_expired: bool = False
    excluded: tuple[str, Value] | None = None

    def where(self, check: ConditionExpr | bool) -> Self:  # noqa: FBT001 - checkers see comparisons as bool
        """Filter by a condition; items that are filtered out are still read and paid for."""
        return dataclasses.replace(self, filter=all_of(self.filter, condition_of(check)))

    def consistent(self) -> Self:
        """See every write acknowledged before."""
        return dataclasses.replace(self, consistent_read=True)

    def with_expired(self) -> Self:
        """Include expired items that are still stored."""
        return dataclasses.replace(self, include_expired=True)

    @abstractmethod
    def request(
        self, session: Session, *, limit: int | None = None, start: ItemKey | None = None
    ) -> requests.QueryRequest | requests.ScanRequest:
        """Return the engine request for one page."""

    def key_of(self, item: Item) -> ItemKey:
        """Return the start key of a page that continues after this item."""
        return {name: item[name] for name in self.entity.table.key_names}

    def read(
        self,
        session: Session,
        limit: int | None,
        start: ItemKey | None,
        *,
        first_rows: int | None = None,
    ) -> Iterator[tuple[list[Item], ItemKey | None]]:
        """Yield stored items page by page, each with the key to continue after, None at the end.

        A page may be empty, because the entity and the expiry are checked after reading. The first
        page takes at most `first_rows` rows to read.
        """
        entity, engine = self.entity, session.engine
        while limit is None or limit > 0:
            # The limit of a page counts items before the filter, so it can only be passed on
            # without one.
            page_limit = limit if self.filter is None else None
            if first_rows is not None:
                page_limit = first_rows if page_limit is None else min(page_limit, first_rows)
                first_rows = None
            request = self.request(session, limit=page_limit, start=start)
            if isinstance(request, requests.QueryRequest):
                page = engine.query(request)
            else:
                page = engine.scan(request)
            now = None if self.include_expired else session.clock.epoch()
            items = [item for item in page.items if entity.matches(item, now)]
            if self.excluded is not None:
                name, value = self.excluded
                items = [item for item in items if item[name] != value]
            start = page.last_key
            if limit is not None:
                if len(items) > limit:
                    items = items[:limit]
                    start = self.key_of(items[-1])
                limit -= len(items)
            yield items, start
            if start is None:
                return

    def pages(self, session: Session) -> Iterator[list[E]]:
        """Yield the entities page by page; a page may be empty."""
        for items, _ in self.read(session, self.max_items, None):
            yield [self.entity.decode(item) for item in items]

    def run(self, session: Session) -> list[E]:
        """Return all entities, up to the limit."""
        decode, pages = self.entity.decode, self.read(session, self.max_items, None)
        return [decode(item) for items, _ in pages for item in items]


@dataclass(frozen=True, kw_only=True)
class Query(ReadQuery[E]):
    """A query of one partition of a table or index; each method returns a narrower one.

    Example:
        recent = Game.row(league="nba").since(game_id="100").newest(20)
        live = Game.row(league="nba").where(Game.status == "live")
    """

    plan: KeyPlan
    partition: Value
    range: Range | None = None
    prefix: str = ""
    prefix_fields: int = 0
    forward: bool = True

    def since(self, **values: object) -> Self:
        """Keep items at or after a value of the next sort field."""
        return self._bounded(">=", values)

    def after(self, **values: object) -> Self:
        """Keep items after a value of the next sort field."""
        return self._bounded(">", values)

    def until(self, **values: object) -> Self:
        """Keep items at or before a value of the next sort field."""
        return self._bounded("<=", values)

    def before(self, **values: object) -> Self:
        """Keep items before a value of the next sort field."""
        return self._bounded("<", values)

    def between(self, **values: tuple[object, object]) -> Self:
        """Keep items between two values of the next sort field, inclusive."""
        ((name, bounds),) = values.items()
        part, (low, high), suffix = self._encode_bounds(name, *bounds)
        limit = Range(part.attribute, "between", low, high + suffix if suffix else high)
        return dataclasses.replace(self, range=limit)

    def newest(self, count: int | None = None) -> Self:
        """Read from the end of the sort order, up to `count` items."""
        return dataclasses.replace(self, forward=False, max_items=count)

    def oldest(self, count: int | None = None) -> Self:
        """Read from the start of the sort order, up to `count` items."""
        return dataclasses.replace(self, forward=True, max_items=count)

    def consistent(self) -> Self:
        """See every write acknowledged before. Raises DeclarationFault for an index."""
        if self.plan.index is not None:
            raise DeclarationFault(f"The index {self.plan.index} cannot be read consistently.")
        return super().consistent()

    def _encode_bounds(self, name: str, *values: object) -> tuple[KeyPart, list[Any], str]:
        """Return the sort key, bounds of its next field, and what sorts after all their keys.

        The last is empty if the field ends the key.
        """
        part = self.plan.sort
        names = part.template.names[self.prefix_fields :] if part else ()
        if part is None or not names or names[0] != name:
            expected = names[0] if names else "no field"
            raise DeclarationFault(
                f"{self.entity.name}.{self.plan.name} can only be bounded by {expected}, not "
                f"{name}."
            )
        if part.direct is not None:
            return part, [part.encode(value) for value in values], ""
        template, field = part.template, part.template.fields[self.prefix_fields]
        texts = [self.prefix + field.text(value, template.source) for value in values]
        return part, texts, MAX_CHARACTER if len(names) > 1 or field.literal else ""

    def _bounded(self, op: Bound, values: dict[str, object]) -> Self:
        ((name, value),) = values.items()
        part, (bound,), suffix = self._encode_bounds(name, value)
        if suffix:
            if op in (">", "<="):
                bound += suffix
            op = ">=" if op in (">", ">=") else "<="
        if not self.prefix:
            return dataclasses.replace(self, range=Range(part.attribute, op, bound))
        if op in (">", ">="):
            # In byte order, the text right after `bound` is `bound` and a zero byte.
            low = bound + "\x00" if op == ">" else bound
            limit = Range(part.attribute, "between", low, self.prefix + MAX_CHARACTER)
            return dataclasses.replace(self, range=limit)
        limit = Range(part.attribute, "between", self.prefix, bound)
        excluded = (part.attribute, bound) if op == "<" else None
        return dataclasses.replace(self, range=limit, excluded=excluded)

    @property
    def key_condition(self) -> KeyCondition:
        return KeyCondition(((self.plan.partition.attribute, self.partition),), self.range)

    def request(
        self, session: Session, *, limit: int | None = None, start: ItemKey | None = None
    ) -> requests.QueryRequest:
        """Return the engine request for one page."""
        return requests.QueryRequest(
            table=session.name(self.entity.table),
            where=self.key_condition,
            index=self.plan.index,
            filter=self.filter,
            forward=self.forward,
            limit=limit,
            start=start,
            consistent=self.consistent_read,
        )

    def key_of(self, item: Item) -> ItemKey:
        names = (*(part.attribute for part in self.plan.parts), *self.entity.table.key_names)
        return {name: item[name] for name in names}


@dataclass(frozen=True, kw_only=True)
class Scan(ReadQuery[E]):
    """Every item of an entity, by reading the whole table: for small tables."""

    def request(
        self, session: Session, *, limit: int | None = None, start: ItemKey | None = None
    ) -> requests.ScanRequest:
        """Return the engine request for one page."""
        return requests.ScanRequest(
            table=session.name(self.entity.table),
            filter=self.filter,
            limit=limit,
            start=start,
            consistent=self.consistent_read,
        )


_DIGEST_BYTES: Final = 8


def _sign(query: object, body: bytes) -> bytes:
    """Return a digest of a query and a key, so that a cursor is only valid for the same query."""
    digest = hashlib.sha256(repr(query).encode()).digest()[:_DIGEST_BYTES]
    return hashlib.sha256(digest + body).digest()[:_DIGEST_BYTES]


def write_cursor(query: object, key: ItemKey) -> str:
    """Return an opaque, URL-safe cursor for the position after `key`."""
    body = pack(key)
    return base64.urlsafe_b64encode(_sign(query, body) + body).rstrip(b"=").decode()


def read_cursor(query: object, cursor: str) -> ItemKey:
    """Return the key in a cursor. Raises CursorInvalid if it is damaged or of another query."""
    try:
        data = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        if _sign(query, data[_DIGEST_BYTES:]) == data[:_DIGEST_BYTES]:
            return unpack(data[_DIGEST_BYTES:])
    except (binascii.Error, ValueError, msgspec.DecodeError):
        pass
    raise CursorInvalid(
        "The cursor is invalid or belongs to another query. Start from the first page."
    )
