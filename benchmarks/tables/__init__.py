"""Benchmark of typed tables on SQLite against DynamoDB Local, moto and plain sqlite3."""

from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.harness.rows import Row, Times
from benchmarks.tables.against_sqlite import compare_with_sqlite
from benchmarks.tables.operations import measure_ours, operations, rate
from benchmarks.tables.peers import Boto, amazon, our_endpoint
from benchmarks.tables.records import IndexedRecord, indexed, make_records
from benchmarks.tables.scaling import growth, opening, resident

_SHORT = (10_000, 100_000)
_LONG = (10_000, 100_000, 1_000_000, 5_000_000)


def run(*, full: bool) -> list[Row]:
    """Run all measurements; `full` grows the table to five million items."""
    with TemporaryDirectory() as path, ExitStack() as stack:
        folder = Path(path)
        alone = measure_ours(folder)
        rows = [*compare_with_sqlite(folder), opening(folder), resident()]
        local = stack.enter_context(amazon(folder))
        ours = stack.enter_context(our_endpoint(folder))
        rows = [*operations(alone, local), *rows, *_endpoint(ours, local)]
    return rows + growth(_LONG if full else _SHORT)


def _endpoint(ours: Boto, local: Boto) -> list[Row]:
    speeds = [_through_boto(peer) for peer in (ours, local)]
    return [
        Row(
            measure=f"{name} through boto3, to our endpoint",
            unit="items/s",
            ours=speeds[0][name],
            peers={"DynamoDB Local": speeds[1][name]},
            aim=Times(1, "DynamoDB Local"),
        )
        for name in ("put", "get")
    ]


def _through_boto(peer: Boto) -> dict[str, float]:
    number = 300
    peer.create(indexed)
    rounds = [
        make_records(IndexedRecord, number, start=number * round_number)
        for round_number in range(5)
    ]
    return {
        "put": rate(number, lambda round_number: peer.put(indexed, rounds[round_number])),
        "get": rate(number, lambda round_number: peer.get(indexed, rounds[round_number])),
    }
