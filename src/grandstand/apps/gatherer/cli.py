"""Commands of the gatherer: `grandstand gatherer …`."""

from __future__ import annotations

import asyncio
import re
import signal
import sys
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar

import typer

from grandstand.apps.gatherer.domain.coverage import HOUR_US, CoverageReport, HourCoverage
from grandstand.apps.gatherer.domain.messages import Levels, datetime_from_us, us_from_datetime
from grandstand.apps.gatherer.domain.order_book import format_price, format_size
from grandstand.apps.gatherer.domain.rows import Trade
from grandstand.apps.gatherer.services import Gatherer
from grandstand.apps.gatherer.services.coverage import RecordingGap
from grandstand.apps.gatherer.services.markets import MarketView, StorageEstimate
from grandstand.apps.gatherer.services.merge_sources import (
    MergeLag,
    MergeStats,
    is_connection_string,
)
from grandstand.apps.gatherer.services.queries.books import HistoricalBook
from grandstand.apps.gatherer.services.recordings import ExportRange, Recordings
from grandstand.apps.gatherer.services.replay import ReplayRange
from grandstand.core.errors import Conflict, InvalidInput, Unavailable
from grandstand.kit.terminal import ColumnSpec, TableRow, console, echo_json, print_table
from grandstand.storage.series.export import Form

T = TypeVar("T")
OpenGatherer = Callable[[], AbstractAsyncContextManager[Gatherer]]

_SECOND_US: Final = 1_000_000
_MAX_US: Final = us_from_datetime(datetime.max.replace(tzinfo=UTC))
_AGO: Final = re.compile(r"-([0-9]{1,9})(s|m|h|d)", re.ASCII)
_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_NUMBER: Final = re.compile(r"[0-9]{1,18}", re.ASCII)
_TIME_HELP: Final = "Time: 2026-11-16T12:00:00Z, microseconds since 1970, or -5m."
_FORMATS: Final[dict[str, Form]] = {".parquet": "parquet", ".csv": "csv"}

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Ticker = Annotated[str, typer.Argument(help="Ticker of a market.", show_default=False)]
Limit = Annotated[int, typer.Option("--limit", min=1, help="Maximum number of rows.")]
Merged = Annotated[
    str | None,
    typer.Option(
        "--merged", help="Use merged recordings: a folder or a PostgreSQL connection string."
    ),
]
Start = Annotated[str, typer.Option("--start", help=_TIME_HELP)]
End = Annotated[str | None, typer.Option("--end", help=f"{_TIME_HELP} Default: now.")]

_LADDER_COLUMNS: Final = (
    ColumnSpec("bid", right=True),
    ColumnSpec("price"),
    ColumnSpec("ask", right=True),
)
_TRADE_COLUMNS: Final = (
    ColumnSpec("time", whole=True),
    ColumnSpec("price", right=True),
    ColumnSpec("size", right=True),
    ColumnSpec("taker"),
)
_COVERAGE_COLUMNS: Final = (
    ColumnSpec("market", whole=True),
    ColumnSpec("hour", whole=True),
    ColumnSpec("expected", right=True, from_width=80),
    ColumnSpec("recorded", right=True),
    ColumnSpec("gaps", right=True),
    ColumnSpec("closed", right=True, from_width=90),
    ColumnSpec("audited", right=True, from_width=90),
    ColumnSpec("differed", right=True, from_width=90),
)
_GAP_COLUMNS: Final = (
    ColumnSpec("found", whole=True),
    ColumnSpec("closed", from_width=90, whole=True),
    ColumnSpec("connection", from_width=120),
    ColumnSpec("expected", right=True, from_width=100),
    ColumnSpec("got", right=True, from_width=100),
    ColumnSpec("reason"),
)
_MARKET_COLUMNS: Final = (
    ColumnSpec("ticker", whole=True),
    ColumnSpec("title"),
    ColumnSpec("category", from_width=110),
    ColumnSpec("24 h volume", right=True, from_width=70),
    ColumnSpec("closes", from_width=90, whole=True),
    ColumnSpec("recorded", whole=True),
)


def commands(open_gatherer: OpenGatherer) -> typer.Typer:
    """Return the command group; `open_gatherer` opens the services for each command."""
    group = typer.Typer(help="Record prediction markets and query them.", no_args_is_help=True)
    for add in (
        _add_run,
        _add_check,
        _add_markets,
        _add_choose,
        _add_book,
        _add_trades,
        _add_coverage,
        _add_merge,
        _add_replay,
        _add_export,
    ):
        add(group, open_gatherer)
    return group


def parse_time(text: str, now_us: int) -> int:
    """Parse a time to microseconds since 1970.

    Accepts ISO 8601 (UTC by default), microseconds since 1970, and an age such as -5m.
    """
    ago = _AGO.fullmatch(text)
    if ago is not None:
        age = timedelta(**{_UNITS[ago.group(2)]: int(ago.group(1))})
        return max(0, now_us - age // timedelta(microseconds=1))
    if _NUMBER.fullmatch(text):
        return min(int(text), _MAX_US)
    try:
        time = datetime.fromisoformat(text)
    except ValueError as error:
        raise InvalidInput(
            f"Invalid time {text!r}. Use 2026-11-16T12:00:00Z, microseconds, or -5m."
        ) from error
    return us_from_datetime(time if time.tzinfo is not None else time.replace(tzinfo=UTC))


def format_time(at_us: int | None) -> str | None:
    """Format a time as ISO 8601 in UTC, to the microsecond."""
    return None if at_us is None else datetime_from_us(at_us).isoformat(timespec="microseconds")


def _run(open_gatherer: OpenGatherer, action: Callable[[Gatherer], Awaitable[T]]) -> T:
    async def run() -> T:
        async with open_gatherer() as gatherer:
            return await action(gatherer)

    return asyncio.run(run())


@contextmanager
def _open_recordings(gatherer: Gatherer, merged: str | None) -> Iterator[Recordings]:
    """Open merged recordings, or use those of this gatherer."""
    if merged is None:
        yield gatherer.recordings
        return
    with gatherer.open_merged(merged) as recordings:
        yield recordings


def _price(value: int | None) -> str | None:
    return None if value is None else format_price(value)


def _size(value: int) -> str:
    whole, _, decimals = format_size(value).partition(".")
    return f"{int(whole):,}" if decimals == "00" else f"{int(whole):,}.{decimals}"


def _plain_size(value: int) -> str:
    return _size(value).replace(",", "")


def _gigabytes(count: int) -> str:
    return f"{count / 1e9:.3f} GB"


def _print_rows(columns: Sequence[ColumnSpec], rows: Iterable[Sequence[str | None]]) -> None:
    lines = (TableRow(["–" if cell is None else cell for cell in row]) for row in rows)
    print_table(console(), columns, lines)


def _add_run(group: typer.Typer, open_gatherer: OpenGatherer) -> None:
    @group.command()
    def run(
        *,
        yes: Annotated[bool, typer.Option("--yes", "-y", help="Start without asking.")] = False,
    ) -> None:
        """Estimate the disk usage, then record until interrupted."""

        async def record(gatherer: Gatherer) -> str:
            estimate = await gatherer.markets.estimate()
            typer.echo(_estimate(estimate), err=True)
            if not estimate.markets:
                raise InvalidInput("No open market is chosen. Choose markets first.")
            if not yes and not typer.confirm("Start recording?", err=True):
                raise typer.Exit
            return await _record_until_signal(gatherer)

        typer.echo(_run(open_gatherer, record))


async def _record_until_signal(gatherer: Gatherer) -> str:
    """Record until a signal arrives, then restore whether recording was requested."""
    recording = gatherer.recording
    if (await recording.status()).state == "elsewhere":
        raise Conflict(f"Another process is already recording as {gatherer.settings.name}.")
    before = await recording.is_requested()
    with _on_signal(recording.stop):
        await recording.request(recording=True)
        try:
            return await recording.run(_show_progress)
        finally:
            await recording.request(recording=before)


def _show_progress(text: str) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()


def _add_check(group: typer.Typer, open_gatherer: OpenGatherer) -> None:
    @group.command()
    def check(*, as_json: AsJson = False) -> None:
        """Check the exchange, the clock, the key, the stream and the disk."""
        checks = _run(open_gatherer, lambda gatherer: gatherer.diagnostics.run())
        if as_json:
            echo_json([asdict(result) for result in checks])
        else:
            for result in checks:
                typer.echo(f"{'ok    ' if result.ok else 'failed'}  {result.name}: {result.text}")
        if not all(result.ok for result in checks):
            raise typer.Exit(1)


def _add_markets(group: typer.Typer, open_gatherer: OpenGatherer) -> None:
    @group.command()
    def markets(
        words: Annotated[
            list[str] | None, typer.Argument(help="Words of the ticker or title.")
        ] = None,
        *,
        series: Annotated[str, typer.Option(help="Only this series.")] = "",
        category: Annotated[str, typer.Option(help="Only this category.")] = "",
        chosen: Annotated[bool, typer.Option("--chosen", help="Only markets to record.")] = False,
        limit: Limit = 50,
        as_json: AsJson = False,
    ) -> None:
        """List unfinished markets, the most traded first, and estimate the disk usage."""

        async def read(gatherer: Gatherer) -> tuple[tuple[MarketView, ...], StorageEstimate]:
            return await gatherer.markets.list(), await gatherer.markets.estimate()

        listed, estimate = _run(open_gatherer, read)
        search = " ".join(words or [])
        matching = [
            market
            for market in listed
            if (market.chosen or not chosen)
            and market.matches(search, series=series, category=category)
        ]
        if as_json:
            echo_json([_market_json(market) for market in matching[:limit]])
            return
        _print_rows(_MARKET_COLUMNS, (_market_row(market) for market in matching[:limit]))
        shown = min(len(matching), limit)
        typer.echo(f"{shown} of {len(matching)} markets. {_estimate(estimate)}", err=True)


def _add_choose(group: typer.Typer, open_gatherer: OpenGatherer) -> None:
    @group.command()
    def choose(
        kind: Annotated[Literal["market", "event", "series", "category"], typer.Argument()],
        name: Annotated[str, typer.Argument(help="Ticker, or name of the category.")],
        *,
        exclude: Annotated[bool, typer.Option("--exclude", help="Do not record it.")] = False,
        clear: Annotated[bool, typer.Option("--clear", help="Delete the choice.")] = False,
    ) -> None:
        """Choose what to record; a running recorder follows within seconds."""

        async def save(gatherer: Gatherer) -> StorageEstimate:
            if clear:
                await gatherer.markets.clear_choice(kind, name)
            else:
                await gatherer.markets.choose(kind, name, recorded=not exclude)
            return await gatherer.markets.estimate()

        typer.echo(_estimate(_run(open_gatherer, save)))


def _estimate(estimate: StorageEstimate) -> str:
    days = "" if estimate.days_left is None else f", enough for {estimate.days_left:,} days"
    return (
        f"{estimate.markets} markets chosen, about {_gigabytes(estimate.bytes_per_day)} per day; "
        f"{_gigabytes(estimate.free_bytes)} free{days}."
    )


def _market_row(market: MarketView) -> tuple[str | None, ...]:
    closes = format_time(market.close_ts)
    return (
        market.ticker,
        market.title,
        market.category,
        _size(market.volume_24h),
        None if closes is None else closes[:16].replace("T", " "),
        "yes" if market.chosen else "no",
    )


def _market_json(market: MarketView) -> dict[str, object]:
    return asdict(market) | {
        "volume": _plain_size(market.volume),
        "volume_24h": _plain_size(market.volume_24h),
        "open_ts": format_time(market.open_ts),
        "close_ts": format_time(market.close_ts),
        "best_yes_bid": _price(market.best_yes_bid),
        "best_yes_ask": _price(market.best_yes_ask),
        "spread": _price(market.spread),
    }


def _add_book(group: typer.Typer, open_gatherer: OpenGatherer) -> None:
    @group.command()
    def book(
        ticker: Ticker,
        *,
        at: Annotated[str | None, typer.Option(help=_TIME_HELP)] = None,
        levels: Annotated[int, typer.Option(min=1, help="Levels per side.")] = 10,
        merged: Merged = None,
        as_json: AsJson = False,
    ) -> None:
        """Show the order book at an instant, or after the last recorded change."""

        async def read(gatherer: Gatherer) -> HistoricalBook:
            at_us = None if at is None else parse_time(at, gatherer.now_us())
            with _open_recordings(gatherer, merged) as recordings:
                return await recordings.history.book(ticker, at_us)

        result = _run(open_gatherer, read)
        if as_json:
            echo_json(_book_json(result))
        else:
            _print_book(result, levels)


def _book_json(book: HistoricalBook) -> dict[str, object]:
    return {
        "ticker": book.ticker,
        "at": format_time(book.at_us),
        "exact": book.exact,
        "doubt": book.doubt,
        "bids": _levels_json(book.yes),
        "asks": _levels_json(book.asks),
        "spread": _price(book.spread),
        "base": format_time(book.base_us),
        "deltas": book.deltas,
    }


def _levels_json(levels: Levels) -> list[tuple[str | None, str]]:
    return [(_price(price), _plain_size(size)) for price, size in reversed(levels)]


def _print_book(book: HistoricalBook, levels: int) -> None:
    when = "after the last recorded change"
    if book.at_us is not None:
        when = f"at {format_time(book.at_us)}"
    typer.secho(f"{book.ticker} {when}", bold=True)
    asks = [(None, _price(price), _size(size)) for price, size in book.asks[-levels:]]
    bids = [(_size(size), _price(price), None) for price, size in reversed(book.yes[-levels:])]
    _print_rows(_LADDER_COLUMNS, [*asks, *bids])
    if book.doubt is None:
        typer.echo(f"Exact: {book.deltas} changes since {format_time(book.base_us)}.")
    else:
        typer.echo(f"Not exact: {book.doubt}.")


def _add_trades(group: typer.Typer, open_gatherer: OpenGatherer) -> None:
    @group.command()
    def trades(
        ticker: Ticker,
        *,
        limit: Limit = 20,
        before: Annotated[str | None, typer.Option(help=_TIME_HELP)] = None,
        merged: Merged = None,
        as_json: AsJson = False,
    ) -> None:
        """Show the newest trades of a market."""

        async def read(gatherer: Gatherer) -> tuple[Trade, ...]:
            with _open_recordings(gatherer, merged) as recordings:
                until = None if before is None else parse_time(before, gatherer.now_us())
                return await recordings.history.recent_trades(ticker, limit, until)

        rows = [_trade_json(trade) for trade in _run(open_gatherer, read)]
        if as_json:
            echo_json(rows)
            return
        columns = ("at", "price", "size", "taker")
        _print_rows(_TRADE_COLUMNS, ([row[column] for column in columns] for row in rows))


def _trade_json(trade: Trade) -> dict[str, str | None]:
    return {
        "trade_id": str(trade.trade_id),
        "at": format_time(trade.exchange_ts),
        "price": _price(trade.price),
        "size": _plain_size(trade.size),
        "taker": "yes" if trade.taker_side else "no",
    }


def _add_coverage(group: typer.Typer, open_gatherer: OpenGatherer) -> None:
    @group.command()
    def coverage(
        ticker: Annotated[
            str | None, typer.Argument(help="Ticker of a market; default: all.")
        ] = None,
        *,
        hours: Annotated[int, typer.Option(min=1, max=744, help="Number of hours.")] = 24,
        gaps: Annotated[bool, typer.Option("--gaps", help="List the gaps instead.")] = False,
        as_json: AsJson = False,
    ) -> None:
        """Show how complete the recording is, by market and hour."""

        async def read(
            gatherer: Gatherer,
        ) -> tuple[tuple[HourCoverage, ...], tuple[RecordingGap, ...], CoverageReport]:
            end = gatherer.now_us()
            start = (end - (hours - 1) * HOUR_US) // HOUR_US * HOUR_US
            return (
                await gatherer.coverage.hours(start, end, ticker=ticker),
                await gatherer.coverage.gaps(start, end) if gaps else (),
                await gatherer.coverage.report(start, end),
            )

        cells, gap_rows, report = _run(open_gatherer, read)
        if as_json:
            echo_json(
                [_gap_json(gap) for gap in gap_rows]
                if gaps
                else [asdict(cell) | {"hour": format_time(cell.hour)} for cell in cells]
            )
        elif gaps:
            _print_gaps(gap_rows)
        else:
            _print_coverage(cells)
            typer.echo(f"{report.text()}.", err=True)


def _print_coverage(cells: tuple[HourCoverage, ...]) -> None:
    _print_rows(
        _COVERAGE_COLUMNS,
        (
            (
                cell.ticker,
                (format_time(cell.hour) or "")[:16].replace("T", " "),
                f"{cell.expected_us / 60_000_000:.1f} min",
                _share(cell),
                *map(str, (cell.gaps, cell.closed, cell.audited, cell.differed)),
            )
            for cell in cells
        ),
    )


def _share(cell: HourCoverage) -> str | None:
    """Format the recorded share, never rounded up to 100 %."""
    if not cell.expected_us:
        return None
    hundredths = cell.seen_us * 10_000 // cell.expected_us
    return f"{hundredths // 100}.{hundredths % 100:02} %"


def _gap_json(gap: RecordingGap) -> dict[str, object]:
    return asdict(gap) | {
        "detected_at": format_time(gap.detected_at),
        "resolved_at": format_time(gap.resolved_at),
    }


def _print_gaps(gaps: tuple[RecordingGap, ...]) -> None:
    _print_rows(
        _GAP_COLUMNS,
        (
            (
                format_time(gap.detected_at),
                format_time(gap.resolved_at),
                f"{gap.conn}/{gap.sid}",
                str(gap.expected_seq),
                None if gap.got_seq is None else str(gap.got_seq),
                gap.reason,
            )
            for gap in gaps
        ),
    )


def _add_merge(group: typer.Typer, open_gatherer: OpenGatherer) -> None:
    @group.command()
    def merge(
        sources: Annotated[
            list[str] | None,
            typer.Argument(help="NAME:LOCATION of each gatherer; default: from the settings."),
        ] = None,
        *,
        into: Annotated[str, typer.Option(help="Folder or PostgreSQL connection string.")],
        once: Annotated[
            bool, typer.Option("--once", help="Merge what is there, then stop.")
        ] = False,
        listings: Annotated[
            bool, typer.Option("--listings", help="Fetch series, events and markets first.")
        ] = False,
    ) -> None:
        """Merge the recordings of several gatherers, each row once, until interrupted."""

        async def merge_sources(gatherer: Gatherer) -> None:
            locations = sources or [
                f"{name}:{location.get_secret_value()}"
                for name, location in gatherer.settings.merge_from.items()
            ]
            if not locations:
                raise InvalidInput(
                    "No sources. Pass NAME:LOCATION, or set GRANDSTAND_GATHERER_MERGE_FROM."
                )
            if listings:
                counts = await gatherer.deduplicator.refresh()
                typer.echo(
                    f"{counts.series} series, {counts.events} events, {counts.markets} markets"
                )
            await _merge(gatherer, locations, into, once=once)

        _run(open_gatherer, merge_sources)


async def _merge(gatherer: Gatherer, locations: list[str], into: str, *, once: bool) -> None:
    await asyncio.to_thread(_make_folder, into)
    deduplicator = gatherer.deduplicator
    async with deduplicator.open(locations, into) as merger:
        if once:
            await deduplicator.run_once(merger, lambda stats: typer.echo(_format_stats(stats)))
            for lag in await asyncio.to_thread(merger.lags):
                behind = f"{lag.lag_us / _SECOND_US:.1f} s behind"
                typer.echo(f"{lag.gatherer} {lag.series}: {lag.rows} rows, {behind}")
            return
        stop = asyncio.Event()
        with _on_signal(stop.set):
            await deduplicator.run(merger, _print_round, stop)


def _make_folder(location: str) -> None:
    if not is_connection_string(location):
        Path(location).expanduser().mkdir(parents=True, exist_ok=True)


def _print_round(stats: MergeStats, lags: tuple[MergeLag, ...]) -> None:
    worst = max((lag.lag_us for lag in lags), default=0)
    if stats.added or stats.differences or stats.failed:
        typer.echo(f"{_format_stats(stats)}; {worst / _SECOND_US:.1f} s behind")


def _format_stats(stats: MergeStats) -> str:
    rows = f"{stats.read} rows read, {stats.added} new, {stats.late} of them late"
    books = f"{stats.placed} snapshots, {stats.audited} equal, {stats.differences} different"
    failed = "".join(f"; cannot read {name}: {reason}" for name, reason in stats.failed.items())
    return f"{rows}; {books}{failed}"


def _add_replay(group: typer.Typer, open_gatherer: OpenGatherer) -> None:
    @group.command()
    def replay(
        tickers: Annotated[
            list[str] | None, typer.Argument(help="Tickers of markets; default: all.")
        ] = None,
        *,
        start: Start = "-1h",
        end: End = None,
        speed: Annotated[
            float, typer.Option(min=0, help="1 is real time, 0 as fast as clients read.")
        ] = 1.0,
        port: Annotated[int, typer.Option(min=0, max=65_535, help="0 picks a free port.")] = 0,
        merged: Merged = None,
    ) -> None:
        """Replay a recording over the exchange's protocol once a client subscribes."""

        async def serve(gatherer: Gatherer) -> None:
            server = gatherer.replay_server
            if server is None:
                raise Unavailable("Replay is not available here.")
            period = _parse_period(gatherer, start, end, tickers)
            with _open_recordings(gatherer, merged) as recordings:
                served = recordings.replay.serve(server, period, speed=speed, port=port)
                async with served as running:
                    _print_addresses(running.address, period)
                    stop = asyncio.Event()
                    with _on_signal(stop.set):
                        await _wait_any(running.finished.wait(), stop.wait())

        _run(open_gatherer, serve)


def _print_addresses(address: str, period: ReplayRange) -> None:
    host = address.partition("//")[2]
    typer.echo(f"From {format_time(period.start_us)} to {format_time(period.end_us)}")
    typer.echo(f"REST    {address}/trade-api/v2")
    typer.echo(f"Stream  ws://{host}/trade-api/ws/v2")


def _add_export(group: typer.Typer, open_gatherer: OpenGatherer) -> None:
    @group.command()
    def export(
        series: Annotated[
            str, typer.Argument(help="Name of a series, such as trades or orderbook_deltas.")
        ],
        file: Annotated[Path, typer.Argument(help="File that ends with .parquet or .csv.")],
        *,
        start: Start = "-1d",
        end: End = None,
        ticker: Annotated[
            list[str] | None, typer.Option(help="Only this market; can be repeated.")
        ] = None,
        force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
        merged: Merged = None,
    ) -> None:
        """Export a series to a file."""
        form = _FORMATS.get(file.suffix)
        if form is None:
            raise InvalidInput(f"{file.name} must end with {' or '.join(_FORMATS)}.")

        async def write(gatherer: Gatherer) -> int:
            period = _parse_period(gatherer, start, end, ticker)
            selection = ExportRange(series, period.start_us, period.end_us, period.tickers)
            with _open_recordings(gatherer, merged) as recordings:
                return await recordings.exports.write(selection, file, form, force=force)

        typer.echo(f"Wrote {_run(open_gatherer, write):,} rows to {file}.")


def _parse_period(
    gatherer: Gatherer, start: str, end: str | None, tickers: list[str] | None
) -> ReplayRange:
    now = gatherer.now_us()
    until = now if end is None else parse_time(end, now)
    since = parse_time(start, now)
    if since >= until:
        raise InvalidInput("The start must be before the end.")
    return ReplayRange(since, until, tuple(tickers or ()))


@contextmanager
def _on_signal(callback: Callable[[], None]) -> Iterator[None]:
    """Call something on SIGINT and SIGTERM while the block runs."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, callback)
    try:
        yield
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)


async def _wait_any(*waits: Coroutine[Any, Any, object]) -> None:
    tasks = [asyncio.create_task(wait) for wait in waits]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
