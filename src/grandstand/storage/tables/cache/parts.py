"""Kept here: the parts of a payload that is too large for one item, as items of the table."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from grandstand.base.errors import GrandstandError
from grandstand.storage.tables.cache.form import CacheKey
from grandstand.storage.tables.cache.payload import Manifest, PayloadTooLarge, cut
from grandstand.storage.tables.declaration.plan import SCHEMA_VERSION
from grandstand.storage.tables.operations.batches import MAX_WRITE, chunks, persist
from grandstand.storage.tables.requests import DeleteItem, PutItem
from grandstand.storage.tables.values import Item, Key, item_size

if TYPE_CHECKING:
    from grandstand.storage.tables.session import Session

# Parts outlive their manifest, so that what is still found is still whole.
OUTLIVING_SECONDS: Final = 24 * 3600
_MOST_PARTS: Final = 9_999


def manifest_of(key: CacheKey[Any], item: Item) -> Manifest | None:
    """Read an item's manifest; None when its payload is not in parts, or nothing makes sense."""
    marks = key.form.marks
    count, generation = item.get(marks.chunks), item.get(marks.generation)
    total, sha256, enc = (item.get(name) for name in (marks.total_bytes, marks.sha256, marks.enc))
    if not (isinstance(generation, str) and isinstance(sha256, str) and isinstance(enc, str)):
        return None
    if not (isinstance(count, int | Decimal) and isinstance(total, int | Decimal)):
        return None
    return Manifest(min(int(count), _MOST_PARTS), generation, int(total), sha256, enc)


def part_keys(key: CacheKey[Any], manifest: Manifest) -> tuple[Key, ...]:
    """Name the parts of a manifest in order: `SK#CHUNK#{generation}#{0001}` and so on.

    In a table without a sort key it is the partition key that grows. Raises PayloadTooLarge when
    that attribute is not text, so that nothing can be added to it.
    """
    table = key.form.plan.table
    name = table.sort or table.partition
    stem = key.key[name]
    if not isinstance(stem, str):
        message = f"The key {name} of {table.name} is not text, so no parts can be kept beside it"
        raise PayloadTooLarge(message)
    return tuple(
        {**key.key, name: f"{stem}#CHUNK#{manifest.generation}#{number:04d}"}
        for number in range(1, manifest.chunks + 1)
    )


def part_items(
    key: CacheKey[Any], manifest: Manifest, data: bytes, expires: int, size: int
) -> tuple[Manifest, tuple[Item, ...]]:
    """Cut bytes into items of at most that size; answer the manifest with their number too."""
    one = Manifest(1, manifest.generation, manifest.total_bytes, manifest.sha256, manifest.enc)
    room = size - item_size(_part(key, part_keys(key, one)[0], b"", expires))
    pieces = cut(data, room)
    whole = Manifest(len(pieces), one.generation, one.total_bytes, one.sha256, one.enc)
    keys = part_keys(key, whole)
    return whole, tuple(
        _part(key, place, piece, expires) for place, piece in zip(keys, pieces, strict=True)
    )


def _part(key: CacheKey[Any], place: Key, piece: bytes, expires: int) -> Item:
    plan = key.form.plan
    assert plan.table.ttl is not None  # noqa: S101 - a cached entity has an expiry
    item: Item = {**place, key.form.marks.part: piece, plan.table.ttl: expires + OUTLIVING_SECONDS}
    if plan.schema_version is not None:
        item[SCHEMA_VERSION] = plan.schema_version
    return item


def write_parts(session: Session, table: str, items: Sequence[Item]) -> None:
    """Write parts, each on its own; raise Unprocessed when some stay unwritten."""
    _write(session, tuple(PutItem(table, item) for item in items))


def delete_parts(session: Session, key: CacheKey[Any], manifest: Manifest | None) -> None:
    """Delete the parts of a payload nobody points to; what fails is left to their expiry."""
    if manifest is None:
        return
    table = session.name(key.form.plan.table)
    with suppress(GrandstandError):
        _write(session, tuple(DeleteItem(table, where) for where in part_keys(key, manifest)))


def _write(session: Session, actions: tuple[PutItem | DeleteItem, ...]) -> None:
    for some in chunks(actions, MAX_WRITE):
        persist(session, some, lambda left: session.engine.batch_write(left).left)
