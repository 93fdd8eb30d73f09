"""What verification finds: nothing in what is whole, and each kind of harm by its name."""

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from grandstand.apps.gatherer.store import DELTAS, TRADES
from grandstand.core.clock import SystemClock
from grandstand.storage.series.engines.chunks.directory import SeriesDirectory
from grandstand.storage.series.engines.chunks.engine import ChunkEngine
from grandstand.storage.series.engines.postgres.engine import PostgresEngine
from grandstand.storage.series.verify import Finding, Progress, verify
from tests.storage.series.contract.builders import BASE, DAY, HOUR, delta
from tests.storage.series.engines.postgres import opening

CHUNKS = 3
# TimescaleDB's own view, of which the stub has no need elsewhere.
DIMENSIONS = """
CREATE OR REPLACE VIEW timescaledb_information.dimensions AS
SELECT nspname AS hypertable_schema, relname AS hypertable_name, time_column AS column_name
FROM stub_hypertables JOIN pg_class ON pg_class.oid = relation
JOIN pg_namespace ON pg_namespace.oid = relnamespace
"""


@pytest.fixture
def chunks(tmp_path: Path) -> Iterator[ChunkEngine]:
    """An engine with compressed chunks two days old, and one that accepts rows."""
    with closing(ChunkEngine.open(tmp_path, clock=SystemClock())) as engine:
        engine.prepare(DELTAS)
        rows = [delta(number % CHUNKS * HOUR + number, f"T{number % 9}") for number in range(900)]
        engine.append(DELTAS, [*rows, delta(2 * DAY)])
        engine.upkeep(DELTAS)
        yield engine


@pytest.fixture
def directory(tmp_path: Path) -> SeriesDirectory:
    """Where the files of the deltas are."""
    return SeriesDirectory(tmp_path / DELTAS.name, SystemClock())


def find_problems(engine: ChunkEngine | PostgresEngine) -> list[Finding]:
    return [*verify(engine, DELTAS, lambda _: None)]


def test_nothing_is_wrong_with_what_is_whole_and_progress_is_told(chunks: ChunkEngine) -> None:
    events: list[Progress] = []

    findings = [*verify(chunks, DELTAS, events.append)]

    assert findings == []
    assert events == [Progress(done, CHUNKS + 1) for done in range(CHUNKS + 2)]


def test_a_series_that_was_never_written_has_nothing_wrong(chunks: ChunkEngine) -> None:
    assert [*verify(chunks, TRADES, lambda _: None)] == []


def test_late_rows_are_told_and_are_no_harm(
    chunks: ChunkEngine, directory: SeriesDirectory
) -> None:
    chunks.append(DELTAS, [delta(5, "late"), delta(6, "late")])

    [finding] = find_problems(chunks)
    chunks.upkeep(DELTAS)

    assert not finding.serious
    assert "2 late rows" in finding.problem
    assert finding.place == str(directory.late(BASE))
    assert find_problems(chunks) == []


def test_what_a_stop_left_is_told_and_is_no_harm(
    chunks: ChunkEngine, directory: SeriesDirectory
) -> None:
    directory.unfinished(BASE).write_bytes(b"half")

    [finding] = find_problems(chunks)

    assert not finding.serious
    assert finding.place == str(directory.unfinished(BASE))


def _flip(path: Path, start: int) -> None:
    content = bytearray(path.read_bytes())
    for offset in range(40):
        content[start + offset] ^= 0xFF
    path.write_bytes(content)


@pytest.mark.parametrize("at", [0.2, 0.5, 0.98])
def test_a_compressed_file_with_changed_bytes_is_found(
    chunks: ChunkEngine, directory: SeriesDirectory, at: float
) -> None:
    _flip(directory.parquet(BASE), int(directory.parquet(BASE).stat().st_size * at))

    findings = find_problems(chunks)

    assert {finding.place for finding in findings} == {str(directory.parquet(BASE))}
    assert all(finding.serious and "restore" in finding.remedy for finding in findings)
    assert findings


def _rewritten(path: Path, change: Callable[[pa.Table], pa.Table]) -> None:
    """Change the rows of a Parquet file without changing its footer."""
    with pq.ParquetFile(path) as file:
        metadata, table = file.metadata.metadata, file.read()
    changed = change(table)
    with pq.ParquetWriter(path, changed.schema) as writer:
        writer.write_table(changed)
        writer.add_key_value_metadata({b"grandstand": metadata[b"grandstand"]})


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda table: pa.concat_tables([table, table.slice(0, 3)]), "duplicate or unordered"),
        (lambda table: table.slice(1), "differs from the footer"),
        (lambda table: table.drop_columns("conn").append_column("x", table["conn"]), "columns"),
    ],
)
def test_rows_that_were_changed_in_a_compressed_file_are_found(
    chunks: ChunkEngine,
    directory: SeriesDirectory,
    change: Callable[[pa.Table], pa.Table],
    problem: str,
) -> None:
    _rewritten(directory.parquet(BASE), change)

    findings = find_problems(chunks)

    assert any(problem in finding.problem for finding in findings), findings


def test_a_footer_that_hides_rows_is_found(chunks: ChunkEngine, directory: SeriesDirectory) -> None:
    path = directory.parquet(BASE)
    with pq.ParquetFile(path) as file:
        groups, table = json.loads(file.metadata.metadata[b"grandstand"]), file.read()
    groups[0][2] -= 1
    with pq.ParquetWriter(path, table.schema) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({b"grandstand": json.dumps(groups)})

    findings = find_problems(chunks)

    assert any("differs from the footer" in finding.problem for finding in findings)


def test_a_chunk_under_another_time_is_found(
    chunks: ChunkEngine, directory: SeriesDirectory
) -> None:
    shutil.move(directory.parquet(BASE), directory.parquet(BASE - HOUR))

    [finding] = find_problems(chunks)

    assert "300 rows of another chunk" in finding.problem


def test_a_damaged_file_of_rows_is_found(chunks: ChunkEngine, directory: SeriesDirectory) -> None:
    chunks.append(DELTAS, [delta(2 * DAY + number) for number in range(5_000)])
    chunks.close()
    path = directory.live(BASE + 2 * DAY)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    # SQLite has no checksums: only what holds a page together can be seen to be damaged.
    _flip(path, int.from_bytes(path.read_bytes()[16:18]))

    with closing(ChunkEngine.open(directory.path.parent, clock=SystemClock())) as engine:
        findings = find_problems(engine)

    assert findings
    assert {finding.place for finding in findings} == {str(path)}
    assert findings[0].serious


def test_late_rows_without_their_chunk_are_found(
    chunks: ChunkEngine, directory: SeriesDirectory
) -> None:
    chunks.append(DELTAS, [delta(5, "late")])
    directory.parquet(BASE).unlink()

    [finding] = find_problems(chunks)

    assert finding.serious
    assert f"{directory.parquet(BASE).name} does not" in finding.problem


def test_upkeep_elsewhere_is_told_and_nothing_is_looked_at(
    chunks: ChunkEngine, directory: SeriesDirectory
) -> None:
    with directory.try_maintenance_lock():
        [finding] = find_problems(chunks)

    assert "another process is running maintenance" in finding.problem


@pytest.fixture
def server(postgres_dsn: str) -> Iterator[tuple[PostgresEngine, psycopg.Connection[object]]]:
    """An engine in a schema of its own, and a connection to do harm with."""
    schema = "verified"
    engine = PostgresEngine.open(postgres_dsn, clock=SystemClock(), schema=schema, edition="plain")
    options = f"-c search_path={schema}"
    with closing(engine), psycopg.connect(postgres_dsn, options=options, autocommit=True) as harm:
        yield engine, harm
        harm.execute(f"DROP SCHEMA {schema} CASCADE")


Server = tuple[PostgresEngine, psycopg.Connection[object]]


def test_a_server_that_was_prepared_has_nothing_wrong(server: Server) -> None:
    engine, _ = server
    engine.prepare(DELTAS)
    engine.append(DELTAS, [delta(number) for number in range(100)])
    events: list[Progress] = []

    findings = [*verify(engine, DELTAS, events.append)]

    assert findings == []
    assert events[-1] == Progress(1, 1)


def test_steps_that_are_not_done_are_found(server: Server) -> None:
    engine, _ = server

    findings = find_problems(engine)

    assert any("'table'" in finding.problem for finding in findings)
    assert {finding.remedy for finding in findings} == {"run `grandstand series migrate`"}


def test_a_missing_partition_is_found_and_upkeep_makes_it(server: Server) -> None:
    engine, harm = server
    engine.prepare(DELTAS)
    now = DELTAS.chunk_of(int(SystemClock().epoch() * 1_000_000))
    harm.execute(f"DROP TABLE orderbook_deltas_p{now + HOUR}")

    findings = find_problems(engine)
    engine.upkeep(DELTAS)

    assert str(now + HOUR) in findings[0].place
    assert "upkeep" in findings[0].remedy
    assert find_problems(engine) == []


def test_a_table_of_another_form_is_found(server: Server) -> None:
    engine, harm = server
    engine.prepare(DELTAS)
    harm.execute("ALTER TABLE orderbook_deltas ADD COLUMN extra INTEGER")

    [finding] = find_problems(engine)

    assert "differs from the declaration" in finding.problem
    assert "extra" in finding.remedy


def test_an_index_that_was_not_finished_is_found(server: Server) -> None:
    engine, harm = server
    engine.prepare(DELTAS)
    harm.execute("CREATE INDEX left_over ON ONLY orderbook_deltas (sid)")

    [finding] = find_problems(engine)

    assert finding.place == "index left_over"


def test_a_table_that_is_no_hypertable_is_found(stub_home: str) -> None:
    with (
        opening.stub(stub_home, SystemClock(), "timescale-apache") as open_one,
        psycopg.connect(stub_home, autocommit=True) as harm,
    ):
        harm.execute(DIMENSIONS)
        engine = open_one()
        engine.prepare(DELTAS)
        before = find_problems(engine)
        harm.execute("TRUNCATE stub_hypertables CASCADE")
        findings = find_problems(engine)

    assert before == []
    assert [finding.problem for finding in findings] == ["is not a hypertable"]
