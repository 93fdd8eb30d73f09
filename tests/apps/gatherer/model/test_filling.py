"""What an order would have got is taken from the book, best price first."""

from fractions import Fraction

import pytest

from grandstand.apps.gatherer.model.book import Book
from grandstand.apps.gatherer.model.errors import OrderImpossible
from grandstand.apps.gatherer.model.filling import Filled, Order, fill

BOOK = Book(yes=[(40000, 500), (39000, 1000)], no=[(55000, 300), (50000, 900)])


@pytest.mark.parametrize(
    ("order", "filled"),
    [
        (Order(side=True, buys=True, size=400), Filled(((45000, 300), (50000, 100)), 0)),
        (Order(side=True, buys=True, size=400, limit=45000), Filled(((45000, 300),), 100)),
        (Order(side=True, buys=True, size=400, limit=44999), Filled((), 400)),
        (Order(side=True, buys=False, size=600), Filled(((40000, 500), (39000, 100)), 0)),
        (Order(side=True, buys=False, size=600, limit=40000), Filled(((40000, 500),), 100)),
        (Order(side=False, buys=True, size=500), Filled(((60000, 500),), 0)),
        (Order(side=False, buys=False, size=1300), Filled(((55000, 300), (50000, 900)), 100)),
    ],
)
def test_an_order_takes_the_best_levels_within_its_limit(order: Order, filled: Filled) -> None:
    found = fill(BOOK, order)

    assert found == filled


def test_what_was_paid_is_exact() -> None:
    filled = fill(BOOK, Order(side=True, buys=True, size=400))

    assert filled.whole
    assert filled.average == Fraction(46250)
    assert filled.paid == Fraction(185, 100)


def test_nothing_filled_has_no_average() -> None:
    filled = fill(Book(), Order(side=True, buys=True, size=400))

    assert (filled.size, filled.average, filled.whole) == (0, None, False)


@pytest.mark.parametrize(
    "order",
    [
        Order(side=True, buys=True, size=0),
        Order(side=True, buys=True, size=5, limit=100_001),
        Order(side=True, buys=True, size=5, limit=-1),
    ],
)
def test_an_order_no_market_would_take_is_refused(order: Order) -> None:
    with pytest.raises(OrderImpossible):
        fill(BOOK, order)
