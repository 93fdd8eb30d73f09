"""Steps are done once, by one at a time, and a changed declaration is noticed."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from grandstand.apps.gatherer.store import DELTAS, SERIES, TRADES
from grandstand.storage.series.declaration import SeriesIndex
from grandstand.storage.series.engines.postgres.engine import PostgresEngine
from grandstand.storage.series.engines.postgres.schema import MIGRATION_LOCK, steps
from grandstand.storage.series.errors import SeriesChanged
from tests.storage.series.engines.postgres.rows import HOUR, NOW, delta

Looking = psycopg.Connection[tuple[object, ...]]


def test_what_would_be_done_is_told_and_not_done(engine: PostgresEngine, look: Looking) -> None:
    pending = engine.pending(TRADES)

    assert [step.name for step in pending] == [
        "table",
        "time index",
        "index idx_trades_ticker",
        "index idx_trades_received",
    ]
    assert look.execute("SELECT to_regclass('trades')").fetchone() == (None,)


def test_nothing_is_pending_once_it_is_done(engine: PostgresEngine) -> None:
    engine.prepare(TRADES)
    engine.prepare(TRADES)

    assert engine.pending(TRADES) == ()


def test_the_indexes_are_made_by_name_on_every_partition(
    engine: PostgresEngine, look: Looking
) -> None:
    engine.prepare(DELTAS)

    found = look.execute(
        "SELECT indexname, indexdef FROM pg_indexes "
        "WHERE schemaname = current_schema AND tablename = 'orderbook_deltas' ORDER BY 1"
    ).fetchall()
    of_partition = look.execute(
        "SELECT count(*) FROM pg_indexes "
        f"WHERE schemaname = current_schema AND tablename = 'orderbook_deltas_p{NOW}'"
    ).fetchone()

    assert [(name, str(text).partition(" USING ")[2]) for name, text in found] == [
        ("idx_deltas_received", "btree (received_at DESC)"),
        ("idx_deltas_ticker_time", "btree (ticker, exchange_ts DESC)"),
        (
            "orderbook_deltas_pkey",
            "btree (exchange_ts, ticker, price, side, size_delta, ord)",
        ),
        ("orderbook_deltas_time_brin", "brin (exchange_ts)"),
    ]
    assert of_partition == (4,)


def test_a_new_index_is_the_only_step_left(engine: PostgresEngine) -> None:
    engine.prepare(TRADES)
    more = replace(TRADES, indexes=(SeriesIndex("idx_by_sid", ("sid",)), *TRADES.indexes))

    pending = engine.pending(more)
    engine.prepare(more)

    assert [step.name for step in pending] == ["index idx_by_sid"]
    assert engine.pending(more) == ()


def test_another_declaration_of_the_table_is_refused(engine: PostgresEngine) -> None:
    engine.prepare(DELTAS)
    changed = replace(DELTAS, identity=("exchange_ts", "ticker"))

    with pytest.raises(SeriesChanged, match="the stored identity"):
        engine.prepare(changed)


def test_shorter_chunks_fill_the_room_between_the_old_ones(
    engine: PostgresEngine, look: Looking
) -> None:
    engine.prepare(DELTAS)
    longer = replace(DELTAS, chunk=timedelta(hours=12))

    engine.append(longer, [delta(NOW + 11 * HOUR), delta(NOW + HOUR)])

    found = look.execute(
        "SELECT count(*) FROM pg_inherits WHERE inhparent = 'orderbook_deltas'::regclass"
    ).fetchone()
    assert found == (5,)


def test_two_migrations_at_once_do_every_step_once(
    another: Callable[[], PostgresEngine], look: Looking
) -> None:
    failures: list[Exception] = []
    start = threading.Barrier(4)

    def prepare(engine: PostgresEngine) -> None:
        start.wait()
        try:
            for series in SERIES:
                engine.prepare(series)
        except Exception as failure:  # noqa: BLE001 - any failure at all is what is looked for
            failures.append(failure)

    threads = [threading.Thread(target=prepare, args=(another(),)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failures == []
    assert look.execute("SELECT count(DISTINCT series) FROM _grandstand_migrations").fetchone() == (
        len(SERIES),
    )


def test_a_migration_waits_for_its_turn_and_a_dry_run_does_not(
    another: Callable[[], PostgresEngine], look: Looking
) -> None:
    first, second = another(), another()
    done = threading.Event()

    def prepare() -> None:
        first.prepare(TRADES)
        done.set()

    thread = threading.Thread(target=prepare)
    with look.transaction():
        look.execute("SELECT pg_advisory_xact_lock(%s)", (MIGRATION_LOCK,))
        thread.start()
        finished_early = done.wait(0.3)
        pending = second.pending(TRADES)
    thread.join()

    assert not finished_early
    assert len(pending) == 4
    assert second.pending(TRADES) == ()


def test_three_programs_that_migrate_at_once_all_succeed(
    postgres_dsn: str, schema: str, look: Looking
) -> None:
    look.execute(f"CREATE SCHEMA {schema}")
    place = make_conninfo(postgres_dsn, options=f"-c search_path={schema}")
    command = [sys.executable, "-m", "grandstand", "series", "migrate"]
    surroundings = {**os.environ, "GRANDSTAND_SERIES": place}

    programs = [subprocess.Popen(command, env=surroundings) for _ in range(3)]
    codes = [program.wait(180) for program in programs]

    numbered = look.execute(
        "SELECT count(DISTINCT (series, number)) = count(*), count(DISTINCT series) "
        "FROM _grandstand_migrations"
    ).fetchone()

    assert codes == [0, 0, 0]
    assert numbered == (True, len(SERIES))


def test_a_migration_that_breaks_off_is_undone_and_holds_nobody_up(
    another: Callable[[], PostgresEngine], look: Looking, postgres_dsn: str, schema: str
) -> None:
    engine = another()
    broken_off = psycopg.connect(postgres_dsn, options=f"-c search_path={schema}")
    broken_off.execute("SELECT pg_advisory_xact_lock(%s)", (MIGRATION_LOCK,))
    broken_off.execute(steps(TRADES, "plain")[0].sql)

    look.execute("SELECT pg_terminate_backend(%s)", (broken_off.info.backend_pid,))
    engine.prepare(TRADES)
    broken_off.close()

    assert engine.pending(TRADES) == ()
