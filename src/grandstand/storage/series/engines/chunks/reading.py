"""Kept here: the rows of chunks in order, whatever files they are in at the moment."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from grandstand.storage.series.engines.chunks.asking import BATCH, Ask, answers
from grandstand.storage.series.engines.chunks.connections import reading
from grandstand.storage.series.engines.chunks.failures import translating
from grandstand.storage.series.engines.chunks.files import Home
from grandstand.storage.series.engines.chunks.layout import Layout, Stored

if TYPE_CHECKING:
    from grandstand.storage.series.engines.chunks.baked import Baked

Batches: TypeAlias = Generator[list[Stored], None, None]


def batches(home: Home, layout: Layout[Any], ask: Ask) -> Batches:
    """Answer stored rows chunk by chunk, as asked and in bounded memory."""
    for start in overlapping(home, layout, ask):
        yield from chunk(home, layout, start, ask)


def overlapping(home: Home, layout: Layout[Any], ask: Ask) -> list[int]:
    """Answer the chunks that may hold what is asked, in the order to be read."""
    with translating(home.folder):
        starts = home.starts()
    length = layout.series.chunk_us
    found = [start for start in starts if start <= ask.high and ask.low < start + length]
    return found[::-1] if ask.newest else found


def chunk(home: Home, layout: Layout[Any], start: int, ask: Ask) -> Batches:
    """Answer the stored rows of one chunk as asked, each once."""
    with ExitStack() as stack, translating(home.live(start)):
        parts = _parts(home, layout, start, ask, stack)
        if len(parts) == 1:
            yield from parts[0]
        elif parts:
            # Where two have the same identity the baked row came first, and stays.
            yield from _merged(parts[::-1], layout.identity(ask.fields), newest=ask.newest)


def late_only(home: Home, layout: Layout[Any], start: int, ask: Ask) -> Batches:
    """Answer the rows that wait to be merged into a baked chunk."""
    waiting = reading(home.late(start))
    if waiting is not None:
        with closing(waiting):
            yield from answers(waiting, layout, ask)


def open_baked(path: Path, layout: Layout[Any]) -> Baked | None:
    """Open a baked chunk; None when there is none."""
    if not path.exists():
        return None
    from grandstand.storage.series.engines.chunks.baked import Baked

    try:
        return Baked(path, layout)
    except FileNotFoundError:
        return None


def _parts(
    home: Home, layout: Layout[Any], start: int, ask: Ask, stack: ExitStack
) -> list[Batches]:
    # The order makes sure that no row is missed while another process bakes or merges: it puts
    # the new file in place before it removes the old, so whoever misses the old finds the new.
    parts: list[Batches] = []
    for path in (home.late(start), home.live(start)):
        connection = reading(path)
        if connection is not None:
            stack.enter_context(closing(connection))
            # Rows that wait, and may be merged by now, are told apart by their order.
            ask = replace(ask, ordered=ask.ordered or path == home.late(start))
            parts.append(answers(connection, layout, ask))
            if path == home.live(start):
                return parts
    baked = open_baked(home.baked(start), layout)
    if baked is not None:
        stack.enter_context(closing(baked))
        parts.append(baked.answers(ask))
    return parts


def _merged(parts: list[Batches], identity: Callable[[Stored], Any], *, newest: bool) -> Batches:
    rows = heapq.merge(*(chain.from_iterable(part) for part in parts), key=identity, reverse=newest)
    single = _without_repeats(rows, identity)
    while batch := [*islice(single, BATCH)]:
        yield batch


def _without_repeats(rows: Iterator[Stored], identity: Callable[[Stored], Any]) -> Iterator[Stored]:
    before: object = None
    for row in rows:
        now = identity(row)
        if now != before:
            yield row
        before = now
