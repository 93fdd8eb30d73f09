"""The stub refuses what TimescaleDB was seen to refuse, so that passing it means something."""

from collections.abc import Iterator

import psycopg
import pytest

from grandstand.apps.gatherer.store import TICKERS
from grandstand.storage.series.engines.postgres.schema import steps
from tests.storage.series.engines.postgres.stub import for_stub

Asking = psycopg.Connection[tuple[object, ...]]
DAY = "86400000000::bigint"
SPAN = "INTERVAL '1 hour'"
CONTINUOUS = "add_continuous_aggregate_policy"
UPSERT = "INSERT INTO tickers VALUES (1, 1, 'A') ON CONFLICT (ticker, exchange_ts) DO NOTHING"
CLOCK = """
CREATE FUNCTION now_us() RETURNS BIGINT LANGUAGE SQL STABLE AS
    $$ SELECT (extract(epoch FROM now()) * 1000000)::bigint $$;
SELECT set_integer_now_func('tickers', 'now_us')
"""


@pytest.fixture
def ask(stub_dsn: str) -> Iterator[Asking]:
    """A connection to a hypertable that can be compressed and has no clock yet."""
    with psycopg.connect(stub_dsn, autocommit=True) as connection:
        table, hypertable = steps(TICKERS, "timescale")[:2]
        (compression,) = (
            step for step in steps(TICKERS, "timescale") if step.name == "compression"
        )
        for step in (table, hypertable, compression):
            connection.execute(for_stub(step).sql)
        yield connection


def _with_clock(ask: Asking) -> Asking:
    ask.execute(CLOCK)
    return ask


@pytest.mark.parametrize(
    ("statement", "refusal"),
    [
        ("SELECT add_compression_policy('tickers', INTERVAL '1 day')", "compress_after"),
        ("CALL add_columnstore_policy('tickers', after => INTERVAL '1 day')", "parameter after"),
        ("SELECT add_retention_policy('tickers', drop_after => INTERVAL '7 days')", "drop_after"),
        ("SELECT drop_chunks('tickers', INTERVAL '7 days')", "invalid time argument"),
        ("SELECT create_hypertable('tickers', 'exchange_ts', INTERVAL '1 day')", "interval type"),
        ("SELECT set_integer_now_func('tickers', 'now', TRUE)", "invalid custom time function"),
        ("SELECT set_integer_now_func('tickers', 'lastval', TRUE)", "invalid custom time"),
        ("SELECT set_integer_now_func('tickers', 'now_us')", "already set"),
        ("SELECT add_retention_policy('stub_policies', 1::bigint)", "not a hypertable"),
        (f"SELECT {CONTINUOUS}('tickers', {SPAN}, {SPAN}, {SPAN})", "start_offset"),
        (f"SELECT {CONTINUOUS}('tickers', 3600000000, 0::bigint, {SPAN})", "too small"),
    ],
)
def test_spans_that_are_no_whole_numbers_and_the_like_are_refused(
    ask: Asking, statement: str, refusal: str
) -> None:
    _with_clock(ask)

    with pytest.raises(psycopg.Error, match=refusal):
        ask.execute(statement)


def test_without_a_clock_retention_is_refused_at_once(ask: Asking) -> None:
    with pytest.raises(psycopg.Error, match="integer_now function not set"):
        ask.execute(f"SELECT add_retention_policy('tickers', {DAY})")


def test_without_a_clock_a_continuous_aggregate_is_refused(ask: Asking) -> None:
    with pytest.raises(psycopg.Error, match="custom time function required"):
        ask.execute("SELECT stub_continuous_aggregate('tickers')")


@pytest.mark.parametrize(
    "statement",
    [
        f"SELECT add_compression_policy('tickers', {DAY})",
        f"CALL add_columnstore_policy('tickers', after => {DAY})",
    ],
)
def test_without_a_clock_compression_is_taken_and_its_job_fails(
    ask: Asking, statement: str
) -> None:
    ask.execute(statement)
    (job,) = ask.execute("SELECT job_id FROM timescaledb_information.jobs").fetchall()

    with pytest.raises(psycopg.Error, match="integer_now function not set"):
        ask.execute("CALL run_job(%s)", job)


def test_retention_by_when_a_chunk_was_made_is_taken_and_its_job_fails(ask: Asking) -> None:
    _with_clock(ask).execute(
        "SELECT add_retention_policy('tickers', drop_created_before => INTERVAL '1 day')"
    )
    (job,) = ask.execute("SELECT job_id FROM timescaledb_information.jobs").fetchall()

    with pytest.raises(psycopg.Error, match="invalid time argument"):
        ask.execute("CALL run_job(%s)", job)


def test_a_policy_without_a_schedule_runs_once_a_day(ask: Asking) -> None:
    ask.execute(f"SELECT add_compression_policy('tickers', {DAY})")

    found = ask.execute("SELECT schedule_interval::text FROM timescaledb_information.jobs")

    assert found.fetchall() == [("1 day",)]


@pytest.mark.parametrize(
    ("statement", "refusal"),
    [
        ("CREATE UNIQUE INDEX ON tickers (ticker)", "unique index without the time column"),
        ("ALTER TABLE tickers ADD UNIQUE (received_at)", "unique index without the time column"),
        (
            "ALTER TABLE tickers ADD FOREIGN KEY (exchange_ts, ticker) REFERENCES other",
            "foreign key",
        ),
    ],
)
def test_keys_a_hypertable_cannot_have_are_refused(
    ask: Asking, statement: str, refusal: str
) -> None:
    ask.execute("CREATE TABLE other (at BIGINT, name TEXT, PRIMARY KEY (at, name))")
    ask.execute("SELECT create_hypertable('other', 'at', 1::bigint)")

    with pytest.raises(psycopg.Error, match=refusal):
        ask.execute(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT stub_compress('tickers', 'ticker', 'exchange_ts')",
        f"SELECT add_compression_policy('tickers', {DAY})",
        f"CALL add_columnstore_policy('tickers', after => {DAY})",
        f"SELECT add_retention_policy('tickers', {DAY})",
        "SELECT add_job('now', INTERVAL '1 hour')",
        "SELECT stub_continuous_aggregate('tickers')",
        "SELECT reorder_chunk('c', 'i')",
        "SELECT move_chunk('c', 'd')",
        "SELECT time_bucket_gapfill(1::bigint, 1::bigint)",
        "SELECT compress_chunk('c')",
        "CALL convert_to_columnstore('c')",
    ],
)
def test_the_apache_edition_refuses_what_is_licensed_otherwise(ask: Asking, statement: str) -> None:
    _with_clock(ask).execute("SET timescaledb.license = 'apache'")

    with pytest.raises(psycopg.errors.FeatureNotSupported, match="apache"):
        ask.execute(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT create_hypertable('tickers', 'exchange_ts', 1::bigint, if_not_exists => TRUE)",
        "SELECT drop_chunks('tickers', 1::bigint)",
        "SELECT time_bucket(3600000000::bigint, 1::bigint)",
        UPSERT,
    ],
)
def test_the_apache_edition_does_the_rest(ask: Asking, statement: str) -> None:
    _with_clock(ask).execute("SET timescaledb.license = 'apache'")

    done = ask.execute(statement)

    assert done.statusmessage is not None
