"""Kept here: a copy of a table that lags behind it, for tests of what global indexes may show."""

from __future__ import annotations

from grandstand.storage.tables.engines.sqlite.file.connections import Lane
from grandstand.storage.tables.engines.sqlite.ordered.keys import Spot
from grandstand.storage.tables.engines.sqlite.tables.ddl import index_statement, table_statement
from grandstand.storage.tables.engines.sqlite.tables.layout import Layout, Physical


def ensure_shadow(lane: Lane, layout: Layout) -> None:
    """Make the copy as the table stands now, unless it is there."""
    physical, execute = layout.physical, lane.execute
    if _exists(lane, f"s{physical.table}"):
        return
    with lane.writing:
        if _exists(lane, f"s{physical.table}"):
            return
        execute(table_statement(physical, f"s{physical.table}"))
        columns = _columns(physical)
        execute(f"INSERT INTO s{physical.table}({columns}) SELECT {columns} FROM {physical.table}")
        execute(f"CREATE UNIQUE INDEX s{physical.table}_key ON s{physical.table}(pk, sk)")
        for index in layout.schema.indexes:
            if not index.local:
                execute(index_statement(layout.schema, physical, index, "s"))
        kept = "".join(f"{name}, " for name in columns.split(", ")[2:])
        execute(
            f"CREATE TABLE q{physical.number}(turn INTEGER PRIMARY KEY, at REAL NOT NULL, "
            f"pk BLOB NOT NULL, sk BLOB NOT NULL, {kept[:-2]})"
        )


def note(lane: Lane, layout: Layout, spot: Spot) -> None:
    """Put in line what the table now holds at a spot, for the copy to take over when due."""
    physical, at = layout.physical, lane.shared.clock.epoch()
    columns = _columns(physical)
    rest = ", ".join(f"t.{name}" for name in columns.split(", ")[2:])
    lane.execute(
        f"INSERT INTO q{physical.number}(at, {columns}) SELECT ?, here.pk, here.sk, {rest} "
        f"FROM (SELECT ? AS pk, ? AS sk) AS here "
        f"LEFT JOIN {physical.table} AS t ON t.pk = here.pk AND t.sk = here.sk",
        (at, *spot),
    )


def catch_up(lane: Lane, layout: Layout) -> None:
    """Bring the copy to the state of the table the delay ago."""
    physical, execute = layout.physical, lane.execute
    due = lane.shared.clock.epoch() - lane.shared.faults.index_delay_seconds
    queue, copy, columns = f"q{physical.number}", f"s{physical.table}", _columns(physical)
    waiting = f"SELECT turn, pk, sk, item IS NULL FROM {queue} WHERE at <= ? ORDER BY turn"
    if execute(f"{waiting} LIMIT 1", (due,)).fetchone() is None:
        return
    with lane.writing:
        for turn, pk, sk, gone in execute(waiting, (due,)).fetchall():
            execute(f"DELETE FROM {copy} WHERE pk = ? AND sk = ?", (pk, sk))
            if not gone:
                execute(
                    f"INSERT INTO {copy}({columns}) SELECT {columns} FROM {queue} WHERE turn = ?",
                    (turn,),
                )
            execute(f"DELETE FROM {queue} WHERE turn = ?", (turn,))


def _columns(physical: Physical) -> str:
    width = "".join(f"k{at}, " for at in range(physical.width))
    return f"pk, sk, {width}ttl, size, item"


def _exists(lane: Lane, table: str) -> bool:
    found = lane.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    return found is not None
