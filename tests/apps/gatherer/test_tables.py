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
    store(market.save())
    store(market.replace(ticker="KXA-2").save())
    store(market.replace(ticker="KXB-1", event_ticker="KXB").save())

    found = store(MarketInfo.by_ticker("KXA-1"))
    together = store(MarketInfo.of_event("KXA"))

    assert found == market
    assert [each.ticker for each in together] == ["KXA-1", "KXA-2"]


def test_events_are_found_by_series_and_told_anew(store: Store) -> None:
    event = EventInfo(event_ticker="KXA", series_ticker="KX", title="Weather")
    store(SeriesInfo(ticker="KX", title="Weather", tags=("rain", "sun")).save())
    store(event.save())
    store(event.replace(title="Weather in May").save())

    series = store(SeriesInfo.by_ticker("KX"))
    events = store(EventInfo.of_series("KX"))

    assert series is not None
    assert series.tags == ("rain", "sun")
    assert [each.title for each in events] == ["Weather in May"]


def test_a_cursor_is_one_for_each_series_of_each_gatherer(store: Store) -> None:
    store(SyncCursor(gatherer="east", series="trades", position_us=5).save())
    store(SyncCursor(gatherer="east", series="tickers", position_us=6).save())
    store(SyncCursor(gatherer="east", series="trades", position_us=9).save())

    found = store(SyncCursor.of_series("east", "trades"))
    every = store(SyncCursor.of_gatherer("east"))

    assert found is not None
    assert found.position_us == 9
    assert [each.series for each in every] == ["tickers", "trades"]


def test_a_choice_is_kept_until_it_is_forgotten(store: Store) -> None:
    store(RecordingChoice(kind="series", name="KX").save())
    store(RecordingChoice(kind="market", name="KXA-1", recorded=False).save())

    before = store(RecordingChoice.all())
    store(RecordingChoice.remove("market", "KXA-1"))
    after = store(RecordingChoice.all())

    assert {(each.name, each.recorded) for each in before} == {("KX", True), ("KXA-1", False)}
    assert [each.name for each in after] == ["KX"]
