"""Verification of stored series."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from grandstand.core.errors import InvalidInput
from grandstand.storage.series.declaration import Series
from grandstand.storage.series.engines.protocol import SeriesEngine


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem, where it is, and what to do. The next upkeep fixes those that are not serious."""

    series: str
    place: str
    problem: str
    remedy: str
    serious: bool = True

    def __str__(self) -> str:
        return f"{self.series}: {self.place}: {self.problem}; {self.remedy}"


@dataclass(frozen=True, slots=True)
class Progress:
    """How many of the chunks have been verified."""

    done: int
    chunks: int


def verify(
    engine: SeriesEngine, series: Series[Any], on_progress: Callable[[Progress], None]
) -> Iterator[Finding]:
    """Read every row of a series in bounded memory and yield what is wrong. Nothing is changed.

    Raises Unavailable if the engine does not respond.
    """
    from grandstand.storage.series.engines.chunks.engine import ChunkEngine
    from grandstand.storage.series.engines.postgres.engine import PostgresEngine

    def report(done: int, chunks: int) -> None:
        on_progress(Progress(done, chunks))

    if isinstance(engine, ChunkEngine):
        from grandstand.storage.series.engines.chunks.maintenance import verify_chunks

        return verify_chunks(engine, series, report)
    if isinstance(engine, PostgresEngine):
        from grandstand.storage.series.engines.postgres.queries import verify_server

        return verify_server(engine, series, report)
    raise InvalidInput(f"Series of {type(engine).__name__} cannot be verified.")
