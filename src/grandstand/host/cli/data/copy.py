"""Kept here: `grandstand copy`, which moves tables or series to another engine and compares."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Final

import typer
from pydantic import SecretStr

from grandstand.base.clock import Clock, SystemClock
from grandstand.base.errors import InvalidInput, LimitReached, Unavailable
from grandstand.host.catalogue import find_series, find_tables
from grandstand.host.cli.data.telling import telling
from grandstand.host.cli.showing import as_json as written
from grandstand.host.moving.series import AllSeriesMoved, SeriesOrder, copy_series
from grandstand.host.moving.tables import TableOrder, TablesMoved, copy_tables
from grandstand.host.settings import Settings, read_settings
from grandstand.kit.terminal import Column, Line, console, print_grid

Names = Annotated[
    list[str] | None,
    typer.Argument(help="Tables or applications, or series; all when none is named."),
]
From = Annotated[
    str | None,
    typer.Option("--from", help="Where they are, as the settings say it; else the settings'."),
]
To = Annotated[
    str | None, typer.Option("--to", help="Where they go, likewise; one of both is needed.")
]
OfSeries = Annotated[
    bool, typer.Option("--series", help="Series, between chunks and PostgreSQL; not tables.")
]
Create = Annotated[bool, typer.Option("--create", help="Make the tables the target does not have.")]
Mirror = Annotated[
    bool,
    typer.Option("--mirror", help="Replace items that differ, remove those not at the source."),
]
Check = Annotated[bool, typer.Option("--check", help="Only compare both sides; copy nothing.")]
AsJson = Annotated[bool, typer.Option("--json", help="Write it as JSON.")]

_TABLES: Final = (
    Column("table", whole=True),
    Column("read", right=True),
    Column("written", right=True),
    Column("same", right=True),
    Column("other", right=True),
    Column("source", right=True),
    Column("target", right=True),
    Column("checksum", whole=True),
)
_SERIES: Final = (
    Column("series", whole=True),
    Column("read", right=True),
    Column("added", right=True),
    Column("source", right=True),
    Column("target", right=True),
    Column("checksum", whole=True),
)


def copy(
    names: Names = None,
    *,
    source: From = None,
    target: To = None,
    series: OfSeries = False,
    create: Create = False,
    mirror: Mirror = False,
    check: Check = False,
    json: AsJson = False,
) -> None:
    """Copy tables or series to another engine, and compare both sides; exit with 1 if they differ.

    Stopped in the middle, the same command goes on where it stood. Done twice, it changes nothing.
    """
    if source is None and target is None:
        raise InvalidInput(
            "Say where to: --to dynamodb:REGION, sqlite:PATH, chunks or postgresql:…"
        )
    settings, clock = read_settings(), SystemClock()
    if series:
        if create or mirror:
            raise InvalidInput("Series are made as needed and only ever added to: leave that out")
        here = settings.series.get_secret_value()
        places = SecretStr(source or here), SecretStr(target or here)
        same = _series(settings, SeriesOrder(*places, find_series(names or []), check), clock, json)
    else:
        here = settings.tables
        chosen = find_tables(names or [])
        order = TableOrder(source or here, target or here, chosen, mirror, create, check)
        same = _tables(settings, order, clock, json)
    if not same:
        raise typer.Exit(1)


def _tables(settings: Settings, order: TableOrder, clock: Clock, json: bool) -> bool:
    with _resumable(), telling(clock) as tell:
        moved = copy_tables(settings, order, clock, tell)
    same = all(each.equal for each in moved.tables)
    if json:
        typer.echo(written(_tables_document(moved)))
        return same
    _resumed(moved.resumed_from)
    lines, empty = list[Line](), 0
    for each in moved.tables:
        if not each.source.items and not each.target.items:
            empty += 1
            continue
        did, sums = each.copied, (each.source.items, each.target.items)
        counts = (did.read, did.written, did.same, did.other, *sums)
        checksum = each.source.checksum[:12] if each.equal else "differs"
        lines.append(Line((each.name, *(f"{number:,}" for number in counts), checksum)))
    print_grid(console(), _TABLES, lines)
    total = sum(each.target.items for each in moved.tables)
    typer.echo(f"{total:,} items in {len(moved.tables) - empty} tables; {empty} more are empty")
    for heard in moved.consumers:
        what = "rebuilds: it had not read every change" if heard.rebuilds else "goes on there"
        typer.echo(f"consumer {heard.name} of {heard.source}: {what}")
    typer.echo(_verdict(same, "items", "Add --mirror to make the target equal the source."))
    if same and not order.check:
        typer.echo(f"to use it: set tables to {order.target}, then grandstand doctor")
    return same


def _series(settings: Settings, order: SeriesOrder, clock: Clock, json: bool) -> bool:
    with _resumable(), telling(clock) as tell:
        moved = copy_series(settings, order, clock, tell)
    same = all(each.equal for each in moved.series)
    if json:
        typer.echo(written(_series_document(moved)))
        return same
    _resumed(moved.resumed_from)
    lines = []
    for each in moved.series:
        counts = (each.read, each.added, each.source.rows, each.target.rows)
        checksum = each.source.checksum[:12] if each.equal else "differs"
        lines.append(Line((each.name, *(f"{number:,}" for number in counts), checksum)))
    print_grid(console(), _SERIES, lines)
    more = "Rows came to the source meanwhile, or the target has rows of its own: run it again."
    typer.echo(_verdict(same, "rows", more))
    return same


@contextmanager
def _resumable() -> Iterator[None]:
    """Say how to go on when the block is stopped, by hand or because a server fails."""
    try:
        yield
    except (Unavailable, LimitReached, KeyboardInterrupt):
        typer.echo("to go on where it stood: the same command again", err=True)
        raise


def _resumed(begun_at: str | None) -> None:
    if begun_at is not None:
        typer.echo(f"went on with the copy begun at {begun_at}")


def _verdict(same: bool, what: str, more: str) -> str:
    if same:
        return f"both sides hold the same {what}, by count and checksum"
    return f"the sides differ. {more}"


def _tables_document(moved: TablesMoved) -> dict[str, Any]:
    return {
        "equal": all(each.equal for each in moved.tables),
        "resumed_from": moved.resumed_from,
        "absent": list(moved.absent),
        "consumers": list(moved.consumers),
        "tables": [
            {
                "name": each.name,
                "copied": each.copied,
                "source": {"items": each.source.items, "checksum": each.source.checksum},
                "target": {"items": each.target.items, "checksum": each.target.checksum},
                "equal": each.equal,
            }
            for each in moved.tables
        ],
    }


def _series_document(moved: AllSeriesMoved) -> dict[str, Any]:
    return {
        "equal": all(each.equal for each in moved.series),
        "resumed_from": moved.resumed_from,
        "series": [
            {
                "name": each.name,
                "read": each.read,
                "added": each.added,
                "source": each.source,
                "target": each.target,
                "equal": each.equal,
            }
            for each in moved.series
        ],
    }
