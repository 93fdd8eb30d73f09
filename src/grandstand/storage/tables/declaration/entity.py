"""Entities: typed records of a table, their operations, and their compilation."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Callable
from typing import Any, ClassVar, Literal, Self, TypeVar, cast, dataclass_transform

from grandstand.core.formatting import camel_case
from grandstand.storage.tables.attribute_values import Item
from grandstand.storage.tables.declaration.compiled import (
    SCHEMA_VERSION,
    EntityPlan,
    KeyPart,
    KeyPlan,
    compile_template,
)
from grandstand.storage.tables.declaration.fields import (
    REQUIRED,
    EntityField,
    NameConverter,
    TimeForm,
    attribute,
    compile_field,
    keep_name,
    require_text,
)
from grandstand.storage.tables.declaration.patterns import Pattern, patterns_of
from grandstand.storage.tables.declaration.table import Table
from grandstand.storage.tables.errors import DeclarationFault
from grandstand.storage.tables.expressions.nodes import Path
from grandstand.storage.tables.operations.conditions import Attribute
from grandstand.storage.tables.operations.item_ops import Delete, Get, Put, Update
from grandstand.storage.tables.operations.queries import Key, Scan

E = TypeVar("E", bound="Entity")


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(attribute,))
class Entity:
    """A record of a table: a frozen dataclass whose class attributes form conditions.

    `names="camel"` stores `user_id` as userId; `times` is the stored form of datetimes; with
    `schema_version`, items of another version go through `upgrade` when they are read.

    Example:
        class Game(Entity, table=games, names="camel"):
            league: str
            game_id: str
            score: int = 0

            row = key("LEAGUE#{league}", "GAME#{game_id}")

        store(Game(league="nba", game_id="1").put())
        game = store(Game.get(league="nba", game_id="1"))
        store(Game.update(league="nba", game_id="1").add(score=2).when(Game.score < 100))
        games_of_league = store(Game.row(league="nba"))
    """

    __plan__: ClassVar[EntityPlan[Any]]
    __patterns__: ClassVar[tuple[Pattern, ...]] = ()

    def __init_subclass__(
        cls,
        *,
        table: Table | None = None,
        names: Literal["plain", "camel"] = "plain",
        times: TimeForm = "microseconds",
        schema_version: str | None = None,
    ) -> None:
        super().__init_subclass__()
        dataclasses.dataclass(frozen=True, kw_only=True)(cls)
        if table is None:
            return
        plan = compile_entity(
            cls,
            table,
            rename=camel_case if names == "camel" else keep_name,
            times=times,
            schema_version=schema_version,
        )
        cls.__plan__ = plan
        for field in plan.fields.values():
            condition_attribute = Attribute(
                Path((field.attribute,)), field.codec, f"{cls.__name__}.{field.name}"
            )
            setattr(cls, field.name, condition_attribute)
        for key_plan in (plan.primary, *plan.indexes):
            declared: Key = vars(cls)[key_plan.name]
            declared.entity, declared.plan = plan, key_plan
        table.entities.append(cls)
        cls.__patterns__ = patterns_of(cls)

    @classmethod
    def get(cls, **key: object) -> Get[Self]:
        """Read one item by the fields of its key; the result is None if there is none."""
        return Get(cls.__plan__, cls.__plan__.key(key))

    @classmethod
    def update(cls, **key: object) -> Update[Self]:
        """Update an existing item by the fields of its key; see `Update`."""
        return Update(entity=cls.__plan__, key=cls.__plan__.key(key), known=dict(key))

    @classmethod
    def delete(cls, **key: object) -> Delete[Self]:
        """Delete an item by the fields of its key; the result is the old item, or None."""
        return Delete(entity=cls.__plan__, key=cls.__plan__.key(key))

    @classmethod
    def scan(cls) -> Scan[Self]:
        """Read every item, by reading the whole table."""
        return Scan(entity=cls.__plan__)

    @classmethod
    def upgrade(cls, item: Item) -> Item:
        """Convert an item of an older schema version to the current one."""
        return item

    def put(self) -> Put[Self]:
        """Write the whole item, replacing any existing one; the result is the entity as stored."""
        return Put(entity=self.__plan__, record=self)

    def identity(self) -> dict[str, Any]:
        """Return the fields of its key, as `get`, `update` and `delete` take them."""
        return {name: getattr(self, name) for name in self.__plan__.primary_names}

    def replace(self, **changes: object) -> Self:
        """Return a copy with some fields changed."""
        return dataclasses.replace(self, **changes)  # type: ignore[type-var]


def compile_entity(
    entity: type[E],
    table: Table,
    *,
    rename: NameConverter,
    times: TimeForm,
    schema_version: str | None,
) -> EntityPlan[E]:
    """Compile a declared class. Raises DeclarationFault, with the fix, if it is invalid."""
    hints = typing.get_type_hints(entity)
    fields = {
        field.name: _place_ttl(
            compile_field(field, hints[field.name], times=times, rename=rename), table
        )
        for field in dataclasses.fields(cast("type[Any]", entity))
    }
    keys = [
        _compile_key(entity, table, fields, name, declared)
        for name, declared in vars(entity).items()
        if isinstance(declared, Key)
    ]
    primary = [plan for plan in keys if plan.index is None]
    if len(primary) != 1:
        raise DeclarationFault(
            f"{entity.__name__} needs one key for its table: row = key({table.partition!r}, …)"
        )
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
        **_derived_fields(entity, fields, keys, schema_version),
    )


def _derived_fields(
    entity: type[Entity],
    fields: dict[str, EntityField],
    keys: list[KeyPlan],
    schema_version: str | None,
) -> dict[str, Any]:
    """Compute what every read and write of an entity would otherwise look up."""
    all_fields = fields.values()
    primary = next(plan for plan in keys if plan.index is None)
    names = (name for part in primary.parts for name in part.template.names)
    return {
        "primary_names": tuple(dict.fromkeys(names)),
        "primary_parts": primary.parts,
        "has_computed_keys": any(name not in fields for plan in keys for name in plan.names),
        "encoders": tuple((f.name, f.attribute, f.codec.encode) for f in all_fields),
        "decoders": tuple((f.name, f.attribute, f.codec.decode, f.absent) for f in all_fields),
        "has_post_init": hasattr(entity, "__post_init__"),
        "field_count": len(fields),
        "names_match": all(f.name == f.attribute for f in all_fields),
        "generated": (
            *(s.attribute for plan in keys for s in plan.parts if s.direct is None),
            *(() if schema_version is None else (SCHEMA_VERSION,)),
        ),
        "conversions": tuple((f.name, f.codec.decode) for f in all_fields if f.codec.decode),
        "defaults": tuple(
            (f.name, f.absent)
            for f in all_fields
            if f.absent is not REQUIRED and not isinstance(f.absent, list | dict)
        ),
    }


def _place_ttl(field: EntityField, table: Table) -> EntityField:
    if field.role != "ttl":
        return field
    if table.ttl is None:
        raise DeclarationFault(
            f"{field.name} sets an expiry, but {table.name} declares no ttl attribute."
        )
    return dataclasses.replace(field, attribute=table.ttl)


def _compile_key(
    entity: type[Entity],
    table: Table,
    fields: dict[str, EntityField],
    name: str,
    declared: Key,
) -> KeyPlan:
    where = f"{entity.__name__}.{name}"
    target = table if declared.index is None else table.index(declared.index)
    if (declared.sort is None) != (target.sort is None):
        advice = "leave out" if target.sort is None else "give"
        raise DeclarationFault(
            f"{where}: {advice} the sort template; {target.name} has sort key {target.sort}"
        )
    partition = _key_part(entity, fields, target.partition, declared.partition, where)
    sort = (
        None
        if declared.sort is None or target.sort is None
        else _key_part(entity, fields, target.sort, declared.sort, where)
    )
    parts = [part for part in (partition, sort) if part is not None]
    for part in parts:
        table.claim(part.attribute, part.key_type, where)
    _check_when(entity, fields, declared, parts, where)
    names = {name for part in parts for name in part.template.names}
    if declared.when is not None:
        names.add(declared.when)
    source_fields = frozenset().union(*(_sources(entity, fields, name) for name in names))
    return KeyPlan(name, declared.index, partition, sort, declared.when, source_fields)


def _check_when(
    entity: type[Entity],
    fields: dict[str, EntityField],
    declared: Key,
    parts: list[KeyPart],
    where: str,
) -> None:
    if declared.when is None:
        return
    if declared.index is None:
        raise DeclarationFault(
            f"{where}: only an index can leave items out. Remove when={declared.when!r}."
        )
    if declared.when not in fields and not _is_computed(entity, declared.when):
        raise DeclarationFault(
            f"{where}: when={declared.when!r} is neither a field nor a property."
        )
    if all(part.direct is not None for part in parts):
        raise DeclarationFault(
            f"{where}: every key attribute is a field of the item, so no item can be left out. "
            "Give the index an attribute of its own."
        )


def _key_part(
    entity: type[Entity],
    fields: dict[str, EntityField],
    attribute: str,
    source: str,
    where: str,
) -> KeyPart:
    def writer(name: str, spec: str) -> Callable[[Any], str]:
        return _writer(entity, fields, name, spec, where)

    field = next((f for f in fields.values() if f.attribute == attribute), None)
    if field is not None and source == f"{{{field.name}}}":
        if field.codec.key_type is None:
            raise DeclarationFault(
                f"{where}: {field.name} cannot be a key. Keys are text, numbers or bytes. For a "
                f"flag use a text key that exists only if it is set: when={field.name!r}."
            )
        template = compile_template(source, lambda _name, _spec: str)
        return KeyPart(attribute, template, field, field.codec.key_type)
    if field is not None:
        raise DeclarationFault(
            f"{where}: the attribute {attribute} is the field {field.name}, so its template must "
            f"be {{{field.name}}}, not {source}."
        )
    template = compile_template(source, writer)
    only_field = template.fields[0] if len(template.fields) == 1 else None
    text_field = (
        only_field.name
        if only_field is not None and not only_field.literal and only_field.name in fields
        else None
    )
    text = (
        text_field is not None
        and fields[text_field].codec.text is require_text
        and ":" not in source
    )
    return KeyPart(attribute, template, None, "S", text_field if text else None)


def _writer(
    entity: type[Entity], fields: dict[str, EntityField], name: str, spec: str, where: str
) -> Callable[[Any], str]:
    field = fields.get(name)
    if field is None:
        if _is_computed(entity, name):
            return str
        field_names = ", ".join(fields)
        raise DeclarationFault(
            f"{where}: {{{name}}} is neither a field nor a property; fields: {field_names}"
        )
    if spec:
        return lambda value: format(value, spec)
    if field.codec.text is not None:
        return field.codec.text
    if field.codec.key_type == "N":
        raise DeclarationFault(
            f"{where}: the number {name} would sort as text. Write {{{name}:08d}} to pad it with "
            "zeros."
        )
    raise DeclarationFault(
        f"{where}: {name} cannot be part of a key. Keys consist of texts, times, dates and "
        "padded numbers."
    )


def _is_computed(entity: type[Entity], name: str) -> bool:
    return isinstance(getattr(entity, name, None), property)


def _sources(entity: type[Entity], fields: dict[str, EntityField], name: str) -> frozenset[str]:
    """Return the fields a name in a template depends on: itself, or those its property reads."""
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
    names_by_attribute: dict[str, str] = {}
    for field in fields.values():
        if field.attribute in names_by_attribute:
            raise DeclarationFault(
                f"{entity.__name__}: {field.name} and {names_by_attribute[field.attribute]} are "
                f"both stored as {field.attribute}."
            )
        names_by_attribute[field.attribute] = field.name
    templates: dict[str, str] = {}
    for part in (part for plan in keys for part in plan.parts if part.direct is None):
        if templates.setdefault(part.attribute, part.template.source) != part.template.source:
            raise DeclarationFault(
                f"{entity.__name__}: {part.attribute} is made by two templates, "
                f"{templates[part.attribute]} and {part.template.source}"
            )
    key_attributes = set(table.key_names).union(*(index.key_names for index in table.indexes))
    for field in fields.values():
        if field.attribute in key_attributes:
            if field.codec.key_type is None:
                raise DeclarationFault(
                    f"{entity.__name__}.{field.name} is stored as {field.attribute}, a key "
                    f"attribute of {table.name}, and must be text, a number or bytes"
                )
            table.claim(field.attribute, field.codec.key_type, f"{entity.__name__}.{field.name}")
