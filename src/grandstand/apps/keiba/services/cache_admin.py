"""Administration of the page cache: statistics, entries and purging."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, ClassVar, Final, Literal

import msgspec

from grandstand.apps.keiba.services.page_cache import PageCache, now_to_second
from grandstand.apps.keiba.settings import SITE_TERMS
from grandstand.apps.keiba.sources.netkeiba import Netkeiba, SiteStatus
from grandstand.apps.keiba.store import ReadItem, ScanEntries, keiba
from grandstand.core.clock import Clock
from grandstand.core.errors import InvalidInput, NotFound
from grandstand.storage.tables import AsyncStore
from grandstand.storage.tables.attribute_values import Item, item_size
from grandstand.storage.tables.cache import CacheForm, CacheKey, Counts, Limits, Marks
from grandstand.storage.tables.cache_payload import ReadEntries as ReadPayloads

_MAX_COUNTED: Final = 5_000
_MARKS: Final = Marks()
_OTHER: Final = "other"


class CacheEntryNotFound(NotFound):
    """There is no cache entry with this key."""

    code: ClassVar[str] = "cache-entry-not-found"


@dataclass(frozen=True, slots=True)
class KindReport:
    """One kind of entry: lookups in this process, and what is stored now."""

    kind: str
    counts: Counts
    valid: int
    expired: int
    stored_bytes: int
    oldest_at: datetime | None
    newest_at: datetime | None


@dataclass(frozen=True, slots=True)
class CacheReport:
    """Statistics of the cache since this process started, and the state of the sites.

    `hit_rate` is the share of lookups, from 0 to 1, that needed no fetch; None before the first
    lookup. `complete` is False if there are more entries than were counted.
    """

    taken_at: datetime
    hit_rate: float | None
    total: Counts
    kinds: tuple[KindReport, ...]
    entries: int
    stored_bytes: int
    complete: bool
    sites: tuple[SiteStatus, ...]
    terms: str


@dataclass(frozen=True, slots=True)
class CacheEntry:
    """One entry of the cache; `chunks` counts the items a large payload was split into."""

    partition: str
    sort: str
    kind: str
    fetched_at: datetime | None
    expires_at: datetime | None
    expired: bool
    stored_bytes: int
    storage: Literal["plain", "compressed", "chunked", "missing"]
    chunks: int = 0
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CachePage:
    """Entries in no particular order, and the position after them; None at the end."""

    entries: tuple[CacheEntry, ...]
    position: str | None


@dataclass(frozen=True, slots=True)
class CachePayload:
    """One entry and its payload as indented JSON; None if the site has no such page."""

    entry: CacheEntry
    data_json: str | None


@dataclass(frozen=True, slots=True)
class PurgeFilter:
    """Which entries to remove: all conditions must hold, and at least one is required.

    `prefix` is the start of the partition key, such as HORSE# or RACE#2026; `kind` is a name from
    the report.
    """

    prefix: str = ""
    kind: str | None = None
    older_than_seconds: float | None = None
    expired_only: bool = False


@dataclass(frozen=True, slots=True)
class PurgeReport:
    """Entries that matched, their size, and how many were removed; none in a dry run."""

    matched: int
    stored_bytes: int
    removed: int
    dry_run: bool


@dataclass(kw_only=True)
class CacheAdmin:
    """Reports on the cache and removes entries."""

    store: AsyncStore
    site: Netkeiba
    clock: Clock
    pages: PageCache

    async def report(self) -> CacheReport:
        """Return hit rate, counts, ages and sizes by kind, and the state of the sites."""
        entries: dict[str, list[CacheEntry]] = {}
        count = 0
        async for entry in self._iterate(""):
            count += 1
            if count > _MAX_COUNTED:
                break
            entries.setdefault(entry.kind, []).append(entry)
        statistics = self.pages.cache.statistics()
        kinds = tuple(
            _report_kind(name, statistics.by_kind.get(name, Counts()), entries.get(name, []))
            for name in sorted({*entries, *statistics.by_kind})
        )
        return CacheReport(
            taken_at=now_to_second(self.clock),
            hit_rate=_hit_rate(statistics.total),
            total=statistics.total,
            kinds=kinds,
            entries=min(count, _MAX_COUNTED),
            stored_bytes=sum(kind.stored_bytes for kind in kinds),
            complete=count <= _MAX_COUNTED,
            sites=await self.site.status(),
            terms=SITE_TERMS,
        )

    async def entries(
        self, prefix: str = "", position: str | None = None, limit: int = 50
    ) -> CachePage:
        """Return entries whose partition key starts with `prefix`."""
        page = await self.store(ScanEntries(prefix, position, limit))
        return CachePage(tuple(self._entry(item) for item in page.items), page.position)

    async def inspect(self, partition: str, sort: str) -> CachePayload:
        """Return one entry with its payload, expired or not.

        Raises CacheEntryNotFound.
        """
        item = await self.store(ReadItem(partition, sort))
        kind = None if item is None else self._kind(item)
        if item is None or kind is None:
            raise CacheEntryNotFound(f"No cache entry {partition} {sort}.")
        [found] = await self.store(ReadPayloads((_key(kind, item),), Limits()))
        value = None if found.entry is None else found.entry.value
        encoded = None if value is None else msgspec.json.encode(value.value)
        text = None if encoded is None else msgspec.json.format(encoded, indent=2).decode()
        return CachePayload(self._entry(item), text)

    async def purge(self, purge_filter: PurgeFilter, *, dry_run: bool = True) -> PurgeReport:
        """Count the matching entries, and remove them unless it is a dry run.

        Personal data is never touched. Raises InvalidInput for a filter without conditions.
        """
        if purge_filter == PurgeFilter():
            raise InvalidInput("Give at least one of prefix, kind, age or expired.")
        entries = [
            entry
            async for entry in self._iterate(purge_filter.prefix)
            if self._matches(purge_filter, entry)
        ]
        removed = 0
        for entry in [] if dry_run else entries:
            item: Item = {keiba.partition: entry.partition, str(keiba.sort): entry.sort}
            kind = self._kind(item)
            removed += kind is not None and await self.pages.cache.forget(_key(kind, item))
        stored_bytes = sum(entry.stored_bytes for entry in entries)
        return PurgeReport(len(entries), stored_bytes, removed, dry_run)

    def _matches(self, purge_filter: PurgeFilter, entry: CacheEntry) -> bool:
        if entry.kind == _OTHER or purge_filter.kind not in {None, entry.kind}:
            return False
        if purge_filter.expired_only and not entry.expired:
            return False
        if purge_filter.older_than_seconds is None or entry.fetched_at is None:
            return True
        age = (self.clock.now() - entry.fetched_at).total_seconds()
        return age > purge_filter.older_than_seconds

    async def _iterate(self, prefix: str) -> AsyncIterator[CacheEntry]:
        """Yield every entry, giving other tasks a turn between pages."""
        position: str | None = None
        while True:
            page = await self.entries(prefix, position, limit=100)
            for entry in page.entries:
                yield entry
            position = page.position
            if position is None:
                return
            await asyncio.sleep(0)

    def _kind(self, item: Item) -> CacheForm[Any] | None:
        kinds = self.pages.kinds.all()
        return next((kind for kind in kinds if kind.plan.matches(item, None)), None)

    def _entry(self, item: Item) -> CacheEntry:
        kind = self._kind(item)
        expires_at = _from_epoch(item.get(keiba.ttl or ""))
        warnings = item.get("warnings")
        chunks = item.get(_MARKS.chunks)
        return CacheEntry(
            partition=str(item[keiba.partition]),
            sort=str(item[str(keiba.sort)]),
            kind=_OTHER if kind is None else kind.kind,
            fetched_at=_from_epoch(item.get("fetched_at")),
            expires_at=expires_at,
            expired=expires_at is None or expires_at <= self.clock.now(),
            stored_bytes=item_size(item),
            storage=_storage(item),
            chunks=int(chunks) if isinstance(chunks, int | Decimal) else 0,
            warnings=tuple(map(str, warnings)) if isinstance(warnings, list) else (),
        )


def _report_kind(name: str, counts: Counts, entries: list[CacheEntry]) -> KindReport:
    fetched_at = [entry.fetched_at for entry in entries if entry.fetched_at is not None]
    return KindReport(
        kind=name,
        counts=counts,
        valid=sum(not entry.expired for entry in entries),
        expired=sum(entry.expired for entry in entries),
        stored_bytes=sum(entry.stored_bytes for entry in entries),
        oldest_at=min(fetched_at, default=None),
        newest_at=max(fetched_at, default=None),
    )


def _key(kind: CacheForm[Any], item: Item) -> CacheKey[Any]:
    names = (keiba.partition, str(keiba.sort))
    return CacheKey(kind, {name: item[name] for name in names}, {})


def _from_epoch(stored: object) -> datetime | None:
    if not isinstance(stored, int | Decimal):
        return None
    return datetime.fromtimestamp(int(stored), UTC)


def _storage(item: Item) -> Literal["plain", "compressed", "chunked", "missing"]:
    if item.get(_MARKS.neg):
        return "missing"
    if _MARKS.chunks in item:
        return "chunked"
    return "compressed" if _MARKS.blob in item else "plain"


def _hit_rate(counts: Counts) -> float | None:
    """Return the share of lookups without a fetch; a card looks up twice what it then fetches."""
    hits = counts.hits + counts.negatives + counts.stale + counts.shared
    lookups = hits + counts.fetches
    return hits / lookups if lookups else None
