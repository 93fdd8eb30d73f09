"""The command line of series, on a data folder and on a server of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from uuid import UUID

import pytest
from typer.testing import CliRunner, Result

from grandstand.apps.gatherer.store import TRADES, Trade
from grandstand.host.cli import app
from grandstand.host.opening import open_series
from grandstand.host.settings import Settings

Run = Callable[..., Result]
DAY_US = 86_400_000_000


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the command line on a fresh data folder, on a wide terminal."""
    monkeypatch.setenv("GRANDSTAND_DATA_FOLDER", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "160")
    runner = CliRunner()
    return lambda *arguments: runner.invoke(app, arguments)


def trade(number: int, exchange_ts: int) -> Trade:
    return Trade(UUID(int=number), exchange_ts, exchange_ts, "T", 52_000, 100, taker_side=True)


def test_the_status_counts_rows_chunks_and_gaps(run: Run) -> None:
    engine = open_series(Settings())
    engine.prepare(TRADES)
    engine.append(TRADES, [trade(1, 5), trade(2, 6), trade(3, 3 * DAY_US)])
    engine.close()

    told = run("series", "status", "trades").stdout

    cells = told.splitlines()[1].split()
    assert cells[:2] == ["trades", "1970-01-01"]
    assert cells[5:8] == ["2", "0", "3"]
    assert cells[-1] == "1"


def test_statements_are_printed_for_each_kind_of_server(run: Run) -> None:
    timescale = run("series", "ddl", "orderbook_deltas").stdout
    plain = run("series", "ddl", "orderbook_deltas", "--engine", "postgres").stdout

    assert "add_retention_policy('orderbook_deltas'" in timescale
    assert "604800000000::bigint" in timescale
    assert "PARTITION BY RANGE (exchange_ts)" in plain
    assert "hypertable" not in plain


def test_a_server_is_migrated_once_and_a_dry_run_changes_nothing(
    run: Run, postgres_dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRANDSTAND_SERIES", postgres_dsn)

    looked = run("series", "migrate", "trades", "--dry-run")
    done = run("series", "migrate", "trades")
    again = run("series", "migrate", "trades")

    assert "trades: table" in looked.stdout
    assert "nothing was changed" in looked.stdout
    assert "trades: table" in done.stdout
    assert again.stdout == "the series are ready\n"


def test_upkeep_tells_what_it_did(run: Run) -> None:
    engine = open_series(Settings())
    engine.prepare(TRADES)
    engine.append(TRADES, [trade(1, 5)])
    engine.close()

    told = run("series", "upkeep", "trades").stdout

    assert told.startswith("trades: 1 closed, 1 baked, 0 merged, 0 dropped")


def test_an_unknown_series_is_answered_with_those_there_are(run: Run) -> None:
    result = run("series", "status", "nothing")

    assert "There is no series nothing; there are trades" in str(result.exception)


def test_a_server_that_is_no_server_is_refused(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRANDSTAND_SERIES", "oracle")

    result = run("series", "status")

    assert "use chunks, or a PostgreSQL connection string" in str(result.exception)
