"""Pages of the cache and of the state of the sites."""

from __future__ import annotations

from datetime import datetime
from typing import Final
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from grandstand.apps.keiba.pages.base import KeibaPage
from grandstand.apps.keiba.pages.i18n import Locale, locale_of
from grandstand.apps.keiba.services.cache_admin import (
    CacheEntry,
    CacheReport,
    KindReport,
    PurgeFilter,
)
from grandstand.apps.keiba.services.page_cache import now_to_second
from grandstand.core.formatting import format_bytes, format_number
from grandstand.kit.pages.page import form_fields, redirect_to
from grandstand.kit.pages.table import Cell, Column, DataTable, Row
from grandstand.kit.routes import AdminCaller, CurrentCaller, page

_MAX_PREFIX_LENGTH: Final = 80


class CachePages(KeibaPage):
    """The cache and the sites for everybody; entries and their removal for administrators."""

    @page("/cache")
    async def cache(self, request: Request, who: CurrentCaller) -> Response:
        """Hit rate, ages and sizes; today's requests, the next allowed one, and cooldowns."""
        t, report = locale_of(request), await self._keiba.cache_admin.report()
        zone = who.preferences.time_zone
        return self._render(
            request,
            "cache",
            t=t,
            here="cache",
            report=report,
            table=kind_table(report, t, zone).view(request.query_params),
        )

    @page("/cache/entries", access="admin")
    async def entries(self, request: Request, who: AdminCaller) -> Response:
        """A page of entries whose key starts with `prefix`."""
        t, query = locale_of(request), request.query_params
        prefix = query.get("prefix", "")[:_MAX_PREFIX_LENGTH]
        removed = query.get("removed", "")
        cursors, question = self._keiba.cursors, f"keiba.cache/{prefix}"
        position = cursors.read(who, question, query.get("after"))
        entries = await self._keiba.cache_admin.entries(prefix, position, 50)
        now, zone = now_to_second(self._keiba.clock), who.preferences.time_zone
        return self._render(
            request,
            "entries",
            t=t,
            here="cache",
            prefix=prefix,
            table=entry_table(entries.entries, t, zone, now),
            next_cursor=cursors.write(who, question, entries.position),
            is_first_page=position is None,
            kinds=[kind.kind for kind in (await self._keiba.cache_admin.report()).kinds],
            notice=t.say("purged", removed) if removed.isascii() and removed.isdigit() else "",
        )

    @page("/cache/entry", access="admin")
    async def entry(self, request: Request, who: AdminCaller) -> Response:
        """One entry with its payload."""
        query = request.query_params
        payload = await self._keiba.cache_admin.inspect(query.get("pk", ""), query.get("sk", ""))
        return self._render(
            request, "entry", here="cache", payload=payload, zone=who.preferences.time_zone
        )

    @page("/cache/purge", access="admin", method="POST")
    async def purge(self, request: Request) -> Response:
        """Count the matching entries, and remove them once confirmed."""
        fields = await form_fields(request)
        purge_filter = PurgeFilter(
            prefix=fields.get("prefix", "")[:_MAX_PREFIX_LENGTH],
            kind=fields.get("kind") or None,
            expired_only=fields.get("expired") == "yes",
        )
        if fields.get("confirmed") == "yes":
            report = await self._keiba.cache_admin.purge(purge_filter, dry_run=False)
            return redirect_to(f"/keiba/cache/entries?removed={report.removed}")
        report = await self._keiba.cache_admin.purge(purge_filter)
        return self._render(
            request, "purge", here="cache", purge_filter=purge_filter, report=report
        )


def kind_table(report: CacheReport, t: Locale, zone: str) -> DataTable:
    """Return lookups and stored entries by kind."""
    w = t.w
    columns = (
        Column("kind", w["kind"]),
        Column("hits", w["hits"], "number"),
        Column("misses", w["misses"], "number"),
        Column("shared", w["shared"], "number", rank=2),
        Column("valid", w["valid"], "number"),
        Column("expired", w["expired"], "number", rank=2),
        Column("stored", w["stored"], "number"),
        Column("oldest", w["oldest"], "time", rank=2),
        Column("newest", w["newest"], "time", rank=2),
    )
    rows = tuple(_kind_row(kind, report, t, zone) for kind in report.kinds)
    return DataTable("kinds", w["by_kind"], columns, rows)


def _kind_row(kind: KindReport, report: CacheReport, t: Locale, zone: str) -> Row:
    counts, now = kind.counts, report.taken_at
    return Row(
        kind.kind,
        (
            Cell(t.term("kind", kind.kind)),
            Cell(format_number(counts.hits), counts.hits),
            Cell(format_number(counts.misses), counts.misses),
            Cell(format_number(counts.shared), counts.shared),
            Cell(format_number(kind.valid), kind.valid),
            Cell(format_number(kind.expired), kind.expired),
            Cell(format_bytes(kind.stored_bytes), kind.stored_bytes),
            Cell(t.age(kind.oldest_at, now, zone), kind.oldest_at),
            Cell(t.age(kind.newest_at, now, zone), kind.newest_at),
        ),
    )


def entry_table(entries: tuple[CacheEntry, ...], t: Locale, zone: str, now: datetime) -> DataTable:
    """Return entries with their ages and sizes, linked to their payloads."""
    w = t.w
    columns = (
        Column("entry", w["entry"]),
        Column("kind", w["kind"], rank=2),
        Column("fetched", w["fetched_at"], "time"),
        Column("expires", w["expires_at"], "time", rank=2),
        Column("stored", w["stored"], "number"),
        Column("storage", w["storage"], rank=2),
    )
    rows = tuple(
        Row(
            f"{entry.partition} {entry.sort}",
            (
                Cell(f"{entry.partition} / {entry.sort}", href=_entry_href(entry)),
                Cell(t.term("kind", entry.kind)),
                Cell(t.age(entry.fetched_at, now, zone), entry.fetched_at),
                Cell(
                    t.age(entry.expires_at, now, zone),
                    entry.expires_at,
                    tone="warn" if entry.expired else "",
                ),
                Cell(format_bytes(entry.stored_bytes), entry.stored_bytes),
                Cell(entry.storage),
            ),
        )
        for entry in entries
    )
    return DataTable("entries", w["all_entries"], columns, rows, stacks=True)


def _entry_href(entry: CacheEntry) -> str:
    return f"/keiba/cache/entry?{urlencode({'pk': entry.partition, 'sk': entry.sort})}"
