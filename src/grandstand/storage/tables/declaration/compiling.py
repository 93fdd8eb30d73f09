"""Kept here: a declared class made into its plan, or refused by a sentence that names the fix."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

from grandstand.storage.tables.declaration.codecs import REQUIRED, Rename, as_text
from grandstand.storage.tables.declaration.fields import EntityField, read_field
from grandstand.storage.tables.declaration.keys import KeyPlan, Side, compile_template
from grandstand.storage.tables.declaration.plan import SCHEMA_VERSION, EntityPlan
from grandstand.storage.tables.declaration.table import Table
from grandstand.storage.tables.declaration.times import TimeForm
from grandstand.storage.tables.errors import DeclarationFault
from grandstand.storage.tables.operations.queries import Key as DeclaredKey

if TYPE_CHECKING:
    from grandstand.storage.tables.declaration.entity import Entity

E = TypeVar("E", bound="Entity")


def compile_entity(
    entity: type[E], table: Table, *, rename: Rename, times: TimeForm, schema_version: str | None
) -> EntityPlan[E]:
    """Compile a declared class; raise DeclarationFault, naming the fix, when it cannot work."""
    hints = typing.get_type_hints(entity)
    fields = {
        field.name: _placed(read_field(field, hints[field.name], times=times, rename=rename), table)
        for field in dataclasses.fields(cast("type[Any]", entity))
    }
    keys = _compile_keys(entity, table, fields)
    primary = [plan for plan in keys if plan.index is None]
    if len(primary) != 1:
        message = (
            f"{entity.__name__} needs one key for its table: row = key({table.partition!r}, …)"
        )
        raise DeclarationFault(message)
    _check_attributes(entity, table, fields, keys)
    roles = {field.role: field for field in fields.values()}
    return EntityPlan(
        entity=entity,
        table=table,
        fields=fields,
        primary=primary[0],
        indexes=tuple(plan for plan in keys if plan.index is not None),
        version=roles.get("version"),
        ttl=roles.get("ttl"),
        schema_version=schema_version,
        **_shortcuts(entity, fields, keys, schema_version),
    )


def _shortcuts(
    entity: type[Entity],
    fields: dict[str, EntityField],
    keys: list[KeyPlan],
    schema_version: str | None,
) -> dict[str, Any]:
    """Work out once what every read and write of an entity would otherwise look up."""
    every = fields.values()
    primary = next(plan for plan in keys if plan.index is None)
    names = (name for side in primary.sides for name in side.template.names)
    return {
        "primary_names": tuple(dict.fromkeys(names)),
        "primary_sides": primary.sides,
        "computed": any(name not in fields for plan in keys for name in plan.names),
        "outward": tuple((f.name, f.attribute, f.codec.encode) for f in every),
        "inward": tuple((f.name, f.attribute, f.codec.decode, f.absent) for f in every),
        "checks_itself": hasattr(entity, "__post_init__"),
        "width": len(fields),
        "named_alike": all(f.name == f.attribute for f in every),
        "made": (
            *(s.attribute for plan in keys for s in plan.sides if s.direct is None),
            *(() if schema_version is None else (SCHEMA_VERSION,)),
        ),
        "turned": tuple((f.name, f.codec.decode) for f in every if f.codec.decode),
        "defaults": tuple(
            (f.name, f.absent)
            for f in every
            if f.absent is not REQUIRED and not isinstance(f.absent, list | dict)
        ),
    }


def _placed(field: EntityField, table: Table) -> EntityField:
    if field.role != "ttl":
        return field
    if table.ttl is None:
        message = f"{field.name} sets an expiry, but {table.name} declares no ttl attribute"
        raise DeclarationFault(message)
    return dataclasses.replace(field, attribute=table.ttl)


def _compile_keys(
    entity: type[Entity], table: Table, fields: dict[str, EntityField]
) -> list[KeyPlan]:
    return [
        _compile_key(entity, table, fields, name, declared)
        for name, declared in vars(entity).items()
        if isinstance(declared, DeclaredKey)
    ]


def _compile_key(
    entity: type[Entity],
    table: Table,
    fields: dict[str, EntityField],
    name: str,
    declared: DeclaredKey,
) -> KeyPlan:
    where = f"{entity.__name__}.{name}"
    target = table if declared.index is None else table.index(declared.index)
    if (declared.sort is None) != (target.sort is None):
        fix = "leave out" if target.sort is None else "give"
        message = f"{where}: {fix} the sort template; {target.name} has sort key {target.sort}"
        raise DeclarationFault(message)
    partition = _side(entity, fields, target.partition, declared.partition, where)
    sort = (
        None
        if declared.sort is None or target.sort is None
        else _side(entity, fields, target.sort, declared.sort, where)
    )
    sides = [side for side in (partition, sort) if side is not None]
    for side in sides:
        table.claim(side.attribute, side.key_type, where)
    _check_when(entity, fields, declared, sides, where)
    feeds = {name for side in sides for name in side.template.names}
    if declared.when is not None:
        feeds.add(declared.when)
    feeding = frozenset().union(*(_sources(entity, fields, name) for name in feeds))
    return KeyPlan(name, declared.index, partition, sort, declared.when, feeding)


def _check_when(
    entity: type[Entity],
    fields: dict[str, EntityField],
    declared: DeclaredKey,
    sides: list[Side],
    where: str,
) -> None:
    if declared.when is None:
        return
    if declared.index is None:
        message = f"{where}: only an index can leave items out; drop when={declared.when!r}"
        raise DeclarationFault(message)
    if declared.when not in fields and not _is_computed(entity, declared.when):
        message = f"{where}: when={declared.when!r} is neither a field nor a property"
        raise DeclarationFault(message)
    if all(side.direct is not None for side in sides):
        message = (
            f"{where}: every key attribute is a field of the item, so nothing can be left out; "
            "give the index an attribute of its own"
        )
        raise DeclarationFault(message)


def _side(
    entity: type[Entity],
    fields: dict[str, EntityField],
    attribute: str,
    source: str,
    where: str,
) -> Side:
    def writer(name: str, spec: str) -> Callable[[Any], str]:
        return _writer(entity, fields, name, spec, where)

    field = next((f for f in fields.values() if f.attribute == attribute), None)
    if field is not None and source == f"{{{field.name}}}":
        if field.codec.key_type is None:
            message = (
                f"{where}: {field.name} cannot be a key: keys are text, numbers or bytes. For a "
                f"flag use a text key that is there only when it is set: when={field.name!r}"
            )
            raise DeclarationFault(message)
        template = compile_template(source, lambda _name, _spec: str)
        return Side(attribute, template, field, field.codec.key_type)
    if field is not None:
        message = (
            f"{where}: the attribute {attribute} is the field {field.name}, so its template must "
            f"be {{{field.name}}}, not {source}"
        )
        raise DeclarationFault(message)
    template = compile_template(source, writer)
    only = template.parts[0] if len(template.parts) == 1 else None
    last = only.name if only is not None and not only.literal and only.name in fields else None
    text = last is not None and fields[last].codec.text is as_text and ":" not in source
    return Side(attribute, template, None, "S", last if text else None)


def _writer(
    entity: type[Entity], fields: dict[str, EntityField], name: str, spec: str, where: str
) -> Callable[[Any], str]:
    field = fields.get(name)
    if field is None:
        if _is_computed(entity, name):
            return str
        known = ", ".join(fields)
        message = f"{where}: {{{name}}} is neither a field nor a property; fields: {known}"
        raise DeclarationFault(message)
    if spec:
        return lambda value: format(value, spec)
    if field.codec.text is not None:
        return field.codec.text
    if field.codec.key_type == "N":
        message = (
            f"{where}: the number {name} would sort as text; write {{{name}:08d}} to pad it with "
            "zeros"
        )
        raise DeclarationFault(message)
    message = (
        f"{where}: {name} cannot be part of a key: keys are made of texts, moments, dates and "
        "padded numbers"
    )
    raise DeclarationFault(message)


def _is_computed(entity: type[Entity], name: str) -> bool:
    return isinstance(getattr(entity, name, None), property)


def _sources(entity: type[Entity], fields: dict[str, EntityField], name: str) -> frozenset[str]:
    """Name the fields a template's name depends on: itself, or what its property reads."""
    if name in fields:
        return frozenset({name})
    computed = getattr(entity, name)
    code = getattr(computed.fget, "__code__", None)
    if not isinstance(code, types.CodeType):
        return frozenset(fields)
    return frozenset(code.co_names) & frozenset(fields)


def _check_attributes(
    entity: type[Entity], table: Table, fields: dict[str, EntityField], keys: list[KeyPlan]
) -> None:
    stored: dict[str, str] = {}
    for field in fields.values():
        if field.attribute in stored:
            message = (
                f"{entity.__name__}: {field.name} and {stored[field.attribute]} are both stored as "
                f"{field.attribute}"
            )
            raise DeclarationFault(message)
        stored[field.attribute] = field.name
    made: dict[str, str] = {}
    for side in (side for plan in keys for side in plan.sides if side.direct is None):
        if made.setdefault(side.attribute, side.template.source) != side.template.source:
            message = (
                f"{entity.__name__}: {side.attribute} is made by two templates, "
                f"{made[side.attribute]} and {side.template.source}"
            )
            raise DeclarationFault(message)
    used = set(table.key_names).union(*(index.key_names for index in table.indexes))
    for field in fields.values():
        if field.attribute in used:
            if field.codec.key_type is None:
                message = (
                    f"{entity.__name__}.{field.name} is stored as {field.attribute}, a key "
                    f"attribute of {table.name}, and must be text, a number or bytes"
                )
                raise DeclarationFault(message)
            table.claim(field.attribute, field.codec.key_type, f"{entity.__name__}.{field.name}")
