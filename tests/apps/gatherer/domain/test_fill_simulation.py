"""What an order would have got is taken from the book, best price first."""

from fractions import Fraction

import pytest

from grandstand.apps.gatherer.domain.order_book import (
    Fill,
    InvalidOrder,
    Order,
    OrderBook,
    simulate_fill,
)

BOOK = OrderBook(yes=[(40000, 500), (39000, 1000)], no=[(55000, 300), (50000, 900)])


@pytest.mark.parametrize(
    ("order", "filled"),
    [
        (Order(side=True, is_buy=True, size=400), Fill(((45000, 300), (50000, 100)), 0)),
        (Order(side=True, is_buy=True, size=400, limit=45000), Fill(((45000, 300),), 100)),
        (Order(side=True, is_buy=True, size=400, limit=44999), Fill((), 400)),
        (Order(side=True, is_buy=False, size=600), Fill(((40000, 500), (39000, 100)), 0)),
        (Order(side=True, is_buy=False, size=600, limit=40000), Fill(((40000, 500),), 100)),
        (Order(side=False, is_buy=True, size=500), Fill(((60000, 500),), 0)),
        (Order(side=False, is_buy=False, size=1300), Fill(((55000, 300), (50000, 900)), 100)),
    ],
)
def test_an_order_takes_the_best_levels_within_its_limit(order: Order, filled: Fill) -> None:
    found = simulate_fill(BOOK, order)

    assert found == filled


def test_what_was_paid_is_exact() -> None:
    filled = simulate_fill(BOOK, Order(side=True, is_buy=True, size=400))

    assert filled.complete
    assert filled.average == Fraction(46250)
    assert filled.paid == Fraction(185, 100)


def test_nothing_filled_has_no_average() -> None:
    filled = simulate_fill(OrderBook(), Order(side=True, is_buy=True, size=400))

    assert (filled.size, filled.average, filled.complete) == (0, None, False)


@pytest.mark.parametrize(
    "order",
    [
        Order(side=True, is_buy=True, size=0),
        Order(side=True, is_buy=True, size=5, limit=100_001),
        Order(side=True, is_buy=True, size=5, limit=-1),
    ],
)
def test_an_order_no_market_would_take_is_refused(order: Order) -> None:
    with pytest.raises(InvalidOrder):
        simulate_fill(BOOK, order)
