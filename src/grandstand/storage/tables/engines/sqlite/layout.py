"""How a table is stored in SQLite: columns, statements, and items as rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final, TypeAlias

from grandstand.storage.tables.attribute_values import Item, Key, check_size
from grandstand.storage.tables.encoding import pack
from grandstand.storage.tables.engines.sqlite import access_paths
from grandstand.storage.tables.errors import InvalidRequest
from grandstand.storage.tables.schema import IndexSchema, StreamView, TableSchema

Row: TypeAlias = tuple[bytes | int | None, ...]

TOO_LARGE: Final = "Item size to update has exceeded the maximum allowed size"
_INT64: Final = 2**63


@dataclass(frozen=True, slots=True)
class PhysicalNames:
    """The names of a table's SQLite tables, columns and indexes.

    Stored in the catalog as JSON, so the fields are part of the file format. Each generation of a
    table has a new name, so that no statement prepared for an old one can run.
    """

    number: int
    generation: int = 1
    width: int = 0
    columns: Mapping[str, str] = field(default_factory=dict)
    indexes: Mapping[str, str] = field(default_factory=dict)

    @property
    def table(self) -> str:
        return f"t{self.number}_{self.generation}"

    @property
    def unique(self) -> str:
        """The index by primary key."""
        return f"u{self.number}"

    @property
    def expiring(self) -> str:
        """The index by expiry."""
        return f"e{self.number}"

    @property
    def changes(self) -> str:
        """The table of changes."""
        return f"c{self.number}"


@dataclass(frozen=True, slots=True)
class IndexColumn:
    """A column that holds an attribute for the indexes it is a key of."""

    key_column: access_paths.KeyColumn
    encode: access_paths.Encode
    index: str


@dataclass(frozen=True, slots=True)
class Layout:
    """Everything derived from the schema of a table, computed once."""

    schema: TableSchema
    physical: PhysicalNames
    partition: str
    sort: str | None
    encode_partition: access_paths.Encode
    encode_sort: access_paths.Encode
    columns: tuple[IndexColumn, ...]
    composite_limits: tuple[tuple[tuple[int, ...], int], ...]
    table_path: access_paths.AccessPath
    index_paths: Mapping[str, access_paths.AccessPath]
    select_sql: str
    upsert_sql: str
    insert_sql: str
    delete_sql: str
    record_sql: str
    ttl: str | None
    stream_view: StreamView | None
    # Whether a write needs no look at what it replaces.
    writes_blind: bool

    def lookup_key(self, key: Key) -> access_paths.RowKey:
        """Return the row key for a primary key. Raises InvalidRequest."""
        pk = self.encode_partition(key.get(self.partition))
        if self.sort is None:
            if pk and len(pk) <= access_paths.PARTITION_BYTES and len(key) == 1:
                return access_paths.add_bucket(pk), b""
        else:
            sk = self.encode_sort(key.get(self.sort))
            if (
                pk
                and sk
                and len(pk) <= access_paths.PARTITION_BYTES
                and len(sk) <= access_paths.SORT_BYTES
                and len(key) == 2
            ):
                return access_paths.add_bucket(pk), sk
        raise access_paths.lookup_error(self.schema, key)

    def row_key(self, item: Item) -> access_paths.RowKey:
        """Return the row key of a whole item. Raises InvalidRequest."""
        pk = self.encode_partition(item.get(self.partition))
        if self.sort is None:
            if pk and len(pk) <= access_paths.PARTITION_BYTES:
                return access_paths.add_bucket(pk), b""
        else:
            sk = self.encode_sort(item.get(self.sort))
            if (
                pk
                and sk
                and len(pk) <= access_paths.PARTITION_BYTES
                and len(sk) <= access_paths.SORT_BYTES
            ):
                return access_paths.add_bucket(pk), sk
        raise access_paths.item_key_error(self.schema, item)

    def row(self, item: Item) -> Row:
        """Convert a whole item to a row. Raises InvalidRequest."""
        row_key = self.row_key(item)
        if "" in item:
            raise InvalidRequest(
                "One or more parameter values were invalid: an attribute name is empty"
            )
        size = check_size(item)
        if not self.columns and self.ttl is None:
            return (*row_key, None, size, pack(item))
        return (*row_key, *self.index_keys(item), self.expiry(item), size, pack(item))

    def updated_row(self, row_key: access_paths.RowKey, item: Item) -> Row:
        """Convert the result of an update to a row. Raises InvalidRequest."""
        keys = self.index_keys(item, updating=True)
        size = check_size(item, TOO_LARGE)
        return (*row_key, *keys, self.expiry(item), size, pack(item))

    def index_keys(self, item: Item, *, updating: bool = False) -> list[bytes | None]:
        """Return the index keys of an item. Raises InvalidRequest if one is not a valid key."""
        if not self.columns:
            return []
        keys: list[bytes | None] = []
        for column in self.columns:
            name = column.key_column.attribute
            if name not in item:
                keys.append(None)
                continue
            data = column.encode(item[name])
            if not data or len(data) > column.key_column.limit:
                raise access_paths.index_key_error(
                    column.key_column, column.index, item[name], updating=updating
                )
            keys.append(data)
        for positions, limit in self.composite_limits:
            lengths = [len(keys[position] or b"") for position in positions]
            if all(lengths) and sum(lengths) > limit:
                raise access_paths.long_index_key_error(limit, updating=updating)
        return keys

    def stored_index_keys(self, item: Item) -> list[bytes | None]:
        """Return the index keys of an item that is older than the index.

        Attributes that are not valid keys are left out, as when DynamoDB fills an index.
        """
        keys: list[bytes | None] = []
        for column in self.columns:
            name = column.key_column.attribute
            data = column.encode(item[name]) if name in item else None
            keys.append(data if data and len(data) <= column.key_column.limit else None)
        return keys

    def expiry(self, item: Item) -> int | None:
        """Return the expiry in epoch seconds, or None."""
        if self.ttl is None:
            return None
        value = item.get(self.ttl)
        if isinstance(value, bool) or not isinstance(value, int | Decimal):
            return None
        seconds = int(value)
        return seconds if -_INT64 <= seconds < _INT64 else None


def build_layout(schema: TableSchema, physical: PhysicalNames, *, metered: bool = False) -> Layout:
    """Derive the layout. With `metered` every write reads the item it replaces."""
    columns, key_columns = _columns(schema, physical), _table_columns(schema)
    names = ["pk", "sk", *(column.key_column.column for column in columns), "ttl", "size", "item"]
    column_list, placeholders = ", ".join(names), ", ".join("?" * len(names))
    assignments = ", ".join(f"{name} = excluded.{name}" for name in names[2:])
    table = physical.table
    insert = f"INSERT INTO {table}({column_list}) VALUES({placeholders}) ON CONFLICT(pk, sk) DO "
    row = f"{table} INDEXED BY {physical.unique} WHERE pk = ? AND sk = ?"
    return Layout(
        schema=schema,
        physical=physical,
        partition=schema.partition,
        sort=schema.sort,
        encode_partition=access_paths.ENCODERS[schema.types[schema.partition]],
        encode_sort=access_paths.ENCODERS[
            "S" if schema.sort is None else schema.types[schema.sort]
        ],
        columns=columns,
        composite_limits=_composite_limits(schema, columns),
        table_path=access_paths.AccessPath(
            source=f"{table} INDEXED BY {physical.unique}",
            partition_count=1,
            key_count=len(key_columns),
            columns=key_columns,
            key_names=frozenset(schema.key_names),
        ),
        index_paths={index.name: _index_path(schema, physical, index) for index in schema.indexes},
        select_sql=f"SELECT item, size FROM {row}",
        upsert_sql=f"{insert}UPDATE SET {assignments}",
        insert_sql=f"{insert}NOTHING",
        delete_sql=f"DELETE FROM {row}",
        record_sql=f"INSERT INTO {physical.changes}(kind, keys, old, new, at, expired) "
        "VALUES(?, ?, ?, ?, ?, ?)",
        ttl=schema.ttl,
        stream_view=schema.stream,
        writes_blind=schema.stream is None and not metered,
    )


def index_attributes(schema: TableSchema) -> dict[str, int]:
    """Return the attributes that need a column of their own, with their maximum lengths.

    The table's sort key already has a column; so does its partition key, but ordered by bucket,
    which an index can only use for its own partition.
    """
    limits: dict[str, int] = {}
    for index in schema.indexes:
        for name in index.partition:
            if name not in schema.key_names:
                limits[name] = min(
                    limits.get(name, access_paths.PARTITION_BYTES), access_paths.PARTITION_BYTES
                )
        for name in index.sort:
            if name != schema.sort:
                limit = (
                    access_paths.PARTITION_BYTES
                    if name == schema.partition
                    else access_paths.SORT_BYTES
                )
                limits[name] = min(limits.get(name, limit), limit)
    return limits


def _columns(schema: TableSchema, physical: PhysicalNames) -> tuple[IndexColumn, ...]:
    # DynamoDB names the first index, by name, that a wrong attribute is a key of.
    indexes = sorted(schema.indexes, key=lambda index: index.name)
    columns = []
    for name, limit in index_attributes(schema).items():
        kind = schema.types[name]
        key_column = access_paths.KeyColumn(name, physical.columns[name], kind, limit)
        index = next(candidate.name for candidate in indexes if name in candidate.key_names)
        columns.append(IndexColumn(key_column, access_paths.ENCODERS[kind], index))
    return tuple(columns)


def _composite_limits(
    schema: TableSchema, columns: tuple[IndexColumn, ...]
) -> tuple[tuple[tuple[int, ...], int], ...]:
    place = {column.key_column.attribute: position for position, column in enumerate(columns)}
    return tuple(
        (tuple(place[name] for name in names if name in place), limit)
        for index in schema.indexes
        for names, limit in (
            (index.partition, access_paths.PARTITION_BYTES),
            (index.sort, access_paths.SORT_BYTES),
        )
        if len(names) > 1
    )


def _table_columns(schema: TableSchema) -> tuple[access_paths.KeyColumn, ...]:
    name = schema.partition
    partition = access_paths.KeyColumn(
        name, "pk", schema.types[name], access_paths.PARTITION_BYTES, has_bucket=True
    )
    if schema.sort is None:
        return (partition,)
    return (
        partition,
        access_paths.KeyColumn(
            schema.sort, "sk", schema.types[schema.sort], access_paths.SORT_BYTES
        ),
    )


def _index_path(
    schema: TableSchema, physical: PhysicalNames, index: IndexSchema
) -> access_paths.AccessPath:
    columns = index_columns(schema, physical, index)
    projected = None
    if index.projection != "ALL":
        included = index.included if index.projection == "INCLUDE" else ()
        projected = frozenset((*schema.key_names, *index.key_names, *included))
    return access_paths.AccessPath(
        source=f"{physical.table} INDEXED BY {physical.indexes[index.name]}",
        partition_count=len(index.partition),
        key_count=len(index.key_names),
        columns=columns,
        key_names=frozenset((*schema.key_names, *index.key_names)),
        nullable_columns=sparse_columns(columns),
        index=index,
        projected=projected,
    )


def index_columns(
    schema: TableSchema, physical: PhysicalNames, index: IndexSchema
) -> tuple[access_paths.KeyColumn, ...]:
    """Return the columns an index is ordered by, ending with the rest of the table's key."""
    table = _table_columns(schema)
    columns: list[access_paths.KeyColumn] = []
    for position, name in enumerate(index.key_names):
        if name == schema.partition and position < len(index.partition):
            columns.append(table[0])
        elif name == schema.sort:
            columns.append(table[1])
        else:
            limit = (
                access_paths.PARTITION_BYTES
                if position < len(index.partition)
                else access_paths.SORT_BYTES
            )
            columns.append(
                access_paths.KeyColumn(name, physical.columns[name], schema.types[name], limit)
            )
    present = {key_column.column for key_column in columns}
    return (*columns, *(key_column for key_column in table if key_column.column not in present))


def sparse_columns(columns: tuple[access_paths.KeyColumn, ...]) -> tuple[str, ...]:
    """Return the columns that are NULL for items outside the index."""
    return tuple(
        key_column.column for key_column in columns if key_column.column not in ("pk", "sk")
    )
