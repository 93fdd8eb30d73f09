"""A small series, what it may become, and what it may not."""

from dataclasses import replace
from datetime import timedelta
from typing import Any, NamedTuple

from grandstand.storage.series.declaration import Int32, Series, SeriesIndex


class Mark(NamedTuple):
    """A mark as it was first declared."""

    at: int
    place: str
    number: Int32
    note: str | None = None


class WiderMark(NamedTuple):
    """The same mark with columns that came later, one of them in the middle."""

    at: int
    place: str
    number: Int32
    weight: int | None = None
    note: str | None = None
    sure: bool | None = None


class RequiringMark(NamedTuple):
    """A mark with a new column that rows already kept could not fill."""

    at: int
    place: str
    number: Int32
    weight: int
    note: str | None = None


class BiggerMark(NamedTuple):
    """A mark whose number is of another kind."""

    at: int
    place: str
    number: int
    note: str | None = None


class EmptierMark(NamedTuple):
    """A mark whose number may be empty."""

    at: int
    place: str
    number: Int32 | None
    note: str | None = None


class PoorerMark(NamedTuple):
    """A mark without its note."""

    at: int
    place: str
    number: Int32


MARKS: Series[Mark] = Series(
    name="marks",
    row=Mark,
    time="at",
    identity=("at", "place"),
    key="place",
    chunk=timedelta(hours=1),
    compress_after=timedelta(days=1),
)
WIDER: Series[WiderMark] = Series(
    name="marks",
    row=WiderMark,
    time="at",
    identity=("at", "place"),
    key="place",
    chunk=timedelta(hours=1),
    compress_after=timedelta(days=1),
    indexes=(SeriesIndex("marks_by_weight", ("weight",)),),
)
WRONG: dict[str, tuple[Series[Any], str]] = {
    "a new column that is never empty": (replace(MARKS, row=RequiringMark), "new column weight"),  # type: ignore[arg-type]
    "another kind": (replace(MARKS, row=BiggerMark), "number is"),  # type: ignore[arg-type]
    "empty after all": (replace(MARKS, row=EmptierMark), "number is"),  # type: ignore[arg-type]
    "a column less": (replace(MARKS, row=PoorerMark), "not declared: note"),  # type: ignore[arg-type]
    "another identity": (replace(MARKS, identity=("at", "place", "number")), "at, place"),
}
