"""Startup costs of the embedded engine, and costs as the table grows."""

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
from benchmarks.tables.records import PER_GROUP, Record, make_records, open_store, plain
from grandstand.host.registry import all_tables
from grandstand.storage.tables import Store

_FILL_BATCH = 10_000
_CORE = """
from grandstand.core.clock import SystemClock
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
    """Time to open a new file and create every declared table."""
    declared = all_tables()
    milliseconds = []
    for round_number in range(7):
        start = time.perf_counter()
        with open_store(folder, f"opening-{round_number}", declared):
            milliseconds.append((time.perf_counter() - start) * 1000)
    return Row(
        measure=f"open a new file and create all {len(declared)} tables",
        unit="ms",
        ours=statistics.median(milliseconds),
        aim=Limit(30),
        higher_is_better=False,
    )


def resident() -> Row:
    """Memory of a process with an open table and one item."""
    process = subprocess.run(
        [sys.executable, "-c", _CORE], check=True, capture_output=True, text=True
    )
    return Row(
        measure="resident memory of the core",
        unit="MB",
        ours=float(process.stdout) / 1024,
        aim=Limit(40),
        higher_is_better=False,
    )


def growth(sizes: Sequence[int]) -> list[Row]:
    """Cost of a get and a page at each size; the largest may cost half as much again.

    The tree gets one or two levels deeper.
    """
    seconds: dict[int, dict[str, float]] = {}
    with TemporaryDirectory() as path, open_store(Path(path), "growing", (plain,)) as store:
        filled = 0
        for size in sizes:
            for start in range(filled, size, _FILL_BATCH):
                store.write_many(t.put() for t in make_records(Record, _FILL_BATCH, start=start))
            filled = size
            seconds[size] = _measure_cached(store, size)
    smallest, largest = sizes[0], sizes[-1]
    return [
        Row(
            measure=f"{name} among {largest:,} items",
            unit="µs",
            ours=seconds[largest][name],
            peers={f"among {size:,}": seconds[size][name] for size in sizes[:-1]},
            aim=Times(1 / 1.5, f"among {smallest:,}"),
            higher_is_better=False,
        )
        for name in ("get", "page of 50")
    ]


def _measure_cached(store: Store, size: int) -> dict[str, float]:
    """Read the same few hundred items repeatedly, so that their pages are cached at every size.

    This measures the access path, not how much of the table fits in memory.
    """
    chosen = random.Random(size).sample(range(size), 300)
    gets = [Record.get(group=f"g{n // PER_GROUP:06d}", name=f"{n:08d}") for n in chosen]
    pages = [Record.row(group=f"g{n // PER_GROUP:06d}") for n in chosen[:300]]
    return {
        "get": 1e6 / rate(len(gets), lambda _turn: [store(one) for one in gets]),
        "page of 50": 1e6 / rate(len(pages), lambda _turn: [store.page(one, 50) for one in pages]),
    }
