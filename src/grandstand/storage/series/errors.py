"""Kept here: what can go wrong with the place series are kept in."""

from __future__ import annotations

from grandstand.base.errors import Broken, Conflict, Unavailable


class SeriesUnavailable(Unavailable):
    """The place does not answer, is locked, or has no room to write."""


class SeriesReadOnly(Unavailable):
    """The series can be read but not written."""

    retry = False


class SeriesDamaged(Broken):
    """What is stored cannot be trusted; restore it from a copy."""


class SeriesChanged(Conflict):
    """What is stored has other columns than the series declares now."""
