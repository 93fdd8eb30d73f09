"""Values: what they weigh, when they are equal, and what DynamoDB refuses of them."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grandstand.storage.tables.attribute_values import (
    MAX_ITEM_BYTES,
    Item,
    Value,
    add_numbers,
    check_size,
    item_size,
    normalize_number,
    number_size,
    number_text,
    same,
    type_code,
)
from grandstand.storage.tables.encoding import pack, unpack
from grandstand.storage.tables.errors import InvalidRequest

NUMBERS = st.one_of(
    st.integers(-(10**37), 10**37),
    st.decimals(
        allow_nan=False, allow_infinity=False, places=6, min_value=-(10**12), max_value=10**12
    ),
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.one_of(
        st.text(max_size=5),
        NUMBERS,
        st.binary(max_size=4),
        st.booleans(),
        st.none(),
        st.frozensets(st.text(max_size=3), min_size=1, max_size=3),
        st.frozensets(st.integers(-5, 5), min_size=1, max_size=3),
        st.frozensets(st.binary(max_size=3), min_size=1, max_size=3),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.text(min_size=1, max_size=3), inner, max_size=3),
    ),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("number", "size"),
    [
        (0, 1),
        (12, 2),
        (Decimal("1.2"), 3),
        (-5, 3),
        (100, 2),
        (123, 3),
        (Decimal("0.01"), 2),
        (10**30, 2),
        (Decimal("1.50"), 3),
        (Decimal("1E-120"), 2),
        (int("9" * 38), 20),
    ],
)
def test_a_number_weighs_a_byte_for_each_pair_of_digits(number: Any, size: int) -> None:
    assert number_size(number) == size


@pytest.mark.parametrize(
    ("text", "written"),
    [("001.500", "1.5"), ("-0", "0"), ("1e3", "1000"), ("0.10", "0.1"), ("-1E-3", "-0.001")],
)
def test_a_number_is_written_plainly(text: str, written: str) -> None:
    assert number_text(normalize_number(Decimal(text))) == written


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("1e126", "Number overflow"),
        ("1e99999", "Number overflow"),
        ("1e-131", "Number underflow"),
        ("1e-99999", "Number underflow"),
        ("1" * 39, "more than 38 significant digits"),
        ("NaN", "cannot be converted to a numeric value"),
    ],
)
def test_a_number_out_of_bounds_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(InvalidRequest, match=sentence):
        normalize_number(Decimal(text))


def test_a_sum_is_exact_or_refused() -> None:
    assert add_numbers(Decimal("0.1"), Decimal("0.2")) == Decimal("0.3")
    with pytest.raises(InvalidRequest, match="38 significant digits"):
        add_numbers(10**37, Decimal("0.01"))


def test_numbers_settle_to_one_form() -> None:
    assert type(normalize_number(Decimal("5.0"))) is int
    assert type(normalize_number(10**30)) is Decimal


def test_values_are_never_equal_across_types() -> None:
    assert same(1, Decimal("1.0"))
    assert not same(True, 1)
    assert not same([True], [1])
    assert not same({"a": 0}, {"a": False})
    assert not same("1", 1)
    assert same({"a": [1, {"b": None}]}, {"a": [Decimal(1), {"b": None}]})


def test_an_item_of_exactly_the_limit_passes_and_a_byte_more_does_not() -> None:
    largest: Item = {"k": "x" * (MAX_ITEM_BYTES - 1)}

    assert check_size(largest) == MAX_ITEM_BYTES
    with pytest.raises(InvalidRequest, match="Item size has exceeded"):
        check_size({"k": "x" * MAX_ITEM_BYTES})


def test_names_nested_names_and_containers_count() -> None:
    item: Item = {"ab": "é", "l": [1, True], "m": {"xy": None}, "s": frozenset({"a", "bc"})}

    assert item_size(item) == (2 + 2) + (1 + 3 + 1 + 2 + 1 + 1) + (1 + 3 + 1 + 2 + 1) + (1 + 3)


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (1.5, "use Decimal"),
        (frozenset(), "may not be empty"),
        (frozenset({"a", 1}), "elements of one type"),
        ({"": 1}, "attribute name is empty"),
        (object(), "cannot be stored"),
        (Decimal("NaN"), "cannot be converted to a numeric value"),
        (Decimal("sNaN"), "cannot be converted to a numeric value"),
        (Decimal("-Infinity"), "cannot be converted to a numeric value"),
    ],
)
def test_what_cannot_be_stored_is_refused(value: Any, sentence: str) -> None:
    with pytest.raises(InvalidRequest, match=sentence):
        item_size({"v": value})


def test_nesting_ends_at_32_levels() -> None:
    def nested(levels: int) -> Any:
        return [nested(levels - 1)] if levels else "leaf"

    assert item_size({"v": nested(31)}) > 0
    with pytest.raises(InvalidRequest, match="Nesting Levels"):
        item_size({"v": nested(32)})


def test_every_type_has_its_name() -> None:
    sets: list[Value] = [frozenset("a"), frozenset([1]), frozenset([b""])]
    values: list[Value] = ["s", 1, b"b", True, None, [], {}, *sets]

    names = ["S", "N", "B", "BOOL", "NULL", "L", "M", "SS", "NS", "BS"]
    assert [type_code(value) for value in values] == names


@given(st.dictionaries(st.text(min_size=1, max_size=4), VALUES, max_size=5))
def test_an_item_comes_back_from_its_bytes_as_it_was(item: dict[str, Any]) -> None:
    assert same(unpack(pack(item)), item)
