"""`grandstand copy`: copy tables or series to another engine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Final

import typer
from pydantic import SecretStr

from grandstand.core.clock import Clock, SystemClock
from grandstand.core.errors import InvalidInput, LimitReached, Unavailable
from grandstand.host.backup.copying import (
    SeriesCopyReport,
    SeriesCopyRequest,
    TableCopyReport,
    TableCopyRequest,
    copy_series,
    copy_tables,
)
from grandstand.host.cli.output import show_progress
from grandstand.host.cli.output import to_json as written
from grandstand.host.registry import find_series, find_tables
from grandstand.host.settings import Settings, read_settings
from grandstand.kit.terminal import ColumnSpec, TableRow, console, print_table

Names = Annotated[
    list[str] | None,
    typer.Argument(help="Tables or apps, or series; all by default."),
]
From = Annotated[
    str | None,
    typer.Option(
        "--from", help="The source, written as in the settings; the configured one by default."
    ),
]
To = Annotated[str | None, typer.Option("--to", help="The target, written as in the settings.")]
OfSeries = Annotated[bool, typer.Option("--series", help="Copy series instead of tables.")]
Create = Annotated[bool, typer.Option("--create", help="Create missing tables at the target.")]
Mirror = Annotated[
    bool,
    typer.Option("--mirror", help="Make the target equal: replace and remove items."),
]
Check = Annotated[bool, typer.Option("--check", help="Only compare both sides.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]

_TABLES: Final = (
    ColumnSpec("table", whole=True),
    ColumnSpec("read", right=True),
    ColumnSpec("written", right=True),
    ColumnSpec("same", right=True),
    ColumnSpec("other", right=True),
    ColumnSpec("source", right=True),
    ColumnSpec("target", right=True),
    ColumnSpec("checksum", whole=True),
)
_SERIES: Final = (
    ColumnSpec("series", whole=True),
    ColumnSpec("read", right=True),
    ColumnSpec("added", right=True),
    ColumnSpec("source", right=True),
    ColumnSpec("target", right=True),
    ColumnSpec("checksum", whole=True),
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
    """Copy tables or series to another engine and compare both sides; exit 1 if they differ.

    An interrupted copy continues with the same command. Repeating it changes nothing.
    """
    if source is None and target is None:
        raise InvalidInput(
            "Set the target: --to dynamodb:REGION, sqlite:PATH, chunks or postgresql:…"
        )
    settings, clock = read_settings(), SystemClock()
    if series:
        if create or mirror:
            raise InvalidInput("Series are append-only: --create and --mirror do not apply to them")
        here = settings.series.get_secret_value()
        places = SecretStr(source or here), SecretStr(target or here)
        same = _series(
            settings, SeriesCopyRequest(*places, find_series(names or []), check), clock, json
        )
    else:
        here = settings.tables
        chosen = find_tables(names or [])
        order = TableCopyRequest(source or here, target or here, chosen, mirror, create, check)
        same = _tables(settings, order, clock, json)
    if not same:
        raise typer.Exit(1)


def _tables(settings: Settings, order: TableCopyRequest, clock: Clock, json: bool) -> bool:
    with _resumable(), show_progress(clock) as tell:
        moved = copy_tables(settings, order, clock, tell)
    same = all(each.equal for each in moved.tables)
    if json:
        typer.echo(written(_tables_document(moved)))
        return same
    _resumed(moved.resumed_from)
    lines, empty = list[TableRow](), 0
    for each in moved.tables:
        if not each.source.items and not each.target.items:
            empty += 1
            continue
        did, sums = each.copied, (each.source.items, each.target.items)
        counts = (did.read, did.written, did.same, did.other, *sums)
        checksum = each.source.checksum[:12] if each.equal else "differs"
        lines.append(TableRow((each.name, *(f"{number:,}" for number in counts), checksum)))
    print_table(console(), _TABLES, lines)
    total = sum(each.target.items for each in moved.tables)
    typer.echo(f"{total:,} items in {len(moved.tables) - empty} tables; {empty} more are empty")
    for heard in moved.consumers:
        what = "must rebuild: it had unread changes" if heard.rebuilds else "continues there"
        typer.echo(f"consumer {heard.name} of {heard.source}: {what}")
    typer.echo(_verdict(same, "items", "Add --mirror to make the target equal the source."))
    if same and not order.check:
        typer.echo(f"to use it: set tables to {order.target}, then grandstand doctor")
    return same


def _series(settings: Settings, order: SeriesCopyRequest, clock: Clock, json: bool) -> bool:
    with _resumable(), show_progress(clock) as tell:
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
        lines.append(TableRow((each.name, *(f"{number:,}" for number in counts), checksum)))
    print_table(console(), _SERIES, lines)
    more = "Rows were added meanwhile, or the target has its own rows. Run it again."
    typer.echo(_verdict(same, "rows", more))
    return same


@contextmanager
def _resumable() -> Iterator[None]:
    """Print how to continue if the block is interrupted."""
    try:
        yield
    except (Unavailable, LimitReached, KeyboardInterrupt):
        typer.echo("to continue: run the same command again", err=True)
        raise


def _resumed(begun_at: str | None) -> None:
    if begun_at is not None:
        typer.echo(f"continued the copy started at {begun_at}")


def _verdict(same: bool, what: str, more: str) -> str:
    if same:
        return f"both sides hold the same {what}, by count and checksum"
    return f"the sides differ. {more}"


def _tables_document(moved: TableCopyReport) -> dict[str, Any]:
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


def _series_document(moved: SeriesCopyReport) -> dict[str, Any]:
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
