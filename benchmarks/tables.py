"""Typed tables on SQLite, beside DynamoDB Local and moto through boto3 and beside bare sqlite3."""

import os
import random
import sqlite3
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.harness.rows import Limit, Row, Times
from benchmarks.tables_peers import Boto, amazon, moto, our_endpoint
from grandstand.base.clock import SystemClock
from grandstand.storage.tables import (
    Entity,
    Index,
    Naming,
    Store,
    Table,
    key,
)
from grandstand.storage.tables.codec import pack
from grandstand.storage.tables.engines.sqlite import SqliteEngine

PER_GROUP = 50
ROUNDS = 5

plain = Table("bench-plain", partition="pk", sort="sk")
watched = Table(
    "bench-watched",
    partition="pk",
    sort="sk",
    stream="NEW_AND_OLD_IMAGES",
    indexes=(Index("ByKind", "kind_pk", "at"),),
)


class Thing(Entity, table=plain):
    """About a kilobyte, without index or stream."""

    group: str
    name: str
    one: str
    two: str
    three: str
    four: str
    count: int
    price: Decimal
    at: datetime
    live: bool

    row = key("GROUP#{group}", "THING#{name}")


class Watched(Entity, table=watched):
    """The same, with one sparse index and a stream."""

    group: str
    name: str
    one: str
    two: str
    three: str
    four: str
    count: int
    price: Decimal
    at: datetime
    live: bool

    row = key("GROUP#{group}", "THING#{name}")
    kind = key("KIND#{group}", "{at}", index="ByKind", when="live")


def things(kind: type[Any], number: int, *, start: int = 0) -> list[Any]:
    """Records of about a kilobyte, fifty to a group."""
    return [
        kind(
            group=f"g{n // PER_GROUP:06d}",
            name=f"{n:08d}",
            one="a" * 200,
            two="b" * 200,
            three="c" * 200,
            four="d" * 150,
            count=n,
            price=Decimal(n) / 4,
            at=datetime(2026, 1, 1, tzinfo=UTC),
            live=n % 2 == 0,
        )
        for n in range(start, start + number)
    ]


@contextmanager
def opened(folder: Path, name: str, tables: Sequence[Table]) -> Iterator[Store]:
    """A store on a new file, durable as the default is."""
    engine = SqliteEngine.open(folder / f"{name}.db", clock=SystemClock())
    with Store(engine, naming=Naming(), clock=SystemClock()) as store:
        store.create(tables)
        yield store


class Bare:
    """sqlite3 with nothing around it, moving the bytes our engine would."""

    def __init__(self, file: Path) -> None:
        self.connection = sqlite3.connect(file, isolation_level=None)
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.execute("PRAGMA synchronous = NORMAL")
        self.connection.execute("CREATE TABLE t (pk BLOB, sk BLOB, item BLOB, UNIQUE (pk, sk))")

    def put(self, rows: Sequence[tuple[bytes, bytes, bytes]]) -> None:
        """Write rows, a commit each."""
        for row in rows:
            self.connection.execute(
                "INSERT INTO t VALUES (?, ?, ?) "
                "ON CONFLICT (pk, sk) DO UPDATE SET item = excluded.item",
                row,
            )

    def get(self, rows: Sequence[tuple[bytes, bytes, bytes]]) -> None:
        """Read rows by their keys."""
        for row in rows:
            found = self.connection.execute("SELECT item FROM t WHERE pk = ? AND sk = ?", row[:2])
            assert found.fetchone() is not None


def rate(count: int, work: Callable[[int], None], rounds: int = ROUNDS) -> float:
    """How many a second: the median of some rounds, each told its number."""
    taken = []
    for number in range(rounds):
        start = time.perf_counter()
        work(number)
        taken.append(time.perf_counter() - start)
    return count / statistics.median(taken)


def run(*, full: bool) -> list[Row]:
    """Measure everything the issue of tables asks for."""
    with TemporaryDirectory() as place, ExitStack() as stack:
        folder = Path(place)
        local = stack.enter_context(amazon(folder))
        front = stack.enter_context(our_endpoint(folder))
        rows = [
            *_items(folder, local),
            *_beside_bare(folder),
            *_endpoint(local, front),
            _opening(folder),
            _resident(),
        ]
    return rows + (
        _growth((10_000, 100_000, 1_000_000, 5_000_000)) if full else _growth((10_000, 100_000))
    )


def _items(folder: Path, local: Boto) -> list[Row]:
    with opened(folder, "items", (plain,)) as store:
        ours = _ours(store)
    theirs = {"DynamoDB Local": _theirs(local, 300)}
    with moto() as stub:
        theirs["moto"] = _theirs(stub, 60)
    aims = {"put": 25, "get": 60, "query of 50": 15, "batch of 25": 17, "transaction of 2": 20}
    units = {
        "query of 50": "queries/s",
        "batch of 25": "items/s",
        "transaction of 2": "transactions/s",
    }
    return [
        Row(
            measure=f"typed {name}",
            unit=units.get(name, "items/s"),
            ours=ours[name],
            peers={peer: rates[name] for peer, rates in theirs.items()},
            aim=Times(factor, "DynamoDB Local"),
        )
        for name, factor in aims.items()
    ]


def _ours(store: Store) -> dict[str, float]:
    number = 2_000
    rounds = [things(Thing, number, start=number * turn) for turn in range(ROUNDS)]
    batches = [things(Thing, number, start=1_000_000 + number * turn) for turn in range(ROUNDS)]

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
    peer.create(plain)
    rounds = [things(Thing, number, start=PER_GROUP * 100 * turn) for turn in range(3)]
    groups = max(1, number // PER_GROUP)
    batches = [things(Thing, number, start=1_000_000 + number * turn) for turn in range(3)]
    peer.batch(plain, things(Thing, 300))
    return {
        "put": rate(number, lambda turn: peer.put(plain, rounds[turn]), 3),
        "get": rate(number, lambda turn: peer.get(plain, rounds[turn]), 3),
        "query of 50": rate(groups, lambda _turn: peer.query(plain, ["GROUP#g000000"] * groups), 3),
        "batch of 25": rate(number, lambda turn: peer.batch(plain, batches[turn]), 3),
        "transaction of 2": rate(number // 2, lambda turn: peer.transact(plain, rounds[turn]), 3),
    }


def _beside_bare(folder: Path) -> list[Row]:
    rows = []
    for title, kind, table, share in (
        ("without index or stream", Thing, plain, 0.35),
        ("with a sparse index and a stream", Watched, watched, 0.20),
    ):
        bare = Bare(folder / f"bare-{table.name}.db")
        with opened(folder, table.name, (table,)) as store:
            rows += _against(title, (store, bare), kind, share)
        bare.connection.close()
    return rows


def _against(title: str, sides: tuple[Store, Bare], kind: type[Any], share: float) -> list[Row]:
    """Take turns, so that whatever disturbs the machine disturbs both."""
    store, bare = sides
    taken: dict[str, list[float]] = {"put": [], "bare put": [], "get": [], "bare get": []}
    number = 2_000

    def timed(name: str, work: Callable[[], None]) -> None:
        start = time.perf_counter()
        work()
        taken[name].append(time.perf_counter() - start)

    for turn in range(7):
        records = things(kind, number, start=number * turn)
        rows = [_row(record) for record in records]
        timed("put", partial(_put_all, store, records))
        timed("bare put", partial(bare.put, rows))
        timed("get", partial(_get_all, store, records))
        timed("bare get", partial(bare.get, rows))
    speed = {name: number / statistics.median(times) for name, times in taken.items()}
    return [
        Row(
            measure=f"{name} {title}, beside bare sqlite3",
            unit="items/s",
            ours=speed[name],
            peers={"bare sqlite3": speed[f"bare {name}"]},
            aim=Times(share, "bare sqlite3"),
        )
        for name in ("put", "get")
    ]


def _put_all(store: Store, records: Sequence[Any]) -> None:
    for record in records:
        store(record.put())


def _get_all(store: Store, records: Sequence[Any]) -> None:
    for record in records:
        assert store(record.get(group=record.group, name=record.name)) is not None


def _row(record: Any) -> tuple[bytes, bytes, bytes]:
    item = record.__plan__.encode(record)
    return item["pk"].encode(), item["sk"].encode(), pack(item)


def _endpoint(local: Boto, front: Boto) -> list[Row]:
    number = 300
    speed: dict[str, dict[str, float]] = {}
    for name, peer in (("local", local), ("ours", front)):
        peer.create(watched)
        rounds = [things(Watched, number, start=number * turn) for turn in range(5)]
        speed[name] = {
            "put": rate(number, lambda turn, p=peer, r=rounds: p.put(watched, r[turn])),
            "get": rate(number, lambda turn, p=peer, r=rounds: p.get(watched, r[turn])),
        }
    return [
        Row(
            measure=f"{name} through boto3 to our endpoint",
            unit="items/s",
            ours=speed["ours"][name],
            peers={"DynamoDB Local": speed["local"][name]},
            aim=Times(1, "DynamoDB Local"),
        )
        for name in ("put", "get")
    ]


def _opening(folder: Path) -> Row:
    from grandstand.host.catalogue import all_tables

    declared = all_tables()
    taken = []
    for turn in range(7):
        start = time.perf_counter()
        with opened(folder, f"opening-{turn}", declared):
            taken.append((time.perf_counter() - start) * 1000)
    return Row(
        measure=f"open a file and create all {len(declared)} tables",
        unit="ms",
        ours=statistics.median(taken),
        aim=Limit(30),
        higher_is_better=False,
    )


_CORE = """
import resource
from pathlib import Path
from grandstand.base.clock import SystemClock
from grandstand.storage.tables import Naming, Store
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from benchmarks.tables import Thing, plain
import sys
engine = SqliteEngine.open(None, clock=SystemClock())
store = Store(engine, naming=Naming(), clock=SystemClock())
store.create((plain,))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def _resident() -> Row:
    code = _CORE.replace("from benchmarks.tables import Thing, plain\n", _DECLARED)
    ran = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        capture_output=True,
        text=True,
        env=dict(os.environ),
    )
    return Row(
        measure="resident memory of the core, a table open",
        unit="MB",
        ours=float(ran.stdout),
        aim=Limit(40),
        higher_is_better=False,
    )


_DECLARED = """
from grandstand.storage.tables import Entity, Table, key
plain = Table("bench-plain", partition="pk", sort="sk")
class Thing(Entity, table=plain):
    group: str
    row = key("GROUP#{group}", "THING")
"""


def _growth(sizes: Sequence[int]) -> list[Row]:
    """Get and page times as the table grows; the aim is that the largest costs no more."""
    taken: dict[int, tuple[float, float]] = {}
    with TemporaryDirectory() as place, opened(Path(place), "growing", (plain,)) as store:
        filled = 0
        for size in sizes:
            for start in range(filled, size, 10_000):
                store.write_many(
                    t.put() for t in things(Thing, min(10_000, size - start), start=start)
                )
            filled = size
            taken[size] = _touch(store, size)
    first, last = taken[sizes[0]], taken[sizes[-1]]
    return [
        Row(
            measure=f"{name} with {sizes[-1]:,} items beside {sizes[0]:,}",
            unit="µs",
            ours=last[at],
            peers={f"{size:,} items": taken[size][at] for size in sizes[:-1]},
            aim=Times(0.5, f"{sizes[0]:,} items"),
            higher_is_better=False,
        )
        for at, name in ((0, "get"), (1, "page of 50"))
        if first and last
    ]


def _touch(store: Store, size: int) -> tuple[float, float]:
    chosen = random.Random(size).sample(range(size), 2_000)
    gets = [Thing.get(group=f"g{n // PER_GROUP:06d}", name=f"{n:08d}") for n in chosen]
    pages = [Thing.row(group=f"g{n // PER_GROUP:06d}") for n in chosen[:300]]
    get = 1e6 / rate(len(gets), lambda _turn: [store(one) for one in gets] and None)
    page = 1e6 / rate(len(pages), lambda _turn: [store.page(one, 50) for one in pages] and None)
    return get, page
