"""With every fault on and gatherers killed, what they recorded together is what happened."""

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Final

import pytest

from grandstand.apps.gatherer import store
from grandstand.apps.gatherer.services.queries.books import BookHistory
from tests.apps.gatherer.comparison import (
    Asked,
    asked,
    before_changes,
    heard_whole,
    instants,
    kept,
    misplaced,
    missed,
)
from tests.apps.gatherer.frames import (
    news_kept,
    quote_kept,
    trade_kept,
    union,
)
from tests.apps.gatherer.gatherers import (
    Gathered,
    gathered,
    in_databases,
    in_folders,
    in_schemas,
    rows,
)
from tests.storage.series.engines.postgres.opening import offers_timescale

pytestmark = pytest.mark.timeout(600)

# Stores and gatherers.
SCENES: Final = {
    "one in a folder": ("chunks", 1),
    "two in folders": ("chunks", 2),
    "three in folders": ("chunks", 3),
    "three in PostgreSQL": ("postgres", 3),
    "three in TimescaleDB": ("timescale", 3),
}
INSTANTS: Final = 1000
# Of so many gatherers, whatever goes wrong. One alone has nothing of the time it was killed for,
# which is as long as a process takes to start again.
LEAST_EXACT: Final = {1: 50, 2: 300, 3: 700}
# Where anyone was told everything: the share that must be true, and that must be called exact.
LEAST_TRUE: Final = {1: 0.98, 2: 0.99, 3: 1.0}
LEAST_SURE: Final = {1: 0.7, 2: 0.9, 3: 0.95}


@pytest.fixture(scope="module", params=SCENES)
def done(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Gathered]:
    """What gatherers recorded, and what became of it together."""
    place, count = SCENES[request.param]
    with ExitStack() as opened:
        ordering = in_folders()
        if place != "chunks":
            dsn = request.getfixturevalue("postgres_dsn")
            ordering = in_schemas(dsn)
        if place == "timescale":
            if not offers_timescale(dsn):
                pytest.skip("the server has no TimescaleDB: set TEST_PG_DSN to one that has")
            ordering = in_databases(dsn)
        folder = tmp_path_factory.mktemp("gathered")
        yield opened.enter_context(gathered(opened.enter_context(ordering), count, folder))


@pytest.fixture(scope="module")
def found(done: Gathered) -> Asked:
    """What became of asking the merged store for a thousand books."""
    return asked(BookHistory(done.merged, merged=True), done.world, instants(done, INSTANTS))


def test_everything_went_wrong_and_one_was_killed(done: Gathered) -> None:
    struck = {fault.kind for fault in done.struck}
    errors = sum((told.errors for told in done.told), Counter[int]())

    assert done.codes == [-9, *[0] * len(done.sources)]
    assert struck == {
        "drop",
        "duplicate",
        "reorder",
        "stall",
        "disconnect",
        "malformed",
        "error",
    }
    assert errors.keys() >= {10, 25, 26, 27}
    assert done.failed == {}


def test_whatever_anyone_was_told_is_merged_delta_for_delta_and_nothing_else(
    done: Gathered,
) -> None:
    merged = kept(done.merged)

    told = union(each.deltas for each in done.told)

    assert told.total() > 100
    assert told - merged == Counter()
    assert merged - done.script.deltas == Counter()


def test_a_book_that_is_called_exact_is_the_true_one(done: Gathered, found: Asked) -> None:
    assert found.asked == INSTANTS
    assert found.wrong == []
    assert found.exact >= LEAST_EXACT[len(done.sources)], found.doubts.most_common(5)


def test_where_anyone_was_told_everything_the_merged_book_is_the_true_one(
    done: Gathered,
) -> None:
    told = [it for it in instants(done, INSTANTS) if heard_whole(done, *it)]

    found = asked(BookHistory(done.merged, merged=True), done.world, told)

    count = len(done.sources)
    assert found.asked >= LEAST_EXACT[count]
    assert found.true >= LEAST_TRUE[count] * found.asked, found.untrue
    assert found.exact >= LEAST_SURE[count] * found.asked, found.doubts.most_common(5)


def test_while_all_goes_well_nearly_every_merged_book_is_exact(done: Gathered) -> None:
    calm = before_changes(done, 100)

    found = asked(BookHistory(done.merged, merged=True), done.world, calm)

    assert found.wrong == []
    assert found.exact >= 0.9 * len(calm) > 50, found.doubts.most_common(3)


def test_while_all_goes_well_nearly_every_book_of_one_gatherer_is_exact(done: Gathered) -> None:
    calm = before_changes(done, 50)

    found = [asked(BookHistory(it.engine), done.world, calm) for it in done.sources]

    assert [each.wrong for each in found] == [[] for _ in done.sources]
    assert min(each.exact for each in found) >= 0.9 * len(calm), found


def test_every_trade_anyone_was_told_is_merged_once_as_it_happened(done: Gathered) -> None:
    merged = Counter(map(trade_kept, rows(done.merged, store.TRADES)))

    told = union(each.trades for each in done.told)

    assert told.total() > 10
    assert told - merged == Counter()
    assert merged - done.script.trades == Counter()


def test_every_summary_that_came_whole_is_kept_and_no_other(done: Gathered) -> None:
    own = [{*map(quote_kept, rows(it.engine, store.TICKERS))} for it in done.sources]

    merged = {*map(quote_kept, rows(done.merged, store.TICKERS))}

    lost = [told.quotes.keys() - have for told, have in zip(done.told, own, strict=True)]
    assert lost == [set() for _ in own]
    assert set().union(*own) == merged
    assert merged <= done.script.quotes.keys()


def test_every_news_of_markets_that_came_whole_is_journalled(done: Gathered) -> None:
    journals = [rows(it.engine, store.MARKET_EVENTS) for it in done.sources]

    own = [{news_kept(row) for row in each if row.source == "ws"} for each in journals]

    lost = [told.news.keys() - have for told, have in zip(done.told, own, strict=True)]
    assert lost == [set() for _ in own]
    assert set().union(*own) <= done.script.news.keys() | {("null",)}


def test_every_book_that_came_whole_is_kept(
    done: Gathered,
) -> None:
    own = [
        {(row.conn, row.sid, row.seq) for row in rows(it.engine, store.SNAPSHOTS)}
        for it in done.sources
    ]

    assert [told.books - have for told, have in zip(done.told, own, strict=True)] == [
        set() for _ in own
    ]


def test_every_trade_that_happened_is_merged_once(done: Gathered) -> None:
    merged = Counter(map(trade_kept, rows(done.merged, store.TRADES)))

    assert merged == done.script.trades


def test_what_a_gatherer_has_not_lies_in_its_gaps(done: Gathered) -> None:
    without = missed(done)

    assert without == {source.gatherer: [] for source in done.sources}


def test_a_book_of_one_gatherer_that_is_called_exact_is_the_true_one(done: Gathered) -> None:
    random = instants(done, INSTANTS // 5)

    found = [asked(BookHistory(it.engine), done.world, random) for it in done.sources]

    assert [each.asked for each in found] == [len(random) for _ in done.sources]
    assert [each.wrong for each in found] == [[] for _ in done.sources]


def test_every_merged_book_is_the_true_one_where_it_is_placed(done: Gathered) -> None:
    astray = misplaced(done)

    assert astray == []
