"""Kept here: identifiers that sort by the moment they were made."""

from __future__ import annotations

from random import Random
from typing import Final

from grandstand.base.clock import Clock

_ALPHABET: Final = "0123456789abcdefghjkmnpqrstvwxyz"
_TIME_LETTERS: Final = 10
_CHANCE_LETTERS: Final = 16


def new_id(clock: Clock, random: Random) -> str:
    """Answer an id of 26 letters and digits; later ones sort after earlier ones."""
    moment, chance = int(clock.epoch() * 1000), random.getrandbits(5 * _CHANCE_LETTERS)
    return _written(moment, _TIME_LETTERS) + _written(chance, _CHANCE_LETTERS)


def _written(number: int, letters: int) -> str:
    return "".join(_ALPHABET[number >> 5 * at & 31] for at in reversed(range(letters)))
