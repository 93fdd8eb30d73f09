"""Typed tables on SQLite, beside DynamoDB Local and moto through boto3 and beside bare sqlite3."""

from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.harness.rows import Row, Times
from benchmarks.tables.beside_bare import beside_bare
from benchmarks.tables.operations import operations, our_speed, rate
from benchmarks.tables.peers import Boto, amazon, our_endpoint
from benchmarks.tables.things import Watched, things, watched
from benchmarks.tables.upkeep import growth, opening, resident

_SHORT = (10_000, 100_000)
_LONG = (10_000, 100_000, 1_000_000, 5_000_000)


def run(*, full: bool) -> list[Row]:
    """Measure every row; `full` grows the table to five million items."""
    with TemporaryDirectory() as place, ExitStack() as stack:
        folder = Path(place)
        alone = our_speed(folder)
        rows = [*beside_bare(folder), opening(folder), resident()]
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
    peer.create(watched)
    rounds = [things(Watched, number, start=number * turn) for turn in range(5)]
    return {
        "put": rate(number, lambda turn: peer.put(watched, rounds[turn])),
        "get": rate(number, lambda turn: peer.get(watched, rounds[turn])),
    }
