"""Rows are kept once, whole, and only if all of them fit."""

from typing import Any
from uuid import UUID

import pytest

from grandstand.apps.gatherer.domain.rows import OrderbookDelta, OrderbookSnapshot
from grandstand.apps.gatherer.store import DELTAS, SNAPSHOTS, TRADES
from grandstand.storage.series.declaration import SeriesFault
from grandstand.storage.series.engines.protocol import SeriesEngine
from grandstand.storage.series.query import Window
from tests.storage.series.contract.builders import BASE, DAY, HOUR, all_deltas, delta, trade


def test_what_is_appended_is_read_back_as_it_was(engine: SeriesEngine) -> None:
    engine.prepare(TRADES)
    given = [trade(1), trade(2**127, 5)._replace(sid=-(2**63), gatherer="g1", is_block=True)]

    added = engine.append(TRADES, given)

    assert added == 2
    assert [*engine.read(Window(TRADES, BASE, BASE + DAY))] == given


def test_json_and_empty_columns_are_kept(engine: SeriesEngine) -> None:
    engine.prepare(SNAPSHOTS)
    book = OrderbookSnapshot(BASE, None, "AAA", "ws", "[[52000, 3]]", "[]", "[]", '{"é": null}')

    engine.append(SNAPSHOTS, [book])

    assert [*engine.read(Window(SNAPSHOTS, BASE, BASE + 1))] == [book]


def test_the_same_row_is_kept_once(engine: SeriesEngine) -> None:
    engine.prepare(DELTAS)
    rows = [delta(at) for at in range(10)]

    counts = [engine.append(DELTAS, batch) for batch in (rows[:6], rows, rows[3:], rows[:2] * 3)]

    assert counts == [6, 4, 0, 0]
    assert [*engine.read(all_deltas())] == rows


def test_the_first_row_of_an_identity_stays(engine: SeriesEngine) -> None:
    engine.prepare(DELTAS)
    first = delta(0)

    added = [engine.append(DELTAS, [row]) for row in (first, first._replace(received_at=1))]

    assert added == [1, 0]
    assert [*engine.read(all_deltas())] == [first]


def test_one_batch_may_span_chunks(engine: SeriesEngine) -> None:
    engine.prepare(DELTAS)
    rows = [delta(hour * HOUR) for hour in (5, 0, 3, 1)]

    added = engine.append(DELTAS, rows)

    assert added == 4
    assert [*engine.read(all_deltas())] == sorted(rows)


def test_no_rows_are_no_work(engine: SeriesEngine) -> None:
    engine.prepare(DELTAS)

    added = engine.append(DELTAS, [])

    assert added == 0


def test_preparing_twice_changes_nothing(engine: SeriesEngine) -> None:
    engine.prepare(DELTAS)
    engine.append(DELTAS, [delta(0)])

    engine.prepare(DELTAS)

    assert [*engine.read(all_deltas())] == [delta(0)]


@pytest.mark.parametrize(
    "wrong",
    [
        delta(0, price=2**31),
        delta(0, price=-(2**31) - 1),
        delta(0, order=2**15),
        delta(0, size=2**63),
        delta(0)._replace(ticker=None),  # type: ignore[arg-type]
        delta(0)._replace(ticker="a\x00b"),
        delta(0)._replace(ticker="\ud800"),
        delta(0)._replace(ticker=7),  # type: ignore[arg-type]
        delta(0)._replace(price=1.0),  # type: ignore[arg-type]
        delta(0)._replace(price=True),
        delta(0)._replace(side=1),  # type: ignore[arg-type]
        delta(0)._replace(exchange_ts=2**63),
    ],
)
def test_a_row_that_does_not_fit_keeps_the_whole_batch_out(
    engine: SeriesEngine, wrong: OrderbookDelta
) -> None:
    engine.prepare(DELTAS)

    with pytest.raises(SeriesFault):
        engine.append(DELTAS, [delta(-HOUR), wrong, delta(HOUR)])

    assert [*engine.read(all_deltas())] == []


def test_a_row_of_another_width_is_refused(engine: SeriesEngine) -> None:
    engine.prepare(DELTAS)
    short: Any = (1, 2, "AAA")

    with pytest.raises(SeriesFault, match="row 1 has 3 columns instead of 11"):
        engine.append(DELTAS, [delta(0), short])


def test_text_that_is_not_json_is_refused(engine: SeriesEngine) -> None:
    engine.prepare(SNAPSHOTS)
    book = OrderbookSnapshot(BASE, None, "AAA", "ws", "[", "[]", "[]", "[]")

    with pytest.raises(SeriesFault, match="yes_bids"):
        engine.append(SNAPSHOTS, [book])


def test_a_uuid_must_be_one(engine: SeriesEngine) -> None:
    engine.prepare(TRADES)
    wrong = trade(1)._replace(trade_id=str(UUID(int=1)))  # type: ignore[arg-type]

    with pytest.raises(SeriesFault, match="trade_id"):
        engine.append(TRADES, [wrong])
