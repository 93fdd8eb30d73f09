"""Kept here: key values as bytes that sort the way DynamoDB sorts the values."""

from __future__ import annotations

from typing import Final

from grandstand.storage.tables.values import Number, settle

_BELOW: Final = b"\x40"
_ZERO: Final = b"\x80"
_ABOVE: Final = b"\xc0"
_END: Final = b"\xff"
# The first digit of a number stands for a power of ten from -130 to 125: one byte holds it.
_LOWEST_POWER: Final = -130
# Digits are kept two a byte, each one higher, so that no pair turned over equals the end mark.
_RAISED: Final = str.maketrans("0123456789", "123456789a")
_TURNED: Final = bytes(255 - byte for byte in range(256))


def order_number(value: Number) -> bytes:
    """Write a number in at most 22 bytes that sort by its amount; equal amounts are equal bytes.

    Raises InvalidRequest when the number is outside DynamoDB's range.
    """
    number = settle(value)
    if not number:
        return _ZERO
    if isinstance(number, int):
        digits = str(abs(number))
        power = len(digits) - 1
    else:
        mantissa, _, exponent = format(number.copy_abs(), "E").partition("E")
        digits, power = mantissa.replace(".", ""), int(exponent)
    digits = digits.rstrip("0")
    pairs = bytes.fromhex((digits + "0" if len(digits) % 2 else digits).translate(_RAISED))
    body = (power - _LOWEST_POWER).to_bytes(1) + pairs
    return _ABOVE + body if number > 0 else _BELOW + body.translate(_TURNED) + _END


def after_prefix(prefix: bytes) -> bytes | None:
    """Answer the first bytes that sort after everything with this prefix; None when none do."""
    kept = prefix.rstrip(b"\xff")
    return kept[:-1] + (kept[-1] + 1).to_bytes(1) if kept else None
