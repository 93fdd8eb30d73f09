"""Kept here: prices and sizes between the exchange's decimal text and exact integers."""

from __future__ import annotations

import re
from typing import Final

from grandstand.apps.gatherer.model.errors import NumberRefused

PRICE_SCALE: Final = 100_000
SIZE_SCALE: Final = 100
LARGEST: Final = 2**63 - 1
_PRICE_DIGITS: Final = 5
_SIZE_DIGITS: Final = 2
_DECIMAL: Final = re.compile(r"(-?)([0-9]{1,18})(?:\.([0-9]{1,18}))?", re.ASCII)


def parse_price(text: str) -> int:
    """Answer a price in hundred-thousandths of a dollar: "0.5255" is 52550.

    Raises NumberRefused when it is finer than that, below 0, above 1, or no decimal number.
    """
    price = _parse(text, _PRICE_DIGITS)
    if not 0 <= price <= PRICE_SCALE:
        raise NumberRefused(f"The price {text!r} is not between 0 and 1 dollar.")
    return price


def parse_size(text: str) -> int:
    """Answer a size, or a change of one, in hundredths of a contract: "12.50" is 1250.

    Raises NumberRefused when it is finer than that, too large to keep, or no decimal number.
    """
    size = _parse(text, _SIZE_DIGITS)
    if not -LARGEST <= size <= LARGEST:
        raise NumberRefused(f"The size {text!r} is too large to keep.")
    return size


def not_negative(size: int) -> int:
    """Answer a size that cannot be below nothing; raise NumberRefused when it is."""
    if size < 0:
        raise NumberRefused("A size is negative.")
    return size


def four_decimals() -> dict[str, int]:
    """Answer the table of all prices as the exchange writes them, "0.0000" to "1.0000"."""
    return {f"{at // 10_000}.{at % 10_000:04}": at * 10 for at in range(10_001)}


def format_price(price: int) -> str:
    """Answer dollars with four decimals, five where the price needs them."""
    sign, price = ("-", -price) if price < 0 else ("", price)
    whole, part = divmod(price, PRICE_SCALE)
    digits = f"{part:05}"
    return f"{sign}{whole}.{digits[:4] if digits[4] == '0' else digits}"


def format_size(size: int) -> str:
    """Answer contracts with two decimals, as the exchange writes them."""
    sign, size = ("-", -size) if size < 0 else ("", size)
    whole, part = divmod(size, SIZE_SCALE)
    return f"{sign}{whole}.{part:02}"


def _parse(text: str, digits: int) -> int:
    found = _DECIMAL.fullmatch(text)
    if found is None:
        raise NumberRefused(f"{text[:40]!r} is not a decimal number.")
    sign, whole, part = found.groups(default="")
    if part[digits:].strip("0"):
        raise NumberRefused(f"{text!r} has more than {digits} decimals.")
    value = int(whole + part[:digits].ljust(digits, "0"))
    return -value if sign else value
