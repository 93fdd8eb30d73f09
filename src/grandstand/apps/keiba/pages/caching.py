"""Kept here: the pages of what is kept, how often that helped, and how the sites are asked."""

from __future__ import annotations

from datetime import datetime
from typing import Final
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from grandstand.apps.keiba.pages.part import PagesPart
from grandstand.apps.keiba.pages.tongue import Tongue, tongue_of
from grandstand.apps.keiba.service import CacheEntry, CacheReport, KindReport, PurgeWish
from grandstand.kit.pages import shown
from grandstand.kit.pages.forms import lead_to, texts_of
from grandstand.kit.pages.shown import number
from grandstand.kit.pages.table import Cell, Column, DataTable, Row
from grandstand.kit.routes import Admin, Who, page

_ON_A_PAGE: Final = 50
_LONGEST: Final = 80


class CachePages(PagesPart):
    """The cache and the sites for everybody; its entries and their removal for administrators."""

    @page("/cache")
    async def cache(self, request: Request, who: Who) -> Response:
        """Hit rate, ages, sizes, requests of today, when the next one is allowed, and pauses."""
        t, report = tongue_of(request), await self._keiba.cache_report()
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
    async def entries(self, request: Request, who: Admin) -> Response:
        """A page of entries whose key begins as asked; raises CursorRefused."""
        t, query = tongue_of(request), request.query_params
        prefix = query.get("prefix", "")[:_LONGEST]
        cursors, question = self._keiba.cursors, f"keiba.cache/{prefix}"
        position = cursors.read(who, question, query.get("after"))
        found = await self._keiba.cache_entries(prefix, position, _ON_A_PAGE)
        return self._render(
            request,
            "entries",
            t=t,
            here="cache",
            prefix=prefix,
            table=entry_table(found.entries, t, who.preferences.time_zone, self._keiba.now()),
            later=cursors.write(who, question, found.position),
            first=position is None,
            kinds=[each.kind for each in (await self._keiba.cache_report()).kinds],
            said=_said(query.get("removed", ""), t),
        )

    @page("/cache/entry", access="admin")
    async def entry(self, request: Request, who: Admin) -> Response:
        """One entry with its payload; raises EntryNotFound."""
        query = request.query_params
        found = await self._keiba.cache_inspect(query.get("pk", ""), query.get("sk", ""))
        return self._render(
            request, "entry", here="cache", found=found, zone=who.preferences.time_zone
        )

    @page("/cache/purge", access="admin", method="POST")
    async def purge(self, request: Request) -> Response:
        """Count what a wish is about, and remove it once that was seen; raises PurgeRefused."""
        texts = await texts_of(request)
        wish = PurgeWish(
            prefix=texts.get("prefix", "")[:_LONGEST],
            kind=texts.get("kind") or None,
            expired_only=texts.get("expired") == "yes",
        )
        if texts.get("sure") == "yes":
            gone = await self._keiba.purge(wish, dry=False)
            return lead_to(f"/keiba/cache/entries?removed={gone.removed}")
        return self._render(
            request, "purge", here="cache", wish=wish, found=await self._keiba.purge(wish)
        )


def kind_table(report: CacheReport, t: Tongue, zone: str) -> DataTable:
    """Answer what is kept of each kind, and how often it was asked for."""
    w = t.w
    columns = (
        Column("kind", w["kind"]),
        Column("hits", w["hits"], "number"),
        Column("misses", w["misses"], "number"),
        Column("shared", w["shared"], "number", rank=2),
        Column("kept", w["kept_now"], "number"),
        Column("expired", w["expired"], "number", rank=2),
        Column("stored", w["stored"], "number"),
        Column("oldest", w["oldest"], "time", rank=2),
        Column("newest", w["newest"], "time", rank=2),
    )
    rows = tuple(_kind_row(each, report, t, zone) for each in report.kinds)
    return DataTable("kinds", w["by_kind"], columns, rows)


def _kind_row(each: KindReport, report: CacheReport, t: Tongue, zone: str) -> Row:
    counts, now = each.counts, report.taken_at
    return Row(
        each.kind,
        (
            Cell(t.term("kind", each.kind)),
            Cell(number(counts.hits), counts.hits),
            Cell(number(counts.misses), counts.misses),
            Cell(number(counts.shared), counts.shared),
            Cell(number(each.kept), each.kept),
            Cell(number(each.expired), each.expired),
            Cell(shown.byte_size(each.stored_bytes), each.stored_bytes),
            Cell(t.age(each.oldest_at, now, zone), each.oldest_at),
            Cell(t.age(each.newest_at, now, zone), each.newest_at),
        ),
    )


def entry_table(entries: tuple[CacheEntry, ...], t: Tongue, zone: str, now: datetime) -> DataTable:
    """Answer entries with their ages and sizes, each leading to its payload."""
    w = t.w
    columns = (
        Column("entry", w["entry"]),
        Column("kind", w["kind"], rank=2),
        Column("fetched", w["fetched_at"], "time"),
        Column("expires", w["expires_at"], "time", rank=2),
        Column("stored", w["stored"], "number"),
        Column("form", w["form_kept"], rank=2),
    )
    rows = tuple(
        Row(
            f"{each.partition} {each.sort}",
            (
                Cell(f"{each.partition} / {each.sort}", href=_place(each)),
                Cell(t.term("kind", each.kind)),
                Cell(t.age(each.fetched_at, now, zone), each.fetched_at),
                Cell(
                    t.age(each.expires_at, now, zone),
                    each.expires_at,
                    tone="warn" if each.expired else "",
                ),
                Cell(shown.byte_size(each.stored_bytes), each.stored_bytes),
                Cell(each.form),
            ),
        )
        for each in entries
    )
    return DataTable("entries", w["all_entries"], columns, rows, stacks=True)


def _place(each: CacheEntry) -> str:
    return f"/keiba/cache/entry?{urlencode({'pk': each.partition, 'sk': each.sort})}"


def _said(removed: str, t: Tongue) -> str:
    return t.say("purged", removed) if removed.isascii() and removed.isdigit() else ""
