"""That attribute values cross the wire unchanged, and wrong ones are refused as DynamoDB does."""

from __future__ import annotations

from decimal import Decimal
from enum import StrEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grandstand.storage.tables.attribute_values import Value
from grandstand.storage.tables.encoding import (
    WireFault,
    from_wire,
    item_from_wire,
    item_to_wire,
    to_wire,
)
from grandstand.storage.tables.errors import InvalidRequest

_INVALID = "One or more parameter values were invalid: "
_EMPTY = "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"

_SEVERAL = (
    "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the "
    "supported datatypes"
)

_numbers = st.integers(-(2**63), 2**63 - 1) | st.decimals(
    allow_nan=False, allow_infinity=False, places=7, min_value=-(10**12), max_value=10**12
)
_scalars = st.none() | st.booleans() | st.text() | st.binary() | _numbers
_sets = (
    st.frozensets(st.text(), min_size=1)
    | st.frozensets(st.binary(), min_size=1)
    | st.frozensets(_numbers, min_size=1)
)
_values = st.recursive(
    _scalars | _sets,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(min_size=1), inner),
    max_leaves=12,
)


class Side(StrEnum):
    HOME = "home"


@given(_values, st.booleans())
def test_a_value_written_and_read_back_is_the_same(value: Any, text_binary: bool) -> None:  # noqa: FBT001
    read = from_wire(to_wire(value, text_binary=text_binary), text_binary=text_binary)

    assert read == value


@given(st.dictionaries(st.text(min_size=1), _values, max_size=5))
def test_an_item_written_and_read_back_is_the_same(item: dict[str, Any]) -> None:
    read = item_from_wire(item_to_wire(item))

    assert read == item


@pytest.mark.parametrize(
    ("value", "attribute"),
    [
        ("text", {"S": "text"}),
        ("", {"S": ""}),
        (7, {"N": "7"}),
        (Decimal("1.500"), {"N": "1.5"}),
        (Decimal("1E+3"), {"N": "1000"}),
        (Decimal("-0"), {"N": "0"}),
        (10**37, {"N": "1" + "0" * 37}),
        (True, {"BOOL": True}),
        (None, {"NULL": True}),
        (b"\x00\xff", {"B": b"\x00\xff"}),
        ([1, ["a"]], {"L": [{"N": "1"}, {"L": [{"S": "a"}]}]}),
        ({"a": {"b": None}}, {"M": {"a": {"M": {"b": {"NULL": True}}}}}),
        (frozenset({"b", "a"}), {"SS": ["a", "b"]}),
        (frozenset({Decimal("2.5"), 1}), {"NS": ["1", "2.5"]}),
        (frozenset({b"b", b"a"}), {"BS": [b"a", b"b"]}),
        (Side.HOME, {"S": "home"}),
    ],
)
def test_a_value_is_written_as_dynamodb_writes_it(
    value: Value, attribute: dict[str, object]
) -> None:
    written = to_wire(value)

    assert written == attribute


def test_binaries_are_written_as_base64_where_text_is_asked_for() -> None:
    written = to_wire({"b": b"\x00\xff", "s": frozenset({b"a"})}, text_binary=True)

    assert written == {"M": {"b": {"B": "AP8="}, "s": {"BS": ["YQ=="]}}}


@pytest.mark.parametrize(
    "value",
    [
        1.5,
        {1, 2},
        frozenset(),
        frozenset({1, "a"}),
        object(),
        Decimal("NaN"),
        Decimal("Infinity"),
        10**126,
        pytest.param(10**20000, id="20001 digits"),
        int("1" * 39),
    ],
)
def test_what_dynamodb_cannot_store_is_not_written(value: Any) -> None:
    with pytest.raises(InvalidRequest):
        to_wire(value)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("001.500", Decimal("1.5")),
        ("-0", 0),
        ("-0.00", 0),
        ("1e3", 1000),
        ("+5", 5),
        (".5", Decimal("0.5")),
        ("5.", 5),
        ("0e999999999", 0),
        ("9" * 38, Decimal("9" * 38)),
        ("1e-130", Decimal("1e-130")),
        ("-9.9e125", Decimal("-9.9e125")),
    ],
)
def test_a_number_is_read_by_its_amount(text: str, number: int | Decimal) -> None:
    read = from_wire({"N": text})

    assert read == number
    assert type(read) is type(number)


_OVERFLOW = (
    "Number overflow. Attempting to store a number with magnitude larger than supported range"
)
_UNDERFLOW = (
    "Number underflow. Attempting to store a number with magnitude smaller than supported range"
)
_DIGITS = "Attempting to store more than 38 significant digits in a Number"
_NUMERIC = "The parameter cannot be converted to a numeric value"


@pytest.mark.parametrize(
    ("attribute", "message"),
    [
        ({}, _EMPTY),
        ({"X": "1"}, _EMPTY),
        ({"S": None}, _EMPTY),
        ({"L": [{}]}, _EMPTY),
        (
            {"S": "a", "N": "1"},
            _SEVERAL,
        ),
        ({"S": "a", "N": "b"}, f"{_NUMERIC}: b"),
        ({"N": ""}, _NUMERIC),
        ({"N": " 1"}, f"{_NUMERIC}:  1"),
        ({"N": "1_0"}, f"{_NUMERIC}: 1_0"),
        ({"N": "NaN"}, f"{_NUMERIC}: NaN"),
        ({"N": "٣"}, f"{_NUMERIC}: ٣"),
        ({"N": "1" * 39}, _DIGITS),
        ({"N": "1e126"}, _OVERFLOW),
        ({"N": "1e99999"}, _OVERFLOW),
        ({"N": "1e-131"}, _UNDERFLOW),
        ({"N": "1e-99999"}, _UNDERFLOW),
        ({"NULL": False}, f"{_INVALID}Null attribute value types must have the value of true"),
        ({"SS": []}, f"{_INVALID}An string set  may not be empty"),
        ({"NS": []}, f"{_INVALID}An number set  may not be empty"),
        ({"BS": []}, f"{_INVALID}Binary sets should not be empty"),
        ({"SS": ["a", "a"]}, f"{_INVALID}Input collection [a, a] contains duplicates."),
        ({"NS": ["1", "1.0"]}, "Input collection contains duplicates"),
        (
            {"BS": ["Yg==", "Yg=="]},
            f"{_INVALID}Input collection [Yg==, Yg==]of type BS contains duplicates.",
        ),
        ({"M": {"": {"S": "x"}}}, "Empty attribute name"),
    ],
)
def test_a_value_against_the_rules_is_refused_in_dynamodbs_words(
    attribute: object, message: str
) -> None:
    with pytest.raises(InvalidRequest) as refused:
        from_wire(attribute, text_binary=True)

    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("attribute", "message"),
    [
        ("x", "Unexpected value type in payload"),
        ([], "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.AttributeValue"),
        ({"S": 1}, "NUMBER_VALUE cannot be converted to String"),
        ({"N": True}, "TRUE_VALUE cannot be converted to String"),
        ({"S": []}, "Unrecognized collection type class java.lang.String"),
        ({"S": {}}, "Start of structure or map found where not expected"),
        ({"BOOL": 1}, "NUMBER_VALUE cannot be converted to Boolean"),
        ({"BOOL": "maybe"}, "Unexpected token received from parser"),
        ({"SS": "a"}, "Unexpected field type"),
        ({"SS": {}}, "Start of structure or map found where not expected"),
        ({"M": "a"}, "Unexpected field type"),
        ({"B": 1}, "only base-64-encoded strings are convertible to bytes"),
        (
            {"B": "Ygg"},
            "Base64 encoded length is expected a multiple of 4 bytes but found: 3",
        ),
        ({"B": "Y!=="}, "Invalid Base64 character: '!'"),
        ({"B": "Yh=="}, "Invalid last non-pad Base64 character dectected"),
        ({"B": "=+/="}, "Invalid Base64 character: '='"),
    ],
)
def test_json_that_is_no_attribute_is_a_fault_of_the_wire(attribute: object, message: str) -> None:
    with pytest.raises(WireFault) as refused:
        from_wire(attribute, text_binary=True)

    assert str(refused.value) == message


def _nested(depth: int) -> dict[str, Any]:
    attribute: dict[str, Any] = {"SS": ["leaf"]}
    for _ in range(depth):
        attribute = {"L": [attribute]}
    return attribute


def test_thirty_one_lists_in_one_another_are_read() -> None:
    value = from_wire(_nested(31))

    assert isinstance(value, list)


@pytest.mark.parametrize("depth", [32, 500])
def test_a_thirty_second_list_within_the_others_is_refused(depth: int) -> None:
    with pytest.raises(InvalidRequest, match="Nesting Levels have exceeded supported limits"):
        from_wire(_nested(depth))
