"""The statements for each edition, as text and on servers that refuse what is wrong."""

from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from typing import Any, NamedTuple

import psycopg
import pytest

from grandstand.apps.gatherer.store import DELTAS, GAPS, SERIES, SNAPSHOTS, TICKERS, TRADES
from grandstand.storage.series.declaration import Series, SeriesFault
from grandstand.storage.series.engines.postgres.connection import Connections
from grandstand.storage.series.engines.postgres.schema import (
    Edition,
    Step,
    migrate,
    migration_steps,
    quote_name,
    steps,
)
from tests.storage.series.engines.postgres.rows import NOW
from tests.storage.series.engines.postgres.stub import for_stub, with_setting

EVERY = [pytest.param(series, id=series.name) for series in SERIES]


def _made(
    dsn: str, series: Series[Any], edition: Edition = "timescale", *, wide: bool = False
) -> None:
    def plan(connection: psycopg.Connection[tuple[Any, ...]]) -> list[Step]:
        return [*map(for_stub, migration_steps(connection, series, edition, wide=wide))]

    with closing(Connections(dsn, None)) as connections:
        migrate(connections, series.name, plan, now_us=NOW)


def _asked(dsn: str, sql: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(dsn) as connection:
        return connection.execute(sql).fetchall()


def test_names_are_quoted_only_where_they_must_be() -> None:
    assert [*map(quote_name, ("ticker", "end", "Ticker", 'a"b'))] == [
        "ticker",
        '"end"',
        '"Ticker"',
        '"a""b"',
    ]


def test_the_steps_of_a_table_are_numbered_and_named() -> None:
    assert [(step.number, step.name) for step in steps(DELTAS, "timescale")] == [
        (1, "table"),
        (2, "hypertable"),
        (3, "clock"),
        (4, "clock of the table"),
        (5, "index idx_deltas_ticker_time"),
        (6, "index idx_deltas_received"),
        (7, "compression"),
        (8, "compression policy"),
        (9, "retention policy"),
    ]


def test_a_name_postgresql_would_shorten_is_refused() -> None:
    series = replace(DELTAS, name="d" * 41)

    with pytest.raises(SeriesFault, match="at most 40"):
        steps(series, "plain")


@pytest.mark.parametrize("series", EVERY)
@pytest.mark.parametrize("wide", [False, True])
def test_the_statements_for_timescale_run_twice(
    stub_dsn: str, series: Series[Any], *, wide: bool
) -> None:
    _made(stub_dsn, series, wide=wide)

    with psycopg.connect(stub_dsn) as connection:
        for step in steps(series, "timescale", wide=wide):
            connection.execute(for_stub(step).sql)

    assert _asked(stub_dsn, "SELECT chunk_us, now_function::text FROM stub_hypertables") == [
        (series.chunk_us, "grandstand_now_us")
    ]


@pytest.mark.parametrize("series", EVERY)
def test_the_statements_for_the_apache_edition_run_where_policies_are_refused(
    stub_dsn: str, series: Series[Any]
) -> None:
    dsn = with_setting(stub_dsn, "timescaledb.license=apache")

    _made(dsn, series, "timescale-apache")

    with pytest.raises(psycopg.errors.FeatureNotSupported, match="apache"):
        _asked(dsn, f"SELECT add_retention_policy('{series.name}', 1::bigint)")


def test_policies_have_whole_lags_and_run_every_hour(stub_dsn: str) -> None:
    _made(stub_dsn, DELTAS)

    assert _asked(stub_dsn, "SELECT kind, lag, schedule FROM stub_policies ORDER BY kind") == [
        ("compression", 86_400_000_000, timedelta(hours=1)),
        ("retention", 604_800_000_000, timedelta(hours=1)),
    ]


def test_a_series_kept_for_ever_loses_the_retention_it_had(stub_dsn: str) -> None:
    _made(stub_dsn, DELTAS)

    _made(stub_dsn, replace(DELTAS, retain=None))

    assert _asked(stub_dsn, "SELECT kind FROM stub_policies") == [("compression",)]


@pytest.mark.parametrize(
    ("series", "expected"),
    [
        (TRADES, ("ticker", "exchange_ts DESC, trade_id")),
        (DELTAS, ("ticker", "exchange_ts DESC, price, side, size_delta, ord")),
        (SNAPSHOTS, ("ticker", "snapshot_ts DESC, source")),
        (TICKERS, ("ticker", "exchange_ts DESC")),
        (GAPS, ("gatherer", "detected_at DESC, conn, sid, expected_seq, resolved")),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_compression_lists_the_identity(
    stub_dsn: str, series: Series[Any], expected: tuple[str, str]
) -> None:
    _made(stub_dsn, series)

    assert _asked(stub_dsn, "SELECT segment_by, order_by FROM stub_hypertables") == [expected]


def test_for_very_many_keys_compression_has_no_segments_and_the_key_first(stub_dsn: str) -> None:
    _made(stub_dsn, TRADES, wide=True)

    assert _asked(stub_dsn, "SELECT segment_by, order_by FROM stub_hypertables") == [
        ("", "ticker, exchange_ts, trade_id")
    ]


class Reserved(NamedTuple):
    at: int
    user: str
    end: str | None = None


def test_columns_may_be_called_like_words_of_sql(stub_dsn: str) -> None:
    series = Series("order", Reserved, "at", ("at", "user"), "user", timedelta(days=1))

    _made(stub_dsn, series, "plain")

    assert _asked(stub_dsn, 'SELECT "user", "end" FROM "order"') == []
