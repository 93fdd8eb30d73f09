"""Kept here: what PostgreSQL's errors mean to whoever stands on the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from grandstand.base.errors import Broken, GrandstandError, NotAllowed, NotFound
from grandstand.storage.series.declaration import SeriesFault
from grandstand.storage.series.errors import SeriesChanged, SeriesReadOnly, SeriesUnavailable

if TYPE_CHECKING:
    import psycopg

_PARTITION_MISSING: Final = "23514"
_READ_ONLY: Final = "25006"
_NO_TABLE: Final = "42P01"
_NO_COLUMN: Final = "42703"
_FULL: Final = "53100"
_CONTENDED: Final = frozenset(("40001", "40P01"))
_LOCKED: Final = "55P03"
_REFUSED: Final = frozenset(("42501", "28000", "28P01"))
# Data the server cannot keep, connections, resources, and a server told to stop, by class.
_DATA: Final = "22"
_AWAY: Final = frozenset(("08", "53", "57", "58"))


class PartitionMissing(SeriesUnavailable):
    """The partition a row belongs to was dropped while the row was on its way."""


class Contended(SeriesUnavailable):
    """Others wrote the same rows at the same moment, and this one was chosen to give way."""


class Occupied(SeriesUnavailable):
    """Somebody still reads what was to be dropped."""


def translated(fault: psycopg.Error, *, broken_off: bool) -> GrandstandError:
    """Say what an error of PostgreSQL means; `broken_off` tells that the connection is lost."""
    code = fault.sqlstate or ""
    said = str(fault).partition("\n")[0]
    if code in _REFUSED:
        return NotAllowed(f"The series' server refuses: {said}; grant the rights this needs")
    if code == _READ_ONLY:
        return SeriesReadOnly(f"The series' server only reads: {said}; name the one that writes")
    if code == _FULL:
        return SeriesUnavailable(
            f"No room is left on the series' server: nothing of this was written ({said}); "
            "free space and try again"
        )
    if code[:2] in _AWAY or broken_off or _operational(fault):
        return SeriesUnavailable(f"The series' server does not answer: {said}; try again")
    if code in _CONTENDED:
        return Contended(f"Other writers were in the way: {said}; try again")
    if code == _PARTITION_MISSING:
        return PartitionMissing(f"A partition is missing: {said}; try again")
    if code == _LOCKED:
        return Occupied(f"Others hold what was to be changed: {said}; try again later")
    return _unfit(code, said)


def _unfit(code: str, said: str) -> GrandstandError:
    if code == _NO_TABLE:
        return NotFound(f"The series is not there: {said}; prepare it first")
    if code == _NO_COLUMN:
        return SeriesChanged(f"The series has other columns: {said}; prepare it first")
    if code[:2] == _DATA:
        return SeriesFault(f"The server cannot keep a value: {said}")
    return Broken(f"The series' server failed: {said}")


def _operational(fault: psycopg.Error) -> bool:
    # Errors of the client itself, such as a refused connection, carry no code.
    import psycopg

    return fault.sqlstate is None and isinstance(
        fault, psycopg.OperationalError | psycopg.InterfaceError
    )
