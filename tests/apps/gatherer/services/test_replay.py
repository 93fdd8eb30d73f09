"""A recorded stretch played again: every row once, in order, from a book to begin with."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from grandstand.apps.gatherer.domain.order_book import OrderBook
from grandstand.apps.gatherer.domain.rows import OrderbookDelta, OrderbookSnapshot
from grandstand.apps.gatherer.services.replay import (
    ReplayMarket,
    ReplayRange,
    ReplayService,
    TimedRow,
)
from grandstand.apps.gatherer.store import DELTAS, MARKET_EVENTS, SERIES, MarketEvent, decode_levels
from grandstand.core.clock import ManualClock
from grandstand.storage.series.engines.chunks.engine import ChunkEngine
from tests.apps.gatherer.services.conftest import Opener
from tests.apps.gatherer.services.recorded_rows import (
    SECOND,
    START,
    TICKERS,
    book_at,
    recorded,
    shown,
    trade,
    truth,
)

EVER = ReplayRange(0, 2**62)


def _followed(steps: list[TimedRow]) -> dict[str, OrderBook]:
    """Do what a listener does: hold each book, and apply what comes."""
    books: dict[str, OrderBook] = {}
    for _, row in steps:
        if isinstance(row, OrderbookSnapshot):
            levels = decode_levels(row.yes_bids).items(), decode_levels(row.no_bids).items()
            books[row.ticker] = OrderBook(*levels)
        elif isinstance(row, OrderbookDelta):
            assert books[row.ticker].change(side=row.side, price=row.price, by=row.size_delta)
    return books


def test_changes_come_in_the_order_they_were_heard(place: Opener) -> None:
    recording = recorded(truth(1, 200))
    engine = place("own")
    recording.keep(engine)

    found = [*ReplayService(engine).deltas(EVER)]

    assert found == recording.deltas


def test_who_follows_a_replay_from_the_middle_has_the_true_books(place: Opener) -> None:
    day = truth(2, 300)
    middle = day[120].at
    recording = recorded(day, lost=[range(middle + 100_000, middle + 150_000)])
    recording.trades.append(trade(1, middle + 200_000))
    engine = place("own")
    recording.keep(engine)

    steps = [*ReplayService(engine).rows(ReplayRange(middle, day[-1].at + 1))]

    books = _followed(steps)
    assert {ticker: books[ticker].levels() for ticker in TICKERS} == {
        ticker: shown(book_at(day, ticker, day[-1].at)) for ticker in TICKERS
    }
    assert [at for at, _ in steps] == sorted(at for at, _ in steps)
    assert recording.trades[0] in [row for _, row in steps]


def test_a_replay_of_some_markets_has_no_others(place: Opener) -> None:
    engine = place("own")
    recorded(truth(3, 100)).keep(engine)

    steps = ReplayService(engine).rows(ReplayRange(START, 2**62, ("KXB-2",)))

    assert {row.ticker for _, row in steps} == {"KXB-2"}


def test_baked_and_open_chunks_are_played_as_one(tmp_path: Path) -> None:
    day = truth(4, 300, step_us=20 * SECOND)
    recording = recorded(day)
    clock = ManualClock(datetime.fromtimestamp(START // SECOND, UTC) + timedelta(hours=25.5))
    engine = ChunkEngine.open(tmp_path, clock=clock)
    recording.keep(engine)
    engine.upkeep(DELTAS)

    states = {chunk.state for chunk in engine.status(DELTAS).chunks}
    found = [*ReplayService(engine).deltas(EVER)]

    engine.close()
    assert states >= {"compressed"}
    assert len(states) > 1
    assert found == recording.deltas


def test_in_a_merged_store_no_level_goes_below_nothing_within_an_instant(place: Opener) -> None:
    engine = place("merged")
    for series in SERIES:
        engine.prepare(series)
    taken = OrderbookDelta(START, START + 9, "KXA-1", True, 4000, -100, gatherer="east")
    given = OrderbookDelta(START, START + 99, "KXA-1", True, 4000, 100, gatherer="west")
    engine.append(DELTAS, [taken, given])

    found = [*ReplayService(engine, merged=True).deltas(EVER)]

    assert found == [given, taken]


def test_a_market_is_listed_with_the_title_it_last_had(place: Opener) -> None:
    engine = place("own")
    engine.prepare(MARKET_EVENTS)
    told = MarketEvent(START, "KXA-1", "created", "ws", event_ticker="KXA", title="First")
    engine.append(MARKET_EVENTS, [told, told._replace(received_at=START + 1, title="Second")])

    found = ReplayService(engine).listings(("KXA-1", "KXB-2"))

    assert found == (ReplayMarket("KXA-1", "Second", "KXA"), ReplayMarket("KXB-2"))
