"""Kept here: the commands that ask what was recorded: books, trades, coverage."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Final

import typer

from grandstand.apps.gatherer.cli.parts import (
    WHEN,
    AsJson,
    Merged,
    Opened,
    Ticker,
    moment,
    parse_moment,
    price,
    print_rows,
    recordings_of,
    size,
    with_gatherer,
)
from grandstand.apps.gatherer.model.book import WHOLE
from grandstand.apps.gatherer.model.coverage import Covered
from grandstand.apps.gatherer.model.messages import Levels
from grandstand.apps.gatherer.model.rows import Trade
from grandstand.apps.gatherer.service import Gap, Gatherer
from grandstand.apps.gatherer.service.asking import BookAt
from grandstand.apps.gatherer.service.reporting import Report
from grandstand.kit.terminal import Column, echo_json

_HOUR_US: Final = 3_600_000_000
_SHARE: Final = 10_000
_LADDER: Final = (
    Column("bid", right=True),
    Column("price"),
    Column("ask", right=True),
)
_TRADES: Final = (
    Column("when", whole=True),
    Column("price", right=True),
    Column("size", right=True),
    Column("taker"),
)
_COVERAGE: Final = (
    Column("market", whole=True),
    Column("hour", whole=True),
    Column("expected", right=True, from_width=80),
    Column("seen", right=True),
    Column("gaps", right=True),
    Column("healed", right=True, from_width=90),
    Column("audited", right=True, from_width=90),
    Column("differed", right=True, from_width=90),
)
_GAPS: Final = (
    Column("found", whole=True),
    Column("healed", from_width=90, whole=True),
    Column("connection", from_width=120),
    Column("expected", right=True, from_width=100),
    Column("got", right=True, from_width=100),
    Column("why"),
)


def add_asking(group: typer.Typer, opened: Opened) -> None:
    """Add the commands that ask what was recorded."""
    _add_book(group, opened)
    _add_trades(group, opened)
    _add_coverage(group, opened)


def _add_book(group: typer.Typer, opened: Opened) -> None:
    @group.command()
    def book(
        ticker: Ticker,
        *,
        at: Annotated[str | None, typer.Option(help=WHEN)] = None,
        levels: Annotated[int, typer.Option(min=1, help="Levels shown of each side.")] = 10,
        merged: Merged = None,
        as_json: AsJson = False,
    ) -> None:
        """Show a market's book at an instant, or after the last change that is kept."""

        async def read(gatherer: Gatherer) -> BookAt:
            at_us = None if at is None else parse_moment(at, gatherer.now_us())
            with recordings_of(gatherer, merged) as found:
                return await found.asking.book(ticker, at_us)

        found = with_gatherer(opened, read)
        if as_json:
            echo_json(_book(found))
        else:
            _print_book(found, levels)


def _book(found: BookAt) -> dict[str, object]:
    return {
        "ticker": found.ticker,
        "at": moment(found.at_us),
        "exact": found.exact,
        "doubt": found.doubt,
        "bids": _levels(found.yes),
        "asks": _levels(_asks(found.no)),
        "spread": price(found.spread),
        "base": moment(found.base_us),
        "deltas": found.deltas,
    }


def _asks(no: Levels) -> Levels:
    return tuple((WHOLE - price, size) for price, size in no)


def _levels(levels: Levels) -> list[tuple[str | None, str]]:
    return [(price(at), size(held).replace(",", "")) for at, held in reversed(levels)]


def _print_book(found: BookAt, levels: int) -> None:
    when = "after the last change kept" if found.at_us is None else f"at {moment(found.at_us)}"
    typer.secho(f"{found.ticker} {when}", bold=True)
    asks = [(None, price(at), size(held)) for at, held in _asks(found.no)[-levels:]]
    bids = [(size(held), price(at), None) for at, held in reversed(found.yes[-levels:])]
    print_rows(_LADDER, [*asks, *bids])
    if found.doubt is None:
        typer.echo(f"Exact: {found.deltas} changes since {moment(found.base_us)}.")
    else:
        typer.echo(f"Not exact: {found.doubt}.")


def _add_trades(group: typer.Typer, opened: Opened) -> None:
    @group.command()
    def trades(
        ticker: Ticker,
        *,
        most: Annotated[int, typer.Option(min=1, help="How many are shown.")] = 20,
        before: Annotated[str | None, typer.Option(help=WHEN)] = None,
        merged: Merged = None,
        as_json: AsJson = False,
    ) -> None:
        """Show a market's newest trades."""

        async def read(gatherer: Gatherer) -> tuple[Trade, ...]:
            with recordings_of(gatherer, merged) as found:
                if before is None:
                    return await found.asking.recent_trades(ticker, most)
                until = parse_moment(before, gatherer.now_us())
                return await found.asking.recent_trades(ticker, most, until)

        found = with_gatherer(opened, read)
        if as_json:
            echo_json([_trade(one) for one in found])
            return
        rows = [_trade(one) for one in found]
        print_rows(
            _TRADES,
            ((row["at"], row["price"], row["size"], row["taker"]) for row in rows),
        )


def _trade(one: Trade) -> dict[str, str | None]:
    return {
        "trade_id": str(one.trade_id),
        "at": moment(one.exchange_ts),
        "price": price(one.price),
        "size": size(one.size).replace(",", ""),
        "taker": "yes" if one.taker_side else "no",
    }


def _add_coverage(group: typer.Typer, opened: Opened) -> None:
    @group.command()
    def coverage(
        ticker: Annotated[str | None, typer.Argument(help="One market; all without.")] = None,
        *,
        hours: Annotated[int, typer.Option(min=1, max=744, help="The last so many.")] = 24,
        gaps: Annotated[bool, typer.Option("--gaps", help="List the gaps instead.")] = False,
        as_json: AsJson = False,
    ) -> None:
        """Show of each market and hour what was expected, seen, missed, healed and audited."""

        async def read(
            gatherer: Gatherer,
        ) -> tuple[tuple[Covered, ...], tuple[Gap, ...], Report]:
            end = gatherer.now_us()
            start = (end - (hours - 1) * _HOUR_US) // _HOUR_US * _HOUR_US
            return (
                await gatherer.coverage(start, end, ticker),
                await gatherer.gaps(start, end) if gaps else (),
                await gatherer.reporting.read(start, end),
            )

        cells, found, report = with_gatherer(opened, read)
        if as_json:
            echo_json([_gap(one) for one in found] if gaps else [_cell(one) for one in cells])
        elif gaps:
            _print_gaps(found)
        else:
            _print_coverage(cells)
            typer.echo(f"{report.text()}.", err=True)


def _cell(one: Covered) -> dict[str, object]:
    return asdict(one) | {"hour": moment(one.hour), "whole": one.whole}


def _print_coverage(cells: tuple[Covered, ...]) -> None:
    print_rows(
        _COVERAGE,
        (
            (
                one.ticker,
                (moment(one.hour) or "")[:16].replace("T", " "),
                _minutes(one.expected_us),
                _share(one),
                *map(str, (one.gaps, one.healed, one.audited, one.differed)),
            )
            for one in cells
        ),
    )


def _minutes(length_us: int) -> str:
    return f"{length_us / 60_000_000:.1f} min"


def _share(one: Covered) -> str | None:
    """Write the share that was seen; all of it is only said when nothing is missing."""
    if not one.expected_us:
        return None
    parts = one.seen_us * _SHARE // one.expected_us
    return f"{parts // 100}.{parts % 100:02} %"


def _gap(one: Gap) -> dict[str, object]:
    return one._asdict() | {
        "detected_at": moment(one.detected_at),
        "resolved_at": moment(one.resolved_at),
    }


def _print_gaps(found: tuple[Gap, ...]) -> None:
    print_rows(
        _GAPS,
        (
            (
                moment(one.detected_at),
                moment(one.resolved_at),
                f"{one.conn}/{one.sid}",
                str(one.expected_seq),
                None if one.got_seq is None else str(one.got_seq),
                one.reason,
            )
            for one in found
        ),
    )
