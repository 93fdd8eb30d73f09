"""Kept here: one store of recordings with everything it can be asked for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

from grandstand.apps.gatherer.service.asking.asking import Asking
from grandstand.apps.gatherer.service.exporting import Exporting
from grandstand.apps.gatherer.service.merging import open_place
from grandstand.apps.gatherer.service.replaying import Replaying
from grandstand.base.clock import Clock
from grandstand.storage.series.engines.protocol import SeriesEngine


class Recordings:
    """What a store holds, asked, played again, or given away; `merged` as the merger made it."""

    def __init__(self, engine: SeriesEngine, *, merged: bool = False) -> None:
        self.asking = Asking(engine, merged=merged)
        self.exporting = Exporting(engine)
        self.replaying = Replaying(engine, merged=merged)


@contextmanager
def merged_recordings(place: str, clock: Clock) -> Iterator[Recordings]:
    """Open what the merger made, a folder or a PostgreSQL connection string, for a block.

    Raises PlaceNotUnderstood, and Unavailable when a server does not answer.
    """
    with closing(open_place(place, clock)) as engine:
        yield Recordings(engine, merged=True)
