"""Kept here: writing entries: native, compressed, or in parts behind a manifest."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, TypeVar

from grandstand.storage.tables.cache.form import CacheKey, Limits
from grandstand.storage.tables.cache.parts import (
    delete_parts,
    manifest_of,
    part_items,
    write_parts,
)
from grandstand.storage.tables.cache.payload import (
    Manifest,
    Packed,
    PayloadTooLarge,
    pack_payload,
)
from grandstand.storage.tables.declaration.times import TIMES
from grandstand.storage.tables.errors import ConditionFailed, TransactionCancelled
from grandstand.storage.tables.expressions.nodes import (
    Compare,
    Condition,
    Missing,
    Or,
    Path,
)
from grandstand.storage.tables.expressions.nodes import Literal as Given
from grandstand.storage.tables.operations.batches import MAX_ACTIONS
from grandstand.storage.tables.requests import DeleteItem, GetItem, PutItem, Transaction
from grandstand.storage.tables.values import Item, item_size

if TYPE_CHECKING:
    from grandstand.storage.tables.session import Session

V = TypeVar("V")

_FAILED: Final = "ConditionalCheckFailed"


@dataclass(frozen=True, slots=True)
class Kept:
    """How an entry was written; "superseded" when a payload fetched later was there already."""

    way: Literal["native", "compressed", "parts", "negative", "superseded"]
    stored_bytes: int = 0
    chunks: int = 0


@dataclass(frozen=True, slots=True)
class WriteEntry(Generic[V]):
    """Write an entry over what is there, unless that was fetched later; None says there is none."""

    key: CacheKey[V]
    value: V | None
    fetched_at: datetime
    expires_at: datetime
    generation: str
    limits: Limits

    def run(self, session: Session) -> Kept:
        """Write it, and clear away the parts of what it replaces.

        Raises PayloadTooLarge above the limits, InvalidRequest for a payload no item can hold.
        """
        form, times = self.key.form, (self.fetched_at, self.expires_at)
        if self.value is None:
            return self._put(session, form.negative(self.key, times), "negative")
        native = form.native(session, self.key, self.value, times)
        size = item_size(native)
        if size <= min(self.limits.plain, self.limits.item):
            return self._put(session, native, "native")
        bare, marks = dict(native), form.marks
        packed = pack_payload(bare.pop(form.data_attribute), most_inflated=self.limits.inflated)
        single = {**bare, marks.blob: packed.data, marks.enc: packed.enc}
        if item_size(single) <= self.limits.item:
            return self._put(session, single, "compressed")
        if len(packed.data) > self.limits.payload:
            message = (
                f"The payload of {self.key.text} takes {len(packed.data):,} bytes, over the "
                f"{self.limits.payload:,} that are kept"
            )
            raise PayloadTooLarge(message)
        return self._in_parts(session, bare, packed)

    def _table(self, session: Session) -> str:
        return session.name(self.key.form.plan.table)

    def _not_later(self) -> Condition:
        """Hold unless the entry there was fetched later than this one."""
        form = self.key.form
        path = Path((form.plan.fields[form.fetched_at].attribute,))
        return Or(Missing(path), Compare("<=", path, Given(form.as_stored(self.fetched_at))))

    def _put(
        self, session: Session, item: Item, way: Literal["native", "compressed", "negative"]
    ) -> Kept:
        if not self._replace(session, item):
            return Kept("superseded")
        return Kept(way, item_size(item))

    def _replace(self, session: Session, item: Item) -> bool:
        """Put one item unless what is there was fetched later; clear away what it replaces."""
        request = PutItem(self._table(session), item, self._not_later(), "ALL_OLD")
        try:
            replaced = session.engine.put(request).attributes
        except ConditionFailed:
            return False
        delete_parts(session, self.key, manifest_of(self.key, replaced or {}))
        return True

    def _in_parts(self, session: Session, bare: Item, packed: Packed) -> Kept:
        begun = Manifest(0, self.generation, len(packed.data), packed.sha256, packed.enc)
        expires = int(TIMES["epoch"].write(self.expires_at) or 0)
        lasting = expires + int(self.key.form.stale_seconds)
        manifest, parts = part_items(self.key, begun, packed.data, lasting, self.limits.item)
        marks = self.key.form.marks
        item: Item = {
            **bare,
            marks.chunks: manifest.chunks,
            marks.generation: manifest.generation,
            marks.total_bytes: manifest.total_bytes,
            marks.sha256: manifest.sha256,
            marks.enc: manifest.enc,
        }
        size = item_size(item) + sum(item_size(part) for part in parts)
        fits = len(parts) < MAX_ACTIONS and size <= self.limits.transaction
        if fits and session.engine.capabilities.transactions:
            written = self._at_once(session, item, parts)
        else:
            written = self._one_by_one(session, item, parts, manifest)
        return Kept("parts", size, len(parts)) if written else Kept("superseded")

    def _at_once(self, session: Session, item: Item, parts: tuple[Item, ...]) -> bool:
        """Write manifest and parts in one transaction."""
        table = self._table(session)
        marks = self.key.form.marks
        names = (marks.chunks, marks.generation, marks.total_bytes, marks.sha256, marks.enc)
        telling = tuple(Path((name,)) for name in names)
        before = session.engine.get(GetItem(table, self.key.key, telling, consistent=True)).item
        puts = [PutItem(table, part) for part in parts]
        manifest = PutItem(table, item, self._not_later())
        try:
            session.engine.transact_write(Transaction((manifest, *puts)))
        except TransactionCancelled as cancelled:
            if any(reason.code == _FAILED for reason in cancelled.reasons):
                return False
            raise
        delete_parts(session, self.key, manifest_of(self.key, before or {}))
        return True

    def _one_by_one(
        self, session: Session, item: Item, parts: tuple[Item, ...], manifest: Manifest
    ) -> bool:
        """Write the parts of a new generation, then the manifest, which is what counts."""
        write_parts(session, self._table(session), parts)
        if self._replace(session, item):
            return True
        delete_parts(session, self.key, manifest)
        return False


@dataclass(frozen=True, slots=True)
class ForgetEntry:
    """Delete an entry and its parts."""

    key: CacheKey[Any]

    def run(self, session: Session) -> bool:
        """Delete it; False when there was none."""
        table = session.name(self.key.form.plan.table)
        gone = session.engine.delete(DeleteItem(table, self.key.key, returning="ALL_OLD"))
        if gone.attributes is None:
            return False
        delete_parts(session, self.key, manifest_of(self.key, gone.attributes))
        return True
