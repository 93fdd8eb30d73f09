"""Copying a series from one engine to another, and comparing the copies."""

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
from grandstand.storage.series.query import Window

R = TypeVar("R", bound=tuple[Any, ...])

_BATCH_ROWS: Final = 20_000
_MIN_TIME_US: Final = -(2**63)
_MAX_TIME_US: Final = 2**63 - 1
_DECIMAL_CONTEXT: Final = Context(prec=2_000)
_encode: Final = msgspec.msgpack.Encoder().encode


@dataclass(frozen=True, slots=True)
class RowSum:
    """Number of rows of a series and their checksum. Equal sums mean equal rows."""

    rows: int
    checksum: str


@dataclass(frozen=True, slots=True)
class ChunkCopied:
    """How many rows of a chunk were read, and how many of them were new to the target."""

    read: int
    added: int


def copy_chunk(
    source: SeriesEngine,
    target: SeriesEngine,
    window: Window[R],
    on_progress: Callable[[int], None] = lambda _: None,
) -> ChunkCopied:
    """Append the rows of a window to another engine, in bounded memory.

    Idempotent: rows whose identity the target already has are skipped. `on_progress` is called
    with the number of rows read so far.
    """
    read = added = 0
    with closing(_batches(source.read(window))) as batches:
        for batch in batches:
            added += target.append(window.series, batch)
            read += len(batch)
            on_progress(read)
    return ChunkCopied(read, added)


def rows_of(series: Series[R]) -> Window[R]:
    """Return the window of all rows of a series."""
    return Window(series, _MIN_TIME_US, _MAX_TIME_US)


def row_sum(
    engine: SeriesEngine, series: Series[Any], on_progress: Callable[[int], None] = lambda _: None
) -> RowSum:
    """Read every row and return the row count and checksum.

    JSON is compared by content, because PostgreSQL stores it in a normalized form. `on_progress`
    is called with the number of rows read so far.
    """
    json_columns = [at for at, column in enumerate(series.columns) if column.kind == "json"]
    rows, digest = 0, sha256()
    with closing(_batches(engine.read(rows_of(series)))) as batches:
        for batch in batches:
            comparable: Iterable[Sequence[Any]] = batch
            if json_columns:
                comparable = (_normalize_json(row, json_columns) for row in batch)
            digest.update(b"".join(map(_encode, comparable)))
            rows += len(batch)
            on_progress(rows)
    return RowSum(rows, digest.hexdigest()[:32])


def _batches(rows: Iterator[R]) -> Generator[list[R], None, None]:
    while batch := [*islice(rows, _BATCH_ROWS)]:
        yield batch


def _normalize_json(row: Sequence[Any], json_columns: list[int]) -> list[Any]:
    normalized = [*row]
    for at in json_columns:
        if row[at] is not None:
            document = json.loads(row[at], parse_float=_number, parse_int=_number)
            normalized[at] = json.dumps(document, sort_keys=True)
    return normalized


def _number(text: str) -> str:
    """Return a canonical form of a number that differs from any text (texts contain no NUL)."""
    return f"\0{Decimal(text).normalize(_DECIMAL_CONTEXT) or 0}"
