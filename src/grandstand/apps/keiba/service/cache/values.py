"""Kept here: what is answered to whoever looks into the cache."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from grandstand.apps.keiba.sources.netkeiba import SiteStatus
from grandstand.storage.tables.cache import Counts


@dataclass(frozen=True, slots=True)
class KindReport:
    """One kind of entry: what was asked of it here, and what is kept now.

    `kept` counts entries within their time and `expired` those past it that are still there.
    """

    kind: str
    counts: Counts
    kept: int
    expired: int
    stored_bytes: int
    oldest_at: datetime | None
    newest_at: datetime | None


@dataclass(frozen=True, slots=True)
class CacheReport:
    """What is kept, how often that helped this process since it began, and how the sites stand.

    `hit_rate` is the share of answers, from 0 to 1, for which no page was fetched; None before
    anything was asked. `complete` is False when there are
    more entries than were looked at.
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
    """One entry of the cache; `parts` counts the items a long payload was cut into."""

    partition: str
    sort: str
    kind: str
    fetched_at: datetime | None
    expires_at: datetime | None
    expired: bool
    stored_bytes: int
    form: Literal["plain", "compressed", "parts", "nothing"]
    parts: int = 0
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CachePage:
    """Entries in no particular order, and the position after them, None at the end."""

    entries: tuple[CacheEntry, ...]
    position: str | None


@dataclass(frozen=True, slots=True)
class Inspected:
    """One entry and its payload as indented JSON; None where it says that there is nothing."""

    entry: CacheEntry
    data_json: str | None


@dataclass(frozen=True, slots=True)
class PurgeWish:
    """Which entries are to go: all conditions must hold, and at least one is to be given.

    `prefix` is how the partition begins, such as HORSE# or RACE#2026; `kind` is a name in the
    report.
    """

    prefix: str = ""
    kind: str | None = None
    older_than_seconds: float | None = None
    expired_only: bool = False


@dataclass(frozen=True, slots=True)
class Purged:
    """How many entries matched, how many bytes they take, and how many were removed.

    A dry run removes none.
    """

    matched: int
    stored_bytes: int
    removed: int
    dry: bool
