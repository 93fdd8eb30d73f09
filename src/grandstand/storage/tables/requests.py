"""Kept here: what can be asked of an engine, and what it answers, as plain values.

The two on the path of every single read are tuples, which are made in a third of the time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, NamedTuple, TypeAlias

from grandstand.storage.tables.expressions.nodes import Condition, KeyCondition, Path, Update
from grandstand.storage.tables.values import Item, Key

Returning: TypeAlias = Literal["NONE", "ALL_OLD", "UPDATED_OLD", "ALL_NEW", "UPDATED_NEW"]


class GetItem(NamedTuple):
    """Read one item by its key."""

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
    """Change parts of one item, or make it."""

    table: str
    key: Key
    update: Update = field(default_factory=Update)
    condition: Condition | None = None
    returning: Returning = "NONE"
    show_conflict: bool = False


@dataclass(frozen=True, slots=True)
class DeleteItem:
    """Remove one item."""

    table: str
    key: Key
    condition: Condition | None = None
    returning: Returning = "NONE"
    show_conflict: bool = False


@dataclass(frozen=True, slots=True)
class CheckItem:
    """Within a transaction: demand a condition of an item without writing it."""

    table: str
    key: Key
    condition: Condition
    show_conflict: bool = False


@dataclass(frozen=True, slots=True)
class Query:
    """Read one partition, in order, a page at a time.

    `whole` reads the table's items through a local index, beyond what the index projects.
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
class Scan:
    """Read a whole table or index, in no particular order, a page at a time.

    `whole` reads the table's items through a local index, beyond what the index projects.
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
    """Write all or nothing; the same token within ten minutes is carried out once."""

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
    """The answer to a write: the attributes asked for, and sizes for the capacity it cost."""

    attributes: Item | None = None
    old_bytes: int = 0
    new_bytes: int = 0
    indexes: tuple[IndexWrite, ...] = ()


class Found(NamedTuple):
    """The answer to a read of one item, with the item's whole size."""

    item: Item | None
    read_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Page:
    """The answer to a query or scan.

    `scanned` counts what was read before the filter; `last_key` is there whenever the page ended
    for a limit, even when nothing follows.
    """

    items: tuple[Item, ...]
    scanned: int
    last_key: Key | None = None
    read_bytes: int = 0


@dataclass(frozen=True, slots=True)
class BatchRead:
    """What a batch read found, and the keys left unprocessed. `found` is in no set order.

    `found_bytes` are the whole sizes of what was found, in its order; none where the engine does
    not know them.
    """

    found: tuple[tuple[str, Item], ...]
    left: tuple[GetItem, ...] = ()
    read_bytes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    found_bytes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class BatchWritten:
    """The actions of a batch write left unprocessed, and what the others did."""

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
    """Some changes, and the position to ask from next; `caught_up` when nothing waits."""

    changes: tuple[Change, ...]
    position: str
    caught_up: bool
