"""Kept here: recorded series given to others: as Parquet or CSV files, or as Arrow tables."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from grandstand.apps.gatherer.store import SERIES
from grandstand.base.errors import InvalidInput
from grandstand.storage.series.engines.protocol import SeriesEngine
from grandstand.storage.series.export import Form, export
from grandstand.storage.series.window import Window

if TYPE_CHECKING:
    import pyarrow as pa

_NAMED: Final = {series.name: series for series in SERIES}


class SeriesUnknown(InvalidInput):
    """No series of the gatherer has that name."""


@dataclass(frozen=True, slots=True)
class Part:
    """What of a series is wanted: a stretch of its time, of some markets or all."""

    series: str
    start_us: int
    end_us: int
    tickers: tuple[str, ...] = ()


class Exporting:
    """Gives what was recorded to files and notebooks; raises SeriesUnknown for another name."""

    def __init__(self, engine: SeriesEngine) -> None:
        self._engine = engine

    @staticmethod
    def names() -> Sequence[str]:
        """Answer the names of the series there are."""
        return tuple(_NAMED)

    async def write(
        self,
        part: Part,
        path: Path,
        form: Form,
        *,
        force: bool = False,
        tell: Callable[[int], None] = lambda _: None,
    ) -> int:
        """Write a file and answer how many rows it has; `tell` hears how many so far.

        Raises ExportExists when there is such a file, unless told to replace it.
        """
        window = _window(part)

        def work() -> int:
            return export(self._engine, window, path, form, force=force, tell=tell)

        return await asyncio.to_thread(work)

    async def table(self, part: Part) -> pa.Table:
        """Answer an Arrow table, in order of time; polars.from_arrow makes a frame of it."""
        return await asyncio.to_thread(self._engine.table, _window(part))


def _window(part: Part) -> Window[Any]:
    series = _NAMED.get(part.series)
    if series is None:
        message = f"There is no series {part.series!r}; there are {', '.join(_NAMED)}"
        raise SeriesUnknown(message)
    return Window(series, part.start_us, part.end_us, part.tickers)
