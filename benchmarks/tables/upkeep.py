"""What the embedded engine costs before the first item, and as the table grows."""

import random
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.harness.rows import Limit, Row, Times
from benchmarks.tables.operations import rate
from benchmarks.tables.things import PER_GROUP, Thing, opened, plain, things
from grandstand.host.catalogue import all_tables
from grandstand.storage.tables import Store

_FILLED_AT_ONCE = 10_000
_CORE = """
from grandstand.base.clock import SystemClock
from grandstand.storage.tables import Entity, Naming, Store, Table, key
from grandstand.storage.tables.engines.sqlite import SqliteEngine
table = Table("core", partition="pk")
class Thing(Entity, table=table):
    name: str
    row = key("THING#{name}")
store = Store(SqliteEngine.open(None, clock=SystemClock()), naming=Naming(), clock=SystemClock())
store.create((table,))
store(Thing(name="one").put())
for line in open("/proc/self/status"):
    if line.startswith("VmRSS"):
        print(line.split()[1])
"""


def opening(folder: Path) -> Row:
    """How long it takes to open a new file and make every declared table."""
    declared = all_tables()
    taken = []
    for turn in range(7):
        start = time.perf_counter()
        with opened(folder, f"opening-{turn}", declared):
            taken.append((time.perf_counter() - start) * 1000)
    return Row(
        measure=f"open a new file and create all {len(declared)} tables",
        unit="ms",
        ours=statistics.median(taken),
        aim=Limit(30),
        higher_is_better=False,
    )


def resident() -> Row:
    """The memory of a process that has a table open and an item in it."""
    ran = subprocess.run([sys.executable, "-c", _CORE], check=True, capture_output=True, text=True)
    return Row(
        measure="resident memory of the core",
        unit="MB",
        ours=float(ran.stdout) / 1024,
        aim=Limit(40),
        higher_is_better=False,
    )


def growth(sizes: Sequence[int]) -> list[Row]:
    """What a get and a page cost at each size; at the largest no more than at the smallest.

    Half again as much is allowed: the tree gets one or two levels deeper.
    """
    taken: dict[int, dict[str, float]] = {}
    with TemporaryDirectory() as place, opened(Path(place), "growing", (plain,)) as store:
        filled = 0
        for size in sizes:
            for start in range(filled, size, _FILLED_AT_ONCE):
                store.write_many(t.put() for t in things(Thing, _FILLED_AT_ONCE, start=start))
            filled = size
            taken[size] = _touched(store, size)
    smallest, largest = sizes[0], sizes[-1]
    return [
        Row(
            measure=f"{name} among {largest:,} items",
            unit="µs",
            ours=taken[largest][name],
            peers={f"among {size:,}": taken[size][name] for size in sizes[:-1]},
            aim=Times(1 / 1.5, f"among {smallest:,}"),
            higher_is_better=False,
        )
        for name in ("get", "page of 50")
    ]


def _touched(store: Store, size: int) -> dict[str, float]:
    """Time a few hundred items again and again, so that at every size their pages are cached.

    What is asked is the way to an item, not how much of the table fits into memory.
    """
    chosen = random.Random(size).sample(range(size), 300)
    gets = [Thing.get(group=f"g{n // PER_GROUP:06d}", name=f"{n:08d}") for n in chosen]
    pages = [Thing.row(group=f"g{n // PER_GROUP:06d}") for n in chosen[:300]]
    return {
        "get": 1e6 / rate(len(gets), lambda _turn: [store(one) for one in gets]),
        "page of 50": 1e6 / rate(len(pages), lambda _turn: [store.page(one, 50) for one in pages]),
    }
