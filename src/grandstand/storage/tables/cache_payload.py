"""How cache entries are stored: natively, compressed, or in chunks behind a manifest."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, Literal, NamedTuple, TypeVar

import msgspec

from grandstand.core.errors import Broken, GrandstandError, InvalidInput
from grandstand.storage.tables.attribute_values import Item, Key, Value, item_size
from grandstand.storage.tables.declaration.compiled import SCHEMA_VERSION
from grandstand.storage.tables.encoding import pack, unpack
from grandstand.storage.tables.errors import ConditionFailed, TransactionCancelled
from grandstand.storage.tables.expressions import nodes
from grandstand.storage.tables.operations import item_ops
from grandstand.storage.tables.requests import DeleteItem, GetItem, PutItem, Transaction

if TYPE_CHECKING:
    from grandstand.storage.tables.cache import CacheKey, Limits
    from grandstand.storage.tables.store import Session

PLAIN: Final = "msgpack"
DEFLATED: Final = "msgpack+zlib"
# Chunks outlive their manifest, so that every manifest still found has all of its chunks.
CHUNK_GRACE_SECONDS: Final = 24 * 3600

_FIELD: Final = "data"
_MAX_CHUNKS: Final = 9_999

V = TypeVar("V")


class PayloadTooLarge(InvalidInput):
    """The payload exceeds the limits of the cache."""

    code: ClassVar[str] = "payload-too-large"


class PayloadDamaged(Broken):
    """The stored bytes are not the payload that was written; treated as a miss."""

    code: ClassVar[str] = "payload-damaged"


@dataclass(frozen=True, slots=True)
class Packed:
    """A serialized payload and its encoding, `PLAIN` or `DEFLATED`."""

    data: bytes
    enc: str

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()


def pack_payload(value: Value, *, max_inflated: int) -> Packed:
    """Serialize a value, compressed if that is smaller.

    Raises PayloadTooLarge if the uncompressed bytes exceed `max_inflated`.
    """
    plain = pack({_FIELD: value})
    if len(plain) > max_inflated:
        raise PayloadTooLarge(
            f"The payload has {len(plain):,} bytes; the limit is {max_inflated:,}."
        )
    deflated = zlib.compress(plain)
    return Packed(deflated, DEFLATED) if len(deflated) < len(plain) else Packed(plain, PLAIN)


def unpack_payload(packed: Packed, *, max_inflated: int) -> Value:
    """Deserialize a value.

    Raises PayloadDamaged if the bytes are invalid or inflate beyond `max_inflated`.
    """
    try:
        if packed.enc == DEFLATED:
            plain = _inflate(packed.data, max_inflated)
        elif packed.enc == PLAIN:
            plain = packed.data
        else:
            raise PayloadDamaged(f"Unknown payload encoding {packed.enc!r}.")
        return unpack(plain)[_FIELD]
    except (zlib.error, msgspec.DecodeError, LookupError, TypeError) as error:
        raise PayloadDamaged("The payload cannot be decoded.") from error


def _inflate(data: bytes, max_size: int) -> bytes:
    decompressor = zlib.decompressobj()
    plain = decompressor.decompress(data, max_size + 1)
    if len(plain) > max_size:
        raise PayloadDamaged(f"The compressed payload inflates to more than {max_size:,} bytes.")
    if not decompressor.eof:
        raise PayloadDamaged("The compressed payload is truncated.")
    return plain


def split(data: bytes, size: int) -> tuple[bytes, ...]:
    """Split bytes into pieces of at most `size`."""
    return tuple(data[at : at + size] for at in range(0, len(data), size))


@dataclass(frozen=True, slots=True)
class Manifest:
    """What the item at the key of a chunked payload says about its chunks."""

    chunks: int
    generation: str
    total_bytes: int
    sha256: str
    enc: str


def join(manifest: Manifest, pieces: Sequence[bytes | None]) -> Packed:
    """Join the chunks of a payload. Raises PayloadDamaged if they do not match the manifest."""
    present = [piece for piece in pieces if piece is not None]
    if len(present) != manifest.chunks:
        raise PayloadDamaged(f"{len(present)} of {manifest.chunks} chunks are present.")
    packed = Packed(b"".join(present), manifest.enc)
    if len(packed.data) != manifest.total_bytes or packed.sha256 != manifest.sha256:
        raise PayloadDamaged("The chunks do not match the checksum of their manifest.")
    return packed


def manifest_of(key: CacheKey[Any], item: Item) -> Manifest | None:
    """Return the manifest in an item, or None if its payload is not chunked."""
    marks = key.form.marks
    count, generation = item.get(marks.chunks), item.get(marks.generation)
    total, sha256, enc = (item.get(name) for name in (marks.total_bytes, marks.sha256, marks.enc))
    if not (isinstance(generation, str) and isinstance(sha256, str) and isinstance(enc, str)):
        return None
    if not (isinstance(count, int | Decimal) and isinstance(total, int | Decimal)):
        return None
    return Manifest(min(int(count), _MAX_CHUNKS), generation, int(total), sha256, enc)


def chunk_keys(key: CacheKey[Any], manifest: Manifest) -> tuple[Key, ...]:
    """Return the keys of the chunks in order: `SK#CHUNK#{generation}#{0001}` and so on.

    In a table without a sort key the suffix is added to the partition key. Raises
    PayloadTooLarge if that attribute is not a string.
    """
    table = key.form.plan.table
    name = table.sort or table.partition
    stem = key.key[name]
    if not isinstance(stem, str):
        raise PayloadTooLarge(
            f"The payload does not fit in one item, and chunks need a string key: {name} of "
            f"{table.name} is not a string."
        )
    return tuple(
        {**key.key, name: f"{stem}#CHUNK#{manifest.generation}#{number:04d}"}
        for number in range(1, manifest.chunks + 1)
    )


def chunk_items(
    key: CacheKey[Any], manifest: Manifest, data: bytes, expires: int, max_item_bytes: int
) -> tuple[Manifest, tuple[Item, ...]]:
    """Split bytes into items; return them and the manifest with their number filled in."""
    first_key = chunk_keys(key, replace(manifest, chunks=1))[0]
    room = max_item_bytes - item_size(_chunk_item(key, first_key, b"", expires))
    pieces = split(data, room)
    manifest = replace(manifest, chunks=len(pieces))
    return manifest, tuple(
        _chunk_item(key, chunk_key, piece, expires)
        for chunk_key, piece in zip(chunk_keys(key, manifest), pieces, strict=True)
    )


def _chunk_item(key: CacheKey[Any], chunk_key: Key, piece: bytes, expires: int) -> Item:
    plan = key.form.plan
    assert plan.table.ttl is not None  # noqa: S101 - checked by CacheForm
    item: Item = {
        **chunk_key,
        key.form.marks.part: piece,
        plan.table.ttl: expires + CHUNK_GRACE_SECONDS,
    }
    if plan.schema_version is not None:
        item[SCHEMA_VERSION] = plan.schema_version
    return item


def _delete_chunks(session: Session, key: CacheKey[Any], manifest: Manifest | None) -> None:
    """Delete unreferenced chunks; those that cannot be deleted now expire later."""
    if manifest is None:
        return
    table = session.name(key.form.plan.table)
    with suppress(GrandstandError):
        _write_all(session, tuple(DeleteItem(table, at) for at in chunk_keys(key, manifest)))


def _write_all(session: Session, actions: tuple[PutItem | DeleteItem, ...]) -> None:
    for batch in item_ops.split_batches(actions, item_ops.MAX_WRITE):
        item_ops.write_batch(session, batch)


@dataclass(frozen=True, slots=True)
class Entry(Generic[V]):
    """A cached payload, or with `negative` the fact that there is none."""

    value: V | None
    negative: bool
    fetched_at: datetime
    expires: int


@dataclass(frozen=True, slots=True)
class EntryRead(Generic[V]):
    """The result of reading one key; `damage` says why a stored entry could not be used."""

    entry: Entry[V] | None = None
    damage: str | None = None
    stored_bytes: int = 0
    chunks: int = 0


class _StoredItem(NamedTuple):
    item: Item
    stored_bytes: int


@dataclass(frozen=True, slots=True)
class ReadEntries(Generic[V]):
    """Read entries of any forms; the results are in the order of the keys."""

    keys: tuple[CacheKey[V], ...]
    limits: Limits

    @property
    def is_short_read(self) -> bool:
        return len(self.keys) <= item_ops.MAX_SHORT_READ

    def run(self, session: Session) -> list[EntryRead[V]]:
        # An entry with missing chunks may just have been replaced, so it is read once more.
        results = self._read(session, self.keys)
        damaged = [key for key, result in zip(self.keys, results, strict=True) if result.damage]
        if not damaged:
            return results
        retried = dict(zip(map(id, damaged), self._read(session, damaged), strict=True))
        return [
            retried.get(id(key), result) for key, result in zip(self.keys, results, strict=True)
        ]

    def _read(self, session: Session, keys: Sequence[CacheKey[V]]) -> list[EntryRead[V]]:
        addresses = [_address(session, key, key.key) for key in keys]
        items = _read_items(session, addresses, keys)
        chunked = [
            (key, _address(session, key, chunk_key))
            for address, key in zip(addresses, keys, strict=True)
            if address in items and (manifest := manifest_of(key, items[address].item)) is not None
            for chunk_key in _chunk_keys_or_none(key, manifest)
        ]
        chunk_items = _read_items(
            session, [address for _, address in chunked], [key for key, _ in chunked]
        )
        return [
            self._result(session, key, items.get(address), chunk_items)
            for address, key in zip(addresses, keys, strict=True)
        ]

    def _result(
        self,
        session: Session,
        key: CacheKey[V],
        stored: _StoredItem | None,
        chunk_items: Mapping[item_ops.ItemAddress, _StoredItem],
    ) -> EntryRead[V]:
        if stored is None:
            return EntryRead()
        manifest = manifest_of(key, stored.item)
        pieces = (
            [
                chunk_items.get(_address(session, key, chunk_key))
                for chunk_key in _chunk_keys_or_none(key, manifest)
            ]
            if manifest
            else []
        )
        size = stored.stored_bytes + sum(piece.stored_bytes for piece in pieces if piece)
        piece_items = [None if piece is None else piece.item for piece in pieces]
        try:
            entry = self._entry(key, stored.item, manifest, piece_items)
        except (GrandstandError, ValueError, TypeError, LookupError, ArithmeticError) as error:
            return EntryRead(None, f"{error}", size, len(pieces))
        return EntryRead(entry, None, size, len(pieces))

    def _entry(
        self,
        key: CacheKey[V],
        item: Item,
        manifest: Manifest | None,
        pieces: Sequence[Item | None],
    ) -> Entry[V]:
        form, fetched_at = key.form, key.form.read_fetched_at(item)
        ttl = item.get(form.plan.table.ttl or "")
        # An entry without an expiry has expired.
        expires = int(ttl) if isinstance(ttl, int | Decimal) else 0
        if item.get(form.marks.neg):
            return Entry(None, True, fetched_at, expires)
        native = dict(item)
        packed, blob = None, _bytes(item, form.marks.blob)
        if manifest is not None:
            packed = join(manifest, [_bytes(piece, form.marks.part) for piece in pieces])
        elif blob is not None:
            packed = Packed(blob, str(item.get(form.marks.enc)))
        if packed is not None:
            native[form.data_attribute] = unpack_payload(packed, max_inflated=self.limits.inflated)
        value = form.payload(form.plan.decode(native))
        if value is None:
            raise PayloadDamaged(f"The entry {key.text} has no payload.")
        return Entry(value, False, fetched_at, expires)


def _bytes(item: Item | None, name: str) -> bytes | None:
    value = None if item is None else item.get(name)
    return value if isinstance(value, bytes) else None


def _chunk_keys_or_none(key: CacheKey[Any], manifest: Manifest) -> tuple[Key, ...]:
    try:
        return chunk_keys(key, manifest)
    except GrandstandError:
        return ()


def _address(session: Session, key: CacheKey[Any], item_key: Key) -> item_ops.ItemAddress:
    return session.name(key.form.plan.table), tuple(item_key.values())


def _read_items(
    session: Session, addresses: Iterable[item_ops.ItemAddress], keys: Iterable[CacheKey[Any]]
) -> dict[item_ops.ItemAddress, _StoredItem]:
    """Read items consistently; those that do not exist are left out."""
    key_names = {
        address: key.form.plan.table.key_names for address, key in zip(addresses, keys, strict=True)
    }
    gets = {
        address: GetItem(address[0], dict(zip(names, address[1], strict=True)), consistent=True)
        for address, names in key_names.items()
    }
    if len(gets) == 1:
        [(address, get)] = gets.items()
        item, size = session.engine.get(get)
        return {} if item is None else {address: _StoredItem(item, size or item_size(item))}
    found: dict[item_ops.ItemAddress, _StoredItem] = {}
    names_by_table = {address[0]: names for address, names in key_names.items()}
    for batch in item_ops.read_batches(session, tuple(gets.values())):
        sizes = batch.found_bytes or [item_size(item) for _, item in batch.found]
        for (table, item), size in zip(batch.found, sizes, strict=True):
            address = table, tuple(item[name] for name in names_by_table[table])
            found[address] = _StoredItem(item, size)
    return found


@dataclass(frozen=True, slots=True)
class EntryWrite:
    """How an entry was stored; "superseded" if a payload fetched later was already there."""

    outcome: Literal["native", "compressed", "chunked", "negative", "superseded"]
    stored_bytes: int = 0
    chunks: int = 0


@dataclass(frozen=True, slots=True)
class WriteEntry(Generic[V]):
    """Write an entry unless the stored one was fetched later; None is a negative entry."""

    key: CacheKey[V]
    value: V | None
    fetched_at: datetime
    expires_at: datetime
    generation: str
    limits: Limits

    def run(self, session: Session) -> EntryWrite:
        """Write the entry and delete the chunks of the one it replaces.

        Raises PayloadTooLarge above the limits, InvalidRequest for a payload that no item can
        hold.
        """
        form, times = self.key.form, (self.fetched_at, self.expires_at)
        if self.value is None:
            return self._put(session, form.negative_item(self.key, times), "negative")
        native = form.native_item(session, self.key, self.value, times)
        if item_size(native) <= min(self.limits.plain, self.limits.item):
            return self._put(session, native, "native")
        bare, marks = dict(native), form.marks
        packed = pack_payload(bare.pop(form.data_attribute), max_inflated=self.limits.inflated)
        single = {**bare, marks.blob: packed.data, marks.enc: packed.enc}
        if item_size(single) <= self.limits.item:
            return self._put(session, single, "compressed")
        if len(packed.data) > self.limits.payload:
            raise PayloadTooLarge(
                f"The payload of {self.key.text} takes {len(packed.data):,} bytes; the limit is "
                f"{self.limits.payload:,}."
            )
        return self._put_chunked(session, bare, packed)

    def _not_fetched_later(self) -> nodes.Condition:
        form = self.key.form
        target = form.plan.fields[form.fetched_at]
        path = nodes.Path((target.attribute,))
        fetched_at = nodes.Literal(target.encoded(self.fetched_at))
        return nodes.Or(nodes.Missing(path), nodes.Compare("<=", path, fetched_at))

    def _put(
        self, session: Session, item: Item, outcome: Literal["native", "compressed", "negative"]
    ) -> EntryWrite:
        replaced = self._replace(session, item)
        return EntryWrite(outcome, item_size(item)) if replaced else EntryWrite("superseded")

    def _replace(self, session: Session, item: Item) -> bool:
        request = PutItem(
            session.name(self.key.form.plan.table), item, self._not_fetched_later(), "ALL_OLD"
        )
        try:
            replaced = session.engine.put(request).attributes
        except ConditionFailed:
            return False
        _delete_chunks(session, self.key, manifest_of(self.key, replaced or {}))
        return True

    def _put_chunked(self, session: Session, bare: Item, packed: Packed) -> EntryWrite:
        manifest = Manifest(0, self.generation, len(packed.data), packed.sha256, packed.enc)
        expires = int(self.expires_at.timestamp())
        usable_until = expires + int(self.key.form.stale_seconds)
        manifest, chunk_list = chunk_items(
            self.key, manifest, packed.data, usable_until, self.limits.item
        )
        marks = self.key.form.marks
        item: Item = {
            **bare,
            marks.chunks: manifest.chunks,
            marks.generation: manifest.generation,
            marks.total_bytes: manifest.total_bytes,
            marks.sha256: manifest.sha256,
            marks.enc: manifest.enc,
        }
        size = item_size(item) + sum(item_size(chunk) for chunk in chunk_list)
        fits = len(chunk_list) < item_ops.MAX_ACTIONS and size <= self.limits.transaction
        if fits and session.engine.capabilities.transactions:
            written = self._write_atomically(session, item, chunk_list)
        else:
            written = self._write_separately(session, item, chunk_list, manifest)
        if not written:
            return EntryWrite("superseded")
        return EntryWrite("chunked", size, len(chunk_list))

    def _write_atomically(self, session: Session, item: Item, chunk_list: tuple[Item, ...]) -> bool:
        table = session.name(self.key.form.plan.table)
        marks = self.key.form.marks
        names = (marks.chunks, marks.generation, marks.total_bytes, marks.sha256, marks.enc)
        projection = tuple(nodes.Path((name,)) for name in names)
        before = session.engine.get(GetItem(table, self.key.key, projection, consistent=True)).item
        puts = [PutItem(table, chunk) for chunk in chunk_list]
        manifest = PutItem(table, item, self._not_fetched_later())
        try:
            session.engine.transact_write(Transaction((manifest, *puts)))
        except TransactionCancelled as cancelled:
            if any(reason.code == "ConditionalCheckFailed" for reason in cancelled.reasons):
                return False
            raise
        _delete_chunks(session, self.key, manifest_of(self.key, before or {}))
        return True

    def _write_separately(
        self, session: Session, item: Item, chunk_list: tuple[Item, ...], manifest: Manifest
    ) -> bool:
        """Write the chunks of a new generation, then the manifest that makes them visible."""
        table = session.name(self.key.form.plan.table)
        _write_all(session, tuple(PutItem(table, chunk) for chunk in chunk_list))
        if self._replace(session, item):
            return True
        _delete_chunks(session, self.key, manifest)
        return False


@dataclass(frozen=True, slots=True)
class DeleteEntry:
    """Delete an entry and its chunks; the result is False if there was none."""

    key: CacheKey[Any]

    def run(self, session: Session) -> bool:
        table = session.name(self.key.form.plan.table)
        deleted = session.engine.delete(DeleteItem(table, self.key.key, returning="ALL_OLD"))
        if deleted.attributes is None:
            return False
        _delete_chunks(session, self.key, manifest_of(self.key, deleted.attributes))
        return True
