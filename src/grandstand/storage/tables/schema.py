"""The physical schema of a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeAlias

KeyType: TypeAlias = Literal["S", "N", "B"]
Projection: TypeAlias = Literal["ALL", "KEYS_ONLY", "INCLUDE"]
StreamView: TypeAlias = Literal["KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES"]


@dataclass(frozen=True, slots=True)
class Capacity:
    """Provisioned reads and writes per second."""

    read_units: int
    write_units: int


@dataclass(frozen=True, slots=True)
class IndexSchema:
    """A secondary index; keys may have several attributes."""

    name: str
    partition: tuple[str, ...]
    sort: tuple[str, ...] = ()
    projection: Projection = "ALL"
    included: tuple[str, ...] = ()
    local: bool = False
    capacity: Capacity | None = None

    @property
    def key_names(self) -> tuple[str, ...]:
        """The attributes an item needs to be in this index."""
        return self.partition + self.sort


@dataclass(frozen=True, slots=True)
class TableSchema:
    """A table as an engine stores it, under its physical name."""

    name: str
    partition: str
    sort: str | None = None
    types: Mapping[str, KeyType] = field(default_factory=dict)
    indexes: tuple[IndexSchema, ...] = ()
    ttl: str | None = None
    stream: StreamView | None = None
    capacity: Capacity | None = None

    @property
    def key_names(self) -> tuple[str, ...]:
        """The attributes that identify an item."""
        return (self.partition,) if self.sort is None else (self.partition, self.sort)

    def index(self, name: str) -> IndexSchema | None:
        return next((index for index in self.indexes if index.name == name), None)


@dataclass(frozen=True, slots=True)
class TableDescription:
    """A table's schema, creation time and size.

    `settings` belong to whoever stores them (tags, identifiers); the engine does not interpret
    them. `index_counts` has the items and bytes of each index, if the engine counts them.
    """

    schema: TableSchema
    created_at: datetime
    items: int
    size_bytes: int
    stream_label: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    index_counts: Mapping[str, tuple[int, int]] = field(default_factory=dict)
