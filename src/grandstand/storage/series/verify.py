"""Kept here: what is found wrong with a series where it is kept, and what to do about it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from grandstand.base.errors import InvalidInput
from grandstand.storage.series.declaration import Series
from grandstand.storage.series.engines.chunks import ChunkEngine
from grandstand.storage.series.engines.postgres import PostgresEngine
from grandstand.storage.series.engines.protocol import SeriesEngine
from grandstand.storage.series.findings import Finding


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a verification is: chunks looked at, of how many."""

    done: int
    chunks: int


def verify(
    engine: SeriesEngine, series: Series[Any], tell: Callable[[Progress], None]
) -> Iterator[Finding]:
    """Look at all that is kept of a series, change nothing, and answer what is wrong.

    Every row is read, in bounded memory. Raises Unavailable when the engine does not answer.
    """

    def count(done: int, chunks: int) -> None:
        tell(Progress(done, chunks))

    if isinstance(engine, ChunkEngine):
        from grandstand.storage.series.engines.chunks.verifying import verify_chunks

        return verify_chunks(engine, series, count)
    if isinstance(engine, PostgresEngine):
        from grandstand.storage.series.engines.postgres.verifying import verify_server

        return verify_server(engine, series, count)
    raise InvalidInput(f"{type(engine).__name__} cannot be verified")
