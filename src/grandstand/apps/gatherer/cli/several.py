"""Kept here: the commands that give recordings to others: merge, replay, export."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from grandstand.apps.gatherer.cli.parts import (
    WHEN,
    Merged,
    Opened,
    moment,
    parse_moment,
    recordings_of,
    with_gatherer,
)
from grandstand.apps.gatherer.service import Gatherer
from grandstand.apps.gatherer.service.exporting import Part
from grandstand.apps.gatherer.service.merging import Lag, Tally, is_server
from grandstand.apps.gatherer.service.replaying import Stretch
from grandstand.base.errors import InvalidInput, Unavailable
from grandstand.storage.series.export import Form

_FORMS: Final[dict[str, Form]] = {".parquet": "parquet", ".csv": "csv"}
_SECOND_US: Final = 1_000_000

Start = Annotated[str, typer.Option("--start", help=WHEN)]
End = Annotated[str | None, typer.Option("--end", help=f"{WHEN} Now without it.")]


def add_several(group: typer.Typer, opened: Opened) -> None:
    """Add the commands that give recordings to others."""
    _add_merge(group, opened)
    _add_replay(group, opened)
    _add_export(group, opened)


def _add_merge(group: typer.Typer, opened: Opened) -> None:
    @group.command()
    def merge(
        sources: Annotated[
            list[str] | None,
            typer.Argument(help="NAME:PLACE of each gatherer; those of the settings without."),
        ] = None,
        *,
        into: Annotated[str, typer.Option(help="A folder, or a PostgreSQL connection string.")],
        once: Annotated[
            bool, typer.Option("--once", help="Merge what there is, then stop.")
        ] = False,
        listings: Annotated[
            bool, typer.Option("--listings", help="Fetch series, events and markets first.")
        ] = False,
    ) -> None:
        """Merge what several gatherers recorded, each row once, until it is interrupted."""

        async def merged(gatherer: Gatherer) -> None:
            places = sources or [
                f"{name}:{place.get_secret_value()}"
                for name, place in gatherer.settings.merge_from.items()
            ]
            if not places:
                raise InvalidInput(
                    "Name gatherers as NAME:PLACE, or set GRANDSTAND_GATHERER_MERGE_FROM"
                )
            if listings:
                told = await gatherer.merging.refresh()
                typer.echo(f"{told.series} series, {told.events} events, {told.markets} markets")
            await _merge(gatherer, places, into, once=once)

        with_gatherer(opened, merged)


async def _merge(gatherer: Gatherer, places: list[str], into: str, *, once: bool) -> None:
    await asyncio.to_thread(_make_folder, into)
    merging = gatherer.merging
    async with merging.opened(places, into) as merger:
        if once:
            await merging.once(merger, lambda tally: typer.echo(_tally(tally)))
            _echo_lags(await asyncio.to_thread(merger.lags))
            return
        with _until_signal() as stop:
            await merging.run(merger, _tell_round, stop)


def _make_folder(place: str) -> None:
    """Make a folder for what is merged, unless the place is a connection string."""
    if not is_server(place):
        Path(place).expanduser().mkdir(parents=True, exist_ok=True)


def _tell_round(tally: Tally, lags: tuple[Lag, ...]) -> None:
    worst = max((lag.lag_us for lag in lags), default=0)
    if tally.added or tally.holes or tally.failed:
        typer.echo(f"{_tally(tally)}; {worst / _SECOND_US:.1f} s behind")


def _tally(tally: Tally) -> str:
    rows = f"{tally.read} rows read, {tally.added} new, {tally.late} of them late"
    books = f"{tally.placed} books placed, {tally.audited} equal, {tally.holes} holes"
    failed = "".join(f"; {name} could not be read: {why}" for name, why in tally.failed.items())
    return f"{rows}; {books}{failed}"


def _echo_lags(lags: tuple[Lag, ...]) -> None:
    for lag in lags:
        behind = f"{lag.lag_us / _SECOND_US:.1f} s behind"
        typer.echo(f"{lag.gatherer} {lag.series}: {lag.rows} rows, {behind}")


def _add_replay(group: typer.Typer, opened: Opened) -> None:
    @group.command()
    def replay(
        tickers: Annotated[list[str] | None, typer.Argument(help="Markets; all without.")] = None,
        *,
        start: Start = "-1h",
        end: End = None,
        speed: Annotated[
            float, typer.Option(min=0, help="1 as it happened, 0 as fast as it is taken.")
        ] = 1.0,
        port: Annotated[int, typer.Option(min=0, max=65_535, help="0 takes a free one.")] = 0,
        merged: Merged = None,
    ) -> None:
        """Play a recorded stretch over the exchange's own protocol, once somebody listens."""

        async def played(gatherer: Gatherer) -> None:
            server = gatherer.replay_server
            if server is None:
                raise Unavailable("Nothing here can play recordings")
            stretch = _stretch(gatherer, start, end, tickers)
            with recordings_of(gatherer, merged) as found:
                context = await found.replaying.serve(server, stretch, speed=speed, port=port)
                async with context as playing:
                    _say_where(playing.address, stretch)
                    with _until_signal() as stop:
                        await _first(playing.finished.wait(), stop.wait())

        with_gatherer(opened, played)


def _say_where(address: str, stretch: Stretch) -> None:
    host = address.partition("//")[2]
    typer.echo(f"From {moment(stretch.start_us)} to {moment(stretch.end_us)}")
    typer.echo(f"REST    {address}/trade-api/v2")
    typer.echo(f"Stream  ws://{host}/trade-api/ws/v2")


def _add_export(group: typer.Typer, opened: Opened) -> None:
    @group.command()
    def export(
        series: Annotated[str, typer.Argument(help="Such as trades or orderbook_deltas.")],
        file: Annotated[Path, typer.Argument(help="Its end says the form: .parquet or .csv.")],
        *,
        start: Start = "-1d",
        end: End = None,
        ticker: Annotated[
            list[str] | None, typer.Option(help="Only this market; may be repeated.")
        ] = None,
        force: Annotated[bool, typer.Option("--force", help="Replace the file.")] = False,
        merged: Merged = None,
    ) -> None:
        """Write a stretch of a series to a file."""
        form = _FORMS.get(file.suffix)
        if form is None:
            raise InvalidInput(f"{file.name} must end with {' or '.join(_FORMS)}")

        async def written(gatherer: Gatherer) -> int:
            stretch = _stretch(gatherer, start, end, ticker)
            part = Part(series, stretch.start_us, stretch.end_us, stretch.tickers)
            with recordings_of(gatherer, merged) as found:
                return await found.exporting.write(part, file, form, force=force)

        typer.echo(f"wrote {with_gatherer(opened, written):,} rows to {file}")


def _stretch(gatherer: Gatherer, start: str, end: str | None, tickers: list[str] | None) -> Stretch:
    now = gatherer.now_us()
    until = now if end is None else parse_moment(end, now)
    since = parse_moment(start, now)
    if since >= until:
        raise InvalidInput("The start must lie before the end")
    return Stretch(since, until, tuple(tickers or ()))


@contextmanager
def _until_signal() -> Iterator[asyncio.Event]:
    """Answer what is set when the terminal or the system asks to stop."""
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    try:
        yield stop
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)


async def _first(*waits: Coroutine[Any, Any, object]) -> None:
    """Wait for whichever comes first."""
    tasks = [asyncio.create_task(wait) for wait in waits]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
