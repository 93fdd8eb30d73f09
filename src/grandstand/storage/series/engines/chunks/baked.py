"""Kept here: baked chunks as they are read: one key without the rest, or all, in order or not."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Generator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import groupby
from pathlib import Path
from typing import Any, Final, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from grandstand.storage.series.engines.chunks.arrow import (
    as_rows,
    translating_columns,
    with_columns,
)
from grandstand.storage.series.engines.chunks.asking import BATCH, Ask
from grandstand.storage.series.engines.chunks.baking import FOOTER, Group
from grandstand.storage.series.engines.chunks.layout import Layout, Stored
from grandstand.storage.series.errors import SeriesDamaged

_GROUPS_AT_ONCE: Final = 4
# Measured on two cores: a part in each of two threads is quicker than the columns of one in both.
_LANES: Final = 2

Numbered: TypeAlias = list[tuple[int, Group]]


class Baked:
    """One baked file, open; it stays readable when it is replaced meanwhile."""

    def __init__(self, path: Path, layout: Layout[Any]) -> None:
        self._path = path
        self._layout = layout
        self._texts = [column.name for column in layout.columns if column.kind == "text"]
        with translating_columns(path):
            self._source = pa.OSFile(str(path), "rb")
            try:
                self._file = self._opened()
            except BaseException:
                self._source.close()
                raise

    @property
    def rows(self) -> int:
        """How many rows it holds."""
        return int(self._file.metadata.num_rows)

    def tables(self, ask: Ask, *, ahead: bool = True) -> Generator[pa.Table, None, None]:
        """Answer what is asked, a slab's worth of rows at a time; raise SeriesDamaged.

        None is empty, and they are in order unless any order is asked for. Two are read `ahead`,
        unless memory matters more: each thread that reads keeps memory of its own.
        """
        with translating_columns(self._path):
            wanted = [pair for pair in enumerate(self._groups()) if _may_hold(pair[1], ask)]
            # Rows of one key are in order as they stand.
            sort = ask.ordered and len(ask.keys) != 1
            parts = _by_slab(wanted) if sort or ask.most is not None else _by_number(wanted)
            if ask.newest:
                parts.reverse()
            if ahead and ask.most is None and len(parts) > 1:
                found = self._ahead(parts, ask, sort=sort)
            else:
                found = (
                    self._part(self._file, part, ask, sort=sort, threads=ahead) for part in parts
                )
            yield from filter(_has_rows, found)

    def answers(self, ask: Ask) -> Generator[list[Stored], None, None]:
        """Answer stored rows, a few thousand at a time; raise SeriesDamaged."""
        # Making rows takes far longer than reading columns, so there is nothing to gain ahead.
        for table in self.tables(ask, ahead=False):
            yield from as_rows(table, ask.fields, BATCH)
            del table  # so that it makes room for the next

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()
        self._source.close()

    def _groups(self) -> list[Group]:
        footer = (self._file.metadata.metadata or {}).get(FOOTER)
        if footer is None:
            message = f"{self._path} was not baked by Grandstand; move it out of the folder"
            raise SeriesDamaged(message)
        return [Group(*group) for group in json.loads(footer)]

    def _ahead(
        self, parts: list[Numbered], ask: Ask, *, sort: bool
    ) -> Generator[pa.Table, None, None]:
        """Answer parts in turn, while the next are read in other threads."""
        lanes = [self._file, *(self._opened(self._file.metadata) for _ in range(_LANES - 1))]
        under_way: deque[Future[pa.Table]] = deque()
        with ThreadPoolExecutor(_LANES) as threads:
            try:
                for number, part in enumerate(parts):
                    # Its lane is free: the part so many before it was answered.
                    lane = lanes[number % _LANES]
                    under_way.append(
                        threads.submit(self._part, lane, part, ask, sort=sort, threads=False)
                    )
                    if len(under_way) == _LANES:
                        yield under_way.popleft().result()
                while under_way:
                    yield under_way.popleft().result()
            finally:
                for unwanted in under_way:
                    unwanted.cancel()

    def _opened(self, known: pq.FileMetaData | None = None) -> pq.ParquetFile:
        return pq.ParquetFile(
            self._source, metadata=known, read_dictionary=self._texts, pre_buffer=False
        )

    def _part(
        self, file: pq.ParquetFile, part: Numbered, ask: Ask, *, sort: bool, threads: bool
    ) -> pa.Table:
        series = self._layout.series
        cut = not all(ask.low <= group.first and group.last <= ask.high for _, group in part)
        needed = [*ask.fields, *(self._layout.order if sort else ())]
        needed += [series.time] * cut + [series.key] * bool(ask.keys)
        table = file.read_row_groups(
            [at for at, _ in part], columns=[*dict.fromkeys(needed)], use_threads=threads
        )
        if cut:
            times = table[series.time]
            low, high = (pa.scalar(limit, pa.int64()) for limit in (ask.low, ask.high))
            table = table.filter(pc.and_(pc.greater_equal(times, low), pc.less_equal(times, high)))
        if ask.keys:
            keys = pa.array(ask.keys, pa.string())
            table = table.filter(pc.is_in(table[series.key], value_set=keys))
        if sort:
            # Bound anew, so that the row groups are gone before there is a copy in order.
            table = table.unify_dictionaries().combine_chunks()
            table = self._sorted(table)
        if ask.newest:
            table = table.take(pa.array(range(table.num_rows - 1, -1, -1), pa.int64()))
        return with_columns(table, ask.fields, self._layout.columns)

    def _sorted(self, whole: pa.Table) -> pa.Table:
        order = self._layout.order
        if order[1:2] == (self._layout.series.key,):
            # The sort is stable, and rows of one moment are already by key, then as they should.
            return whole.take(pc.sort_indices(whole[order[0]]))
        texts = set(self._texts).intersection(order)
        plain = pa.table(
            [whole[name].cast(pa.string()) if name in texts else whole[name] for name in order],
            names=[*order],
        )
        return whole.take(pc.sort_indices(plain, sort_keys=[(name, "ascending") for name in order]))


def _has_rows(table: pa.Table) -> bool:
    return bool(table.num_rows)


def _by_slab(wanted: Numbered) -> list[Numbered]:
    return [[*members] for _, members in groupby(wanted, key=lambda one: one[1].slab)]


def _by_number(wanted: Numbered) -> list[Numbered]:
    return [wanted[at : at + _GROUPS_AT_ONCE] for at in range(0, len(wanted), _GROUPS_AT_ONCE)]


def _may_hold(group: Group, ask: Ask) -> bool:
    if group.last < ask.low or group.first > ask.high:
        return False
    if not ask.keys:
        return True
    low, high = group.low, group.high
    return low is not None and high is not None and any(low <= key <= high for key in ask.keys)
