"""Kept here: which tables the file holds, and what can be done to a table as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

import msgspec

from grandstand.base.clock import Clock
from grandstand.storage.tables.engines.sqlite.file.connections import Lane
from grandstand.storage.tables.engines.sqlite.tables.checks import check_change, check_schema
from grandstand.storage.tables.engines.sqlite.tables.counting import count_items
from grandstand.storage.tables.engines.sqlite.tables.ddl import arrange, build, raze, rebuild
from grandstand.storage.tables.engines.sqlite.tables.layout import Layout, Physical, lay_out
from grandstand.storage.tables.engines.sqlite.tables.shadow import ensure_shadow
from grandstand.storage.tables.errors import TableInUse, TableNotFound
from grandstand.storage.tables.schema import TableDescription, TableSchema

# A table's number is never given twice; a trillion changes fit between it and the next.
_STREAM_BITS: Final = 40
_COLUMNS: Final = "schema, physical, created_at, stream_label, floor, settings"


@dataclass(frozen=True, slots=True)
class Record:
    """One table as the catalogue has it."""

    schema: TableSchema
    physical: Physical
    created_at: float
    stream_label: str | None
    floor: int
    settings: Mapping[str, str]


def layout_of(lane: Lane, name: str) -> Layout:
    """Answer a table's layout, from memory when it has been read before; raise TableNotFound."""
    found = lane.layouts.get(name)
    return _load(lane, name) if found is None else found


def schema_of(lane: Lane, name: str) -> TableSchema:
    """Answer a table's schema, from memory when it has been read before; raise TableNotFound."""
    return layout_of(lane, name).schema


def _load(lane: Lane, name: str) -> Layout:
    record = _find(lane, name)
    if record is None:
        raise TableNotFound("Requested resource not found")
    layout = _laid_out(lane, record)
    if layout.delayed:
        ensure_shadow(lane, layout)
    lane.layouts[name] = layout
    return layout


def _laid_out(lane: Lane, record: Record) -> Layout:
    shared = lane.shared
    return lay_out(
        record.schema,
        record.physical,
        metered=shared.metered,
        delayed=shared.faults.index_delay_seconds > 0
        and any(not index.local for index in record.schema.indexes),
    )


def _find(lane: Lane, name: str) -> Record | None:
    row = lane.execute(f"SELECT {_COLUMNS} FROM _tables WHERE name = ?", (name,)).fetchone()
    if row is None:
        return None
    schema, physical, created_at, label, floor, settings = row
    return Record(
        schema=msgspec.json.decode(schema, type=TableSchema),
        physical=msgspec.json.decode(physical, type=Physical),
        created_at=created_at,
        stream_label=label,
        floor=floor,
        settings=msgspec.json.decode(settings, type=dict[str, str]),
    )


def read_record(lane: Lane, name: str) -> Record:
    """Read a table's entry; raise TableNotFound."""
    record = _find(lane, name)
    if record is None:
        raise TableNotFound(f"Requested resource not found: Table: {name} not found")
    return record


def create_table(lane: Lane, schema: TableSchema) -> TableDescription:
    """Make a table; raise TableInUse or InvalidRequest."""
    check_schema(schema)
    clock = lane.shared.clock
    with lane.writing:
        if _find(lane, schema.name) is not None:
            raise TableInUse(f"Table already exists: {schema.name}")
        number = lane.execute(
            "INSERT INTO _tables(name, schema, physical, created_at, settings) "
            "VALUES(?, '', '', 0, '')",
            (schema.name,),
        ).lastrowid
        assert number is not None  # noqa: S101 - a row was just inserted
        physical = arrange(schema, Physical(number))
        build(lane.execute, schema, physical)
        label, floor = None, 0
        if schema.stream is not None:
            label, floor = _stream_label(clock), _open_stream(lane, physical)
        record = Record(schema, physical, clock.epoch(), label, floor, {})
        _keep(lane, record)
    return _described(record, (0, 0), {index.name: (0, 0) for index in schema.indexes})


def describe_table(lane: Lane, name: str) -> TableDescription:
    """Describe a table; raise TableNotFound."""
    with lane.reading:
        record = read_record(lane, name)
        total, indexes = count_items(lane, _laid_out(lane, record))
    return _described(record, total, indexes)


def alter_table(lane: Lane, schema: TableSchema) -> TableDescription:
    """Bring a table to another schema, filling new indexes; raise TableNotFound, InvalidRequest.

    It is one transaction: until it is done other writers wait.
    """
    with lane.writing:
        record = read_record(lane, schema.name)
        check_change(record.schema, schema)
        changed = _changed(lane, record, schema)
        _keep(lane, changed)
        total, indexes = count_items(lane, _laid_out(lane, changed))
    lane.layouts.pop(schema.name, None)
    return _described(changed, total, indexes)


def _changed(lane: Lane, record: Record, schema: TableSchema) -> Record:
    before = record.schema
    if replace(before, capacity=None) == replace(schema, capacity=None):
        return replace(record, schema=schema)
    next_one = replace(record.physical, generation=record.physical.generation + 1)
    physical = arrange(schema, next_one, before)
    changed = replace(record, schema=schema, physical=physical)
    rebuild(lane, _laid_out(lane, record), _laid_out(lane, changed))
    if schema.stream is None or schema.stream == before.stream:
        return changed
    label, floor = _stream_label(lane.shared.clock), _open_stream(lane, physical)
    return replace(changed, stream_label=label, floor=floor)


def _open_stream(lane: Lane, physical: Physical) -> int:
    """Begin to record: answer a number below all that follow, above all before.

    A position in an earlier stream of the table, or of a deleted table of its name, lies below it,
    so that what was not recorded in between is found lost. The row that takes it is never read.
    """
    execute, table = lane.execute, physical.changes
    last = execute(f"SELECT max(sequence) FROM {table}").fetchone()[0]
    floor = physical.number << _STREAM_BITS if last is None else int(last) + 1
    execute(
        f"INSERT INTO {table}(sequence, kind, at, expired) VALUES(?, 0, ?, 0)",
        (floor, lane.shared.clock.epoch()),
    )
    return floor


def delete_table(lane: Lane, name: str) -> TableDescription:
    """Remove a table and all in it; raise TableNotFound."""
    with lane.writing:
        record = read_record(lane, name)
        total, indexes = count_items(lane, _laid_out(lane, record))
        raze(lane.execute, record.physical)
        lane.execute("DELETE FROM _tables WHERE name = ?", (name,))
    lane.layouts.pop(name, None)
    return _described(record, total, indexes)


def list_tables(lane: Lane, _: None) -> tuple[str, ...]:
    """Name every table, sorted."""
    rows = lane.execute("SELECT name FROM _tables ORDER BY name").fetchall()
    return tuple(name for (name,) in rows)


def put_settings(lane: Lane, request: tuple[str, Mapping[str, str]]) -> None:
    """Keep texts beside a table's description, and those kept before; raise TableNotFound."""
    name, settings = request
    with lane.writing:
        record = read_record(lane, name)
        _keep(lane, replace(record, settings={**record.settings, **settings}))


def set_floor(lane: Lane, number: int, floor: int) -> None:
    """Note up to where a table's changes have been trimmed."""
    lane.execute("UPDATE _tables SET floor = ? WHERE id = ?", (floor, number))


def _keep(lane: Lane, record: Record) -> None:
    lane.execute(
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


def _described(
    record: Record, total: tuple[int, int], indexes: Mapping[str, tuple[int, int]]
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


def _stream_label(clock: Clock) -> str:
    return clock.now().astimezone(UTC).replace(tzinfo=None).isoformat(timespec="milliseconds")
