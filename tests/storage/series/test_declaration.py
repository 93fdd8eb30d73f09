"""A series is declared once, and a wrong declaration says what to change."""

from dataclasses import replace
from datetime import timedelta
from typing import NamedTuple
from uuid import UUID

import pytest

from grandstand.storage.series.declaration import (
    Column,
    Int16,
    Int32,
    Json,
    Series,
    SeriesFault,
    SeriesIndex,
)


class Beat(NamedTuple):
    at: int
    who: str
    kind: Int16
    tally: Int32 | None
    ok: bool
    trace: UUID
    detail: Json | None = None


class Odd(NamedTuple):
    at: int
    weight: float


BEATS = Series("beats", Beat, "at", ("who", "at"), "who", timedelta(hours=1))


def test_columns_come_from_the_annotations_of_the_row() -> None:
    assert BEATS.columns == (
        Column("at", "int64"),
        Column("who", "text"),
        Column("kind", "int16"),
        Column("tally", "int32", nullable=True),
        Column("ok", "bool"),
        Column("trace", "uuid"),
        Column("detail", "json", nullable=True),
    )


@pytest.mark.parametrize(
    ("kind", "bound"), [("int64", 2**63), ("int32", 2**31), ("int16", 2**15), ("text", None)]
)
def test_a_column_knows_the_first_number_too_large_for_it(kind: str, bound: int | None) -> None:
    column = Column("any", kind)  # type: ignore[arg-type]

    assert column.bound == bound


@pytest.mark.parametrize(
    ("moment", "start"),
    [(0, 0), (3_599_999_999, 0), (3_600_000_000, 3_600_000_000), (-1, -(36 * 10**8))],
)
def test_a_moment_falls_into_one_chunk(moment: int, start: int) -> None:
    assert BEATS.chunk_of(moment) == start


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"time": "when"}, "no column when"),
        ({"key": "whom"}, "no column whom"),
        ({"identity": ("who", "at", "nope")}, "no column nope"),
        ({"indexes": (SeriesIndex("i", ("-gone",)),)}, "no column gone"),
        ({"time": "who"}, "must be int"),
        ({"time": "tally"}, "must be int"),
        ({"identity": ("who",)}, "must include the time"),
        ({"identity": ("at", "tally")}, "cannot be nullable"),
    ],
)
def test_a_wrong_declaration_is_refused(change: dict[str, object], said: str) -> None:
    with pytest.raises(SeriesFault, match=said):
        replace(BEATS, **change)  # type: ignore[arg-type]


def test_a_kind_that_cannot_be_kept_exactly_is_refused() -> None:
    with pytest.raises(SeriesFault, match="weight"):
        Series("odd", Odd, "at", ("at",), "at", timedelta(hours=1))
