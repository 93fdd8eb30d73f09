"""What the gatherer's tables promise to whoever asks them."""

import pytest

from grandstand.apps.gatherer.store import (
    TABLES,
    EventInfo,
    MarketInfo,
    RecordingChoice,
    SeriesInfo,
    SyncCursor,
)
from grandstand.storage.tables import Store


@pytest.fixture(autouse=True)
def _tables(store: Store) -> None:
    store.create(TABLES)


def test_markets_are_found_by_ticker_and_by_event(store: Store) -> None:
    market = MarketInfo(ticker="KXA-1", event_ticker="KXA", title="Rain", status="active")
    store(market.put())
    store(market.replace(ticker="KXA-2").put())
    store(market.replace(ticker="KXB-1", event_ticker="KXB").put())

    found = store(MarketInfo.get(ticker="KXA-1"))
    together = store(MarketInfo.by_event(event_ticker="KXA"))

    assert found == market
    assert [each.ticker for each in together] == ["KXA-1", "KXA-2"]


def test_events_are_found_by_series_and_told_anew(store: Store) -> None:
    event = EventInfo(event_ticker="KXA", series_ticker="KX", title="Weather")
    store(SeriesInfo(ticker="KX", title="Weather", tags=("rain", "sun")).put())
    store(event.put())
    store(event.replace(title="Weather in May").put())

    series = store(SeriesInfo.get(ticker="KX"))
    events = store(EventInfo.by_series(series_ticker="KX"))

    assert series is not None
    assert series.tags == ("rain", "sun")
    assert [each.title for each in events] == ["Weather in May"]


def test_a_cursor_is_one_for_each_series_of_each_gatherer(store: Store) -> None:
    store(SyncCursor(gatherer="east", series="trades", position_us=5).put())
    store(SyncCursor(gatherer="east", series="tickers", position_us=6).put())
    store(SyncCursor(gatherer="east", series="trades", position_us=9).put())

    found = store(SyncCursor.of_series("east", "trades"))
    every = store(SyncCursor.of_gatherer("east"))

    assert found is not None
    assert found.position_us == 9
    assert [each.series for each in every] == ["tickers", "trades"]


def test_a_choice_is_kept_until_it_is_forgotten(store: Store) -> None:
    store(RecordingChoice(kind="series", name="KX").put())
    store(RecordingChoice(kind="market", name="KXA-1", recorded=False).put())

    before = store(RecordingChoice.all())
    store(RecordingChoice.remove("market", "KXA-1"))
    after = store(RecordingChoice.all())

    assert {(each.name, each.recorded) for each in before} == {("KX", True), ("KXA-1", False)}
    assert [each.name for each in after] == ["KX"]
