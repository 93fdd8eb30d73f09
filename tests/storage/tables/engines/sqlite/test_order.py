"""Keys sort as bytes the way DynamoDB sorts their values."""

from decimal import Decimal

from hypothesis import example, given
from hypothesis import strategies as st

from grandstand.storage.tables.attribute_values import Number
from grandstand.storage.tables.engines.sqlite.access_paths import after_prefix, encode_number

exponents = st.integers(min_value=-130, max_value=87)
coefficients = st.integers(min_value=-(10**38) + 1, max_value=10**38 - 1)
numbers = st.one_of(
    st.integers(min_value=-1000, max_value=1000),
    st.integers(min_value=-(2**63), max_value=2**63 - 1),
    st.builds(
        lambda digits, power: Decimal(digits).scaleb(power), st.integers(-999, 999), exponents
    ),
    st.builds(lambda digits, power: Decimal(f"{digits}E{power}"), coefficients, exponents),
)


@given(numbers, numbers)
@example(0, Decimal("1E-130"))
@example(Decimal(-5), Decimal("-5.00000000000000000000000000000000001"))
@example(Decimal(-50), Decimal(-5))
@example(Decimal(10) ** 125, Decimal("9.9E+124"))
def test_numbers_sort_by_their_amount(left: int | Decimal, right: int | Decimal) -> None:
    one, two = encode_number(left), encode_number(right)

    assert (one < two, one == two, one > two) == (left < right, left == right, left > right)


@given(numbers)
def test_a_number_takes_at_most_22_bytes(number: int | Decimal) -> None:
    assert len(encode_number(number)) <= 22


def test_equal_amounts_are_equal_bytes_however_they_are_spelt() -> None:
    spellings: list[Number] = [100, Decimal(100), Decimal("1E+2"), Decimal("100.00")]

    assert len({encode_number(number) for number in spellings}) == 1


def test_the_ends_of_the_range_are_in_their_places() -> None:
    largest, smallest = f"9.{'9' * 37}E+125", "1E-130"

    ordered = [
        Decimal(text) for text in (f"-{largest}", "-1", f"-{smallest}", "0", smallest, "1", largest)
    ]

    assert sorted(ordered, key=encode_number) == ordered


@given(st.binary(min_size=1), st.binary())
def test_what_follows_a_prefix_is_after_everything_that_has_it(prefix: bytes, rest: bytes) -> None:
    end = after_prefix(prefix)

    assert end is None or prefix + rest < end
    assert end is not None or set(prefix) == {255}


@given(st.binary(min_size=1), st.binary())
def test_nothing_between_a_prefix_and_its_end_lacks_the_prefix(prefix: bytes, other: bytes) -> None:
    end = after_prefix(prefix)

    inside = prefix <= other and (end is None or other < end)

    assert inside == other.startswith(prefix)
