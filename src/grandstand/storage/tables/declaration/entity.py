"""Kept here: what a record of a table is: typed fields, keys, and the operations it offers."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, Literal, Self, dataclass_transform

from grandstand.base.names import camel
from grandstand.storage.tables.declaration.codecs import plain
from grandstand.storage.tables.declaration.compiling import compile_entity
from grandstand.storage.tables.declaration.fields import attribute
from grandstand.storage.tables.declaration.patterns import Pattern, patterns_of
from grandstand.storage.tables.declaration.plan import EntityPlan
from grandstand.storage.tables.declaration.table import Table
from grandstand.storage.tables.declaration.times import TimeForm
from grandstand.storage.tables.expressions.nodes import Path
from grandstand.storage.tables.operations.checks import Attribute
from grandstand.storage.tables.operations.queries import Key, Scan
from grandstand.storage.tables.operations.single import Delete, Get, Put
from grandstand.storage.tables.operations.updates import Update
from grandstand.storage.tables.values import Item


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(attribute,))
class Entity:
    """A record of a table: a frozen dataclass whose class attributes write conditions.

    `names="camel"` stores `user_id` as userId; `times` is the form of its moments; with
    `schema_version`, items of another version go through `upgrade` when they are read.
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
            rename=camel if names == "camel" else plain,
            times=times,
            schema_version=schema_version,
        )
        cls.__plan__ = plan
        for field in plan.fields.values():
            seen = Attribute(Path((field.attribute,)), field.codec, f"{cls.__name__}.{field.name}")
            setattr(cls, field.name, seen)
        for key_plan in (plan.primary, *plan.indexes):
            declared: Key = vars(cls)[key_plan.name]
            declared.bind(plan, key_plan)
        table.entities.append(cls)
        cls.__patterns__ = patterns_of(cls)

    @classmethod
    def get(cls, **key: object) -> Get[Self]:
        """Ask for one item by the fields of its key; the answer is None when there is none."""
        return Get(cls.__plan__, cls.__plan__.key(key))

    @classmethod
    def update(cls, **key: object) -> Update[Self]:
        """Change an item that exists, by the fields of its key; see `Update` for what it can do."""
        return Update(entity=cls.__plan__, key=cls.__plan__.key(key), known=dict(key))

    @classmethod
    def delete(cls, **key: object) -> Delete[Self]:
        """Remove one item by the fields of its key; the answer is what was there, or None."""
        return Delete(entity=cls.__plan__, key=cls.__plan__.key(key))

    @classmethod
    def scan(cls) -> Scan[Self]:
        """Ask for every item, by reading the whole table."""
        return Scan(entity=cls.__plan__)

    @classmethod
    def upgrade(cls, item: Item) -> Item:
        """Bring an item of an older schema version to this one; without a change by default."""
        return item

    def put(self) -> Put[Self]:
        """Write the whole item, over what may be there; the answer is the entity as stored."""
        return Put(entity=self.__plan__, record=self)

    def identity(self) -> dict[str, Any]:
        """Answer the fields of its key, as `get`, `update` and `delete` take them."""
        return {name: getattr(self, name) for name in self.__plan__.primary_names}

    def replace(self, **changes: object) -> Self:
        """Answer the same record with some fields changed."""
        return dataclasses.replace(self, **changes)  # type: ignore[type-var]
