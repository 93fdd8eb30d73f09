"""Kept here: the access patterns of a table, read off its entities and compiled once."""

from __future__ import annotations

import dataclasses
import inspect
import sys
import typing
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from grandstand.storage.tables.declaration.reading_aloud import condition_text, key_text, where_text
from grandstand.storage.tables.declaration.samples import sample
from grandstand.storage.tables.errors import DeclarationFault
from grandstand.storage.tables.expressions.nodes import Condition
from grandstand.storage.tables.operations.batches import GetMany, WriteMany
from grandstand.storage.tables.operations.queries import Query, Scan
from grandstand.storage.tables.operations.single import Delete, Get, Put
from grandstand.storage.tables.operations.updates import Update
from grandstand.storage.tables.values import Key

if TYPE_CHECKING:
    from grandstand.storage.tables.declaration.entity import Entity
    from grandstand.storage.tables.declaration.table import Table

_KINDS: Final = ("Query[", "Scan[", "Get[", "Put[", "Update[", "Delete[", "GetMany[", "WriteMany")


@dataclass(frozen=True, slots=True)
class Pattern:
    """One named question or change: what a design document would say of it."""

    table: str
    entity: str
    name: str
    title: str
    operation: str
    index: str | None
    where: str
    order: str
    limit: str
    filter: str
    condition: str
    example: object


def patterns_of(entity: type[Entity]) -> tuple[Pattern, ...]:
    """Compile every pattern an entity declares; raise DeclarationFault when one cannot work.

    A pattern is a method of the class whose return annotation is an operation.
    """
    return tuple(_compiled(entity, name, example) for name, example in _examples(entity))


def patterns(table: Table) -> tuple[Pattern, ...]:
    """Answer the patterns of all entities of a table, in the order of their declaration."""
    return tuple(pattern for entity in table.entities for pattern in entity.__patterns__)


def _examples(entity: type[Entity]) -> Iterator[tuple[str, object]]:
    for name, member in _members(entity).items():
        function = member.__func__ if isinstance(member, classmethod) else member
        if not inspect.isfunction(function):
            continue
        returns = str(function.__annotations__.get("return", ""))
        if not returns.startswith(_KINDS):
            continue
        yield name, _called(entity, name, function, on_class=isinstance(member, classmethod))


def _members(entity: type[Entity]) -> dict[str, Any]:
    """Answer what the class and those it shares fields with declare, its own word last."""
    members: dict[str, Any] = {}
    for kind in reversed(entity.__mro__):
        if kind.__module__ != __package__ + ".entity":
            members |= vars(kind)
    return members


def _called(entity: type[Entity], name: str, function: Any, *, on_class: bool) -> object:  # noqa: ANN401 - a method
    where = f"{entity.__name__}.{name}"
    space = vars(sys.modules[function.__module__])
    # A pattern may name its own class, which the class statement binds only after this.
    function.__globals__.setdefault(entity.__name__, entity)
    arguments = {}
    for parameter in list(inspect.signature(function).parameters.values())[1:]:
        annotation = parameter.annotation
        if isinstance(annotation, str):
            annotation = eval(annotation, dict(space))  # noqa: S307 - our own source, at import
        try:
            arguments[parameter.name] = sample(parameter.name, annotation)
        except DeclarationFault as fault:
            message = f"{where}: {fault}"
            raise DeclarationFault(message) from fault
    subject = entity if on_class else sample_record(entity)
    return getattr(subject, name)(**arguments)


def sample_record(entity: type[Entity]) -> Entity:
    """Make a record whose fields are written by their names."""
    plan = entity.__plan__
    hints = typing.get_type_hints(entity)
    made = object.__new__(entity)
    for field in plan.fields.values():
        value: object
        try:
            value = 0 if field.role == "version" else sample(field.name, hints[field.name])
        except DeclarationFault:
            value = None
        made.__dict__[field.name] = value
    return made


def _compiled(entity: type[Entity], name: str, example: object) -> Pattern:
    plan = entity.__plan__
    blank = Pattern(
        table=plan.table.name,
        entity=entity.__name__,
        name=name,
        title=_title(entity, name),
        operation="",
        index=None,
        where="",
        order="",
        limit="",
        filter="",
        condition="",
        example=example,
    )
    return dataclasses.replace(blank, **_told(example))


def _title(entity: type[Entity], name: str) -> str:
    text = inspect.getdoc(getattr(entity, name)) or name.replace("_", " ")
    return text.splitlines()[0].rstrip(".")


def _told(example: object) -> dict[str, Any]:
    match example:
        case Query():
            return _told_query(example)
        case Scan():
            return {"operation": "Scan", "where": "", "filter": _condition(example.filter)}
        case Get():
            return {"operation": "GetItem", "where": key_text(example.key)}
        case GetMany():
            return {"operation": "BatchGetItem", "where": _many(example.gets)}
        case WriteMany():
            return {"operation": "BatchWriteItem", "where": _first_key(example)}
        case Put():
            item = example.entity.encode(example.record)
            key = {name: item[name] for name in example.entity.table.key_names}
            return _told_write("PutItem", key, example.condition)
        case Update():
            return _told_write("UpdateItem", example.key, example.condition)
        case Delete():
            return _told_write("DeleteItem", example.key, example.condition)
    message = f"{example!r} is no operation"
    raise DeclarationFault(message)


def _told_query(query: Query[Any]) -> dict[str, Any]:
    return {
        "operation": "Query",
        "index": query.plan.index,
        "where": where_text(query.where_key),
        "order": "" if query.forward else "descending",
        "limit": "" if query.most is None else str(query.most),
        "filter": _condition(query.filter),
    }


def _told_write(operation: str, key: Key, condition: Condition | None) -> dict[str, Any]:
    return {"operation": operation, "where": key_text(key), "condition": _condition(condition)}


def _first_key(batch: WriteMany) -> str:
    for write in batch.writes:
        if isinstance(write, Delete):
            return key_text(write.key)
        item = write.entity.encode(write.record)
        return key_text({name: item[name] for name in write.entity.table.key_names})
    return ""


def _many(gets: tuple[Get[Any], ...]) -> str:
    return key_text(gets[0].key) if gets else ""


def _condition(condition: Condition | None) -> str:
    return "" if condition is None else condition_text(condition)
