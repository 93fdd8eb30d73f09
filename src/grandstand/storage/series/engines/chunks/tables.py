"""Kept here: windows as Arrow tables, column by column wherever chunks are baked."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing
from typing import Any, Final

import pyarrow as pa

from grandstand.storage.series.engines.chunks.arrow import answer_schema, as_table
from grandstand.storage.series.engines.chunks.asking import Ask, asked
from grandstand.storage.series.engines.chunks.failures import translating
from grandstand.storage.series.engines.chunks.files import Home
from grandstand.storage.series.engines.chunks.layout import Layout, Stored
from grandstand.storage.series.engines.chunks.reading import chunk, open_baked, overlapping
from grandstand.storage.series.window import Window

_ROWS_IN_TABLE: Final = 64 * 1024


def table(home: Home, layout: Layout[Any], window: Window[Any]) -> pa.Table:
    """Answer a window as an Arrow table, in its order."""
    empty = answer_schema(layout.columns).empty_table()
    return pa.concat_tables([empty, *tables(home, layout, window)])


def tables(home: Home, layout: Layout[Any], window: Window[Any]) -> Generator[pa.Table, None, None]:
    """Answer a window as Arrow tables that follow each other, in its order; none is empty."""
    ask = asked(window, layout.fields)
    schema = answer_schema(layout.columns)
    left = window.most
    if left is not None and left <= 0:
        return
    for start in overlapping(home, layout, ask):
        with translating(home.folder), closing(_of_chunk(home, layout, start, ask)) as found:
            for part in found:
                cut = part if left is None else part.slice(0, left)
                yield cut if cut.schema.equals(schema, check_metadata=True) else cut.cast(schema)
                if left is not None:
                    left -= cut.num_rows
                    if left == 0:
                        return


def _of_chunk(
    home: Home, layout: Layout[Any], start: int, ask: Ask
) -> Generator[pa.Table, None, None]:
    # Rows that wait to be merged are only found row by row; a chunk without them is already
    # in columns.
    alone = not home.late(start).exists() and not home.live(start).exists()
    baked = open_baked(home.baked(start), layout) if alone else None
    if baked is not None:
        with closing(baked), closing(baked.tables(ask)) as found:
            yield from found
        return
    schema = answer_schema(layout.columns)
    with closing(chunk(home, layout, start, ask)) as batches:
        for rows in _gathered(batches):
            yield as_table(schema, rows)


def _gathered(batches: Iterator[list[Stored]]) -> Iterator[list[Stored]]:
    held: list[Stored] = []
    for batch in batches:
        held += batch
        if len(held) >= _ROWS_IN_TABLE:
            yield held
            held = []
    if held:
        yield held
