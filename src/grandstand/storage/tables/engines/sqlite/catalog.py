"""The catalog of tables, and creating, altering, describing and deleting them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

import msgspec

from grandstand.storage.tables.encoding import unpack
from grandstand.storage.tables.engines.sqlite.connections import ConnectionContext, Execute
from grandstand.storage.tables.engines.sqlite.layout import (
    Layout,
    PhysicalNames,
    build_layout,
    index_attributes,
    index_columns,
    sparse_columns,
)
from grandstand.storage.tables.errors import InvalidRequest, TableInUse, TableNotFound
from grandstand.storage.tables.schema import IndexSchema, TableDescription, TableSchema

_NAME: Final = re.compile(r"[a-zA-Z0-9_.-]{3,255}")
_INVALID: Final = "One or more parameter values were invalid: "
_MAX_GLOBAL_INDEXES: Final = 20
_MAX_LOCAL_INDEXES: Final = 5
_MAX_KEY_ATTRIBUTES: Final = 4


def check_schema(schema: TableSchema) -> None:
    """Raise InvalidRequest unless DynamoDB would accept the schema."""
    _check_name(schema.name)
    names = [index.name for index in schema.indexes]
    for name in names:
        _check_name(name)
        if names.count(name) > 1:
            raise InvalidRequest(f"{_INVALID}Duplicate index name: {name}")
    _check_types(schema, schema.key_names)
    if schema.partition == schema.sort:
        raise InvalidRequest(
            "Both the Hash Key and the Range Key element in the KeySchema have the same name"
        )
    for index in schema.indexes:
        _check_index(schema, index)
    local = sum(index.local for index in schema.indexes)
    if local > _MAX_LOCAL_INDEXES:
        raise InvalidRequest(
            f"{_INVALID}Number of LocalSecondaryIndexes exceeds per-table limit of "
            f"{_MAX_LOCAL_INDEXES}"
        )
    if len(names) - local > _MAX_GLOBAL_INDEXES:
        raise InvalidRequest(
            f"{_INVALID}GlobalSecondaryIndex count exceeds the per-table limit of "
            f"{_MAX_GLOBAL_INDEXES}"
        )


def check_change(old: TableSchema, new: TableSchema) -> None:
    """Raise InvalidRequest unless one schema can be changed to the other."""
    check_schema(new)
    reused = [
        (schema.partition, schema.sort, [schema.types[name] for name in schema.key_names])
        for schema in (old, new)
    ]
    if reused[0] != reused[1]:
        raise InvalidRequest(f"{_INVALID}the key of a table cannot be changed")
    if [index for index in old.indexes if index.local] != [
        index for index in new.indexes if index.local
    ]:
        raise InvalidRequest(f"{_INVALID}local indexes cannot be changed")


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise InvalidRequest(
            "Invalid table/index name.  Table/index names must be between 3 and 255 characters "
            "long, and may contain only the characters a-z, A-Z, 0-9, '_', '-', and '.'"
        )


def _check_types(schema: TableSchema, names: tuple[str, ...]) -> None:
    for name in names:
        if schema.types.get(name) not in ("S", "N", "B"):
            raise InvalidRequest(
                f"{_INVALID}Some AttributeDefinitions are missing: give the key attribute {name} "
                "the type S, N or B"
            )


def _check_index(schema: TableSchema, index: IndexSchema) -> None:
    _check_types(schema, index.key_names)
    for names in (index.partition, index.sort):
        if len(names) > _MAX_KEY_ATTRIBUTES:
            raise InvalidRequest(
                f"{_INVALID}index {index.name} has more than {_MAX_KEY_ATTRIBUTES} attributes in "
                "its partition or sort key"
            )
    if not index.partition or len(set(index.key_names)) != len(index.key_names):
        raise InvalidRequest(f"{_INVALID}index {index.name} names no key, or one attribute twice")
    if index.local and (schema.sort is None or index.partition != (schema.partition,)):
        raise InvalidRequest(
            f"{_INVALID}Table KeySchema does not have a range key, or index {index.name} does not "
            "have the table's hash key, which a local secondary index needs"
        )


# DynamoDB's counts are up to six hours old. These are exact for small tables, and otherwise
# estimated from samples spread evenly over the table.
_MAX_EXACT_COUNT: Final = 10_000
_SAMPLES: Final = 64
_SAMPLE_ROWS: Final = 100


def count_items(
    context: ConnectionContext, layout: Layout
) -> tuple[tuple[int, int], dict[str, tuple[int, int]]]:
    """Return the items and bytes of the table, and of each index by name.

    An index counts its items in full, whatever it projects.
    """
    sums = ["count(*)", "total(size)"]
    for access in layout.index_paths.values():
        in_index = (
            " AND ".join(f"{column} IS NOT NULL" for column in access.nullable_columns) or "1"
        )
        sums += [f"total({in_index})", f"total(CASE WHEN {in_index} THEN size END)"]
    table, columns = layout.physical.table, ", ".join(sums)
    source_columns = ", ".join(
        {
            "size",
            *(name for access in layout.index_paths.values() for name in access.nullable_columns),
        }
    )
    totals = context.execute(
        f"SELECT {columns} FROM (SELECT {source_columns} FROM {table} NOT INDEXED "
        f"LIMIT {_MAX_EXACT_COUNT + 1})"
    ).fetchone()
    if totals[0] > _MAX_EXACT_COUNT:
        totals = _estimate(context, table, columns)
    counts = [round(number) for number in totals]
    indexes = {
        name: (counts[2 * position + 2], counts[2 * position + 3])
        for position, name in enumerate(layout.index_paths)
    }
    return (counts[0], counts[1]), indexes


def _estimate(context: ConnectionContext, table: str, columns: str) -> list[float]:
    low, high = context.execute(
        f"SELECT (SELECT min(id) FROM {table}), (SELECT max(id) FROM {table})"
    ).fetchone()
    id_range = high - low + 1
    totals: list[float] = []
    for position in range(_SAMPLES):
        start = low + (id_range - _SAMPLE_ROWS) * position // (_SAMPLES - 1)
        row = context.execute(
            f"SELECT {columns} FROM {table} WHERE id BETWEEN ? AND ?",
            (start, start + _SAMPLE_ROWS - 1),
        ).fetchone()
        totals = [a + b for a, b in zip(totals or [0.0] * len(row), row, strict=True)]
    return [total * id_range / (_SAMPLES * _SAMPLE_ROWS) for total in totals]


def assign_names(
    schema: TableSchema, before: PhysicalNames, old: TableSchema | None = None
) -> PhysicalNames:
    """Assign a column to every index key and a name to every index, reusing what fits."""
    limits = index_attributes(schema)
    reused = {
        name: column
        for name, column in before.columns.items()
        if name in limits and old is not None and old.types.get(name) == schema.types[name]
    }
    unused = [name for name in _column_names(before.width) if name not in reused.values()]
    columns, width = dict(reused), before.width
    for name in limits:
        if name not in columns:
            columns[name] = unused.pop(0) if unused else f"k{width}"
            width = max(width, int(columns[name][1:]) + 1)
    indexes = {
        index.name: before.indexes[index.name]
        if old is not None and _same_order(schema, old, index) and index.name in before.indexes
        else f"i{before.number}_{before.generation}_{position}"
        for position, index in enumerate(schema.indexes)
    }
    return replace(before, width=width, columns=columns, indexes=indexes)


def _column_names(width: int) -> list[str]:
    return [f"k{position}" for position in range(width)]


def _same_order(schema: TableSchema, old: TableSchema, index: IndexSchema) -> bool:
    other = old.index(index.name)
    return (
        other is not None
        and other.partition == index.partition
        and other.sort == index.sort
        and all(old.types.get(name) == schema.types[name] for name in index.key_names)
    )


def create_physical(execute: Execute, schema: TableSchema, physical: PhysicalNames) -> None:
    """Create the SQLite tables and indexes of a new table."""
    columns = "".join(f"{name} BLOB, " for name in _column_names(physical.width))
    execute(
        f"CREATE TABLE {physical.table}(id INTEGER PRIMARY KEY, pk BLOB NOT NULL, "
        f"sk BLOB NOT NULL, {columns}ttl INTEGER, size INTEGER NOT NULL, item BLOB NOT NULL)"
    )
    execute(f"CREATE UNIQUE INDEX {physical.unique} ON {physical.table}(pk, sk)")
    for index in schema.indexes:
        execute(_index_statement(schema, physical, index))
    if schema.ttl is not None:
        execute(_expiring_statement(physical))
    if schema.stream is not None:
        execute(_changes_statement(physical))


def _index_statement(schema: TableSchema, physical: PhysicalNames, index: IndexSchema) -> str:
    """Return the statement for a partial index: only items with its whole key are in it."""
    key_columns = index_columns(schema, physical, index)
    order = ", ".join(key_column.column for key_column in key_columns)
    sparse = " AND ".join(f"{column} IS NOT NULL" for column in sparse_columns(key_columns))
    where = f" WHERE {sparse}" if sparse else ""
    name = physical.indexes[index.name]
    return f"CREATE INDEX {name} ON {physical.table}({order}){where}"


def _expiring_statement(physical: PhysicalNames) -> str:
    return f"CREATE INDEX {physical.expiring} ON {physical.table}(ttl) WHERE ttl IS NOT NULL"


def _changes_statement(physical: PhysicalNames) -> str:
    return (
        f"CREATE TABLE IF NOT EXISTS {physical.changes}("
        "sequence INTEGER PRIMARY KEY, kind INTEGER NOT NULL, keys BLOB, old BLOB, new BLOB, "
        "at REAL NOT NULL, expired INTEGER NOT NULL)"
    )


def migrate(context: ConnectionContext, old: Layout, new: Layout) -> None:
    """Change a table from one layout to the next generation."""
    before, after, execute = old.physical, new.physical, context.execute
    execute(f"ALTER TABLE {before.table} RENAME TO {after.table}")
    for name, index in before.indexes.items():
        if after.indexes.get(name) != index:
            execute(f"DROP INDEX {index}")
    for column in _column_names(after.width)[before.width :]:
        execute(f"ALTER TABLE {after.table} ADD COLUMN {column} BLOB")
    if old.ttl is not None and new.ttl is None:
        execute(f"DROP INDEX {before.expiring}")
    if new.ttl != old.ttl or any(
        before.columns.get(name) != column for name, column in after.columns.items()
    ):
        _fill_columns(context, new)
    for index_schema in new.schema.indexes:
        if before.indexes.get(index_schema.name) != after.indexes[index_schema.name]:
            execute(_index_statement(new.schema, after, index_schema))
    if new.ttl is not None and old.ttl is None:
        execute(_expiring_statement(after))
    if new.stream_view is not None:
        execute(_changes_statement(after))


def _fill_columns(context: ConnectionContext, layout: Layout) -> None:
    table = layout.physical.table
    columns = [column.key_column.column for column in layout.columns] + ["ttl"]
    assigned = ", ".join(f"{column} = ?" for column in columns)
    last = -1
    while True:
        rows = context.execute(
            f"SELECT id, item FROM {table} WHERE id > ? ORDER BY id LIMIT ?", (last, 500)
        ).fetchall()
        if not rows:
            return
        filled = []
        for number, blob in rows:
            item = unpack(blob)
            filled.append((*layout.stored_index_keys(item), layout.expiry(item), number))
        context.connection.executemany(f"UPDATE {table} SET {assigned} WHERE id = ?", filled)
        last = rows[-1][0]


# Table numbers are never reused; a trillion changes fit between two of them.
_STREAM_BITS: Final = 40
_COLUMNS: Final = "schema, physical, created_at, stream_label, floor, settings"


@dataclass(frozen=True, slots=True)
class TableRecord:
    """A row of the catalog."""

    schema: TableSchema
    physical: PhysicalNames
    created_at: float
    stream_label: str | None
    floor: int
    settings: Mapping[str, str]


def layout_of(context: ConnectionContext, name: str) -> Layout:
    """Return a table's layout, cached. Raises TableNotFound."""
    layout = context.layouts.get(name)
    if layout is None:
        record = _find_record(context, name)
        if record is None:
            raise TableNotFound("Requested resource not found")
        layout = context.layouts[name] = _layout(context, record)
    return layout


def schema_of(context: ConnectionContext, name: str) -> TableSchema:
    """Return a table's schema, cached. Raises TableNotFound."""
    return layout_of(context, name).schema


def _layout(context: ConnectionContext, record: TableRecord) -> Layout:
    return build_layout(record.schema, record.physical, metered=context.shared.metered)


def _find_record(context: ConnectionContext, name: str) -> TableRecord | None:
    row = context.execute(f"SELECT {_COLUMNS} FROM _tables WHERE name = ?", (name,)).fetchone()
    if row is None:
        return None
    schema, physical, created_at, stream_label, floor, settings = row
    return TableRecord(
        schema=msgspec.json.decode(schema, type=TableSchema),
        physical=msgspec.json.decode(physical, type=PhysicalNames),
        created_at=created_at,
        stream_label=stream_label,
        floor=floor,
        settings=msgspec.json.decode(settings, type=dict[str, str]),
    )


def read_record(context: ConnectionContext, name: str) -> TableRecord:
    """Read a table from the catalog. Raises TableNotFound."""
    record = _find_record(context, name)
    if record is None:
        raise TableNotFound(f"Requested resource not found: Table: {name} not found")
    return record


def create_table(context: ConnectionContext, schema: TableSchema) -> TableDescription:
    """Create a table. Raises TableInUse or InvalidRequest."""
    check_schema(schema)
    clock = context.shared.clock
    with context.write_transaction:
        if _find_record(context, schema.name) is not None:
            raise TableInUse(f"Table already exists: {schema.name}")
        number = context.execute(
            "INSERT INTO _tables(name, schema, physical, created_at, settings) "
            "VALUES(?, '', '', 0, '')",
            (schema.name,),
        ).lastrowid
        assert number is not None  # noqa: S101 - a row was just inserted
        physical = assign_names(schema, PhysicalNames(number))
        create_physical(context.execute, schema, physical)
        stream_label, floor = None, 0
        if schema.stream is not None:
            stream_label, floor = _open_stream(context, physical)
        record = TableRecord(schema, physical, clock.epoch(), stream_label, floor, {})
        _save(context, record)
    return _describe(record, (0, 0), {index.name: (0, 0) for index in schema.indexes})


def describe_table(context: ConnectionContext, name: str) -> TableDescription:
    """Describe a table. Raises TableNotFound."""
    with context.read_transaction:
        record = read_record(context, name)
        total, indexes = count_items(context, _layout(context, record))
    return _describe(record, total, indexes)


def alter_table(context: ConnectionContext, schema: TableSchema) -> TableDescription:
    """Change the schema of a table and fill new indexes.

    This is one transaction, so other writers wait. Raises TableNotFound or InvalidRequest.
    """
    with context.write_transaction:
        record = read_record(context, schema.name)
        check_change(record.schema, schema)
        altered = _alter(context, record, schema)
        _save(context, altered)
        total, indexes = count_items(context, _layout(context, altered))
    context.layouts.pop(schema.name, None)
    return _describe(altered, total, indexes)


def _alter(context: ConnectionContext, record: TableRecord, schema: TableSchema) -> TableRecord:
    before = record.schema
    if replace(before, capacity=None) == replace(schema, capacity=None):
        return replace(record, schema=schema)
    next_names = replace(record.physical, generation=record.physical.generation + 1)
    physical = assign_names(schema, next_names, before)
    altered = replace(record, schema=schema, physical=physical)
    migrate(context, _layout(context, record), _layout(context, altered))
    if schema.stream is None or schema.stream == before.stream:
        return altered
    stream_label, floor = _open_stream(context, physical)
    return replace(altered, stream_label=stream_label, floor=floor)


def _open_stream(context: ConnectionContext, physical: PhysicalNames) -> tuple[str, int]:
    """Start recording changes; return the stream's label and a position before all new changes.

    Positions in earlier streams of this table, or of a deleted table of its name, are lower, so
    readers learn that changes were lost. The row at the position is never read.
    """
    execute, table, clock = context.execute, physical.changes, context.shared.clock
    last = execute(f"SELECT max(sequence) FROM {table}").fetchone()[0]
    floor = physical.number << _STREAM_BITS if last is None else int(last) + 1
    execute(
        f"INSERT INTO {table}(sequence, kind, at, expired) VALUES(?, 0, ?, 0)",
        (floor, clock.epoch()),
    )
    now = clock.now().astimezone(UTC).replace(tzinfo=None)
    return now.isoformat(timespec="milliseconds"), floor


def delete_table(context: ConnectionContext, name: str) -> TableDescription:
    """Delete a table. Raises TableNotFound."""
    with context.write_transaction:
        record = read_record(context, name)
        total, indexes = count_items(context, _layout(context, record))
        for physical in (record.physical.table, record.physical.changes):
            context.execute(f"DROP TABLE IF EXISTS {physical}")
        number = record.physical.number
        context.execute("DELETE FROM _consumers WHERE number = ?", (number,))
        context.execute("DELETE FROM _tables WHERE name = ?", (name,))
    context.layouts.pop(name, None)
    return _describe(record, total, indexes)


def list_tables(context: ConnectionContext, _: None) -> tuple[str, ...]:
    """Return the names of all tables, sorted."""
    rows = context.execute("SELECT name FROM _tables ORDER BY name").fetchall()
    return tuple(name for (name,) in rows)


def put_settings(context: ConnectionContext, request: tuple[str, Mapping[str, str]]) -> None:
    """Add to a table's settings. Raises TableNotFound."""
    name, settings = request
    with context.write_transaction:
        record = read_record(context, name)
        _save(context, replace(record, settings={**record.settings, **settings}))


def _save(context: ConnectionContext, record: TableRecord) -> None:
    context.execute(
        "UPDATE _tables SET schema = ?, physical = ?, created_at = ?, stream_label = ?, floor = ?, "
        "settings = ? WHERE id = ?",
        (
            msgspec.json.encode(record.schema).decode(),
            msgspec.json.encode(record.physical).decode(),
            record.created_at,
            record.stream_label,
            record.floor,
            msgspec.json.encode(record.settings).decode(),
            record.physical.number,
        ),
    )


def _describe(
    record: TableRecord, total: tuple[int, int], indexes: Mapping[str, tuple[int, int]]
) -> TableDescription:
    items, size = total
    return TableDescription(
        schema=record.schema,
        created_at=datetime.fromtimestamp(record.created_at, UTC),
        items=items,
        size_bytes=size,
        stream_label=record.stream_label,
        settings=record.settings,
        index_counts=indexes,
    )
