"""The book at any instant, against the plain rule and against the truth."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from grandstand.apps.gatherer.domain.rows import OrderbookDelta, OrderbookSnapshot
from grandstand.apps.gatherer.services.queries.books import BookHistory
from grandstand.apps.gatherer.store import DELTAS, SERIES, SNAPSHOTS
from grandstand.storage.series.engines.protocol import SeriesEngine
from tests.apps.gatherer.services.conftest import Opener
from tests.apps.gatherer.services.recorded_rows import (
    SECOND,
    START,
    TICKERS,
    before,
    book_at,
    brief_engines,
    recorded,
    shown,
    truth,
)


def _instants(seed: int, last: int, count: int) -> list[int]:
    chance = random.Random(seed)
    return [chance.randrange(START - 2000, last + 2 * SECOND) for _ in range(count)]


def _asked(books: BookHistory, instants: list[int]) -> list[object]:
    found = [books.at(ticker, at) for at in instants for ticker in TICKERS]
    return [(each.yes, each.no) for each in found if each.base_us is not None]


def test_a_book_at_an_instant_is_the_true_book(place: Opener) -> None:
    day = truth(1)
    engine = place("own")
    recorded(day).keep(engine)
    instants = [at for at in _instants(2, day[-1].at, 60) if at >= day[0].at]

    found = [BookHistory(engine).at(ticker, at) for at in instants for ticker in TICKERS]

    assert [(each.yes, each.no) for each in found] == [
        shown(book_at(day, ticker, at)) for at in instants for ticker in TICKERS
    ]
    assert {each.doubt for each in found} == {None}


def test_the_latest_book_is_the_book_after_the_last_change(place: Opener) -> None:
    day = truth(3)
    engine = place("own")
    recorded(day).keep(engine)

    found = BookHistory(engine).latest("KXA-1")

    assert (found.yes, found.no) == shown(book_at(day, "KXA-1", day[-1].at))
    assert found.exact


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10_000), every=st.sampled_from((7, 40, 10_000)))
def test_any_keyframes_give_the_book_of_the_plain_rule(seed: int, every: int) -> None:
    day = truth(seed, 150)
    recording = recorded(day, lost=[range(START + 100_000, START + 200_000)], keyframe_every=every)
    instants = _instants(seed, day[-1].at, 15)
    plain = [before(recording, ticker, at) for at in instants for ticker in TICKERS]

    with brief_engines(1) as (engine,):
        recording.keep(engine)
        found = _asked(BookHistory(engine), instants)

    assert found == [shown(book) for book in plain if book is not None]


def test_after_a_gap_a_book_is_in_doubt_until_the_snapshot(place: Opener) -> None:
    day = truth(5, 400)
    lost = range(START + 300_000, START + 600_000)
    recording = recorded(day, lost=[lost])
    engine = place("own")
    recording.keep(engine)
    healed = recording.gaps[0].detected_at + SECOND

    inside = BookHistory(engine).at("KXA-1", lost.stop - 1000)
    after = BookHistory(engine).at("KXA-1", healed)

    assert inside.doubt is not None
    assert "gap (missed)" in inside.doubt
    assert after.exact
    assert (after.yes, after.no) == shown(book_at(day, "KXA-1", healed))


def test_a_level_below_nothing_is_reported_and_not_hidden(place: Opener) -> None:
    engine = place("own")
    _prepared(engine, [(START, "[]")], [(START + 5, -100)])

    found = BookHistory(engine).at("KXA-1", START + 10)

    assert found.negative == ((4000, -100),)
    assert not found.exact


def test_a_polled_book_is_never_built_on(place: Opener) -> None:
    engine = place("own")
    _prepared(engine, [(START, "[[4000,100]]")], [(START + 5, 50)])
    polled = OrderbookSnapshot(
        *(START + 6, None, "KXA-1", "rest", "[[9000,1]]", "[]", "[]", "[]"), gatherer="east"
    )
    engine.append(SNAPSHOTS, [polled])

    found = BookHistory(engine).latest("KXA-1")

    assert found.yes == ((4000, 150),)


def test_without_any_snapshot_there_is_no_book(place: Opener) -> None:
    engine = place("own")
    _prepared(engine, [], [(START + 5, 50)])

    found = BookHistory(engine).at("KXA-1", START + 10)

    assert (found.yes, found.base_us, found.exact) == ((), None, False)


def test_keyframes_keep_the_way_short(place: Opener) -> None:
    day = truth(8, 500)
    recording = recorded(day, keyframe_every=20)
    engine = place("own")
    recording.keep(engine)

    found = BookHistory(engine).at("KXA-1", day[-1].at)

    assert found.deltas < 60
    assert len(recording.deltas) == 500


def _prepared(
    engine: SeriesEngine, snapshots: list[tuple[int, str]], deltas: list[tuple[int, int]]
) -> None:
    for series in SERIES:
        engine.prepare(series)
    engine.append(
        SNAPSHOTS,
        [
            OrderbookSnapshot(
                *(at, None, "KXA-1", "ws", levels, "[]", "[]", "[]"), gatherer="east", conn=7
            )
            for at, levels in snapshots
        ],
    )
    engine.append(
        DELTAS,
        [
            OrderbookDelta(at, at + 1, "KXA-1", True, 4000, by, gatherer="east", conn=7)
            for at, by in deltas
        ],
    )
