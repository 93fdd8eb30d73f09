"""Declared tables and indexes, and their physical names."""

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
    """How declared names become physical ones: a prefix, an environment, and explicit names."""

    prefix: str = ""
    environment: str = "local"
    renamed: tuple[tuple[str, str], ...] = ()

    def physical(self, declared: str) -> str:
        """Return the physical name of a table. Raises DeclarationFault if it is not valid."""
        base = dict(self.renamed).get(declared, declared)
        name = self.prefix + base.replace("{environment}", self.environment)
        if not _NAME.fullmatch(name):
            raise DeclarationFault(
                f"Invalid table name {name!r}. Use 3 to 255 of a-z, A-Z, 0-9, '_', '-' and '.'."
            )
        return name


@dataclass(frozen=True, slots=True)
class Index:
    """A secondary index."""

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
    """A table: key attributes, indexes, expiry, stream, capacity, and its entities.

    The name may contain `{environment}`. Without `capacity` it is billed on demand. `entities` are
    added as classes that name this table are declared; attribute types follow from their fields.

    Example:
        games = Table("games", partition="pk", sort="sk", ttl="expires")
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
            raise DeclarationFault(
                f"{self.name}: at most {_MAX_INDEXES} indexes are allowed, with distinct names."
            )
        for index in self.indexes:
            if index.local and (self.sort is None or index.partition != self.partition):
                raise DeclarationFault(
                    f"{self.name}: the local index {index.name} needs a table with a sort key, and "
                    "the partition key of the table."
                )

    @property
    def key_names(self) -> tuple[str, ...]:
        return (self.partition,) if self.sort is None else (self.partition, self.sort)

    def index(self, name: str) -> Index:
        """Return an index. Raises DeclarationFault if there is none of that name."""
        for index in self.indexes:
            if index.name == name:
                return index
        declared = ", ".join(index.name for index in self.indexes) or "none"
        raise DeclarationFault(f"{self.name} has no index {name}. Declared indexes: {declared}.")

    def claim(self, attribute: str, key_type: KeyType, by: str) -> None:
        """Fix the type of a key attribute. Raises DeclarationFault if it already has another."""
        declared = self.types.setdefault(attribute, key_type)
        if declared != key_type:
            raise DeclarationFault(
                f"{by} declares the key attribute {attribute} of {self.name} as {key_type}, but "
                f"elsewhere it is {declared}. Use the same type of field."
            )

    def schema(self, naming: Naming) -> TableSchema:
        """Return the physical schema; key attributes that no entity uses are strings."""
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
