"""Kept here: the values of bets: priced outcomes, tallies, and names as keys write them."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Final, Literal, TypeAlias

AnalysisType: TypeAlias = Literal["game", "prop"]
VerifiedType: TypeAlias = Literal["game", "game#inverse", "prop", "prop#inverse"]
Recommendation: TypeAlias = Literal["ORIGINAL", "INVERSE", "AVOID"]
Evidence: TypeAlias = Literal["INSUFFICIENT_DATA"]
ModelStatus: TypeAlias = Literal["active", "paused"]
BetStatus: TypeAlias = Literal["pending", "won", "lost", "push", "void"]
InjuryStatus: TypeAlias = Literal["out", "questionable", "doubtful", "active"]

_BETWEEN_WORDS: Final = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class PricedOutcome:
    """One side of a market: its American price and, where there is one, its line."""

    name: str
    price: int
    point: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Tally:
    """How many bets there were, and how many of them won."""

    wins: int
    total: int


@lru_cache(maxsize=65_536)
def slug(name: str) -> str:
    """Write a name as keys do: `Los Angeles Lakers` is `los_angeles_lakers`, accents are dropped.

    A slug is its own slug, so either may be given where a key is made.
    """
    apart = unicodedata.normalize("NFKD", name)
    plain = "".join(sign for sign in apart if not unicodedata.combining(sign))
    return _BETWEEN_WORDS.sub("_", plain.lower()).strip("_")


def pairing(team: str, other: str) -> str:
    """Name two teams the same way whoever was at home: their slugs in alphabetical order."""
    return "#".join(sorted((slug(team), slug(other))))
