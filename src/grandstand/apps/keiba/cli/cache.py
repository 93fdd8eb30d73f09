"""Kept here: `grandstand keiba cache …`: what is kept, how old it is, and letting go of it."""

from __future__ import annotations

import re
from typing import Annotated, Final

import typer
from rich.console import Console

from grandstand.apps.keiba.cli.asking import AsJson, Opened, with_keiba
from grandstand.apps.keiba.cli.telling import warn
from grandstand.apps.keiba.cli.words import NONE, percent, shown, size, stamp
from grandstand.apps.keiba.service import (
    CacheEntry,
    CachePage,
    CacheReport,
    Keiba,
    Purged,
    PurgeWish,
    SiteStatus,
)
from grandstand.base.errors import InvalidInput
from grandstand.kit.terminal import Column, Line, console, echo_json, print_grid, say, title

_AGE: Final = re.compile(r"([0-9]{1,9})(s|min|h|d|w)?")
_SECONDS: Final = {"s": 1, "min": 60, "h": 3600, "d": 86_400, "w": 604_800, None: 1}
_MOST: Final = 500

_KIND_COLUMNS: Final = (
    Column("kind"),
    Column("kept", right=True),
    Column("expired", right=True, from_width=50),
    Column("size", right=True),
    Column("oldest", right=True, from_width=80),
    Column("newest", right=True, from_width=100),
)
_SITE_COLUMNS: Final = (
    Column("site", from_width=90),
    Column("host"),
    Column("asked today", right=True),
    Column("left", right=True, from_width=50),
    Column("next request", right=True, from_width=70),
    Column("paused until", right=True, from_width=110),
)
_ENTRY_COLUMNS: Final = (
    Column("partition"),
    Column("sort"),
    Column("size", right=True),
    Column("fetched", right=True, from_width=80),
    Column("expires", right=True, from_width=100),
)

Prefix = Annotated[
    str, typer.Option("--prefix", help="How the partition begins, such as HORSE# or RACE#2026.")
]
Kind = Annotated[str | None, typer.Option("--kind", help="A kind that `stats` names.")]
OlderThan = Annotated[
    str | None, typer.Option("--older-than", help="Fetched longer ago: 90min, 12h, 3d, 2w.")
]


def cache_commands(opened: Opened) -> typer.Typer:
    """Make the commands of the cache."""
    group = typer.Typer(help="What was fetched and is kept.", no_args_is_help=True)
    _add_stats(group, opened)
    _add_inspect(group, opened)
    _add_purge(group, opened)
    return group


def _add_stats(group: typer.Typer, opened: Opened) -> None:
    @group.command()
    def stats(*, as_json: AsJson = False) -> None:
        """Say what is kept, how old and large it is, and how the sites stand."""
        report = with_keiba(opened, lambda keiba: keiba.cache_report())
        if as_json:
            echo_json(report)
        else:
            _print_report(console(), report)


def _add_inspect(group: typer.Typer, opened: Opened) -> None:
    @group.command()
    def inspect(
        partition: Annotated[
            str, typer.Argument(help="A partition or how it begins: RACE#202605050701.")
        ] = "",
        sort: Annotated[
            str | None, typer.Argument(help="A sort key, such as METADATA: shows the entry.")
        ] = None,
        *,
        limit: Annotated[int, typer.Option(min=1, max=_MOST, help="How many to list.")] = 50,
        as_json: AsJson = False,
    ) -> None:
        """List what is kept under a partition, or show one entry with all it holds."""
        if sort is None:
            page = with_keiba(opened, lambda keiba: keiba.cache_entries(partition, limit=limit))
            echo_json(page) if as_json else _print_entries(console(), page)
            return
        found = with_keiba(opened, lambda keiba: keiba.cache_inspect(partition, sort))
        if as_json:
            echo_json(found)
            return
        to = console()
        title(to, f"{found.entry.partition} {found.entry.sort}")
        say(to, _about(found.entry))
        warn(to, found.entry.warnings)
        typer.echo(found.data_json or "It is known that the site has nothing here.")


def _add_purge(group: typer.Typer, opened: Opened) -> None:
    @group.command()
    def purge(
        *,
        prefix: Prefix = "",
        kind: Kind = None,
        older_than: OlderThan = None,
        expired: Annotated[bool, typer.Option("--expired", help="Past its time.")] = False,
        dry_run: Annotated[bool, typer.Option("--dry-run", help="Count, remove nothing.")] = False,
        yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
        as_json: AsJson = False,
    ) -> None:
        """Remove what is kept: all conditions given must hold, and one is needed.

        What it is about is counted first, and you are asked.
        """
        wish = PurgeWish(prefix, kind, _age_seconds(older_than), expired)
        if as_json and not (yes or dry_run):
            raise InvalidInput("With --json nobody can be asked: say --yes, or --dry-run")

        async def purged(keiba: Keiba) -> Purged:
            counted = await keiba.purge(wish)
            if dry_run or not counted.matched:
                return counted
            if not yes:
                about = f"{_entries(counted.matched)} ({size(counted.stored_bytes)})"
                typer.confirm(f"Remove {about}?", abort=True, err=True)
            return await keiba.purge(wish, dry=False)

        done = with_keiba(opened, purged)
        if as_json:
            echo_json(done)
        elif done.dry:
            told = f"{_entries(done.matched)} ({size(done.stored_bytes)}) would go"
            typer.echo(told if done.matched else "Nothing like that is kept.")
        else:
            typer.echo(f"{_entries(done.removed)} removed")


def _age_seconds(told: str | None) -> float | None:
    if told is None:
        return None
    found = _AGE.fullmatch(told.strip().replace(" ", ""))
    if found is None:
        raise InvalidInput(f"{told!r} is no length of time: write 90min, 12h, 3d or 2w")
    return float(int(found[1]) * _SECONDS[found[2]])


def _entries(count: int) -> str:
    return "1 entry" if count == 1 else f"{count:,} entries"


def _print_report(to: Console, report: CacheReport) -> None:
    more = "" if report.complete else " and more"
    title(to, f"{_entries(report.entries)}{more}, {size(report.stored_bytes)}")
    if report.hit_rate is not None:
        say(to, f"{percent(report.hit_rate)} % of what was asked here was kept")
    to.print()
    kinds = (
        Line(
            (
                each.kind,
                f"{each.kept:,}",
                f"{each.expired:,}",
                size(each.stored_bytes),
                stamp(each.oldest_at),
                stamp(each.newest_at),
            )
        )
        for each in report.kinds
    )
    print_grid(to, _KIND_COLUMNS, kinds)
    to.print()
    print_grid(to, _SITE_COLUMNS, map(_site_line, report.sites))
    for site in report.sites:
        if site.paused_until is not None:
            warn(to, (f"{site.host} is left alone: {site.why_paused}",))
    to.print()
    say(to, report.terms, "dim")


def _site_line(site: SiteStatus) -> Line:
    return Line(
        (
            site.name,
            site.host,
            f"{site.requests_today:,}",
            shown(site.requests_left),
            "now" if site.next_at is None else stamp(site.next_at),
            stamp(site.paused_until),
        ),
        "yellow" if site.paused_until else "",
    )


def _print_entries(to: Console, page: CachePage) -> None:
    if not page.entries:
        say(to, "Nothing like that is kept.")
        return
    lines = (
        Line(
            (
                each.partition,
                each.sort,
                size(each.stored_bytes),
                stamp(each.fetched_at),
                stamp(each.expires_at),
            ),
            "dim" if each.expired else "",
        )
        for each in page.entries
    )
    print_grid(to, _ENTRY_COLUMNS, lines)
    if page.position is not None:
        say(to, "There is more: name a longer partition, or a higher --limit.", "dim")


def _about(entry: CacheEntry) -> str:
    cut = f" in {entry.parts} parts" if entry.parts else ""
    expiry = "expired" if entry.expired else "expires"
    told = f"{entry.kind}, {size(entry.stored_bytes)} {entry.form}{cut}"
    times = f"fetched {stamp(entry.fetched_at)}, {expiry} {stamp(entry.expires_at)}"
    return f"{told}; {times}".replace(NONE, "at no known time")
