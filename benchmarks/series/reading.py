"""Reading ten million compressed rows: full scans, one hour of a ticker, and memory use."""

import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.harness.rows import Limit, Row, Times
from benchmarks.series.stream import HOUR_US, START_US, tickers
from benchmarks.series.turns import rates, seconds
from grandstand.apps.gatherer.domain.rows import OrderbookDelta
from grandstand.apps.gatherer.store import DELTAS
from grandstand.core.clock import SystemClock
from grandstand.storage.series.engines.chunks.engine import ChunkEngine
from grandstand.storage.series.engines.chunks.parquet import (
    file_schema,
    rows_to_table,
    write_parquet,
)
from grandstand.storage.series.engines.chunks.sqlite import build_layout
from grandstand.storage.series.query import Order, Window

_HOURS = 10
_LAYOUT = build_layout(DELTAS)
# The environment of the peers has pandas, which Arrow would load; an installation has none.
_STREAM_ROWS = """
import sys
from pathlib import Path
class HidePandas:
    def find_spec(self, name, path=None, target=None):
        if name == "pandas":
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, HidePandas())
from grandstand.apps.gatherer.store import DELTAS
from grandstand.core.clock import SystemClock
from grandstand.storage.series.engines.chunks.engine import ChunkEngine
from grandstand.storage.series.query import Window
engine = ChunkEngine.open(Path(sys.argv[1]), clock=SystemClock())
rows = 0
for row in engine.read(Window(DELTAS, 0, 2**62)):
    rows += 1
print(rows)
for line in open("/proc/self/status"):
    if line.startswith("VmHWM"):
        print(line.split()[1])
"""


def reading(folder: Path, hour: Sequence[OrderbookDelta]) -> list[Row]:
    """Compress ten hours and read them in several ways."""
    files = _write_files(folder, hour)
    number = _HOURS * len(hour)
    with closing(ChunkEngine.open(folder, clock=SystemClock())) as engine:
        return [
            *_scans(engine, files, number),
            *_one_ticker(engine, files, number),
            _streaming(folder, number),
        ]


def _write_files(folder: Path, hour: Sequence[OrderbookDelta]) -> list[Path]:
    """Write files as maintenance does: the same hour, shifted by an hour each time."""
    directory = folder / DELTAS.name
    directory.mkdir(parents=True)
    stored = _LAYOUT.to_stored(hour)
    table = rows_to_table(
        file_schema(_LAYOUT.columns), sorted(stored, key=_LAYOUT.identity(_LAYOUT.fields))
    )
    files = []
    for number in range(_HOURS):
        files.append(directory / f"{START_US + number * HOUR_US}.parquet")
        write_parquet(files[-1], _LAYOUT, [_shift(table, number * HOUR_US)])
    return files


def _shift(table: pa.Table, microseconds: int) -> pa.Table:
    for name in ("exchange_ts", "received_at"):
        at = table.schema.get_field_index(name)
        table = table.set_column(at, table.schema.field(at), pc.add(table[name], microseconds))
    return table


def _all(order: Order) -> Window[OrderbookDelta]:
    return Window(DELTAS, START_US, START_US + _HOURS * HOUR_US, order=order)


def _scans(engine: ChunkEngine, files: list[Path], number: int) -> list[Row]:
    def check(rows: int) -> None:
        assert rows == number

    def in_pieces(_turn: int) -> None:
        check(sum(table.num_rows for table in engine.tables(_all("any"))))

    speed = rates(
        {
            "pieces": in_pieces,
            "Polars": lambda _turn: check(pl.read_parquet(files).height),
            "whole": lambda _turn: check(engine.table(_all("any")).num_rows),
        },
        count=number,
        turns=9,
    )
    ordered = rates(
        {
            "ours": lambda _turn: check(engine.table(_all("oldest")).num_rows),
            "Polars": lambda _turn: check(pl.read_parquet(files).sort("exchange_ts").height),
        },
        count=number,
        turns=3,
    )
    peers = {"Polars, the same files": speed["Polars"]}
    aim = Times(0.7, "Polars, the same files")
    return [
        Row("scan compressed chunks, any order, one table", "rows/s", speed["whole"], peers, aim),
        Row("scan compressed chunks, any order, in pieces", "rows/s", speed["pieces"], peers, aim),
        Row(
            measure="scan compressed chunks, in order of time",
            unit="rows/s",
            ours=ordered["ours"],
            peers={"Polars, sorted by time": ordered["Polars"]},
        ),
    ]


def _one_ticker(engine: ChunkEngine, files: list[Path], number: int) -> list[Row]:
    names = tickers()
    start = START_US + (_HOURS // 2) * HOUR_US
    rows = []
    for title, name in (("busiest", names[0]), ("a quiet", names[len(names) // 2])):
        window = Window(DELTAS, start, start + HOUR_US, keys=(name,))
        query = (
            pl.scan_parquet(files)
            .filter(pl.col("ticker") == name)
            .filter(pl.col("exchange_ts").is_between(start, start + HOUR_US, closed="left"))
        )
        assert engine.table(window).num_rows == query.collect().height
        durations = seconds(
            {
                "ours": lambda _turn, window=window: engine.table(window),  # type: ignore[misc]
                "Polars": lambda _turn, query=query: query.collect(),  # type: ignore[misc]
            },
            turns=11,
        )
        rows.append(
            Row(
                measure=f"an hour of {title} ticker of {number:,} compressed rows",
                unit="ms",
                ours=durations["ours"] * 1000,
                peers={"Polars, scanning the files": durations["Polars"] * 1000},
                aim=Limit(50),
                higher_is_better=False,
            )
        )
    return rows


def _streaming(folder: Path, number: int) -> Row:
    command = [sys.executable, "-c", _STREAM_ROWS, str(folder)]
    process = subprocess.run(command, check=True, capture_output=True, text=True)
    rows, kilobytes = map(int, process.stdout.split())
    assert rows == number
    return Row(
        measure=f"memory while streaming {number:,} rows one by one, in order",
        unit="MB",
        ours=kilobytes / 1024,
        aim=Limit(200),
        higher_is_better=False,
    )
