"""Prices and sizes are exact integers, or refused."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grandstand.apps.gatherer.domain.order_book import (
    InvalidNumber,
    format_price,
    format_size,
    parse_price,
    parse_size,
    price_table,
)


@pytest.mark.parametrize(
    ("text", "price"),
    [
        ("0.52", 52000),
        ("0.5250", 52500),
        ("0.5255", 52550),
        ("0.99", 99000),
        ("0.9999", 99990),
        ("0", 0),
        ("1.0000", 100_000),
        ("0.123450", 12345),
    ],
)
def test_a_price_is_hundred_thousandths_of_a_dollar(text: str, price: int) -> None:
    parsed = parse_price(text)

    assert parsed == price


@pytest.mark.parametrize(
    "text",
    [
        "0.000001",
        "0.5255004",
        "1.00001",
        "-0.01",
        "",
        ".5",
        "5.",
        "1e-2",
        " 0.5",
        "0_1",
        "\u0660.\u0665",
        "x",
    ],
)
def test_a_price_that_cannot_be_kept_is_refused_and_never_rounded(text: str) -> None:
    with pytest.raises(InvalidNumber):
        parse_price(text)


@pytest.mark.parametrize(
    ("text", "size"), [("12.50", 1250), ("-2.50", -250), ("1330000.00", 133_000_000), ("7", 700)]
)
def test_a_size_is_hundredths_of_a_contract(text: str, size: int) -> None:
    parsed = parse_size(text)

    assert parsed == size


@pytest.mark.parametrize("text", ["0.001", "1.005", "999999999999999999", "NaN", "--1", "+1"])
def test_a_size_that_cannot_be_kept_is_refused(text: str) -> None:
    with pytest.raises(InvalidNumber):
        parse_size(text)


def test_the_table_holds_each_four_decimal_price_as_it_would_be_parsed() -> None:
    table = price_table()

    assert table == {text: parse_price(text) for text in table}
    assert len(table) == 10_001


def test_floats_would_have_been_wrong_for_hundreds_of_prices() -> None:
    table = price_table()

    wrong = [text for text, price in table.items() if int(float(text) * 100_000) != price]

    assert len(wrong) > 500


@given(st.integers(min_value=0, max_value=100_000))
def test_a_price_survives_being_written_and_read(price: int) -> None:
    text = format_price(price)

    assert parse_price(text) == price
    assert Decimal(text) * 100_000 == price


@given(st.integers(min_value=-(10**15), max_value=10**15))
def test_a_size_survives_being_written_and_read(size: int) -> None:
    text = format_size(size)

    assert parse_size(text) == size
