"""Rows are looked at before they are kept: the quick look refuses what the slow one refuses."""

from collections import deque
from enum import IntEnum
from typing import Any
from uuid import UUID

import pytest

from grandstand.storage.series.declaration import (
    Column,
    SeriesFault,
    convert_rows,
    shape_of,
    validate_columns,
    validate_rows,
)

COLUMNS = (
    Column("at", "int64"),
    Column("who", "text"),
    Column("price", "int32"),
    Column("rank", "int16", nullable=True),
    Column("up", "bool"),
    Column("mark", "uuid", nullable=True),
    Column("more", "json", nullable=True),
)
SHAPE = shape_of(COLUMNS)
MARK = UUID(int=7)
GOOD = (1, "a", 2, None, True, MARK, "[1]")


class _Text(str):
    __slots__ = ()


class _Number(IntEnum):
    ONE = 1


def _with(at: int, value: object) -> tuple[object, ...]:
    return (*GOOD[:at], value, *GOOD[at + 1 :])


@pytest.mark.parametrize(
    "row",
    [
        GOOD,
        _with(0, -(2**63)),
        _with(0, 2**63 - 1),
        _with(2, -(2**31)),
        _with(3, 2**15 - 1),
        _with(5, None),
        _with(6, None),
        _with(1, "é\U0001f600"),
    ],
)
def test_rows_that_fit_come_back_as_they_are(row: tuple[Any, ...]) -> None:
    found = validate_rows("ticks", COLUMNS, SHAPE, [GOOD, row])

    assert found == [GOOD, row]
    assert {type(each) for each in found} == {tuple}


@pytest.mark.parametrize(
    "row",
    [
        _with(0, 2**63),
        _with(0, True),
        _with(0, 1.0),
        _with(0, None),
        _with(0, _Number.ONE),
        _with(1, _Text("a")),
        _with(1, "a\x00"),
        _with(1, "\ud800"),
        _with(1, b"a"),
        _with(2, 2**31),
        _with(3, -(2**15) - 1),
        _with(4, 1),
        _with(5, str(MARK)),
        _with(5, MARK.bytes),
        _with(6, ""),
        _with(6, "[1"),
        GOOD[:-1],
        (*GOOD, 1),
    ],
)
def test_both_looks_refuse_the_same(row: tuple[Any, ...]) -> None:
    with pytest.raises(SeriesFault) as slow:
        validate_columns("ticks", COLUMNS, [GOOD, row])

    with pytest.raises(SeriesFault) as quick:
        validate_rows("ticks", COLUMNS, SHAPE, [GOOD, row])

    assert str(quick.value) == str(slow.value)


def test_any_sequence_of_rows_will_do() -> None:
    found = validate_rows("ticks", COLUMNS, SHAPE, deque([GOOD, GOOD]))

    assert found == [GOOD, GOOD]


def test_a_kind_of_number_is_made_a_plain_number_where_that_is_asked_for() -> None:
    ((at, *_),) = convert_rows("ticks", COLUMNS, SHAPE, [_with(0, _Number.ONE)])

    assert at == 1
    assert type(at) is int


def test_nothing_else_is_made_to_fit() -> None:
    with pytest.raises(SeriesFault, match="uuid"):
        convert_rows("ticks", COLUMNS, SHAPE, [_with(5, str(MARK))])
