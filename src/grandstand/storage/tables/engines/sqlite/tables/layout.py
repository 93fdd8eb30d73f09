"""Kept here: how one table lies in the file: its columns, its statements, its items as rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final, TypeAlias

from grandstand.storage.tables.encoding.packing import pack
from grandstand.storage.tables.engines.sqlite.ordered.keys import (
    ENCODERS,
    PARTITION_BYTES,
    SORT_BYTES,
    Encode,
    Part,
    Spot,
    bucketed,
    emptied_index_key,
    empty_index_key,
    explain_item,
    explain_lookup,
    overgrown_index_key,
    too_long,
    unfit_index_key,
)
from grandstand.storage.tables.engines.sqlite.ordered.ways import Way
from grandstand.storage.tables.errors import InvalidRequest
from grandstand.storage.tables.schema import IndexSchema, StreamView, TableSchema
from grandstand.storage.tables.values import Item, Key, Value, check_size

Row: TypeAlias = tuple[bytes | int | None, ...]

TOO_LARGE: Final = "Item size to update has exceeded the maximum allowed size"
_INT64: Final = 2**63


@dataclass(frozen=True, slots=True)
class Physical:
    """What of a table's place in the file its schema does not tell."""

    number: int
    generation: int = 1
    width: int = 0
    columns: Mapping[str, str] = field(default_factory=dict)
    indexes: Mapping[str, str] = field(default_factory=dict)

    @property
    def table(self) -> str:
        """The table of the items; a new generation has a new name, so no old statement runs."""
        return f"t{self.number}_{self.generation}"

    @property
    def unique(self) -> str:
        """The index by the table's key."""
        return f"u{self.number}"

    @property
    def expiring(self) -> str:
        """The index by the moment of expiry."""
        return f"e{self.number}"

    @property
    def changes(self) -> str:
        """The table of the changes."""
        return f"c{self.number}"


@dataclass(frozen=True, slots=True)
class Column:
    """One attribute kept in a column of its own for the indexes it is a key of."""

    part: Part
    encode: Encode
    index: str


@dataclass(frozen=True, slots=True)
class Layout:
    """One table ready for use: everything that follows from its schema, worked out once."""

    schema: TableSchema
    physical: Physical
    partition: str
    sort: str | None
    encode_partition: Encode
    encode_sort: Encode
    columns: tuple[Column, ...]
    groups: tuple[tuple[tuple[int, ...], int], ...]
    way: Way
    ways: Mapping[str, Way]
    select: str
    upsert: str
    insert: str
    remove: str
    record: str
    ttl: str | None
    view: StreamView | None
    plain: bool
    delayed: bool

    def locate(self, key: Key) -> Spot:
        """Turn an item's key into where it is kept; raise InvalidRequest."""
        pk = self.encode_partition(key.get(self.partition))
        if self.sort is None:
            if pk and len(pk) <= PARTITION_BYTES and len(key) == 1:
                return bucketed(pk), b""
        else:
            sk = self.encode_sort(key.get(self.sort))
            if (
                pk and sk and len(pk) <= PARTITION_BYTES and len(sk) <= SORT_BYTES and len(key) == 2  # noqa: PLR2004 - the partition key and the sort key
            ):
                return bucketed(pk), sk
        raise explain_lookup(self.schema, key)

    def spot(self, item: Item) -> Spot:
        """Find where a whole item is to be kept; raise InvalidRequest."""
        pk = self.encode_partition(item.get(self.partition))
        if self.sort is None:
            if pk and len(pk) <= PARTITION_BYTES:
                return bucketed(pk), b""
        else:
            sk = self.encode_sort(item.get(self.sort))
            if pk and sk and len(pk) <= PARTITION_BYTES and len(sk) <= SORT_BYTES:
                return bucketed(pk), sk
        raise explain_item(self.schema, item)

    def row(self, item: Item) -> Row:
        """Turn a whole item into its row; raise InvalidRequest."""
        spot = self.spot(item)
        if "" in item:
            raise InvalidRequest(
                "One or more parameter values were invalid: an attribute name is empty"
            )
        size = check_size(item)
        if not self.columns and self.ttl is None:
            return (*spot, None, size, pack(item))
        return (*spot, *self.index_keys(item), self.expiry(item), size, pack(item))

    def updated_row(self, spot: Spot, item: Item) -> Row:
        """Turn an item as an update left it into its row; raise InvalidRequest."""
        keys = self.index_keys(item, updating=True)
        size = check_size(item, TOO_LARGE)
        return (*spot, *keys, self.expiry(item), size, pack(item))

    def index_keys(self, item: Item, *, updating: bool = False) -> list[bytes | None]:
        """Take the index keys out of an item; raise InvalidRequest when one cannot be kept."""
        if not self.columns:
            return []
        found: list[bytes | None] = []
        for column in self.columns:
            name = column.part.attribute
            if name not in item:
                found.append(None)
                continue
            data = column.encode(item[name])
            if not data or len(data) > column.part.limit:
                raise _explain(column, item[name], data, updating=updating)
            found.append(data)
        for positions, limit in self.groups:
            lengths = [len(found[at] or b"") for at in positions]
            if all(lengths) and sum(lengths) > limit:
                raise overgrown_index_key() if updating else too_long(limit)
        return found

    def stored_index_keys(self, item: Item) -> list[bytes | None]:
        """Take the index keys out of an item that was there before its index.

        What cannot be a key is left out, as DynamoDB does when it fills an index.
        """
        found: list[bytes | None] = []
        for column in self.columns:
            name = column.part.attribute
            data = column.encode(item[name]) if name in item else None
            found.append(data if data and len(data) <= column.part.limit else None)
        return found

    def expiry(self, item: Item) -> int | None:
        """Tell when an item expires, in seconds since 1970; None for never."""
        if self.ttl is None:
            return None
        value = item.get(self.ttl)
        if isinstance(value, bool) or not isinstance(value, int | Decimal):
            return None
        seconds = int(value)
        return seconds if -_INT64 <= seconds < _INT64 else None


def _explain(column: Column, value: Value, data: bytes | None, *, updating: bool) -> InvalidRequest:
    if data is None:
        return unfit_index_key(column.part, column.index, value)
    if not data:
        return (
            emptied_index_key(value)
            if updating
            else empty_index_key(column.part, column.index, value)
        )
    return overgrown_index_key() if updating else too_long(column.part.limit)


def lay_out(
    schema: TableSchema, physical: Physical, *, metered: bool = False, delayed: bool = False
) -> Layout:
    """Work out everything that follows from a schema and its place in the file.

    With `metered` every write reads what it replaces; with `delayed` global indexes are read from
    a copy that lags behind.
    """
    columns = _columns(schema, physical)
    names = ["pk", "sk", *(column.part.column for column in columns), "ttl", "size", "item"]
    listed, marks = ", ".join(names), ", ".join("?" * len(names))
    kept = ", ".join(f"{name} = excluded.{name}" for name in names[2:])
    table = physical.table
    insert = f"INSERT INTO {table}({listed}) VALUES({marks}) ON CONFLICT(pk, sk) DO "
    at = f"{table} INDEXED BY {physical.unique} WHERE pk = ? AND sk = ?"
    return Layout(
        schema=schema,
        physical=physical,
        partition=schema.partition,
        sort=schema.sort,
        encode_partition=ENCODERS[schema.types[schema.partition]],
        encode_sort=ENCODERS["S" if schema.sort is None else schema.types[schema.sort]],
        columns=columns,
        groups=_groups(schema, columns),
        way=_table_way(schema, physical),
        ways={
            index.name: _index_way(schema, physical, index, delayed=delayed)
            for index in schema.indexes
        },
        select=f"SELECT item, size FROM {at}",
        upsert=f"{insert}UPDATE SET {kept}",
        insert=f"{insert}NOTHING",
        remove=f"DELETE FROM {at}",
        record=f"INSERT INTO {physical.changes}(kind, keys, old, new, at, expired) "
        "VALUES(?, ?, ?, ?, ?, ?)",
        ttl=schema.ttl,
        view=schema.stream,
        plain=schema.stream is None and not metered and not delayed,
        delayed=delayed,
    )


def index_attributes(schema: TableSchema) -> dict[str, int]:
    """Name the attributes that need a column of their own, each with how long it may be.

    The table's sort key is a column already; so is its partition key, but in the order of buckets,
    which serves an index only where that attribute is its partition.
    """
    needed: dict[str, int] = {}
    for index in schema.indexes:
        for name in index.partition:
            if name not in schema.key_names:
                needed[name] = min(needed.get(name, PARTITION_BYTES), PARTITION_BYTES)
        for name in index.sort:
            if name != schema.sort:
                limit = PARTITION_BYTES if name == schema.partition else SORT_BYTES
                needed[name] = min(needed.get(name, limit), limit)
    return needed


def _columns(schema: TableSchema, physical: Physical) -> tuple[Column, ...]:
    # DynamoDB names the first index, by name, that a wrong attribute is a key of.
    indexes = sorted(schema.indexes, key=lambda index: index.name)
    columns = []
    for name, limit in index_attributes(schema).items():
        kind = schema.types[name]
        part = Part(name, physical.columns[name], kind, limit)
        index = next(one.name for one in indexes if name in one.key_names)
        columns.append(Column(part, ENCODERS[kind], index))
    return tuple(columns)


def _groups(
    schema: TableSchema, columns: tuple[Column, ...]
) -> tuple[tuple[tuple[int, ...], int], ...]:
    place = {column.part.attribute: at for at, column in enumerate(columns)}
    return tuple(
        (tuple(place[name] for name in names if name in place), limit)
        for index in schema.indexes
        for names, limit in ((index.partition, PARTITION_BYTES), (index.sort, SORT_BYTES))
        if len(names) > 1
    )


def _table_way(schema: TableSchema, physical: Physical) -> Way:
    parts = _table_parts(schema)
    return Way(
        source=f"{physical.table} INDEXED BY {physical.unique}",
        partition=1,
        keyed=len(parts),
        parts=parts,
        key_names=frozenset(schema.key_names),
    )


def _table_parts(schema: TableSchema) -> tuple[Part, ...]:
    name = schema.partition
    partition = Part(name, "pk", schema.types[name], PARTITION_BYTES, bucketed=True)
    if schema.sort is None:
        return (partition,)
    return (partition, Part(schema.sort, "sk", schema.types[schema.sort], SORT_BYTES))


def _index_way(
    schema: TableSchema, physical: Physical, index: IndexSchema, *, delayed: bool
) -> Way:
    parts = index_parts(schema, physical, index)
    table, name = physical.table, physical.indexes[index.name]
    if delayed and not index.local:
        table, name = f"s{table}", f"s{name}"
    return Way(
        source=f"{table} INDEXED BY {name}",
        partition=len(index.partition),
        keyed=len(index.key_names),
        parts=parts,
        key_names=frozenset((*schema.key_names, *index.key_names)),
        sparse=sparse_columns(parts),
        index=index,
        mask=index_mask(schema, index),
    )


def index_parts(schema: TableSchema, physical: Physical, index: IndexSchema) -> tuple[Part, ...]:
    """Answer the columns an index is ordered by; what it lacks of the table's key comes last."""
    table = _table_parts(schema)
    parts: list[Part] = []
    for at, name in enumerate(index.key_names):
        if name == schema.partition and at < len(index.partition):
            parts.append(table[0])
        elif name == schema.sort:
            parts.append(table[1])
        else:
            limit = PARTITION_BYTES if at < len(index.partition) else SORT_BYTES
            parts.append(Part(name, physical.columns[name], schema.types[name], limit))
    have = {part.column for part in parts}
    return (*parts, *(part for part in table if part.column not in have))


def sparse_columns(parts: tuple[Part, ...]) -> tuple[str, ...]:
    """Name those columns that an item may lack."""
    return tuple(part.column for part in parts if part.column not in ("pk", "sk"))


def index_mask(schema: TableSchema, index: IndexSchema) -> frozenset[str] | None:
    """Name the attributes an index shows; None for all."""
    if index.projection == "ALL":
        return None
    included = index.included if index.projection == "INCLUDE" else ()
    return frozenset((*schema.key_names, *index.key_names, *included))
