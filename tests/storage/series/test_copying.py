"""Series brought from engine to engine hold the same rows, however often it is done."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple
from uuid import UUID

import pytest

from grandstand.core.clock import SystemClock
from grandstand.storage.series.copying import copy_chunk, row_sum, rows_of
from grandstand.storage.series.declaration import Int16, Json, Series
from grandstand.storage.series.engines.chunks.engine import ChunkEngine
from grandstand.storage.series.engines.protocol import SeriesEngine
from tests.storage.series.engines.postgres import opening

HOUR = 3_600_000_000


class Note(NamedTuple):
    at: int
    who: str
    id: UUID
    size: Int16 | None
    loud: bool
    said: Json


NOTES = Series(
    name="notes",
    row=Note,
    time="at",
    identity=("who", "at"),
    key="who",
    chunk=timedelta(hours=1),
)
SAID = ('{"b": 1.50, "a": [true, null, 1e2]}', '"é"', "[]", "-0.0")
NAMES = ("Z", "a", "é", "A")


def note(number: int) -> Note:
    size = None if number % 3 == 0 else number % 100
    said = SAID[number % len(SAID)]
    at = number // len(NAMES) * HOUR // 10
    return Note(at, NAMES[number % len(NAMES)], UUID(int=number), size, number % 2 == 0, said)


@pytest.fixture(params=["to a server", "from a server"])
def ends(
    request: pytest.FixtureRequest, tmp_path: Path, postgres_dsn: str
) -> Iterator[tuple[SeriesEngine, SeriesEngine]]:
    """A source with rows of several chunks, and an empty target; each engine is each in turn."""
    with (
        closing(ChunkEngine.open(tmp_path / "series", clock=SystemClock())) as chunks,
        opening.plain(postgres_dsn, SystemClock()) as open_one,
    ):
        both: list[SeriesEngine] = [chunks, open_one()]
        source, target = both if request.param == "to a server" else both[::-1]
        source.prepare(NOTES)
        target.prepare(NOTES)
        source.append(NOTES, [note(number) for number in range(200)])
        yield source, target


def test_rows_arrive_and_a_second_copy_adds_nothing(
    ends: tuple[SeriesEngine, SeriesEngine],
) -> None:
    source, target = ends
    events: list[int] = []

    first = copy_chunk(source, target, rows_of(NOTES), events.append)
    second = copy_chunk(source, target, rows_of(NOTES))

    left, right = row_sum(source, NOTES), row_sum(target, NOTES)
    assert (first.read, first.added) == (200, 200)
    assert (second.read, second.added) == (200, 0)
    assert events == [200]
    assert left == right
    assert left.rows == 200


def test_one_row_more_or_other_gives_another_sum(
    ends: tuple[SeriesEngine, SeriesEngine],
) -> None:
    source, target = ends
    other = note(7)._replace(size=55)
    target.append(NOTES, [other])

    copy_chunk(source, target, rows_of(NOTES))

    left, right = row_sum(source, NOTES), row_sum(target, NOTES)
    assert left.rows == right.rows
    assert left.checksum != right.checksum
