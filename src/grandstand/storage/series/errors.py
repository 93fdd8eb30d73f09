"""Errors of series storage."""

from __future__ import annotations

from grandstand.core.errors import Broken, Conflict, LimitReached, Unavailable


class SeriesUnavailable(Unavailable):
    """The storage does not respond, is locked, or has no space left."""

    code = "series-unavailable"


class SeriesReadOnly(Unavailable):
    """The series can be read but not written."""

    code = "series-read-only"

    retry = False


class SeriesDamaged(Broken):
    """Stored data is corrupt and has to be restored from a backup."""

    code = "series-damaged"


class SeriesChanged(Conflict):
    """The stored columns are incompatible with the series declaration."""

    code = "series-changed"


class BufferFull(LimitReached):
    """Memory is full and rows cannot be spilled to disk; the offered rows were not accepted."""

    code = "buffer-full"
