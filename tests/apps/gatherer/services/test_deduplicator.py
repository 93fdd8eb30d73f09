"""Several gatherers merged: nothing lost that one of them has, nothing twice, books exact."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grandstand.apps.gatherer.domain.rows import OrderbookDelta, OrderbookSnapshot
from grandstand.apps.gatherer.services.deduplicator import Merger
from grandstand.apps.gatherer.services.merge_sources import MergeConfig, MergeSource
from grandstand.apps.gatherer.services.queries.books import BookHistory
from grandstand.apps.gatherer.store import AUDITS, DELTAS, GAPS, SESSIONS, SNAPSHOTS, TABLES, TRADES
from grandstand.apps.gatherer.store import TICKERS as TICKERS_SERIES
from grandstand.core.clock import ManualClock
from grandstand.storage.series.engines.protocol import SeriesEngine
from grandstand.storage.series.query import Window
from grandstand.storage.tables import Naming, Store
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from tests.apps.gatherer.services.conftest import Opener
from tests.apps.gatherer.services.recorded_rows import (
    SECOND,
    START,
    TICKERS,
    book_at,
    brief_engines,
    identities,
    recorded,
    shown,
    trade,
    truth,
)
from tests.storage.series.engines.postgres import opening

EVER = 2**62


def _merger(
    sources: dict[str, SeriesEngine], merged: SeriesEngine, tables: Store, clock: ManualClock
) -> Merger:
    named = [MergeSource(name, engine) for name, engine in sources.items()]
    merger = Merger(named, merged, tables, clock=clock, config=MergeConfig(batch_rows=64))
    merger.prepare()
    return merger


def _deltas(engine: SeriesEngine) -> list[OrderbookDelta]:
    return [*engine.read(Window(DELTAS, 0, EVER))]


def test_what_either_gatherer_has_is_merged_once(
    place: Opener, tables: Store, later: ManualClock
) -> None:
    day = truth(1)
    east, west, merged = place("east"), place("west"), place("merged")
    whole = recorded(day)
    whole.trades += [trade(number, START + number) for number in range(5)]
    whole.keep(east)
    other = recorded(day, "west", lost=[range(START, START + 400_000)], offset_us=-250_000)
    other.trades += [trade(number, START + number) for number in range(3, 8)]
    other.keep(west)
    merger = _merger({"east": east, "west": west}, merged, tables, later)

    merger.run_round()
    again = merger.run_round(recount=True)

    assert sorted(identities(_deltas(merged))) == sorted(identities(whole.deltas))
    assert len([*merged.read(Window(TRADES, 0, EVER))]) == 8
    assert again.added == 0


def test_a_merged_book_is_exact_where_gatherers_fill_each_others_gaps(
    place: Opener, tables: Store, later: ManualClock
) -> None:
    day = truth(4, 500)
    east, west, merged = place("east"), place("west"), place("merged")
    first, second = (
        range(START + 200_000, START + 400_000),
        range(START + 5 * SECOND, START + 6 * SECOND),
    )
    recorded(day, lost=[first]).keep(east)
    recorded(day, "west", lost=[second], offset_us=90_000).keep(west)
    instants = range(day[0].at + 50_000, day[-1].at, (day[-1].at - day[0].at) // 40)

    tally = _merger({"east": east, "west": west}, merged, tables, later).run_round()
    found = [
        BookHistory(merged, merged=True).at(ticker, at) for at in instants for ticker in TICKERS
    ]

    assert [(each.yes, each.no) for each in found] == [
        shown(book_at(day, ticker, at)) for at in instants for ticker in TICKERS
    ]
    assert tally.differences == 0
    assert tally.audited > 0


def test_what_all_gatherers_missed_is_a_hole_and_the_book_begins_anew(
    place: Opener, tables: Store, later: ManualClock
) -> None:
    day = truth(6, 500)
    east, merged = place("east"), place("merged")
    lost = range(START + 300_000, START + 900_000)
    recorded(day, lost=[lost]).keep(east)
    after = day[-1].at

    tally = _merger({"east": east}, merged, tables, later).run_round()
    inside = BookHistory(merged, merged=True).at("KXA-1", lost.stop - 1000)
    healed = BookHistory(merged, merged=True).at("KXA-1", after)

    assert tally.differences > 0
    assert {each.outcome for each in merged.read(Window(AUDITS, 0, EVER))} >= {"different"}
    assert not inside.exact
    assert (healed.yes, healed.no) == shown(book_at(day, "KXA-1", after))


def test_rows_that_came_long_after_their_time_are_found_by_counting(
    place: Opener, tables: Store, later: ManualClock
) -> None:
    day = truth(9)
    east, merged = place("east"), place("merged")
    recording = recorded(day)
    late = recording.deltas[10:20]
    del recording.deltas[10:20]
    recording.keep(east)
    last = OrderbookDelta(START + 7200 * SECOND, 1, "KXA-1", True, 1000, 100, gatherer="east")
    east.append(DELTAS, [last])
    later.advance(7200)
    merger = _merger({"east": east}, merged, tables, later)
    merger.run_round()
    east.append(DELTAS, late)

    unseen = merger.run_round(recount=False)
    seen = merger.run_round(recount=True)

    assert (unseen.added, seen.late) == (0, 10)
    assert {*identities(late)} <= {*identities(_deltas(merged))}


def test_a_new_merger_goes_on_where_the_last_one_was(
    place: Opener, tables: Store, later: ManualClock
) -> None:
    day = truth(11)
    east, merged = place("east"), place("merged")
    recorded(day[:150]).keep(east)
    _merger({"east": east}, merged, tables, later).run_round()
    recorded(day).keep(east)

    tally = _merger({"east": east}, merged, tables, later).run_round(recount=False)
    lags = _merger({"east": east}, merged, tables, later).lags()

    assert tally.added >= 150
    assert [*identities(_deltas(merged))] == sorted(
        identities(recorded(day).deltas), key=lambda each: (each[0], each[1], each[3], *each[2:])
    )
    assert {lag.series: lag.position_us for lag in lags}["orderbook_deltas"] == day[-1].at


def test_polled_books_are_merged_by_their_slot(
    place: Opener, tables: Store, later: ManualClock
) -> None:
    east, west, merged = place("east"), place("west"), place("merged")
    for name, engine in (("east", east), ("west", west)):
        recording = recorded(truth(1, 20), name)
        recording.snapshots = [
            OrderbookSnapshot(
                *(START, None, "KXA-1", "rest", "[[1000,5]]", "[]", "[]", "[]"), gatherer=name
            )
        ]
        recording.keep(engine)

    _merger({"east": east, "west": west}, merged, tables, later).run_round()
    polled = [row for row in merged.read(Window(SNAPSHOTS, 0, EVER)) if row.source == "rest"]

    assert [(row.snapshot_ts, row.gatherer) for row in polled] == [(START, "east")]


@settings(max_examples=6, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    losses=st.lists(
        st.lists(st.integers(0, 30), max_size=3).map(
            lambda spots: [
                range(START + spot * SECOND, START + spot * SECOND + 600_000) for spot in spots
            ]
        ),
        min_size=1,
        max_size=3,
    ),
    rounds=st.integers(1, 3),
)
def test_any_losses_and_stops_give_the_union_and_its_books(
    seed: int, losses: list[list[range]], rounds: int
) -> None:
    day = truth(seed, 150, step_us=40_000)
    recordings = [
        recorded(day, f"g{number}", lost=lost, offset_us=20_000 + 70_000 * number)
        for number, lost in enumerate(losses)
    ]
    clock = ManualClock(datetime.fromtimestamp(START // SECOND, UTC) + timedelta(hours=1))
    union = {each for recording in recordings for each in identities(recording.deltas)}
    instants = range(day[0].at, day[-1].at, 1 + (day[-1].at - day[0].at) // 10)

    with (
        brief_engines(len(recordings) + 1) as (merged, *own),
        Store(SqliteEngine.open(None, clock=clock), naming=Naming(), clock=clock) as tables,
    ):
        tables.create(TABLES)
        for recording, engine in zip(recordings, own, strict=True):
            recording.keep(engine)
        sources = {f"g{number}": engine for number, engine in enumerate(own)}
        for _ in range(rounds):
            _merger(dict(sources), merged, tables, clock).run_round()
        found = [*identities(_deltas(merged))]
        books = [
            BookHistory(merged, merged=True).at(ticker, at) for at in instants for ticker in TICKERS
        ]

    exact = [each for each in books if each.exact]
    assert sorted(found) == sorted(union)
    assert [(each.yes, each.no) for each in exact] == [
        shown(book_at(day, each.ticker, each.at_us or 0)) for each in exact
    ]


def test_a_gatherer_without_keyframes_is_merged_all_the_same(
    place: Opener, tables: Store, later: ManualClock
) -> None:
    day = truth(1)
    east, merged = place("east"), place("merged")
    for series in (DELTAS, SNAPSHOTS, TRADES, TICKERS_SERIES, GAPS, SESSIONS):
        east.prepare(series)
    recording = recorded(day)
    east.append(DELTAS, recording.deltas)
    east.append(SNAPSHOTS, recording.snapshots)

    tally = _merger({"east": east}, merged, tables, later).run_round(recount=True)

    assert tally.failed == {}
    assert len(_deltas(merged)) == len(recording.deltas)


def test_a_gatherer_without_deltas_is_named_and_not_passed_over(
    request: pytest.FixtureRequest, tables: Store, later: ManualClock
) -> None:
    dsn = request.getfixturevalue("postgres_dsn")
    with opening.plain(dsn, later) as east, opening.plain(dsn, later) as merged:
        tally = _merger({"east": east()}, merged(), tables, later).run_round()

    assert tally.failed.keys() == {"east"}
