"""Typed puts and gets against plain sqlite3 with the same bytes, in alternating rounds."""

import sqlite3
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.harness.rows import Row, Times
from benchmarks.tables.records import (
    IndexedRecord,
    Record,
    indexed,
    make_records,
    open_store,
    plain,
)
from grandstand.storage.tables import Store
from grandstand.storage.tables.encoding import pack

_ROUNDS = 40
_ROUND_ITEMS = 250

Bytes = tuple[bytes, bytes, bytes]


class RawSqlite:
    """Plain sqlite3 with the settings of our engine."""

    def __init__(self, file: Path) -> None:
        self.connection = sqlite3.connect(file, isolation_level=None)
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.execute("PRAGMA synchronous = NORMAL")
        self.connection.execute("CREATE TABLE t (pk BLOB, sk BLOB, item BLOB, UNIQUE (pk, sk))")

    def put(self, rows: Sequence[Bytes]) -> None:
        """Write rows, one commit each."""
        for row in rows:
            self.connection.execute(
                "INSERT INTO t VALUES (?, ?, ?) "
                "ON CONFLICT (pk, sk) DO UPDATE SET item = excluded.item",
                row,
            )

    def get(self, rows: Sequence[Bytes]) -> None:
        for row in rows:
            found = self.connection.execute("SELECT item FROM t WHERE pk = ? AND sk = ?", row[:2])
            assert found.fetchone() is not None


def compare_with_sqlite(folder: Path) -> list[Row]:
    """Measure a table without index and stream, and one with both."""
    rows = []
    for title, kind, table, share in (
        ("without index or stream", Record, plain, 0.35),
        ("with a sparse index and a stream", IndexedRecord, indexed, 0.20),
    ):
        raw = RawSqlite(folder / f"bare-{table.name}.db")
        with open_store(folder, table.name, (table,)) as store:
            speed = _measure(store, raw, kind)
        raw.connection.close()
        rows += [
            Row(
                measure=f"{name} {title}",
                unit="items/s",
                ours=speed[name],
                peers={"bare sqlite3": speed[f"bare {name}"]},
                aim=Times(share, "bare sqlite3"),
            )
            for name in ("put", "get")
        ]
    return rows


def _measure(store: Store, raw: RawSqlite, kind: type[Any]) -> dict[str, float]:
    """Use short rounds and the faster half: disturbances of the machine affect both."""
    seconds: dict[str, list[float]] = {"put": [], "bare put": [], "get": [], "bare get": []}
    for round_number in range(_ROUNDS):
        records = make_records(kind, _ROUND_ITEMS, start=_ROUND_ITEMS * round_number)
        rows = [_bytes(record) for record in records]
        for name, work in (
            ("put", partial(_put, store, records)),
            ("bare put", partial(raw.put, rows)),
            ("get", partial(_get, store, records)),
            ("bare get", partial(raw.get, rows)),
        ):
            seconds[name].append(_seconds(work))
    quick = {name: sorted(times)[: _ROUNDS // 2] for name, times in seconds.items()}
    return {name: _ROUND_ITEMS * len(times) / sum(times) for name, times in quick.items()}


def _seconds(work: Callable[[], None]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _put(store: Store, records: Sequence[Any]) -> None:
    for record in records:
        store(record.put())


def _get(store: Store, records: Sequence[Any]) -> None:
    for record in records:
        assert store(record.get(group=record.group, name=record.name)) is not None


def _bytes(record: Any) -> Bytes:
    item = record.__plan__.encode(record)
    return item["pk"].encode(), item["sk"].encode(), pack(item)
