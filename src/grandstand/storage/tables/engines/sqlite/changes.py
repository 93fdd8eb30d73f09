"""The change stream of a table, and the removal of expired items."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from grandstand.storage.tables.attribute_values import Item, item_size
from grandstand.storage.tables.encoding import pack, unpack
from grandstand.storage.tables.engines.sqlite.catalog import (
    TableRecord,
    layout_of,
    read_record,
)
from grandstand.storage.tables.engines.sqlite.connections import ConnectionContext
from grandstand.storage.tables.engines.sqlite.layout import Layout, PhysicalNames
from grandstand.storage.tables.errors import ChangesLost, InvalidRequest, TableNotFound
from grandstand.storage.tables.requests import Change, ChangeBatch, ChangeKind
from grandstand.storage.tables.schema import TableSchema

RETENTION_SECONDS: Final = 24 * 3600
MAX_HOLD_SECONDS: Final = 30 * 24 * 3600
MAX_TRIMMED: Final = 1024

_TRIM_EVERY: Final = 512
_KINDS: Final[tuple[ChangeKind, ...]] = ("INSERT", "MODIFY", "REMOVE")
_WITH_OLD_IMAGE: Final = frozenset(("OLD_IMAGE", "NEW_AND_OLD_IMAGES"))
_WITH_NEW_IMAGE: Final = frozenset(("NEW_IMAGE", "NEW_AND_OLD_IMAGES"))


def record_change(
    context: ConnectionContext,
    layout: Layout,
    images: tuple[bytes | None, bytes | None],
    item: Item,
    *,
    expired: bool = False,
) -> None:
    """Record a change within its transaction; `item` has the keys.

    Now and then also trims old changes, so that a table that is never swept does not grow forever.
    """
    shared, (old, new) = context.shared, images
    kind = 0 if old is None else 2 if new is None else 1
    old_image = old if layout.stream_view in _WITH_OLD_IMAGE else None
    new_image = new if layout.stream_view in _WITH_NEW_IMAGE else None
    keys = None
    if old_image is None and new_image is None:
        keys = pack({name: item[name] for name in layout.schema.key_names})
    row = (kind, keys, old_image, new_image, shared.clock.epoch(), expired)
    context.execute(layout.record_sql, row)
    if next(shared.change_counter) % _TRIM_EVERY == 0:
        trim_changes(context, read_record(context, layout.schema.name))


def read_changes(context: ConnectionContext, request: tuple[str, str | None, int]) -> ChangeBatch:
    """Read changes after a position. Raises ChangesLost, TableNotFound or InvalidRequest."""
    name, position, limit = request
    with context.read_transaction:
        record = _stream_record(context, name)
        start = _start_position(context, record, position)
        rows = context.execute(
            "SELECT sequence, kind, keys, old, new, at, expired "
            f"FROM {record.physical.changes} WHERE sequence > ? ORDER BY sequence LIMIT ?",
            (start, limit + 1),
        ).fetchall()
    changes = tuple(_decode_change(record.schema, row) for row in rows[:limit])
    last = changes[-1].sequence if changes else str(start)
    return ChangeBatch(changes, last, caught_up=len(rows) <= limit)


def latest_position(context: ConnectionContext, name: str) -> str:
    """Return the position after the last change. Raises TableNotFound."""
    with context.read_transaction:
        record = _stream_record(context, name)
        return str(max(_last_sequence(context, record.physical), record.floor))


def hold_changes(context: ConnectionContext, request: tuple[str, str, str | None]) -> None:
    """Keep changes after a consumer's position; None releases them. Raises TableNotFound."""
    name, consumer, position = request
    with context.write_transaction:
        number = _stream_record(context, name).physical.number
        if position is None:
            context.execute(
                "DELETE FROM _consumers WHERE number = ? AND name = ?", (number, consumer)
            )
        else:
            context.execute(
                "INSERT INTO _consumers(number, name, position) VALUES(?, ?, ?) "
                "ON CONFLICT(number, name) DO UPDATE SET position = excluded.position",
                (number, consumer, _parse_position(position)),
            )


def trim_changes(context: ConnectionContext, record: TableRecord) -> None:
    """Delete changes older than a day that nobody holds, and all older than 30 days.

    Runs in the current transaction. The last row stays, unreadable, so that no sequence number is
    reused.
    """
    if record.stream_label is None:
        return
    execute, physical = context.execute, record.physical
    held_position = execute(
        "SELECT min(position) FROM _consumers WHERE number = ?", (physical.number,)
    ).fetchone()[0]
    now, last = context.shared.clock.epoch(), record.floor
    rows = execute(
        f"SELECT sequence, at FROM {physical.changes} WHERE sequence > ? ORDER BY sequence LIMIT ?",
        (record.floor, MAX_TRIMMED),
    ).fetchall()
    for sequence, at in rows:
        age = now - at
        if age <= RETENTION_SECONDS or (
            held_position is not None and sequence > held_position and age <= MAX_HOLD_SECONDS
        ):
            break
        last = sequence
    if last > record.floor:
        execute(
            f"DELETE FROM {physical.changes} WHERE sequence <= ? AND sequence < ?",
            (last, _last_sequence(context, physical)),
        )
        execute("UPDATE _tables SET floor = ? WHERE id = ?", (last, physical.number))


def _stream_record(context: ConnectionContext, name: str) -> TableRecord:
    record = read_record(context, name)
    if record.stream_label is None:
        raise TableNotFound(
            f"Requested resource not found: Table: {name} has no stream; enable one first"
        )
    return record


def _start_position(context: ConnectionContext, record: TableRecord, position: str | None) -> int:
    if position is None:
        return record.floor
    number = _parse_position(position)
    if number < record.floor:
        raise ChangesLost(
            f"Changes of {record.schema.name} after position {position} were trimmed. Rebuild from "
            "the table and continue from its latest position."
        )
    if number > max(_last_sequence(context, record.physical), record.floor):
        raise ChangesLost(
            f"Position {position} is not in the current stream of {record.schema.name}. Rebuild "
            "from the table and continue from its latest position."
        )
    return number


def _last_sequence(context: ConnectionContext, physical: PhysicalNames) -> int:
    last = context.execute(f"SELECT max(sequence) FROM {physical.changes}").fetchone()[0]
    return int(last or 0)


def _parse_position(position: str) -> int:
    if not position.isascii() or not position.isdigit():
        raise InvalidRequest(f"Invalid stream position {position!r}")
    return int(position)


def _decode_change(
    schema: TableSchema,
    row: tuple[int, int, bytes | None, bytes | None, bytes | None, float, int],
) -> Change:
    sequence, kind, keys_blob, old_blob, new_blob, at, expired = row
    old = None if old_blob is None else unpack(old_blob)
    new = None if new_blob is None else unpack(new_blob)
    key_source = unpack(keys_blob) if keys_blob is not None else new or old or {}
    keys = {name: key_source[name] for name in schema.key_names}
    return Change(
        sequence=str(sequence),
        kind=_KINDS[kind],
        keys=keys,
        old=old,
        new=new,
        at=datetime.fromtimestamp(at, UTC),
        expired=bool(expired),
        size_bytes=item_size(keys) + item_size(old or {}) + item_size(new or {}),
    )


# Other writers wait during a batch, so it is short.
SWEEP_BATCH: Final = 100

_MAX_EXPIRED_SECONDS: Final = 5 * 365 * 24 * 3600


def sweep(context: ConnectionContext, request: tuple[str, int]) -> int:
    """Delete some expired items and old changes; return the number of items.

    Items that expired more than five years ago are left, as in DynamoDB.
    """
    name, limit = request
    layout = layout_of(context, name)
    if layout.ttl is None and layout.stream_view is None:
        return 0
    with context.write_transaction:
        trim_changes(context, read_record(context, name))
        if layout.ttl is None:
            return 0
        now = context.shared.clock.epoch()
        physical = layout.physical
        rows = context.execute(
            f"SELECT pk, sk, item FROM {physical.table} INDEXED BY {physical.expiring} "
            "WHERE ttl IS NOT NULL AND ttl < ? AND ttl > ? ORDER BY ttl LIMIT ?",
            (now, now - _MAX_EXPIRED_SECONDS, limit),
        ).fetchall()
        for pk, sk, blob in rows:
            context.execute(layout.delete_sql, (pk, sk))
            if layout.stream_view is not None:
                record_change(context, layout, (blob, None), unpack(blob), expired=True)
    return len(rows)
