"""What the engine is to those who stand on it, and what it costs to know it."""

import subprocess
import sys

import psycopg

from grandstand.apps.gatherer.store import DELTAS
from grandstand.core.clock import ManualClock
from grandstand.storage.series.engines.postgres.engine import PostgresEngine
from grandstand.storage.series.engines.protocol import SeriesEngine


def test_it_is_an_engine_of_series(engine: PostgresEngine) -> None:
    seen: SeriesEngine = engine

    seen.prepare(DELTAS)

    assert seen.status(DELTAS).name == "orderbook_deltas"


def test_it_is_imported_without_its_libraries() -> None:
    code = (
        "import sys, grandstand.storage.series.engines.postgres; "
        "print(*sorted(sys.modules.keys() & {'psycopg', 'pyarrow'}))"
    )

    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert said.stdout.split() == []


def test_a_table_of_that_name_in_another_schema_is_left_alone(
    postgres_dsn: str, engine: PostgresEngine, schema: str, clock: ManualClock
) -> None:
    engine.prepare(DELTAS)
    beside = PostgresEngine.open(postgres_dsn, clock=clock, schema=f"{schema}_beside")

    pending = beside.pending(DELTAS)
    beside.prepare(DELTAS)
    beside.close()

    with psycopg.connect(postgres_dsn) as connection:
        connection.execute(f"DROP SCHEMA {schema}_beside CASCADE")
    assert len(pending) == 4
