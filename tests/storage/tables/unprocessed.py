"""An embedded engine that leaves members of batches unprocessed, as DynamoDB may do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import TypeVar

from grandstand.core.clock import Clock
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from grandstand.storage.tables.requests import (
    BatchRead,
    BatchWritten,
    DeleteItem,
    GetItem,
    PutItem,
)

T = TypeVar("T")


class UnprocessedEngine(SqliteEngine):
    """Leaves every n-th member of all batches together unprocessed."""

    every: int
    members: Iterator[int]

    def _divide(self, requests: Sequence[T]) -> tuple[list[T], tuple[T, ...]]:
        left = [next(self.members) % self.every == 0 for _ in requests]
        divided = list(zip(requests, left, strict=True))
        return [one for one, skip in divided if not skip], tuple(
            one for one, skip in divided if skip
        )

    def batch_get(self, requests: Sequence[GetItem]) -> BatchRead:
        processed, left = self._divide(requests)
        read = super().batch_get(processed) if processed else BatchRead(())
        return replace(read, left=(*read.left, *left))

    def batch_write(self, requests: Sequence[PutItem | DeleteItem]) -> BatchWritten:
        processed, left = self._divide(requests)
        return replace(super().batch_write(processed) if processed else BatchWritten(), left=left)


def leaving_unprocessed(every: int, clock: Clock, path: Path | None = None) -> UnprocessedEngine:
    """Open an engine that leaves every n-th member of a batch unprocessed."""
    engine = UnprocessedEngine.open(path, clock=clock)
    engine.every, engine.members = every, count(1)
    return engine
