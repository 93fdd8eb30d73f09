"""Kept here: the rows of a series brought from one engine to another, and compared there."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from decimal import Context, Decimal
from hashlib import sha256
from itertools import islice
from typing import Any, Final, TypeVar

import msgspec

from grandstand.storage.series.declaration import Series
from grandstand.storage.series.engines.protocol import SeriesEngine
from grandstand.storage.series.window import Window

R = TypeVar("R", bound=tuple[Any, ...])

_AT_ONCE: Final = 20_000
_FIRST_US: Final = -(2**63)
_END_US: Final = 2**63 - 1
_ROOMY: Final = Context(prec=2_000)
_encode: Final = msgspec.msgpack.Encoder().encode


@dataclass(frozen=True, slots=True)
class RowSum:
    """How many rows a series has, and their checksum: equal sums mean equal rows."""

    rows: int
    checksum: str


@dataclass(frozen=True, slots=True)
class ChunkCopied:
    """How many rows of a chunk were read, and how many of them were new at the target."""

    read: int
    added: int


def copy_chunk(
    source: SeriesEngine,
    target: SeriesEngine,
    window: Window[R],
    tell: Callable[[int], None] = lambda _: None,
) -> ChunkCopied:
    """Append the rows of a window to another engine, in bounded memory; again adds nothing.

    `tell` hears how many were read so far. Of rows with the same identity the target's own stays.
    """
    read = added = 0
    with closing(_batches(source.read(window))) as batches:
        for batch in batches:
            added += target.append(window.series, batch)
            read += len(batch)
            tell(read)
    return ChunkCopied(read, added)


def rows_of(series: Series[R]) -> Window[R]:
    """Answer the window of all rows of a series, in order."""
    return Window(series, _FIRST_US, _END_US)


def row_sum(
    engine: SeriesEngine, series: Series[Any], tell: Callable[[int], None] = lambda _: None
) -> RowSum:
    """Read every row and add it up; `tell` hears how many were read.

    JSON counts by what it says: a server keeps it in a form of its own.
    """
    texts = [at for at, column in enumerate(series.columns) if column.kind == "json"]
    rows, total = 0, sha256()
    with closing(_batches(engine.read(rows_of(series)))) as batches:
        for batch in batches:
            plain: Iterable[Sequence[Any]] = batch
            if texts:
                plain = (_settled(row, texts) for row in batch)
            total.update(b"".join(map(_encode, plain)))
            rows += len(batch)
            tell(rows)
    return RowSum(rows, total.hexdigest()[:32])


def _batches(rows: Iterator[R]) -> Generator[list[R], None, None]:
    while batch := [*islice(rows, _AT_ONCE)]:
        yield batch


def _settled(row: Sequence[Any], texts: list[int]) -> list[Any]:
    settled = [*row]
    for at in texts:
        if row[at] is not None:
            said = json.loads(row[at], parse_float=_number, parse_int=_number)
            settled[at] = json.dumps(said, sort_keys=True)
    return settled


def _number(text: str) -> str:
    """Write a number the same way whatever form it came in, and unlike any text."""
    return f"\0{Decimal(text).normalize(_ROOMY) or 0}"
