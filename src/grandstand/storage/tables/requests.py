"""Requests to an engine and its results.

GetItem and Found are tuples, which take a third of the time to create: every read needs them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, NamedTuple, TypeAlias

from grandstand.storage.tables.attribute_values import Item, Key
from grandstand.storage.tables.expressions.nodes import Condition, KeyCondition, Path, UpdateNode

Returning: TypeAlias = Literal["NONE", "ALL_OLD", "UPDATED_OLD", "ALL_NEW", "UPDATED_NEW"]


class GetItem(NamedTuple):
    table: str
    key: Key
    projection: tuple[Path, ...] = ()
    consistent: bool = False


@dataclass(frozen=True, slots=True)
class PutItem:
    """Write one whole item."""

    table: str
    item: Item
    condition: Condition | None = None
    returning: Returning = "NONE"
    show_conflict: bool = False


@dataclass(frozen=True, slots=True)
class UpdateItem:
    """Update parts of an item, or create it."""

    table: str
    key: Key
    update: UpdateNode = field(default_factory=UpdateNode)
    condition: Condition | None = None
    returning: Returning = "NONE"
    show_conflict: bool = False


@dataclass(frozen=True, slots=True)
class DeleteItem:
    table: str
    key: Key
    condition: Condition | None = None
    returning: Returning = "NONE"
    show_conflict: bool = False


@dataclass(frozen=True, slots=True)
class CheckItem:
    """In a transaction: require a condition of an item without writing it."""

    table: str
    key: Key
    condition: Condition
    show_conflict: bool = False


@dataclass(frozen=True, slots=True)
class QueryRequest:
    """Read a page of one partition, in order.

    `whole` reads whole items through a local index, beyond what it projects.
    """

    table: str
    where: KeyCondition
    index: str | None = None
    filter: Condition | None = None
    projection: tuple[Path, ...] = ()
    forward: bool = True
    limit: int | None = None
    start: Key | None = None
    consistent: bool = False
    whole: bool = False


@dataclass(frozen=True, slots=True)
class ScanRequest:
    """Read a page of a table or index, in no particular order.

    `whole` reads whole items through a local index, beyond what it projects.
    """

    table: str
    index: str | None = None
    filter: Condition | None = None
    projection: tuple[Path, ...] = ()
    limit: int | None = None
    start: Key | None = None
    segment: int = 0
    segments: int = 1
    consistent: bool = False
    whole: bool = False


WriteAction: TypeAlias = PutItem | UpdateItem | DeleteItem | CheckItem


@dataclass(frozen=True, slots=True)
class Transaction:
    """Write all or nothing; the same token is executed once within ten minutes."""

    actions: tuple[WriteAction, ...]
    token: str | None = None


@dataclass(frozen=True, slots=True)
class IndexWrite:
    """What a write did to one index, in bytes of the projected item; 0 means absent."""

    index: str
    old_bytes: int
    new_bytes: int
    key_changed: bool


@dataclass(frozen=True, slots=True)
class Written:
    """The result of a write: the requested attributes, and sizes for its capacity."""

    attributes: Item | None = None
    old_bytes: int = 0
    new_bytes: int = 0
    indexes: tuple[IndexWrite, ...] = ()


class Found(NamedTuple):
    """The result of reading one item, with its full size."""

    item: Item | None
    read_bytes: int = 0


@dataclass(frozen=True, slots=True)
class RawPage:
    """The result of a query or scan.

    `scanned` counts items before the filter; `last_key` is set whenever the page ended at a limit,
    even if nothing follows.
    """

    items: tuple[Item, ...]
    scanned: int
    last_key: Key | None = None
    read_bytes: int = 0


@dataclass(frozen=True, slots=True)
class BatchRead:
    """The items a batch read found, in no particular order, and the unprocessed keys.

    `found_bytes` are the full sizes of the items found; empty if the engine does not know them.
    """

    found: tuple[tuple[str, Item], ...]
    left: tuple[GetItem, ...] = ()
    read_bytes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    found_bytes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class BatchWritten:
    """The unprocessed actions of a batch write, and what the others did."""

    left: tuple[PutItem | DeleteItem, ...] = ()
    written: tuple[tuple[str, Written], ...] = ()


ChangeKind: TypeAlias = Literal["INSERT", "MODIFY", "REMOVE"]


@dataclass(frozen=True, slots=True)
class Change:
    """One change of one item, in the order of the table's stream."""

    sequence: str
    kind: ChangeKind
    keys: Key
    old: Item | None
    new: Item | None
    at: datetime
    expired: bool = False
    size_bytes: int = 0


@dataclass(frozen=True, slots=True)
class ChangeBatch:
    """Some changes and the position after them; `caught_up` if there are no more."""

    changes: tuple[Change, ...]
    position: str
    caught_up: bool
