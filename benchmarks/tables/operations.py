"""Each typed operation on SQLite, beside the same through boto3 to DynamoDB Local and moto."""

import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.harness.rows import Row, Times
from benchmarks.tables.peers import Boto, moto
from benchmarks.tables.things import PER_GROUP, Thing, opened, plain, things
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
    """How many a second, from the quicker half of some rounds; each is told its number."""
    taken = []
    for number in range(rounds):
        start = time.perf_counter()
        work(number)
        taken.append(time.perf_counter() - start)
    quick = sorted(taken)[: (rounds + 1) // 2]
    return count * len(quick) / sum(quick)


def our_speed(folder: Path) -> dict[str, float]:
    """Measure ours, before any server of a peer is started."""
    with opened(folder, "operations", (plain,)) as store:
        return _ours(store)


def operations(ours: dict[str, float], local: Boto) -> list[Row]:
    """Measure the peers, and set ours beside them."""
    theirs = {"DynamoDB Local": _theirs(local, 300)}
    with moto() as stub:
        theirs["moto"] = _theirs(stub, 60)
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


def _ours(store: Store) -> dict[str, float]:
    number = 2_000
    rounds = [things(Thing, number, start=number * turn) for turn in range(_ROUNDS)]
    batches = [things(Thing, number, start=1_000_000 + number * turn) for turn in range(_ROUNDS)]

    def put(turn: int) -> None:
        for thing in rounds[turn]:
            store(thing.put())

    def get(turn: int) -> None:
        for thing in rounds[turn]:
            assert store(Thing.get(group=thing.group, name=thing.name)) is not None

    def query(turn: int) -> None:
        for at in range(0, number, PER_GROUP):
            assert len(store(Thing.row(group=rounds[turn][at].group))) == PER_GROUP

    def batch(turn: int) -> None:
        store.write_many(thing.put() for thing in batches[turn])

    def transact(turn: int) -> None:
        for at in range(0, number, 2):
            store.all(rounds[turn][at].put(), rounds[turn][at + 1].put())

    return {
        "put": rate(number, put),
        "get": rate(number, get),
        "query of 50": rate(number // PER_GROUP, query),
        "batch of 25": rate(number, batch),
        "transaction of 2": rate(number // 2, transact),
    }


def _theirs(peer: Boto, number: int) -> dict[str, float]:
    """The peers are slower, so they get fewer items; all are warmed up by the same first batch."""
    peer.create(plain)
    peer.batch(plain, things(Thing, 300))
    rounds = [things(Thing, number, start=10_000 + number * turn) for turn in range(3)]
    batches = [things(Thing, number, start=1_000_000 + number * turn) for turn in range(3)]
    groups = ["GROUP#g000000"] * max(1, number // PER_GROUP)
    return {
        "put": rate(number, lambda turn: peer.put(plain, rounds[turn]), 3),
        "get": rate(number, lambda turn: peer.get(plain, rounds[turn]), 3),
        "query of 50": rate(len(groups), lambda _turn: peer.query(plain, groups), 3),
        "batch of 25": rate(number, lambda turn: peer.batch(plain, batches[turn]), 3),
        "transaction of 2": rate(number // 2, lambda turn: peer.transact(plain, rounds[turn]), 3),
    }
