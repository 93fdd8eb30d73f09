"""Kept here: what the feed's statuses mean: the phase of a match, and its kinds of pauses."""

from __future__ import annotations

from functools import lru_cache
from typing import Final, Literal, TypeAlias

from grandstand.apps.cricket.model.words import MatchPhase

Pause: TypeAlias = Literal["stumps", "lunch", "tea", "dinner", "innings", "rain"]

NOT_STARTED: Final = "NS"
FINISHED: Final = "Finished"

# A match that Tests count by days has four innings before it is decided otherwise.
_LONG_FORMATS: Final = frozenset({"test", "test/5day", "4day", "3day", "5day", "first class"})
_LONG_INNINGS: Final = 4
_SHORT_INNINGS: Final = 2
_REMEMBERED: Final = 256
_OVERS: Final = {
    "t10": 10,
    "t20": 20,
    "t20i": 20,
    "it20": 20,
    "odi": 50,
    "list a": 50,
    "odm": 50,
}

_PHASES: Final[dict[str, MatchPhase]] = {
    "ns": "prematch",
    "delayed": "prematch",
    "postp": "prematch",
    "1st innings": "live",
    "2nd innings": "live",
    "3rd innings": "live",
    "4th innings": "live",
    "innings break": "break",
    "lunch": "break",
    "tea break": "break",
    "tea": "break",
    "dinner": "break",
    "int": "break",
    "finished": "ended",
    "aban": "ended",
    "cancl": "ended",
}
_PAUSES: Final[dict[str, Pause]] = {
    "innings break": "innings",
    "lunch": "lunch",
    "tea break": "tea",
    "tea": "tea",
    "dinner": "dinner",
    "int": "rain",
    "delayed": "rain",
}


@lru_cache(maxsize=_REMEMBERED)
def phase_of(status: str) -> MatchPhase | None:
    """Answer the phase a status means; None when the status is unknown."""
    plain = _plain(status)
    return "break" if plain.startswith("stump") else _PHASES.get(plain)


@lru_cache(maxsize=_REMEMBERED)
def pause_of(status: str) -> Pause | None:
    """Answer what kind of pause a status is; None when it is none."""
    plain = _plain(status)
    return "stumps" if plain.startswith("stump") else _PAUSES.get(plain)


@lru_cache(maxsize=_REMEMBERED)
def is_long(match_format: str) -> bool:
    """Tell whether a match is played over days, with two innings a side."""
    return match_format.strip().lower() in _LONG_FORMATS


@lru_cache(maxsize=_REMEMBERED)
def regular_innings(match_format: str) -> int:
    """Answer how many innings a match has before super overs."""
    return _LONG_INNINGS if is_long(match_format) else _SHORT_INNINGS


@lru_cache(maxsize=_REMEMBERED)
def overs_allowed(match_format: str) -> int | None:
    """Answer how many overs an innings of a format has; None when it is not limited or unknown."""
    return _OVERS.get(match_format.strip().lower())


def _plain(status: str) -> str:
    """The feed writes `Cancl.` and `Cancl`, so dots at the end and cases do not count."""
    return status.strip().rstrip(".").lower()
