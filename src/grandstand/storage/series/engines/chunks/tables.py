"""Kept here: windows as Arrow tables, column by column wherever chunks are baked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pyarrow as pa

from grandstand.storage.series.engines.chunks.asking import Ask, asked
from grandstand.storage.series.engines.chunks.baked import as_table, schema_of
from grandstand.storage.series.engines.chunks.files import Home
from grandstand.storage.series.engines.chunks.layout import Layout
from grandstand.storage.series.engines.chunks.reading import chunk, open_baked, overlapping
from grandstand.storage.series.window import Window


def table(home: Home, layout: Layout[Any], window: Window[Any]) -> pa.Table:
    """Answer a window as an Arrow table, in order."""
    ask = asked(window, layout.fields)
    schema = schema_of(layout.columns)
    parts = []
    left = window.most
    for start in overlapping(home, layout, ask):
        for found in _tables(home, layout, start, ask):
            if left is not None:
                parts.append(found.slice(0, left))
                left -= parts[-1].num_rows
            else:
                parts.append(found)
            if left == 0:
                return pa.concat_tables(parts)
    return pa.concat_tables(parts) if parts else schema.empty_table()


def _tables(home: Home, layout: Layout[Any], start: int, ask: Ask) -> Iterator[pa.Table]:
    # Rows that wait to be merged are only found row by row; a chunk without them is already
    # in columns.
    alone = not home.late(start).exists() and not home.live(start).exists()
    baked = open_baked(home.baked(start), layout) if alone else None
    if baked is not None:
        with closing(baked):
            yield from baked.tables(ask)
        return
    schema = schema_of(layout.columns)
    for batch in chunk(home, layout, start, ask):
        yield as_table(schema, batch)
