"""Access patterns of a table, derived from the methods of its entities."""

from __future__ import annotations

import dataclasses
import enum
import inspect
import sys
import typing
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, TypeVar, get_args, get_origin

from grandstand.storage.tables.attribute_values import Key, Value, number_text
from grandstand.storage.tables.declaration.compiled import MAX_CHARACTER
from grandstand.storage.tables.declaration.fields import split_optional
from grandstand.storage.tables.errors import DeclarationFault
from grandstand.storage.tables.expressions.nodes import Condition, KeyCondition
from grandstand.storage.tables.expressions.render import Rendering
from grandstand.storage.tables.operations import item_ops
from grandstand.storage.tables.operations.queries import Query, Scan

if TYPE_CHECKING:
    from grandstand.storage.tables.declaration.entity import Entity
    from grandstand.storage.tables.declaration.table import Table


def value_text(value: Value) -> str:
    """Format a value for people."""
    if isinstance(value, str):
        return value.replace(MAX_CHARACTER, "…").replace("\x00", "")
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    if type(value) is int or isinstance(value, Decimal):
        return number_text(value)
    return str(value)


def key_text(key: Key) -> str:
    """Format a key: `pk = GAME#1 AND sk = META`."""
    return " AND ".join(f"{name} = {value_text(value)}" for name, value in key.items())


class PrettyRenderer(Rendering):
    """Renders expressions with names and values instead of placeholders."""

    def _name(self, name: str) -> str:
        return name

    def _value(self, value: Value) -> str:
        return value_text(value)


def condition_text(condition: Condition) -> str:
    """Format a condition."""
    return PrettyRenderer().condition(condition)


def where_text(where: KeyCondition) -> str:
    """Format a key condition."""
    return PrettyRenderer().key_condition(where)


def placeholder_text(name: str) -> str:
    """Return an argument as documents show it."""
    return f"‹{name}›"  # noqa: RUF001 - quotation marks that no key contains


class PlaceholderTime(datetime):
    """A datetime shown as its name, even after arithmetic."""

    name = "time"

    def __add__(self, span: timedelta) -> PlaceholderTime:
        return _named(_TIME, self.name)

    def __sub__(self, other: Any) -> Any:  # noqa: ANN401 - a span or another moment
        if isinstance(other, timedelta):
            return _named(_TIME, self.name)
        return PlaceholderDuration(self.name)

    def isoformat(self, sep: str = "T", timespec: str = "auto") -> str:  # noqa: ARG002
        return placeholder_text(self.name)

    def __format__(self, spec: str) -> str:
        return placeholder_text(self.name)


class PlaceholderDuration:
    """The difference of a placeholder time and the epoch, shown as the name of the time."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __floordiv__(self, unit: timedelta) -> PlaceholderNumber:
        return _named(_NUMBER, self.name)


class PlaceholderDate(date):
    """A date shown as its name."""

    name = "date"

    def isoformat(self) -> str:
        return placeholder_text(self.name)

    def __format__(self, spec: str) -> str:
        return placeholder_text(self.name)


class PlaceholderNumber(int):
    """A number shown as its name."""

    name = "n"

    def __format__(self, spec: str) -> str:
        return placeholder_text(self.name)

    def __str__(self) -> str:
        return placeholder_text(self.name)

    __repr__ = __str__


P = TypeVar("P", PlaceholderTime, PlaceholderDate, PlaceholderNumber)
_TIME: Final = PlaceholderTime(2000, 1, 1, tzinfo=UTC)
_DATE: Final = PlaceholderDate(2000, 1, 1)
_NUMBER: Final = PlaceholderNumber(20)


def _named(original: P, name: str) -> P:
    placeholder = copy(original)
    placeholder.name = name
    return placeholder


_PLACEHOLDERS: Final[dict[object, Callable[[str], object]]] = {
    str: placeholder_text,
    datetime: lambda name: _named(_TIME, name),
    date: lambda name: _named(_DATE, name),
    int: lambda name: _named(_NUMBER, name),
    Decimal: lambda _name: Decimal(1),
    bool: lambda _name: True,
    bytes: lambda name: name.encode(),
    Any: placeholder_text,
}


def placeholder(name: str, annotation: object) -> object:
    """Return a placeholder for an argument. Raises DeclarationFault if its type has none."""
    kind, _ = split_optional(annotation)
    create = _PLACEHOLDERS.get(kind)
    if create is not None:
        return create(name)
    origin = get_origin(kind)
    if origin is typing.Literal:
        return get_args(kind)[0]
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return next(iter(kind))
    if origin is dict:
        return {}
    if origin in (tuple, list, frozenset):
        return typing.cast("Callable[[Any], object]", origin)(
            [placeholder(name, get_args(kind)[0])]
        )
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        hints = typing.get_type_hints(kind)
        fields = {f.name: placeholder(f.name, hints[f.name]) for f in dataclasses.fields(kind)}
        return typing.cast("Callable[..., object]", kind)(**fields)
    raise DeclarationFault(
        f"{name}: arguments of access patterns are str, int, Decimal, datetime, date, bool, enums, "
        f"dataclasses and tuples of them, not {annotation!r}."
    )


_OPERATION_TYPES: Final = (
    *("Query[", "Scan[", "Get[", "Put[", "Update[", "Delete[", "GetMany[", "WriteMany"),
)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A named access pattern as a design document describes it."""

    table: str
    entity: str
    name: str
    title: str
    operation: str
    example: object
    index: str | None = None
    where: str = ""
    order: str = ""
    limit: str = ""
    filter: str = ""
    condition: str = ""


def patterns_of(entity: type[Entity]) -> tuple[Pattern, ...]:
    """Return the access patterns of an entity.

    A pattern is a method of the class whose return annotation is an operation. Raises
    DeclarationFault if one cannot be compiled.
    """
    return tuple(_compile(entity, name, example) for name, example in _examples(entity))


def patterns(table: Table) -> tuple[Pattern, ...]:
    """Return the patterns of all entities of a table, in declaration order."""
    return tuple(pattern for entity in table.entities for pattern in entity.__patterns__)


def _examples(entity: type[Entity]) -> Iterator[tuple[str, object]]:
    for name, member in _members(entity).items():
        function = member.__func__ if isinstance(member, classmethod) else member
        if not inspect.isfunction(function):
            continue
        returns = str(function.__annotations__.get("return", ""))
        if not returns.startswith(_OPERATION_TYPES):
            continue
        yield name, _call(entity, name, function, on_class=isinstance(member, classmethod))


def _members(entity: type[Entity]) -> dict[str, Any]:
    """Return the members of a class and its bases, the most derived last."""
    members: dict[str, Any] = {}
    for kind in reversed(entity.__mro__):
        if kind.__module__ != __package__ + ".entity":
            members |= vars(kind)
    return members


def _call(entity: type[Entity], name: str, function: Any, *, on_class: bool) -> object:  # noqa: ANN401 - a method
    where = f"{entity.__name__}.{name}"
    namespace = vars(sys.modules[function.__module__])
    # A pattern may refer to its own class, which is not bound in its module yet.
    function.__globals__.setdefault(entity.__name__, entity)
    arguments = {}
    for parameter in list(inspect.signature(function).parameters.values())[1:]:
        annotation = parameter.annotation
        if isinstance(annotation, str):
            annotation = eval(annotation, dict(namespace))  # noqa: S307 - our own source, at import
        try:
            arguments[parameter.name] = placeholder(parameter.name, annotation)
        except DeclarationFault as error:
            raise DeclarationFault(f"{where}: {error}") from error
    target = entity if on_class else placeholder_record(entity)
    return getattr(target, name)(**arguments)


def placeholder_record(entity: type[Entity]) -> Entity:
    """Return a record whose fields are placeholders."""
    plan = entity.__plan__
    hints = typing.get_type_hints(entity)
    record = object.__new__(entity)
    for field in plan.fields.values():
        value: object
        try:
            value = 0 if field.role == "version" else placeholder(field.name, hints[field.name])
        except DeclarationFault:
            value = None
        record.__dict__[field.name] = value
    return record


def _compile(entity: type[Entity], name: str, example: object) -> Pattern:
    text = inspect.getdoc(getattr(entity, name)) or name.replace("_", " ")
    return Pattern(
        table=entity.__plan__.table.name,
        entity=entity.__name__,
        name=name,
        title=text.splitlines()[0].rstrip("."),
        example=example,
        **_describe(example),
    )


def _describe(example: object) -> dict[str, Any]:
    match example:
        case Query():
            return _describe_query(example)
        case Scan():
            return {"operation": "Scan", "where": "", "filter": _condition(example.filter)}
        case item_ops.Get():
            return {"operation": "GetItem", "where": key_text(example.key)}
        case item_ops.GetMany():
            where = key_text(example.gets[0].key) if example.gets else ""
            return {"operation": "BatchGetItem", "where": where}
        case item_ops.WriteMany():
            where = key_text(_key(example.writes[0])) if example.writes else ""
            return {"operation": "BatchWriteItem", "where": where}
        case item_ops.Put():
            return _describe_write("PutItem", _key(example), example.condition)
        case item_ops.Update():
            return _describe_write("UpdateItem", example.key, example.condition)
        case item_ops.Delete():
            return _describe_write("DeleteItem", example.key, example.condition)
    raise DeclarationFault(f"{example!r} is not an operation.")


def _describe_query(query: Query[Any]) -> dict[str, Any]:
    return {
        "operation": "Query",
        "index": query.plan.index,
        "where": where_text(query.key_condition),
        "order": "" if query.forward else "descending",
        "limit": str(query.max_items or ""),
        "filter": _condition(query.filter),
    }


def _describe_write(operation: str, key: Key, condition: Condition | None) -> dict[str, Any]:
    return {"operation": operation, "where": key_text(key), "condition": _condition(condition)}


def _key(write: item_ops.Put[Any] | item_ops.Delete[Any]) -> Key:
    if isinstance(write, item_ops.Delete):
        return write.key
    item = write.entity.encode(write.record)
    return {name: item[name] for name in write.entity.table.key_names}


def _condition(condition: Condition | None) -> str:
    return "" if condition is None else condition_text(condition)
