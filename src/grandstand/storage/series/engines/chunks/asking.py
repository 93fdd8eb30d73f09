"""Kept here: what is asked of each chunk in turn, and how a SQLite file answers it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, Final

from grandstand.storage.series.engines.chunks.connections import columns_of
from grandstand.storage.series.engines.chunks.failures import without_table
from grandstand.storage.series.engines.chunks.layout import Layout, Stored, quoted
from grandstand.storage.series.window import Window

LOWEST: Final = -(2**63)
HIGHEST: Final = 2**63 - 1
BATCH: Final = 4096
# Measured: so few rows are gone again before Python looks for garbage, which saves a fifth.
_FETCHED: Final = 512


@dataclass(frozen=True, slots=True)
class Ask:
    """Times from `low` to `high`, both included, of some keys or all; which fields, which way.

    Where it need not be `ordered` rows come as is quickest.
    """

    low: int
    high: int
    fields: tuple[str, ...]
    keys: tuple[str, ...] = ()
    newest: bool = False
    ordered: bool = True
    most: int | None = None


def asked(window: Window[Any], fields: tuple[str, ...]) -> Ask:
    """Answer what a window asks of its chunks."""
    return Ask(
        low=max(window.start, LOWEST),
        high=min(window.end - 1, HIGHEST),
        fields=fields,
        keys=tuple(sorted(set(window.keys))),
        newest=window.order == "newest",
        ordered=window.order != "any",
        most=window.most,
    )


def everything(layout: Layout[Any]) -> Ask:
    """Ask for every row, whole, in order."""
    return Ask(LOWEST, HIGHEST, layout.fields)


def answers(
    connection: sqlite3.Connection, layout: Layout[Any], ask: Ask
) -> Generator[list[Stored], None, None]:
    """Answer stored rows as asked, some hundreds at a time, and close; raise sqlite3.Error."""
    time, key = quoted(layout.series.time), quoted(layout.series.key)
    way = " DESC" if ask.newest else ""
    values: list[object] = [ask.low, ask.high]
    where = f"{time} BETWEEN ? AND ?"
    if len(ask.keys) == 1:
        where += f" AND {key} = ?"
        values.append(ask.keys[0])
    elif ask.keys:
        where += f" AND {key} IN (SELECT value FROM json_each(?))"
        values.append(json.dumps(ask.keys))
    values.append(-1 if ask.most is None else ask.most)
    order = ", ".join(quoted(name) + way for name in layout.order)
    there = columns_of(connection)
    selected = (quoted(name) if name in there else "NULL" for name in ask.fields)
    sql = (
        f"SELECT {', '.join(selected)} FROM kept WHERE {where} "
        f"{f'ORDER BY {order}' if ask.ordered else ''} LIMIT ?"
    )
    try:
        cursor = connection.execute(sql, values)
        while batch := cursor.fetchmany(_FETCHED):
            yield batch
    except sqlite3.OperationalError as fault:
        if not without_table(fault):
            raise
    finally:
        connection.close()
