"""What reads and writes cost."""

from decimal import Decimal

import pytest

from grandstand.storage.tables.capacity import (
    Rates,
    dollars_a_month,
    index_write_units,
    read_units,
    write_units,
)
from grandstand.storage.tables.requests import IndexWrite


@pytest.mark.parametrize(
    ("size", "units"), [(0, "0.5"), (1, "0.5"), (4096, "0.5"), (4097, "1"), (200_000, "24.5")]
)
def test_an_eventual_read_costs_half_a_unit_for_each_four_kilobytes(size: int, units: str) -> None:
    counted = read_units(size)

    assert counted == Decimal(units)


def test_a_consistent_read_costs_twice_an_eventual_one_and_a_transactional_read_four_times() -> (
    None
):
    eventual = read_units(5000)

    assert read_units(5000, consistent=True) == 2 * eventual
    assert read_units(5000, transactional=True) == 4 * eventual


@pytest.mark.parametrize(
    ("old", "new", "units"), [(0, 0, 1), (0, 1024, 1), (0, 1025, 2), (3000, 10, 3), (10, 3000, 3)]
)
def test_a_write_costs_what_the_larger_of_before_and_after_does(
    old: int, new: int, units: int
) -> None:
    counted = write_units(old, new)

    assert counted == units


@pytest.mark.parametrize(
    ("write", "units"),
    [
        (IndexWrite("i", 0, 100, key_changed=True), 1),
        (IndexWrite("i", 100, 0, key_changed=True), 1),
        (IndexWrite("i", 100, 2000, key_changed=False), 2),
        (IndexWrite("i", 100, 2000, key_changed=True), 3),
    ],
)
def test_an_index_costs_a_delete_and_a_put_only_when_its_key_changes(
    write: IndexWrite, units: int
) -> None:
    counted = index_write_units(write)

    assert counted == units


def test_a_transaction_doubles_the_table_and_every_index() -> None:
    moved = IndexWrite("i", 100, 2000, key_changed=True)

    table = write_units(100, 2000, transactional=True)
    index = index_write_units(moved, transactional=True)

    assert (table, index) == (2 * write_units(100, 2000), 2 * index_write_units(moved))


def test_a_month_is_priced_by_the_rates_given() -> None:
    rates = Rates(million_reads=Decimal("0.25"), million_writes=Decimal("1.25"))

    price = dollars_a_month(Decimal(2), Decimal(10), write=True, rates=rates)

    assert price == Decimal(2) * 10 * 730 * 3600 * Decimal("1.25") / 1_000_000
