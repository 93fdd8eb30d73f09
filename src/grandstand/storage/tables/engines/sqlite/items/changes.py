"""Kept here: the record of what changed, written with the change itself, read in its order."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from grandstand.storage.tables.encoding.packing import pack, unpack
from grandstand.storage.tables.engines.sqlite.file.connections import Lane
from grandstand.storage.tables.engines.sqlite.tables.catalogue import Record, read_record, set_floor
from grandstand.storage.tables.engines.sqlite.tables.layout import Layout, Physical
from grandstand.storage.tables.errors import ChangesLost, InvalidRequest, TableNotFound
from grandstand.storage.tables.requests import Change, ChangeBatch, ChangeKind
from grandstand.storage.tables.schema import TableSchema
from grandstand.storage.tables.values import Item, item_size

KEPT_SECONDS: Final = 24 * 3600
HELD_SECONDS: Final = 30 * 24 * 3600
TRIMMED_AT_ONCE: Final = 1024

_TRIM_EVERY: Final = 512
_KINDS: Final[tuple[ChangeKind, ...]] = ("INSERT", "MODIFY", "REMOVE")
_OLD: Final = frozenset(("OLD_IMAGE", "NEW_AND_OLD_IMAGES"))
_NEW: Final = frozenset(("NEW_IMAGE", "NEW_AND_OLD_IMAGES"))


def record_change(
    lane: Lane,
    layout: Layout,
    images: tuple[bytes | None, bytes | None],
    item: Item,
    *,
    expired: bool = False,
) -> None:
    """Write down one change, within the transaction that makes it; `item` has the keys.

    Every so often it clears away some of what is too old, so that a table without a sweeper does
    not grow for ever.
    """
    shared, (old, new) = lane.shared, images
    kind = 0 if old is None else 2 if new is None else 1
    kept_old = old if layout.view in _OLD else None
    kept_new = new if layout.view in _NEW else None
    keys = None
    if kept_old is None and kept_new is None:
        keys = pack({name: item[name] for name in layout.schema.key_names})
    row = (kind, keys, kept_old, kept_new, shared.clock.epoch(), expired)
    lane.execute(layout.record, row)
    if next(shared.recorded) % _TRIM_EVERY == 0:
        trim_changes(lane, read_record(lane, layout.schema.name))


def read_changes(lane: Lane, request: tuple[str, str | None, int]) -> ChangeBatch:
    """Read some changes after a position; raise ChangesLost, TableNotFound or InvalidRequest."""
    name, position, limit = request
    with lane.reading:
        record = _streaming(lane, name)
        start = _start(lane, record, position)
        rows = lane.execute(
            "SELECT sequence, kind, keys, old, new, at, expired "
            f"FROM {record.physical.changes} WHERE sequence > ? ORDER BY sequence LIMIT ?",
            (start, limit + 1),
        ).fetchall()
    changes = tuple(_change(record.schema, row) for row in rows[:limit])
    last = changes[-1].sequence if changes else str(start)
    return ChangeBatch(changes, last, caught_up=len(rows) <= limit)


def latest_position(lane: Lane, name: str) -> str:
    """Answer the position after the last change so far; raise TableNotFound."""
    with lane.reading:
        record = _streaming(lane, name)
        return str(max(_last(lane, record.physical), record.floor))


def hold_changes(lane: Lane, request: tuple[str, str, str | None]) -> None:
    """Keep what follows a consumer's position; None forgets it; raise TableNotFound."""
    name, consumer, position = request
    with lane.writing:
        number = _streaming(lane, name).physical.number
        if position is None:
            lane.execute("DELETE FROM _consumers WHERE number = ? AND name = ?", (number, consumer))
        else:
            lane.execute(
                "INSERT INTO _consumers(number, name, position) VALUES(?, ?, ?) "
                "ON CONFLICT(number, name) DO UPDATE SET position = excluded.position",
                (number, consumer, _number(position)),
            )


def trim_changes(lane: Lane, record: Record) -> None:
    """Clear away some of what is older than a day and held by nobody, or older than 30 days.

    Works within the transaction under way. The last row stays in the file, out of sight, so that
    no number is given twice.
    """
    if record.stream_label is None:
        return
    execute, physical = lane.execute, record.physical
    held = execute(
        "SELECT min(position) FROM _consumers WHERE number = ?", (physical.number,)
    ).fetchone()[0]
    now, last = lane.shared.clock.epoch(), record.floor
    rows = execute(
        f"SELECT sequence, at FROM {physical.changes} WHERE sequence > ? ORDER BY sequence LIMIT ?",
        (record.floor, TRIMMED_AT_ONCE),
    ).fetchall()
    for sequence, at in rows:
        age = now - at
        if age <= KEPT_SECONDS or (held is not None and sequence > held and age <= HELD_SECONDS):
            break
        last = sequence
    if last > record.floor:
        execute(
            f"DELETE FROM {physical.changes} WHERE sequence <= ? AND sequence < ?",
            (last, _last(lane, physical)),
        )
        set_floor(lane, physical.number, last)


def _streaming(lane: Lane, name: str) -> Record:
    record = read_record(lane, name)
    if record.stream_label is None:
        raise TableNotFound(
            f"Requested resource not found: Table: {name} has no stream; enable one first"
        )
    return record


def _start(lane: Lane, record: Record, position: str | None) -> int:
    if position is None:
        return record.floor
    number = _number(position)
    if number < record.floor:
        raise ChangesLost(
            f"Changes of {record.schema.name} after position {position} are no longer kept; "
            "rebuild from the table and go on from its latest position"
        )
    if number > max(_last(lane, record.physical), record.floor):
        raise ChangesLost(
            f"Position {position} is not one of the present stream of {record.schema.name}; "
            "rebuild from the table and go on from its latest position"
        )
    return number


def _last(lane: Lane, physical: Physical) -> int:
    last = lane.execute(f"SELECT max(sequence) FROM {physical.changes}").fetchone()[0]
    return int(last or 0)


def _number(position: str) -> int:
    if not position.isascii() or not position.isdigit():
        raise InvalidRequest(f"{position!r} is not a position in a stream of changes")
    return int(position)


def _change(
    schema: TableSchema,
    row: tuple[int, int, bytes | None, bytes | None, bytes | None, float, int],
) -> Change:
    sequence, kind, packed, old_blob, new_blob, at, expired = row
    old = None if old_blob is None else unpack(old_blob)
    new = None if new_blob is None else unpack(new_blob)
    whole = unpack(packed) if packed is not None else new or old or {}
    keys = {name: whole[name] for name in schema.key_names}
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
