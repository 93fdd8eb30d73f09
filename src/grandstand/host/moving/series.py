"""Kept here: series copied from one engine to another, gone on with after a stop, and compared."""

from __future__ import annotations

from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import Any

from pydantic import SecretStr

from grandstand.base.clock import Clock
from grandstand.base.errors import InvalidInput, NotFound
from grandstand.host.moving.places import SERIES
from grandstand.host.moving.progress import Reached, Tell
from grandstand.host.moving.state import CopyState, Stood
from grandstand.host.opening import open_series
from grandstand.host.settings import Settings
from grandstand.storage.series.copying import RowSum, copy_chunk, row_sum
from grandstand.storage.series.declaration import Series
from grandstand.storage.series.engines.protocol import SeriesEngine
from grandstand.storage.series.window import ChunkStatus, Window


@dataclass(frozen=True, slots=True)
class SeriesMoved:
    """One series: how many rows were read and how many of them new, and what both sides hold."""

    name: str
    read: int
    added: int
    source: RowSum
    target: RowSum

    @property
    def equal(self) -> bool:
        """Whether both sides hold the same rows."""
        return self.source == self.target


@dataclass(frozen=True, slots=True)
class AllSeriesMoved:
    """Every series that was copied, and when a copy that was gone on with had begun."""

    series: tuple[SeriesMoved, ...]
    resumed_from: str | None


@dataclass(frozen=True, slots=True)
class SeriesOrder:
    """What is to be copied from where to where; `check` compares and copies nothing."""

    source: SecretStr
    target: SecretStr
    series: tuple[Series[Any], ...]
    check: bool = False


def copy_series(settings: Settings, order: SeriesOrder, clock: Clock, tell: Tell) -> AllSeriesMoved:
    """Copy series chunk by chunk, then read both sides and compare; again, it changes nothing.

    A copy that was stopped goes on with the next chunk. Raises InvalidInput or NotFound for a
    source or target that cannot be, saying what to do, and what the engines raise.
    """
    if order.source.get_secret_value() == order.target.get_secret_value():
        raise InvalidInput("Both sides are the same: say where to with --to, or from with --from")
    embedded = order.source.get_secret_value() == "chunks"
    if embedded and not (settings.home / SERIES).is_dir():
        raise NotFound(f"There are no series in {settings.home}: name another place with --from")
    with ExitStack() as opened:
        source, target = (
            opened.enter_context(closing(open_series(_at(settings, place), clock)))
            for place in (order.source, order.target)
        )
        work = _Copy(settings, order, (source, target), clock, tell)
        moved = tuple([work.series(one) for one in order.series])
        if not order.check:
            work.state.forget()
    return AllSeriesMoved(moved, work.state.begun_at if work.state.resumed else None)


class _Copy:
    """One run."""

    def __init__(
        self,
        settings: Settings,
        order: SeriesOrder,
        engines: tuple[SeriesEngine, SeriesEngine],
        clock: Clock,
        tell: Tell,
    ) -> None:
        self._order = order
        self._source, self._target = engines
        self._tell = tell
        places = [place.get_secret_value() for place in (order.source, order.target)]
        self.state = CopyState.open(settings.home, ("series", *places), clock)

    def series(self, one: Series[Any]) -> SeriesMoved:
        """Copy one series, and compare both sides."""
        self._source.prepare(one)
        self._target.prepare(one)
        chunks = self._source.status(one).chunks
        total = sum(chunk.rows + chunk.late for chunk in chunks)
        read, added = (0, 0) if self._order.check else self._copied(one, chunks, total)
        sums = [
            self._sum(one, engine, side, total)
            for engine, side in ((self._source, "source"), (self._target, "target"))
        ]
        return SeriesMoved(one.name, read, added, *sums)

    def _copied(
        self, one: Series[Any], chunks: tuple[ChunkStatus, ...], total: int
    ) -> tuple[int, int]:
        stood = self.state.stood(one.name)
        read, added = stood.counts or (0, 0)
        ended, what = [*stood.chunks], f"copy of {one.name}"
        for chunk in chunks:
            if chunk.start in stood.chunks:
                continue
            before = read
            done = copy_chunk(
                self._source,
                self._target,
                Window(one, chunk.start, chunk.end),
                lambda far, before=before: self._tell(  # type: ignore[misc]
                    Reached(what, before + far, max(total, before + far), "rows")
                ),
            )
            read, added = read + done.read, added + done.added
            if chunk.state != "open":
                ended.append(chunk.start)
            self.state.keep(one.name, Stood(counts=(read, added), chunks=tuple(ended)))
        return read, added

    def _sum(self, one: Series[Any], engine: SeriesEngine, side: str, total: int) -> RowSum:
        what = f"checking {one.name} at the {side}"
        return row_sum(
            engine,
            one,
            lambda rows: self._tell(Reached(what, rows, max(total, rows), "rows")),
        )


def _at(settings: Settings, place: SecretStr) -> Settings:
    return settings.model_copy(update={"series": place})
