"""How the exchange writes integers."""

import pytest

from grandstand.simulators.exchange.market import (
    format_contracts,
    format_dollars,
    format_time,
    format_time_seconds,
)


@pytest.mark.parametrize(
    ("price", "text"),
    [
        (52_000, "0.5200"),
        (52_550, "0.5255"),
        (99_990, "0.9999"),
        (100_000, "1.0000"),
        (7, "0.00007"),
    ],
)
def test_a_price_has_four_decimals_and_a_fifth_only_if_it_must(price: int, text: str) -> None:
    assert format_dollars(price) == text


@pytest.mark.parametrize(
    ("size", "text"), [(1250, "12.50"), (-250, "-2.50"), (-5, "-0.05"), (0, "0.00")]
)
def test_a_size_has_two_decimals_and_a_sign_when_it_shrinks(size: int, text: str) -> None:
    assert format_contracts(size) == text


def test_a_moment_is_written_to_the_microsecond_or_to_the_second() -> None:
    at = 1_793_534_400_123_456

    assert format_time(at) == "2026-11-01T12:00:00.123456Z"
    assert format_time_seconds(at) == "2026-11-01T12:00:00Z"
