"""The command line of series, on a data folder and on a server of its own."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from uuid import UUID

import polars as pl
import pytest
from typer.testing import CliRunner, Result

from grandstand.apps.gatherer.domain.rows import Trade
from grandstand.apps.gatherer.store import TRADES
from grandstand.core.clock import SystemClock
from grandstand.host.cli import app
from grandstand.host.infrastructure import open_series
from grandstand.host.settings import Settings

Run = Callable[..., Result]
DAY_US = 86_400_000_000


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the command line on a fresh data folder, on a wide terminal."""
    monkeypatch.setenv("GRANDSTAND_HOME", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "160")
    runner = CliRunner()
    return lambda *arguments: runner.invoke(app, arguments)


def trade(number: int, exchange_ts: int, ticker: str = "T") -> Trade:
    return Trade(UUID(int=number), exchange_ts, exchange_ts, ticker, 52_000, 100, taker_side=True)


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
    assert "gaps of trades:" in told
    assert "1970-01-02 00:00 – 1970-01-04 00:00  (2 days, 0:00:00)" in told


def test_the_status_as_json_names_every_chunk_and_gap_and_how_rows_shrink(run: Run) -> None:
    engine = open_series(Settings())
    engine.prepare(TRADES)
    now = TRADES.chunk_of(int(SystemClock().epoch() * 1_000_000))
    engine.append(TRADES, [trade(number, number) for number in range(1_000)])
    engine.append(TRADES, [trade(number, now + number) for number in range(1_000)])
    engine.upkeep(TRADES)
    engine.close()

    [told] = json.loads(run("series", "status", "trades", "--json").stdout)

    assert (told["name"], told["rows"]) == ("trades", 2_000)
    assert [chunk["state"] for chunk in told["chunks"]] == ["compressed", "open"]
    assert told["gaps"] == [{"start": DAY_US, "end": now}]
    assert told["compression_ratio"] > 1


def test_a_long_list_of_gaps_is_cut(run: Run) -> None:
    engine = open_series(Settings())
    engine.prepare(TRADES)
    engine.append(TRADES, [trade(number, 2 * number * DAY_US) for number in range(15)])
    engine.close()

    told = run("series", "status", "trades").stdout

    assert "and 4 more; --json lists them all" in told


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

    assert told.startswith("trades: 1 closed, 1 compressed, 0 merged, 0 dropped")


def test_an_unknown_series_is_answered_with_those_there_are(run: Run) -> None:
    result = run("series", "status", "nothing")

    assert "No series named nothing; there are trades" in str(result.exception)


def test_a_server_that_is_no_server_is_refused(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRANDSTAND_SERIES", "oracle")

    result = run("series", "status")

    assert "Use chunks, or a PostgreSQL connection string" in str(result.exception)


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A day of trades and one of the next."""
    monkeypatch.setenv("GRANDSTAND_HOME", str(tmp_path))
    engine = open_series(Settings())
    engine.prepare(TRADES)
    rows = [trade(number, number * 1_000_000, f"T{number % 2}") for number in range(100)]
    engine.append(TRADES, [*rows, trade(100, DAY_US)])
    engine.upkeep(TRADES)
    engine.close()


@pytest.mark.usefixtures("stored")
def test_a_series_is_exported_by_time_and_key(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "out.csv"

    result = run(
        "series", "export", "trades", "--from", "1970-01-01T00:00:10Z", "--to", "60000000",
        "--key", "T1", "--csv", str(path),
    )  # fmt: skip

    lines = path.read_text().splitlines()
    assert result.exit_code == 0
    assert f"wrote 25 rows to {path}" in result.stderr
    assert result.stdout == ""
    assert len(lines) == 26
    assert lines[1].split(",")[1] == "11000000"


@pytest.mark.usefixtures("stored")
def test_a_whole_series_is_exported_to_parquet_and_not_over_a_file(
    run: Run, tmp_path: Path
) -> None:
    path = tmp_path / "out.parquet"
    command = ("series", "export", "trades", "--parquet", str(path))

    first, second, forced = run(*command), run(*command), run(*command, "--force")

    assert pl.read_parquet(path).height == 101
    assert (first.exit_code, forced.exit_code) == (0, 0)
    assert "use --force" in str(second.exception)


def test_an_export_needs_one_target_and_moments_that_are_moments(run: Run, tmp_path: Path) -> None:
    nowhere = run("series", "export", "trades")
    both = run("series", "export", "trades", "--csv", "a", "--parquet", "b")
    wrong = run("series", "export", "trades", "--from", "soon", "--csv", str(tmp_path / "a"))

    assert "either --parquet FILE or --csv FILE" in str(nowhere.exception)
    assert "either --parquet FILE or --csv FILE" in str(both.exception)
    assert "'soon' is not a time" in str(wrong.exception)


@pytest.mark.usefixtures("stored")
def test_what_is_whole_is_verified_with_exit_code_0(run: Run) -> None:
    result = run("series", "verify")

    assert result.exit_code == 0
    assert "trades: no problems" in result.stdout
    assert "gaps: no problems" in result.stdout


@pytest.mark.usefixtures("stored")
def test_what_is_damaged_is_told_with_exit_code_1(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "series" / "trades" / "0.parquet"
    path.write_bytes(path.read_bytes()[:-10])

    result = run("series", "verify", "trades")

    assert result.exit_code == 1
    assert str(path) in result.stdout
    assert "restore it from a backup" in result.stdout


@pytest.mark.usefixtures("stored")
def test_late_rows_are_told_with_exit_code_0(run: Run) -> None:
    engine = open_series(Settings())
    engine.append(TRADES, [trade(500, 77)])
    engine.close()

    result = run("series", "verify", "trades")

    assert result.exit_code == 0
    assert "1 late rows that are not merged yet; run `grandstand series upkeep`" in result.stdout


def test_a_server_without_its_tables_is_told_with_exit_code_1(
    run: Run, postgres_dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRANDSTAND_SERIES", postgres_dsn)

    looked = run("series", "verify", "gaps")
    run("series", "migrate", "gaps")
    again = run("series", "verify", "gaps")

    assert looked.exit_code == 1
    assert "run `grandstand series migrate`" in looked.stdout
    assert again.stdout == "gaps: no problems\n"
