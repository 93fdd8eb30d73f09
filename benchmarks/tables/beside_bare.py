"""Typed puts and gets beside bare sqlite3 moving the same bytes, in turns of a few hundred."""

import sqlite3
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.harness.rows import Row, Times
from benchmarks.tables.things import Thing, Watched, opened, plain, things, watched
from grandstand.storage.tables import Store
from grandstand.storage.tables.encoding.packing import pack

_TURNS = 40
_A_TURN = 250

Bytes = tuple[bytes, bytes, bytes]


class Bare:
    """sqlite3 with nothing around it, set up as our engine sets it up."""

    def __init__(self, file: Path) -> None:
        self.connection = sqlite3.connect(file, isolation_level=None)
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.execute("PRAGMA synchronous = NORMAL")
        self.connection.execute("CREATE TABLE t (pk BLOB, sk BLOB, item BLOB, UNIQUE (pk, sk))")

    def put(self, rows: Sequence[Bytes]) -> None:
        """Write rows, a commit each."""
        for row in rows:
            self.connection.execute(
                "INSERT INTO t VALUES (?, ?, ?) "
                "ON CONFLICT (pk, sk) DO UPDATE SET item = excluded.item",
                row,
            )

    def get(self, rows: Sequence[Bytes]) -> None:
        """Read rows by their keys."""
        for row in rows:
            found = self.connection.execute("SELECT item FROM t WHERE pk = ? AND sk = ?", row[:2])
            assert found.fetchone() is not None


def beside_bare(folder: Path) -> list[Row]:
    """Measure a table without index and stream, and one with both."""
    rows = []
    for title, kind, table, share in (
        ("without index or stream", Thing, plain, 0.35),
        ("with a sparse index and a stream", Watched, watched, 0.20),
    ):
        bare = Bare(folder / f"bare-{table.name}.db")
        with opened(folder, table.name, (table,)) as store:
            speed = _measured(store, bare, kind)
        bare.connection.close()
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


def _measured(store: Store, bare: Bare, kind: type[Any]) -> dict[str, float]:
    """Take short turns and keep the quicker half: what disturbs the machine disturbs both."""
    taken: dict[str, list[float]] = {"put": [], "bare put": [], "get": [], "bare get": []}
    for turn in range(_TURNS):
        records = things(kind, _A_TURN, start=_A_TURN * turn)
        rows = [_bytes(record) for record in records]
        for name, work in (
            ("put", partial(_put, store, records)),
            ("bare put", partial(bare.put, rows)),
            ("get", partial(_get, store, records)),
            ("bare get", partial(bare.get, rows)),
        ):
            taken[name].append(_seconds(work))
    quick = {name: sorted(times)[: _TURNS // 2] for name, times in taken.items()}
    return {name: _A_TURN * len(times) / sum(times) for name, times in quick.items()}


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
