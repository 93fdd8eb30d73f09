"""A book is what its levels say, and its best prices are always at hand."""

from hypothesis import given, settings
from hypothesis import strategies as st

from grandstand.apps.gatherer.domain.messages import DeltaMessage, SnapshotMessage
from grandstand.apps.gatherer.domain.order_book import BookSide, OrderBook


def test_the_best_bid_is_the_highest_and_the_ask_mirrors_the_other_side() -> None:
    book = OrderBook(yes=[(3000, 7500), (41000, 1250)], no=[(55000, 4000), (20000, 1)])

    bests = (book.best_yes_bid, book.no.best, book.best_yes_ask, book.spread)

    assert bests == (41000, 55000, 45000, 4000)


def test_an_empty_side_has_no_best_price_and_no_spread() -> None:
    book = OrderBook(yes=[(41000, 1250)])

    bests = (book.best_yes_bid, book.best_yes_ask, book.spread, book.crossed)

    assert bests == (41000, None, None, False)


def test_a_level_that_would_be_negative_is_refused_and_nothing_changes() -> None:
    book = OrderBook(yes=[(41000, 1250)])

    applied = book.apply(DeltaMessage(4, 2, "KXA-1", side=True, price=41000, size_delta=-1251))

    assert not applied
    assert book == OrderBook(yes=[(41000, 1250)])


def test_a_level_of_nothing_is_gone_and_the_next_is_best() -> None:
    book = OrderBook(no=[(41000, 1250), (40000, 5), (39000, 5)])

    applied = book.apply(DeltaMessage(4, 2, "KXA-1", side=False, price=41000, size_delta=-1250))

    assert applied
    assert book.no.best == 40000
    assert book.levels() == ((), ((39000, 5), (40000, 5)))


def test_bids_that_meet_are_crossed_and_one_tick_apart_are_not() -> None:
    meeting = OrderBook(yes=[(41000, 1)], no=[(59000, 1)])
    apart = OrderBook(yes=[(41000, 1)], no=[(58999, 1)])

    crossed = (meeting.crossed, apart.crossed)

    assert crossed == (True, False)


def test_a_snapshot_replaces_everything() -> None:
    book = OrderBook(yes=[(41000, 1250)], no=[(1000, 1)])

    book.replace(SnapshotMessage(4, 1, "KXA-1", yes=((50000, 3), (60000, 0)), no=()))

    assert book.levels() == (((50000, 3),), ())
    assert book.best_yes_bid == 50000


def test_a_copy_goes_its_own_way() -> None:
    book = OrderBook(yes=[(41000, 1250)])

    copy = book.copy()
    copy.change(side=True, price=41000, by=-1250)

    assert book.best_yes_bid == 41000
    assert copy.best_yes_bid is None


_changes = st.lists(st.tuples(st.integers(1, 12), st.integers(-3, 3)), max_size=200)


@settings(max_examples=60)
@given(_changes)
def test_the_best_is_the_maximum_after_any_changes(changes: list[tuple[int, int]]) -> None:
    ladder = BookSide()
    plain: dict[int, int] = {}

    bests = [_changed(ladder, plain, price, by) for price, by in changes]

    assert all(ours == true for ours, true in bests)
    assert dict(ladder.levels()) == {price: size for price, size in plain.items() if size}


def test_coming_and_going_of_one_level_does_not_grow_the_book() -> None:
    ladder = BookSide([(90, 1)])

    turns = [ladder.change(50, by) for by in (1, -1) * 5000]

    assert all(turns)
    assert len(ladder._heap) < 200  # noqa: SLF001 - what must not grow cannot be seen otherwise


def _changed(
    ladder: BookSide, plain: dict[int, int], price: int, by: int
) -> tuple[int | None, int | None]:
    """Change both; the plain one only as far as no level becomes negative."""
    after = plain.get(price, 0) + by
    plain[price] = after if ladder.change(price, by) else plain.get(price, 0)
    assert plain[price] >= 0
    return ladder.best, max((at for at, size in plain.items() if size), default=None)
