"""Numbers in a text, and the correctness of the sums it states."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import isclose
from typing import Final

# Repetitions are bounded, because every digit is tried as a start.
_DIGITS: Final = r"\d[\d,]{0,24}"
_DECIMAL: Final = rf"{_DIGITS}(?:\.\d{{1,12}})?"
_GAP: Final = r"\s{0,4}"
_SPACE: Final = r"\s{1,4}"
_NUMBER: Final = (
    rf"[$£€¥]?({_DECIMAL}){_GAP}"
    r"(%|percent\b|k\b|m\b|million\b|billion\b|thousand\b)?"
)
_FIGURE: Final = re.compile(_NUMBER, re.IGNORECASE)
_UNIT: Final = rf"(?:{_SPACE}[a-z]{{1,30}}){{0,2}}?"
_ABOUT: Final = rf"(?:(?:about|roughly|around|only|just){_SPACE})?"
_IS: Final = rf"{_GAP}(?:=|≈|~|\b(?:is|are|equals|gives|makes|comes to)\b){_GAP}{_ABOUT}"
_MINUS: Final = "\N{MINUS SIGN}"
_BY: Final = rf"([+\-{_MINUS}–×*x/÷]|\b(?:times|plus|minus|divided by)\b)"
_OPERATION: Final = re.compile(
    rf"{_NUMBER}{_UNIT}{_GAP}{_BY}{_GAP}{_NUMBER}{_UNIT}{_IS}{_NUMBER}",
    re.IGNORECASE,
)
_SHARE: Final = re.compile(
    rf"({_DECIMAL}){_GAP}(?:%|percent) of{_SPACE}(?:the{_SPACE}|all{_SPACE})?"
    rf"{_NUMBER}{_UNIT}{_IS}{_NUMBER}",
    re.IGNORECASE,
)
_RATIO: Final = re.compile(
    rf"(?<![\d.,])({_DIGITS}){_SPACE}(?:out{_SPACE})?of{_SPACE}(?:the{_SPACE})?({_DIGITS}){_UNIT}"
    rf"(?:{_GAP}[,(]{_GAP}(?:or|so|which is|i\.e\.)?{_GAP}{_ABOUT}|{_IS})"
    rf"(\d{{1,12}}(?:\.\d{{1,12}})?){_GAP}(?:%|percent)",
    re.IGNORECASE,
)
_OPERATORS: Final = f"+-{_MINUS}–×*/÷=≈√^"
_SCALES: Final = {"k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6, "billion": 1e9}
_MIN_FIGURES: Final = 3
_TOLERANCE: Final = 0.04
_PERCENT: Final = 100.0


@dataclass(frozen=True, slots=True)
class StatedSum:
    """A calculation stated in a text, and whether its result is correct."""

    start: int
    end: int
    is_correct: bool


def parse_figures(text: str) -> frozenset[float]:
    """Return the numbers in a text, such as `1,200`, `30%` and `$2 million`."""
    return frozenset(
        value for match in _FIGURE.finditer(text) if (value := _value(*match.groups())) is not None
    )


def find_sums(text: str) -> Iterator[StatedSum]:
    """Yield the calculations that a text spells out; rounded results count as correct."""
    if len(_FIGURE.findall(text)) < _MIN_FIGURES:
        return
    for match in _OPERATION.finditer(text):
        yield from _checked(match, _operation(match))
    for match in _SHARE.finditer(text):
        share, whole = _value(match[1], None), _value(match[2], match[3])
        stated = _value(match[4], match[5])
        if share is not None and whole is not None and stated is not None:
            yield from _checked(match, (share / _PERCENT * whole, stated))
    for match in _RATIO.finditer(text):
        part, whole, stated = (_value(match[at], None) for at in (1, 2, 3))
        if part is not None and whole and stated is not None:
            yield from _checked(match, (part / whole * _PERCENT, stated))


def _operation(match: re.Match[str]) -> tuple[float, float] | None:
    left, right, stated = (_value(match[at], match[at + 1]) for at in (1, 4, 6))
    if left is None or right is None or stated is None:
        return None
    if match[2] == "%" and match[5] == "%" and match[7] != "%" and match[3] in "×*x":
        return left * right / _PERCENT / _PERCENT, stated
    if (match[2] == "%") != (match[5] == "%") and match[7] != "%":
        left, right = (left / _PERCENT, right) if match[2] == "%" else (left, right / _PERCENT)
    match match[3].lower():
        case "+" | "plus":
            result = left + right
        case "-" | "\N{MINUS SIGN}" | "–" | "minus":
            result = left - right
        case "/" | "÷" | "divided by":
            if not right:
                return None
            result = left / right * (_PERCENT if match[7] == "%" and match[2] != "%" else 1)
        case _:
            result = left * right
    return result, stated


def _checked(match: re.Match[str], results: tuple[float, float] | None) -> Iterator[StatedSum]:
    """Compare the actual with the stated result."""
    if results is not None and not _is_part_of_longer_sum(match):
        actual, stated = results
        slack = 0.51 if abs(actual) >= 5 else 0.06
        is_correct = isclose(actual, stated, rel_tol=_TOLERANCE, abs_tol=slack)
        yield StatedSum(match.start(), match.end(), is_correct)


def _is_part_of_longer_sum(match: re.Match[str]) -> bool:
    before = match.string[: match.start()].rstrip()[-1:]
    after = match.string[match.end() :].lstrip()[:1]
    return (before != "" and before in _OPERATORS) or (after != "" and after in _OPERATORS)


def _value(digits: str | None, scale: str | None) -> float | None:
    if digits is None:
        return None
    try:
        number = float(digits.replace(",", ""))
    except ValueError:
        return None
    return number * _SCALES.get((scale or "").lower(), 1.0)
