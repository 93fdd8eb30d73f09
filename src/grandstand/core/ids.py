"""Identifiers that sort by creation time."""

from __future__ import annotations

from random import Random
from typing import Final

from grandstand.core.clock import Clock

_ALPHABET: Final = "0123456789abcdefghjkmnpqrstvwxyz"
_TIME_LETTERS: Final = 11
_RANDOM_LETTERS: Final = 15


def new_id(clock: Clock, random: Random) -> str:
    """Return a 26-character id; an id sorts after those of earlier microseconds."""
    microseconds, bits = int(clock.epoch() * 1_000_000), random.getrandbits(5 * _RANDOM_LETTERS)
    return _encode(microseconds, _TIME_LETTERS) + _encode(bits, _RANDOM_LETTERS)


def _encode(number: int, letters: int) -> str:
    return "".join(_ALPHABET[number >> 5 * at & 31] for at in reversed(range(letters)))
