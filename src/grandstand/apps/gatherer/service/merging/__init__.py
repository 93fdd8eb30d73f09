"""Putting together what several gatherers recorded, each row once."""

from grandstand.apps.gatherer.service.merging.merger import MERGED, Merger
from grandstand.apps.gatherer.service.merging.merging import Merging
from grandstand.apps.gatherer.service.merging.metadata import Refreshed
from grandstand.apps.gatherer.service.merging.places import (
    PlaceNotUnderstood,
    is_server,
    open_place,
    parse_source,
)
from grandstand.apps.gatherer.service.merging.values import Lag, Pace, Source, Tally

__all__ = [
    "MERGED",
    "Lag",
    "Merger",
    "Merging",
    "Pace",
    "PlaceNotUnderstood",
    "Refreshed",
    "Source",
    "Tally",
    "is_server",
    "open_place",
    "parse_source",
]
