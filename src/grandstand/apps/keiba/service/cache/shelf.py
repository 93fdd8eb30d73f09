"""Kept here: looking into the cache: what is there, how old and large, and clearing it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final, Literal

import msgspec

from grandstand.apps.keiba.service.cache.library import Library
from grandstand.apps.keiba.service.cache.values import (
    CacheEntry,
    CachePage,
    CacheReport,
    Inspected,
    KindReport,
    Purged,
    PurgeWish,
)
from grandstand.apps.keiba.service.means import Means
from grandstand.apps.keiba.service.refusals import EntryNotFound, PurgeRefused
from grandstand.apps.keiba.sources.addresses import TERMS
from grandstand.apps.keiba.store import ReadEntries, ReadEntry, keiba
from grandstand.storage.tables.cache import CacheForm, CacheKey, Counts, Limits, Marks
from grandstand.storage.tables.cache.reading import ReadEntries as ReadWhole
from grandstand.storage.tables.values import Item, item_size

_LOOKED_AT: Final = 5_000
_AT_ONCE: Final = 100
_MARKS: Final = Marks()
_OTHER: Final = "other"


class Shelf:
    """Looks into the cache as it is stored."""

    def __init__(self, means: Means, library: Library) -> None:
        self._means = means
        self._library = library

    async def report(self) -> CacheReport:
        """Answer what is kept and how often it helped, and how the sites stand."""
        kinds: dict[str, _Kind] = {}
        entries = size = 0
        complete = True
        async for entry in self._each(""):
            if entries == _LOOKED_AT:
                complete = False
                break
            entries += 1
            size += entry.stored_bytes
            kinds.setdefault(entry.kind, _Kind()).add(entry)
        counted = self._library.cache.statistics()
        names = sorted({*kinds, *counted.by_kind})
        return CacheReport(
            taken_at=self._means.now(),
            hit_rate=_hit_rate(counted.total),
            total=counted.total,
            kinds=tuple(
                kinds.get(name, _Kind()).report(name, counted.by_kind.get(name, Counts()))
                for name in names
            ),
            entries=entries,
            stored_bytes=size,
            complete=complete,
            sites=await self._means.site.status(),
            terms=TERMS,
        )

    async def page(self, prefix: str, position: str | None, limit: int) -> CachePage:
        """Answer entries whose partition begins so."""
        read = await self._means.store(ReadEntries(prefix, position, limit))
        return CachePage(tuple(self._entry(item) for item in read.items), read.position)

    async def inspect(self, partition: str, sort: str) -> Inspected:
        """Answer one entry with its payload, expired or not; raise EntryNotFound."""
        store = self._means.store
        item = await store(ReadEntry(partition, sort))
        form = None if item is None else self._form(item)
        if item is None or form is None:
            message = f"Nothing is kept under {partition} {sort}"
            raise EntryNotFound(message)
        [found] = await store(ReadWhole((_key(form, item),), Limits()))
        value = None if found.entry is None else found.entry.value
        written = None if value is None else msgspec.json.encode(value.value)
        text = None if written is None else msgspec.json.format(written, indent=2).decode()
        return Inspected(self._entry(item), text)

    async def purge(self, wish: PurgeWish, *, dry: bool) -> Purged:
        """Count what a wish is about, and remove it unless it is a dry run."""
        if wish == PurgeWish():
            raise PurgeRefused("Say what is to go: a prefix, a kind, an age, or what has expired")
        matched = size = removed = 0
        found = [entry async for entry in self._each(wish.prefix) if self._meant(wish, entry)]
        for entry in found:
            matched += 1
            size += entry.stored_bytes
            if not dry:
                removed += await self._remove(entry)
        return Purged(matched, size, removed, dry)

    async def _remove(self, entry: CacheEntry) -> bool:
        item: Item = {keiba.partition: entry.partition, str(keiba.sort): entry.sort}
        form = self._form(item)
        return form is not None and await self._library.cache.forget(_key(form, item))

    def _meant(self, wish: PurgeWish, entry: CacheEntry) -> bool:
        if entry.kind == _OTHER or (wish.kind is not None and wish.kind != entry.kind):
            return False
        if wish.expired_only and not entry.expired:
            return False
        if wish.older_than_seconds is None:
            return True
        if entry.fetched_at is None:
            return True
        age = (self._means.clock.now() - entry.fetched_at).total_seconds()
        return age > wish.older_than_seconds

    async def _each(self, prefix: str) -> AsyncIterator[CacheEntry]:
        """Answer every entry, and let others have their turn between pages."""
        position: str | None = None
        while True:
            page = await self.page(prefix, position, _AT_ONCE)
            for entry in page.entries:
                yield entry
            position = page.position
            if position is None:
                return
            await asyncio.sleep(0)

    def _form(self, item: Item) -> CacheForm[Any] | None:
        forms = self._library.forms.every
        return next((form for form in forms if form.plan.keeps(item, None)), None)

    def _entry(self, item: Item) -> CacheEntry:
        form = self._form(item)
        expires = _moment(item.get(keiba.ttl or ""))
        warnings = item.get("warnings")
        parts = item.get(_MARKS.chunks)
        return CacheEntry(
            partition=str(item[keiba.partition]),
            sort=str(item[str(keiba.sort)]),
            kind=_OTHER if form is None else form.kind,
            fetched_at=_moment(item.get("fetched_at")),
            expires_at=expires,
            expired=expires is None or expires <= self._means.clock.now(),
            stored_bytes=item_size(item),
            form=_stored_as(item),
            parts=int(parts) if isinstance(parts, int | Decimal) else 0,
            warnings=tuple(map(str, warnings)) if isinstance(warnings, list) else (),
        )


@dataclass
class _Kind:
    """What is counted of one kind."""

    kept: int = 0
    expired: int = 0
    stored_bytes: int = 0
    moments: list[datetime] = field(default_factory=list)

    def add(self, entry: CacheEntry) -> None:
        """Count an entry."""
        self.kept += not entry.expired
        self.expired += entry.expired
        self.stored_bytes += entry.stored_bytes
        if entry.fetched_at is not None:
            self.moments.append(entry.fetched_at)

    def report(self, name: str, counts: Counts) -> KindReport:
        """Answer it all."""
        return KindReport(
            kind=name,
            counts=counts,
            kept=self.kept,
            expired=self.expired,
            stored_bytes=self.stored_bytes,
            oldest_at=min(self.moments, default=None),
            newest_at=max(self.moments, default=None),
        )


def _key(form: CacheForm[Any], item: Item) -> CacheKey[Any]:
    names = (keiba.partition, str(keiba.sort))
    return CacheKey(form, {name: item[name] for name in names}, {})


def _moment(stored: object) -> datetime | None:
    if not isinstance(stored, int | Decimal):
        return None
    return datetime.fromtimestamp(int(stored), UTC)


def _stored_as(item: Item) -> Literal["plain", "compressed", "parts", "nothing"]:
    if item.get(_MARKS.neg):
        return "nothing"
    if _MARKS.chunks in item:
        return "parts"
    return "compressed" if _MARKS.blob in item else "plain"


def _hit_rate(counts: Counts) -> float | None:
    """The share of answers without a fetch; a card looks twice for what it then fetches."""
    helped = counts.hits + counts.negatives + counts.stale + counts.shared
    answered = helped + counts.fetches
    return helped / answered if answered else None
