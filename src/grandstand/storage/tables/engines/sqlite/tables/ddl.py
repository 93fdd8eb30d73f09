"""Kept here: making, changing and filling the file's tables behind one DynamoDB table."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from grandstand.storage.tables.encoding.packing import unpack
from grandstand.storage.tables.engines.sqlite.file.connections import Execute, Lane
from grandstand.storage.tables.engines.sqlite.tables.layout import (
    Layout,
    Physical,
    index_attributes,
    index_parts,
    sparse_columns,
)
from grandstand.storage.tables.schema import IndexSchema, TableSchema

_CHUNK: Final = 500


def arrange(schema: TableSchema, before: Physical, old: TableSchema | None = None) -> Physical:
    """Give every index key attribute a column, and every index a name, keeping what fits."""
    needed = index_attributes(schema)
    kept = {
        name: column
        for name, column in before.columns.items()
        if name in needed and old is not None and old.types.get(name) == schema.types[name]
    }
    free = [name for name in _names(before.width) if name not in kept.values()]
    columns, width = dict(kept), before.width
    for name in needed:
        if name not in columns:
            columns[name] = free.pop(0) if free else f"k{width}"
            width = max(width, int(columns[name][1:]) + 1)
    indexes = {
        index.name: before.indexes[index.name]
        if old is not None and _same_order(schema, old, index) and index.name in before.indexes
        else f"i{before.number}_{before.generation}_{at}"
        for at, index in enumerate(schema.indexes)
    }
    return replace(before, width=width, columns=columns, indexes=indexes)


def _names(width: int) -> list[str]:
    return [f"k{at}" for at in range(width)]


def _same_order(schema: TableSchema, old: TableSchema, index: IndexSchema) -> bool:
    other = old.index(index.name)
    return (
        other is not None
        and other.partition == index.partition
        and other.sort == index.sort
        and all(old.types.get(name) == schema.types[name] for name in index.key_names)
    )


def build(execute: Execute, schema: TableSchema, physical: Physical) -> None:
    """Make the tables and indexes of a new table."""
    execute(table_statement(physical, physical.table))
    execute(f"CREATE UNIQUE INDEX {physical.unique} ON {physical.table}(pk, sk)")
    for index in schema.indexes:
        execute(index_statement(schema, physical, index))
    if schema.ttl is not None:
        execute(_expiring_statement(physical))
    if schema.stream is not None:
        execute(_changes_statement(physical))


def table_statement(physical: Physical, name: str) -> str:
    """Answer the statement that makes a table of items under that name."""
    columns = "".join(f"{name} BLOB, " for name in _names(physical.width))
    return (
        f"CREATE TABLE {name}(id INTEGER PRIMARY KEY, pk BLOB NOT NULL, sk BLOB NOT NULL, "
        f"{columns}ttl INTEGER, size INTEGER NOT NULL, item BLOB NOT NULL)"
    )


def index_statement(
    schema: TableSchema, physical: Physical, index: IndexSchema, prefix: str = ""
) -> str:
    """Answer the statement that makes one index; only items with its whole key are in it."""
    parts = index_parts(schema, physical, index)
    order = ", ".join(part.column for part in parts)
    sparse = " AND ".join(f"{column} IS NOT NULL" for column in sparse_columns(parts))
    where = f" WHERE {sparse}" if sparse else ""
    name = f"{prefix}{physical.indexes[index.name]}"
    return f"CREATE INDEX {name} ON {prefix}{physical.table}({order}){where}"


def _expiring_statement(physical: Physical) -> str:
    return f"CREATE INDEX {physical.expiring} ON {physical.table}(ttl) WHERE ttl IS NOT NULL"


def _changes_statement(physical: Physical) -> str:
    return (
        f"CREATE TABLE IF NOT EXISTS {physical.changes}("
        "sequence INTEGER PRIMARY KEY, kind INTEGER NOT NULL, keys BLOB, old BLOB, new BLOB, "
        "at REAL NOT NULL, expired INTEGER NOT NULL)"
    )


def rebuild(lane: Lane, old: Layout, new: Layout) -> None:
    """Bring a table from one layout to the next; its name changes with its generation."""
    before, after, execute = old.physical, new.physical, lane.execute
    unshadow(execute, before)
    execute(f"ALTER TABLE {before.table} RENAME TO {after.table}")
    for name, index in before.indexes.items():
        if after.indexes.get(name) != index:
            execute(f"DROP INDEX {index}")
    for column in _names(after.width)[before.width :]:
        execute(f"ALTER TABLE {after.table} ADD COLUMN {column} BLOB")
    if old.ttl is not None and new.ttl is None:
        execute(f"DROP INDEX {before.expiring}")
    if new.ttl != old.ttl or any(
        before.columns.get(name) != column for name, column in after.columns.items()
    ):
        _fill(lane, new)
    for index_schema in new.schema.indexes:
        if before.indexes.get(index_schema.name) != after.indexes[index_schema.name]:
            execute(index_statement(new.schema, after, index_schema))
    if new.ttl is not None and old.ttl is None:
        execute(_expiring_statement(after))
    if new.view is not None:
        execute(_changes_statement(after))


def _fill(lane: Lane, layout: Layout) -> None:
    table = layout.physical.table
    columns = [column.part.column for column in layout.columns] + ["ttl"]
    assigned = ", ".join(f"{column} = ?" for column in columns)
    last = -1
    while True:
        rows = lane.execute(
            f"SELECT id, item FROM {table} WHERE id > ? ORDER BY id LIMIT ?", (last, _CHUNK)
        ).fetchall()
        if not rows:
            return
        filled = []
        for number, blob in rows:
            item = unpack(blob)
            filled.append((*layout.stored_index_keys(item), layout.expiry(item), number))
        lane.connection.executemany(f"UPDATE {table} SET {assigned} WHERE id = ?", filled)
        last = rows[-1][0]


def raze(execute: Execute, physical: Physical) -> None:
    """Remove everything that belongs to a table."""
    unshadow(execute, physical)
    for name in (physical.table, physical.changes):
        execute(f"DROP TABLE IF EXISTS {name}")
    execute("DELETE FROM _consumers WHERE number = ?", (physical.number,))


def unshadow(execute: Execute, physical: Physical) -> None:
    """Remove the lagging copy of a table, if there is one."""
    execute(f"DROP TABLE IF EXISTS s{physical.table}")
    execute(f"DROP TABLE IF EXISTS q{physical.number}")
