"""Buckets count, add up and give open, high, low and close, whatever chunk rows are in."""

import pytest

from grandstand.apps.gatherer.store import DELTAS
from grandstand.storage.series.declaration import SeriesFault
from grandstand.storage.series.engines.protocol import SeriesEngine
from grandstand.storage.series.query import Bar, Bars, Window
from tests.storage.series.contract.builders import BASE, HOUR, NOW, SECOND, all_deltas, delta


def test_a_bucket_has_open_high_low_and_close_in_order_of_time_then_identity(
    engine: SeriesEngine,
) -> None:
    engine.prepare(DELTAS)
    prices = [(0, 30), (0, 20), (1, 50), (2, 10), (2, 40)]
    engine.append(DELTAS, [delta(at, price=price, size=price) for at, price in prices])

    found = [*engine.bars(Bars(all_deltas(), SECOND, "price", "size_delta"))]

    assert found == [Bar("AAA", BASE, 5, 150, open=20, high=50, low=10, close=40)]


def test_buckets_come_by_key_then_time(engine: SeriesEngine) -> None:
    engine.prepare(DELTAS)
    places = [("B", 0), ("A", HOUR), ("A", 3 * SECOND), ("B", SECOND - 1), ("A", 0)]
    engine.append(DELTAS, [delta(at, ticker) for ticker, at in places])

    found = [*engine.bars(Bars(all_deltas(), SECOND))]

    assert [(bar.key, bar.start - BASE, bar.count) for bar in found] == [
        ("A", 0, 1),
        ("A", 3 * SECOND, 1),
        ("A", HOUR, 1),
        ("B", 0, 2),
    ]
    assert {(bar.total, bar.open, bar.high, bar.low, bar.close) for bar in found} == {(None,) * 5}


def test_a_bucket_may_span_chunks(engine: SeriesEngine) -> None:
    engine.prepare(DELTAS)
    engine.append(DELTAS, [delta(hour * HOUR, price=hour + 1) for hour in range(4)])
    day = Window(DELTAS, 0, NOW)

    found = [*engine.bars(Bars(day, 2**52, "price", "price"))]

    assert [(bar.count, bar.total, bar.open, bar.close) for bar in found] == [(4, 10, 1, 4)]


def test_values_that_are_none_are_passed_over(engine: SeriesEngine) -> None:
    engine.prepare(DELTAS)
    engine.append(DELTAS, [delta(at)._replace(seq=seq) for at, seq in ((0, None), (1, 5), (2, 3))])
    engine.append(DELTAS, [delta(9, "B")._replace(seq=None)])

    found = [*engine.bars(Bars(all_deltas(), HOUR, "seq", "seq"))]

    assert found == [
        Bar("AAA", BASE, 3, 8, open=5, high=5, low=3, close=3),
        Bar("B", BASE, 1, None, None, None, None, None),
    ]


@pytest.mark.parametrize("column", ["ticker", "side", "nothing"])
def test_only_whole_numbers_make_bars(engine: SeriesEngine, column: str) -> None:
    engine.prepare(DELTAS)

    with pytest.raises(SeriesFault, match=column):
        list(engine.bars(Bars(all_deltas(), HOUR, column)))
