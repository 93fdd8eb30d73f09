"""Typed operations on SQLite against the same through boto3 to DynamoDB Local and moto."""

import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.harness.rows import Row, Times
from benchmarks.tables.peers import Boto, moto
from benchmarks.tables.records import PER_GROUP, Record, make_records, open_store, plain
from grandstand.storage.tables import Store

_ROUNDS = 5
_AIMS = {
    "put": ("items/s", 25),
    "get": ("items/s", 60),
    "query of 50": ("queries/s", 15),
    "batch of 25": ("items/s", 17),
    "transaction of 2": ("transactions/s", 20),
}


def rate(count: int, work: Callable[[int], object], rounds: int = _ROUNDS) -> float:
    """Return calls per second in the faster half of the rounds; `work` gets the round number."""
    seconds = []
    for number in range(rounds):
        start = time.perf_counter()
        work(number)
        seconds.append(time.perf_counter() - start)
    quick = sorted(seconds)[: (rounds + 1) // 2]
    return count * len(quick) / sum(quick)


def measure_ours(folder: Path) -> dict[str, float]:
    """Measure the embedded engine, before a server is started."""
    with open_store(folder, "operations", (plain,)) as store:
        return _measure_store(store)


def operations(ours: dict[str, float], local: Boto) -> list[Row]:
    """Measure the peers and compare."""
    theirs = {"DynamoDB Local": _measure_peer(local, 300)}
    with moto() as stub:
        theirs["moto"] = _measure_peer(stub, 60)
    return [
        Row(
            measure=f"typed {name}",
            unit=unit,
            ours=ours[name],
            peers={peer: rates[name] for peer, rates in theirs.items()},
            aim=Times(factor, "DynamoDB Local"),
        )
        for name, (unit, factor) in _AIMS.items()
    ]


def _measure_store(store: Store) -> dict[str, float]:
    number = 2_000
    rounds = [
        make_records(Record, number, start=number * round_number) for round_number in range(_ROUNDS)
    ]
    batches = [
        make_records(Record, number, start=1_000_000 + number * round_number)
        for round_number in range(_ROUNDS)
    ]

    def put(round_number: int) -> None:
        for record in rounds[round_number]:
            store(record.put())

    def get(round_number: int) -> None:
        for record in rounds[round_number]:
            assert store(Record.get(group=record.group, name=record.name)) is not None

    def query(round_number: int) -> None:
        for at in range(0, number, PER_GROUP):
            assert len(store(Record.row(group=rounds[round_number][at].group))) == PER_GROUP

    def batch(round_number: int) -> None:
        store.write_many(record.put() for record in batches[round_number])

    def transact(round_number: int) -> None:
        for at in range(0, number, 2):
            store.all(rounds[round_number][at].put(), rounds[round_number][at + 1].put())

    return {
        "put": rate(number, put),
        "get": rate(number, get),
        "query of 50": rate(number // PER_GROUP, query),
        "batch of 25": rate(number, batch),
        "transaction of 2": rate(number // 2, transact),
    }


def _measure_peer(peer: Boto, number: int) -> dict[str, float]:
    """Peers are slower, so they get fewer items; all are warmed up with the same batch."""
    peer.create(plain)
    peer.batch(plain, make_records(Record, 300))
    rounds = [
        make_records(Record, number, start=10_000 + number * round_number)
        for round_number in range(3)
    ]
    batches = [
        make_records(Record, number, start=1_000_000 + number * round_number)
        for round_number in range(3)
    ]
    groups = ["GROUP#g000000"] * max(1, number // PER_GROUP)
    return {
        "put": rate(number, lambda round_number: peer.put(plain, rounds[round_number]), 3),
        "get": rate(number, lambda round_number: peer.get(plain, rounds[round_number]), 3),
        "query of 50": rate(len(groups), lambda _turn: peer.query(plain, groups), 3),
        "batch of 25": rate(
            number, lambda round_number: peer.batch(plain, batches[round_number]), 3
        ),
        "transaction of 2": rate(
            number // 2, lambda round_number: peer.transact(plain, rounds[round_number]), 3
        ),
    }
