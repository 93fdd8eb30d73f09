"""Kept here: reading entries from the table, many at once, each whole or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeAlias, TypeVar

from grandstand.base.errors import GrandstandError
from grandstand.storage.tables.cache.form import CacheKey, Limits
from grandstand.storage.tables.cache.parts import manifest_of, part_keys
from grandstand.storage.tables.cache.payload import (
    Manifest,
    Packed,
    PayloadDamaged,
    join,
    unpack_payload,
)
from grandstand.storage.tables.operations.batches import MAX_READ, chunks, persist
from grandstand.storage.tables.requests import GetItem
from grandstand.storage.tables.values import Item, Key, Value, item_size

if TYPE_CHECKING:
    from grandstand.storage.tables.session import Session

V = TypeVar("V")
Place: TypeAlias = tuple[str, tuple[Value, ...]]


@dataclass(frozen=True, slots=True)
class Entry(Generic[V]):
    """What a key holds: a payload, or the knowledge that there is none."""

    value: V | None
    negative: bool
    fetched_at: datetime
    expires: int


@dataclass(frozen=True, slots=True)
class Found(Generic[V]):
    """What was found at a key: an entry, nothing, or something that is no whole entry."""

    entry: Entry[V] | None = None
    damage: str | None = None
    stored_bytes: int = 0
    chunks: int = 0


class ReadItem(NamedTuple):
    """An item as it was read, and its whole size."""

    item: Item
    stored_bytes: int


@dataclass(frozen=True, slots=True)
class ReadEntries(Generic[V]):
    """Read many entries of any forms; the answers stand in the order of the keys."""

    keys: tuple[CacheKey[V], ...]
    limits: Limits

    def run(self, session: Session) -> list[Found[V]]:
        """Read them; raise what the engine raises, but nothing for an entry that is damaged.

        An entry whose parts are missing may just have been replaced, so it is read once more.
        """
        found = self._read(session, self.keys)
        broken = [key for key, one in zip(self.keys, found, strict=True) if one.damage]
        if not broken:
            return found
        again = dict(zip(map(id, broken), self._read(session, broken), strict=True))
        return [again.get(id(key), one) for key, one in zip(self.keys, found, strict=True)]

    def _read(self, session: Session, keys: Sequence[CacheKey[V]]) -> list[Found[V]]:
        places = [place(session, key, key.key) for key in keys]
        items = read_items(session, places, keys)
        manifests = {
            where: manifest
            for where, key in zip(places, keys, strict=True)
            if where in items and (manifest := manifest_of(key, items[where].item)) is not None
        }
        parted = [
            (key, place(session, key, part))
            for where, key in zip(places, keys, strict=True)
            if where in manifests
            for part in _known_parts(key, manifests[where])
        ]
        parts = read_items(session, [where for _, where in parted], [key for key, _ in parted])
        return [
            self._found(session, key, items.get(where), parts)
            for where, key in zip(places, keys, strict=True)
        ]

    def _found(
        self,
        session: Session,
        key: CacheKey[V],
        read: ReadItem | None,
        parts: Mapping[Place, ReadItem],
    ) -> Found[V]:
        if read is None:
            return Found()
        manifest = manifest_of(key, read.item)
        pieces = (
            [parts.get(place(session, key, part)) for part in _known_parts(key, manifest)]
            if manifest
            else []
        )
        size = read.stored_bytes + sum(piece.stored_bytes for piece in pieces if piece)
        held = [None if piece is None else piece.item for piece in pieces]
        try:
            entry = self._entry(key, read.item, manifest, held)
        except (GrandstandError, ValueError, TypeError, LookupError, ArithmeticError) as fault:
            return Found(None, f"{fault}", size, len(pieces))
        return Found(entry, None, size, len(pieces))

    def _entry(
        self,
        key: CacheKey[V],
        item: Item,
        manifest: Manifest | None,
        pieces: Sequence[Item | None],
    ) -> Entry[V]:
        form, fetched_at, expires = key.form, key.form.moment(item), _expiry(key, item)
        if item.get(form.marks.neg):
            return Entry(None, True, fetched_at, expires)
        whole = dict(item)
        packed = _packed(key, item, manifest, pieces)
        if packed is not None:
            whole[form.data_attribute] = unpack_payload(packed, most_inflated=self.limits.inflated)
        value = form.payload(form.plan.decode(whole))
        if value is None:
            message = f"The entry {key.text} holds no payload"
            raise PayloadDamaged(message)
        return Entry(value, False, fetched_at, expires)


def _packed(
    key: CacheKey[Any], item: Item, manifest: Manifest | None, pieces: Sequence[Item | None]
) -> Packed | None:
    marks = key.form.marks
    if manifest is not None:
        return join(manifest, [_bytes(piece, marks.part) for piece in pieces])
    blob = _bytes(item, marks.blob)
    return None if blob is None else Packed(blob, str(item.get(marks.enc)))


def _bytes(item: Item | None, name: str) -> bytes | None:
    value = None if item is None else item.get(name)
    return value if isinstance(value, bytes) else None


def _known_parts(key: CacheKey[Any], manifest: Manifest) -> tuple[Key, ...]:
    try:
        return part_keys(key, manifest)
    except GrandstandError:
        return ()


def _expiry(key: CacheKey[Any], item: Item) -> int:
    """Answer when the entry expires; one that does not say so has expired."""
    ttl = key.form.plan.table.ttl
    moment = item.get(ttl) if ttl is not None else None
    return int(moment) if isinstance(moment, int | Decimal) else 0


def place(session: Session, key: CacheKey[Any], where: Key) -> Place:
    """Answer the table and the key's values, by which an item read is told from others."""
    return session.name(key.form.plan.table), tuple(where.values())


def read_items(
    session: Session, places: Iterable[Place], keys: Iterable[CacheKey[Any]]
) -> dict[Place, ReadItem]:
    """Read the items at those places, each of its key's table, with every write acknowledged."""
    tables = {where: key.form.plan.table.key_names for where, key in zip(places, keys, strict=True)}
    wanted = {
        where: GetItem(where[0], dict(zip(names, where[1], strict=True)), consistent=True)
        for where, names in tables.items()
    }
    if len(wanted) == 1:
        [(where, request)] = wanted.items()
        item, size = session.engine.get(request)
        return {} if item is None else {where: ReadItem(item, size or item_size(item))}
    found: dict[Place, ReadItem] = {}
    names_of = {where[0]: names for where, names in tables.items()}

    def read(left: Sequence[GetItem]) -> Sequence[GetItem]:
        answer = session.engine.batch_get(left)
        sizes = answer.found_bytes or [item_size(item) for _, item in answer.found]
        for (table, item), size in zip(answer.found, sizes, strict=True):
            where = table, tuple(item[name] for name in names_of[table])
            found[where] = ReadItem(item, size)
        return answer.left

    for some in chunks(tuple(wanted.values()), MAX_READ):
        persist(session, some, read)
    return found
