"""Kept here: a table as it is declared, and the name it gets where it runs."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from grandstand.storage.tables.errors import DeclarationFault
from grandstand.storage.tables.schema import (
    Capacity,
    IndexSchema,
    KeyType,
    Projection,
    StreamView,
    TableSchema,
)

if TYPE_CHECKING:
    from grandstand.storage.tables.declaration.entity import Entity

_NAME: Final = re.compile(r"[a-zA-Z0-9_.-]{3,255}")
_MAX_INDEXES: Final = 20


@dataclass(frozen=True, slots=True)
class Naming:
    """How declared names become physical ones: a prefix, and the environment where it is named."""

    prefix: str = ""
    environment: str = "local"
    renamed: tuple[tuple[str, str], ...] = ()

    def physical(self, declared: str) -> str:
        """Answer the name a table has in this place; raise DeclarationFault if it is not legal."""
        given = dict(self.renamed).get(declared, declared)
        name = self.prefix + given.replace("{environment}", self.environment)
        if not _NAME.fullmatch(name):
            message = (
                f"{name!r} is no legal table name: use 3 to 255 of a-z, A-Z, 0-9, '_', '-' and '.'"
            )
            raise DeclarationFault(message)
        return name


@dataclass(frozen=True, slots=True)
class Index:
    """A secondary index: its name and the attributes of its key."""

    name: str
    partition: str
    sort: str | None = None
    projection: Projection = "ALL"
    included: tuple[str, ...] = ()
    local: bool = False
    capacity: Capacity | None = None

    @property
    def key_names(self) -> tuple[str, ...]:
        """The attributes an item needs to be in the index."""
        return (self.partition,) if self.sort is None else (self.partition, self.sort)


@dataclass(frozen=True, eq=False)
class Table:
    """A table: key attributes, indexes, expiry, stream, capacity, and what lives in it.

    The name may hold `{environment}`. Without `capacity` it is billed on demand. `entities` fills
    as the classes that name this table are declared; attribute types follow from their fields.
    """

    name: str
    partition: str
    sort: str | None = None
    indexes: tuple[Index, ...] = ()
    ttl: str | None = None
    stream: StreamView | None = None
    capacity: Capacity | None = None
    purpose: str = ""
    entities: list[type[Entity]] = field(default_factory=list)
    types: dict[str, KeyType] = field(default_factory=dict)

    def __post_init__(self) -> None:
        Naming(environment="any").physical(self.name)
        names = [index.name for index in self.indexes]
        if len(names) > _MAX_INDEXES or len(set(names)) < len(names):
            message = f"{self.name}: give each of at most {_MAX_INDEXES} indexes a name of its own"
            raise DeclarationFault(message)
        for index in self.indexes:
            if index.local and (self.sort is None or index.partition != self.partition):
                message = (
                    f"{self.name}: the local index {index.name} needs a table with a sort key and "
                    "the table's own partition key"
                )
                raise DeclarationFault(message)

    @property
    def key_names(self) -> tuple[str, ...]:
        """The attributes that identify an item."""
        return (self.partition,) if self.sort is None else (self.partition, self.sort)

    def index(self, name: str) -> Index:
        """Answer the index of that name; raise DeclarationFault when there is none."""
        for index in self.indexes:
            if index.name == name:
                return index
        known = ", ".join(index.name for index in self.indexes) or "none"
        message = f"{self.name} has no index {name}; declared: {known}"
        raise DeclarationFault(message)

    def claim(self, attribute: str, key_type: KeyType, by: str) -> None:
        """Settle a key attribute's type; raise DeclarationFault when it was settled differently."""
        known = self.types.setdefault(attribute, key_type)
        if known != key_type:
            message = (
                f"{by} makes the key attribute {attribute} of {self.name} a {key_type}, elsewhere "
                f"it is a {known}: give both the same kind of field"
            )
            raise DeclarationFault(message)

    def schema(self, naming: Naming) -> TableSchema:
        """Answer the physical table; key attributes no entity has claimed are text."""
        used = set(self.key_names).union(*(index.key_names for index in self.indexes))
        return TableSchema(
            name=naming.physical(self.name),
            partition=self.partition,
            sort=self.sort,
            types={name: self.types.get(name, "S") for name in sorted(used)},
            indexes=tuple(_index_schema(index) for index in self.indexes),
            ttl=self.ttl,
            stream=self.stream,
            capacity=self.capacity,
        )


def _index_schema(index: Index) -> IndexSchema:
    return IndexSchema(
        name=index.name,
        partition=(index.partition,),
        sort=() if index.sort is None else (index.sort,),
        projection=index.projection,
        included=index.included,
        local=index.local,
        capacity=index.capacity,
    )
