"""Kept here: the commands around recording: check, estimate and run it, choose what it takes."""

from __future__ import annotations

import asyncio
import signal
import sys
from dataclasses import asdict
from typing import Annotated, Final, Literal

import typer

from grandstand.apps.gatherer.cli.parts import (
    AsJson,
    Opened,
    gigabytes,
    moment,
    price,
    print_rows,
    size,
    with_gatherer,
)
from grandstand.apps.gatherer.service import Estimate, Gatherer, MarketView
from grandstand.base.errors import Conflict, InvalidInput
from grandstand.kit.terminal import Column, echo_json

Limit = Annotated[int, typer.Option("--most", min=1, help="How many are shown.")]

_MARKETS: Final = (
    Column("ticker", whole=True),
    Column("title"),
    Column("category", from_width=110),
    Column("24 h volume", right=True, from_width=70),
    Column("closes", from_width=90, whole=True),
    Column("recorded", whole=True),
)


def add_recording(group: typer.Typer, opened: Opened) -> None:
    """Add the commands around recording."""
    _add_run(group, opened)
    _add_check(group, opened)
    _add_markets(group, opened)
    _add_choose(group, opened)


def _add_run(group: typer.Typer, opened: Opened) -> None:
    @group.command()
    def run(
        *,
        yes: Annotated[bool, typer.Option("--yes", "-y", help="Begin without asking.")] = False,
    ) -> None:
        """Say what recording will take, then record until it is interrupted."""

        async def record(gatherer: Gatherer) -> str:
            estimate = await gatherer.estimate()
            typer.echo(_estimate(estimate), err=True)
            if not estimate.markets:
                raise InvalidInput("No market is chosen that has a book now")
            if not yes and not typer.confirm("Record them?", err=True):
                raise typer.Exit
            return await _recorded(gatherer)

        typer.echo(with_gatherer(opened, record))


async def _recorded(gatherer: Gatherer) -> str:
    """Record until a signal comes; whether recording is asked for is then as it was before."""
    if (await gatherer.ingest()).state == "elsewhere":
        raise Conflict(f"Another process records as {gatherer.settings.name} already")
    before, loop = await gatherer.asked_for(), asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, gatherer.stop)
    await gatherer.ask_for(recording=True)
    try:
        return await gatherer.record(_progress)
    finally:
        await gatherer.ask_for(recording=before)
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()


def _add_check(group: typer.Typer, opened: Opened) -> None:
    @group.command()
    def check(*, as_json: AsJson = False) -> None:
        """Try the exchange, the clock, the key, the stream and the disk."""
        found = with_gatherer(opened, lambda gatherer: gatherer.check())
        if as_json:
            echo_json([asdict(each) for each in found])
        else:
            for each in found:
                typer.echo(f"{'ok ' if each.well else 'bad'}  {each.name}: {each.text}")
        if not all(each.well for each in found):
            raise typer.Exit(1)


def _add_markets(group: typer.Typer, opened: Opened) -> None:
    @group.command()
    def markets(
        words: Annotated[
            list[str] | None, typer.Argument(help="Words of a ticker or title.")
        ] = None,
        *,
        series: Annotated[str, typer.Option(help="Of this series only.")] = "",
        category: Annotated[str, typer.Option(help="Of this category only.")] = "",
        chosen: Annotated[bool, typer.Option("--chosen", help="Only what is recorded.")] = False,
        most: Limit = 50,
        as_json: AsJson = False,
    ) -> None:
        """List markets that are not over, the most traded first, and what recording takes."""

        async def read(gatherer: Gatherer) -> tuple[tuple[MarketView, ...], Estimate]:
            return await gatherer.markets(), await gatherer.estimate()

        found, estimate = with_gatherer(opened, read)
        sought = [word.casefold() for word in words or []]
        kept = [
            one
            for one in found
            if series in ("", one.series_ticker)
            and category in ("", one.category)
            and (one.chosen or not chosen)
            and all(word in f"{one.ticker} {one.title}".casefold() for word in sought)
        ]
        if as_json:
            echo_json([_plain(one) for one in kept[:most]])
            return
        print_rows(
            _MARKETS,
            (_line(one) for one in kept[:most]),
        )
        typer.echo(
            f"{min(len(kept), most)} of {len(kept)} markets. {_estimate(estimate)}", err=True
        )


def _add_choose(group: typer.Typer, opened: Opened) -> None:
    @group.command()
    def choose(
        kind: Annotated[Literal["market", "event", "series", "category"], typer.Argument()],
        name: Annotated[str, typer.Argument(help="Its ticker, or the name of the category.")],
        *,
        leave: Annotated[bool, typer.Option("--not", help="Do not record it.")] = False,
        forget: Annotated[bool, typer.Option("--forget", help="Choose nothing about it.")] = False,
    ) -> None:
        """Choose that something is recorded; a running gatherer follows within seconds."""

        async def chosen(gatherer: Gatherer) -> Estimate:
            if forget:
                await gatherer.choose_nothing(kind, name)
            else:
                await gatherer.choose(kind, name, recorded=not leave)
            return await gatherer.estimate()

        typer.echo(_estimate(with_gatherer(opened, chosen)))


def _estimate(estimate: Estimate) -> str:
    took = f"{estimate.markets} markets are chosen: about {gigabytes(estimate.bytes_a_day)} a day"
    left = "" if estimate.days_left is None else f", enough for {estimate.days_left:,} days"
    return f"{took}; {gigabytes(estimate.free_bytes)} are free{left}."


def _line(one: MarketView) -> tuple[str | None, ...]:
    closes = moment(one.close_ts)
    recorded = "yes" if one.chosen else "no"
    day = None if closes is None else closes[:16].replace("T", " ")
    return one.ticker, one.title, one.category, size(one.volume_24h), day, recorded


def _plain(one: MarketView) -> dict[str, object]:
    return asdict(one) | {
        "volume": size(one.volume).replace(",", ""),
        "volume_24h": size(one.volume_24h).replace(",", ""),
        "open_ts": moment(one.open_ts),
        "close_ts": moment(one.close_ts),
        "best_yes_bid": price(one.best_yes_bid),
        "best_yes_ask": price(one.best_yes_ask),
        "spread": price(one.spread),
    }
